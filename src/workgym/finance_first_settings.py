"""Settings of the recipe for financial documents, checked before anything begins."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

from workgym.agents.models import LlamaConfig
from workgym.agents.tokenizer import CharTokenizer
from workgym.exam import EVALUATION_SEED, Exam
from workgym.tasks.finance.source import FinanceTasks
from workgym.tasks.source import distinct_tasks
from workgym.training.config import check_ranges

__all__ = ["LEVEL", "MAX_LEN", "NEW_WORDS", "FinanceFirstConfig", "make_tokenizer", "model_shape", "task_source"]

LEVEL: Final = 1
"""The one that has questions for small models."""

NEW_WORDS: Final = "new-words"
"""Names the measurements on unseen companies whose filings name every line as no training filing does."""

MAX_LEN: Final = 512
"""Longest context in which an action begins: eight turns, of which four go wrong."""

_MAX_POSITIONS: Final = 768  # an episode that ends for its length holds one more action and observation
_DIGITS: Final = 3
_ROPE_THETA: Final = 100.0  # contexts are short: with fast angles it takes fewer steps to tell neighbors apart


@dataclass(frozen=True)
class FinanceFirstConfig:
    """Settings of the recipe.

    Attributes:
        seed: decides weights, demonstrations, tasks and noise.
        n_demonstrations: episodes of the erring oracle to imitate.
        error_rate: share of the oracle's actions that are wrong.
        sft_steps: optimizer steps of imitation.
        sft_rows: demonstrations in each.
        sft_lr: peak learning rate of imitation.
        rl_steps: optimizer steps of reinforcement, at most.
        rl_tasks: tasks in each.
        rl_group: episodes of each task.
        rl_lr: learning rate of reinforcement.
        clip_low: how far below 1 the ratio of new to old probability is followed.
        clip_high: how far above 1.
        shuffle_rewards: deal rewards out at random: a control from which nothing is learned.
        n_eval: tasks of each of the three splits that are evaluated, no two alike.
        d_model: width of the model.
        n_layers: blocks of the model.
        n_heads: attention heads.
        d_ff: width of its feed-forward layers.
        checkpoint_every: steps between checkpoints.
        n_envs: episodes that run at once.
        n_threads: threads of torch.
    """

    seed: int = 0
    n_demonstrations: int = 2500
    error_rate: float = 0.25
    sft_steps: int = 2000
    sft_rows: int = 8
    sft_lr: float = 2e-3
    rl_steps: int = 80
    rl_tasks: int = 8
    rl_group: int = 8
    rl_lr: float = 3e-4
    clip_low: float = 0.2
    clip_high: float = 0.28
    shuffle_rewards: bool = False
    n_eval: int = 256
    d_model: int = 128
    n_layers: int = 3
    n_heads: int = 4
    d_ff: int = 256
    checkpoint_every: int = 50
    n_envs: int = 64
    n_threads: int = 2

    def __post_init__(self) -> None:
        check_ranges(self)
        model_shape(self, make_tokenizer())

    @cached_property
    def exam(self) -> Exam:
        """What the model is asked: unseen companies, companies of the training split, and unseen ones in new words.

        Raises:
            TaskError: a split holds fewer tasks.
        """
        unseen, known, new_words = (
            distinct_tasks(task_source(), LEVEL, self.n_eval, seed=EVALUATION_SEED, split=split)
            for split in ("validation", "train", "test")
        )
        return Exam(unseen, known, foreign=new_words, foreign_name=NEW_WORDS, foreign_between=True)


def make_tokenizer() -> CharTokenizer:
    """Characters, and groups of digits: a year or an amount is a few ids."""
    return CharTokenizer(digits=_DIGITS)


def task_source() -> FinanceTasks:
    """What the recipe practices: lookups and arithmetic over one statement, in as few characters as possible."""
    return FinanceTasks("all", "short")


def model_shape(config: FinanceFirstConfig, tokenizer: CharTokenizer) -> LlamaConfig:
    """The shape of its model.

    Raises:
        PolicyError: the numbers do not fit each other.
    """
    return LlamaConfig(
        vocab=tokenizer.n_ids,
        d_model=config.d_model,
        n_layers=config.n_layers,
        n_heads=config.n_heads,
        d_ff=config.d_ff,
        max_positions=_MAX_POSITIONS,
        rope_theta=_ROPE_THETA,
    )
