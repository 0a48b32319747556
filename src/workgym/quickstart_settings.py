"""Settings of the quickstart, checked before anything begins."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

from workgym.agents.models import LlamaConfig
from workgym.agents.tokenizer import CharTokenizer
from workgym.exam import Exam, draw_exam
from workgym.tasks.coding.source import CodingTasks
from workgym.tasks.naming import unknown_name
from workgym.training.config import check_levels, check_ranges
from workgym.training.curriculum import SCHEDULERS

__all__ = ["QuickstartConfig", "model_shape", "task_source"]

_MAX_POSITIONS: Final = 336  # four turns of the longest action and observation
_MOST_TOKENS: Final = 1_000_000_000


@dataclass(frozen=True)
class QuickstartConfig:
    """Settings of the quickstart.

    Attributes:
        seed: decides weights, demonstrations, tasks and noise.
        level: difficulty of the tasks, 1 to 5.
        levels: several difficulties to learn together; in place of `level`, unless empty.
        curriculum: how practice chooses among them: "outcome" (most of the level where success and failure mix) or
            "uniform".
        n_demonstrations: episodes of the erring oracle to imitate, over all levels.
        error_rate: share of the oracle's actions that are wrong.
        sft_steps: optimizer steps of imitation.
        sft_rows: demonstrations in each.
        sft_lr: peak learning rate of imitation.
        rl_steps: optimizer steps of reinforcement, at most.
        rl_tokens: no further step begins once the policy has sampled so many tokens in practice; 0 sets no bound.
        rl_tasks: tasks in each.
        rl_group: episodes of each task.
        rl_lr: learning rate of reinforcement.
        clip_low: how far below 1 the ratio of new to old probability is followed.
        clip_high: how far above 1.
        shuffle_rewards: deal rewards out at random: a control from which nothing is learned.
        n_eval: held-out tasks of each level that are evaluated, no two alike; as many of the training split.
        d_model: width of the model.
        n_layers: blocks of the model.
        n_heads: attention heads.
        d_ff: width of its feed-forward layers.
        checkpoint_every: steps between checkpoints.
        n_envs: episodes that run at once.
        n_threads: threads of torch.
    """

    seed: int = 0
    level: int = 1
    levels: tuple[int, ...] = ()
    curriculum: str = "outcome"
    n_demonstrations: int = 2000
    error_rate: float = 0.25
    sft_steps: int = 60
    sft_rows: int = 64
    sft_lr: float = 2e-3
    rl_steps: int = 80
    rl_tokens: int = 0
    rl_tasks: int = 16
    rl_group: int = 8
    rl_lr: float = 3e-4
    clip_low: float = 0.2
    clip_high: float = 0.28
    shuffle_rewards: bool = False
    n_eval: int = 256
    d_model: int = 128
    n_layers: int = 4
    n_heads: int = 4
    d_ff: int = 384
    checkpoint_every: int = 25
    n_envs: int = 128
    n_threads: int = 2

    def __post_init__(self) -> None:
        check_levels((self.level,))
        check_levels(self.all_levels)
        if self.curriculum not in SCHEDULERS:
            raise ValueError(unknown_name("curriculum", self.curriculum, SCHEDULERS))
        check_ranges(self, rl_tokens=(0, _MOST_TOKENS))
        model_shape(self, CharTokenizer())
        _ = self.exam  # whether there are as many tasks

    @property
    def all_levels(self) -> tuple[int, ...]:
        """The levels that are learned."""
        return self.levels or (self.level,)

    @cached_property
    def exam(self) -> Exam:
        """What the model is asked: as many tasks of the training split as held-out ones.

        Raises:
            TaskError: a split holds fewer.
        """
        return draw_exam(task_source(), self.all_levels, n_held_out=self.n_eval, n_known=self.n_eval)


def task_source() -> CodingTasks:
    """What the quickstart practices: expressions, in as few characters as possible."""
    return CodingTasks("expression", "short")


def model_shape(config: QuickstartConfig, tokenizer: CharTokenizer) -> LlamaConfig:
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
    )
