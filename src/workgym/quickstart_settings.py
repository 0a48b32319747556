"""Settings of the quickstart, checked before anything begins."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

from workgym.agents.models import LlamaConfig
from workgym.agents.tokenizer import CharTokenizer
from workgym.tasks.coding.source import CodingTasks
from workgym.tasks.naming import unknown_name
from workgym.tasks.source import distinct_tasks
from workgym.tasks.task import LEVELS, Task
from workgym.training.curriculum import SCHEDULERS

__all__ = ["EVALUATION_SEED", "QuickstartConfig", "evaluation_tasks", "model_shape", "task_source"]

EVALUATION_SEED: Final = 20_000
"""Decides which tasks are evaluated: the same in every run."""

_MAX_POSITIONS: Final = 336  # four turns of the longest action and observation
_MOST: Final = 1_000_000
_MOST_TOKENS: Final = 1_000_000_000
_MOST_THREADS: Final = 256


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
        for level in (self.level, *self.levels):
            if level not in LEVELS:
                raise ValueError(unknown_name("level", level, map(str, LEVELS)))
        if len(set(self.levels)) < len(self.levels):
            raise ValueError(f"setting levels names a level twice: {list(self.levels)}")
        if self.curriculum not in SCHEDULERS:
            raise ValueError(unknown_name("curriculum", self.curriculum, SCHEDULERS))
        if not 0 <= self.rl_tokens <= _MOST_TOKENS:
            raise ValueError(f"setting rl_tokens must be from 0 to {_MOST_TOKENS}, not {self.rl_tokens}")
        if not 0 <= self.seed < 2**32:
            raise ValueError(f"setting seed must be from 0 to {2**32 - 1}, not {self.seed}")
        for one in fields(self):
            value = getattr(self, one.name)
            if one.type == "int" and one.name not in ("seed", "rl_tokens") and not 1 <= value <= _MOST:
                raise ValueError(f"setting {one.name} must be from 1 to {_MOST}, not {value}")
            if one.type == "float" and not 0 <= value <= 1:
                raise ValueError(f"setting {one.name} must be in [0, 1], not {value}")
        if self.n_threads > _MOST_THREADS:
            raise ValueError(f"setting n_threads must be at most {_MOST_THREADS}, not {self.n_threads}")
        model_shape(self, CharTokenizer())
        for split in ("test", "train"):
            evaluation_tasks(self, split)

    @property
    def all_levels(self) -> tuple[int, ...]:
        """The levels that are learned."""
        return self.levels or (self.level,)


def task_source() -> CodingTasks:
    """What the quickstart practices: expressions, in as few characters as possible."""
    return CodingTasks("expression", "short")


def evaluation_tasks(config: QuickstartConfig, split: str) -> list[Task]:
    """The tasks that are evaluated, level by level.

    Raises:
        TaskError: the split holds fewer.
    """
    return [
        task
        for level in config.all_levels
        for task in distinct_tasks(task_source(), level, config.n_eval, seed=EVALUATION_SEED, split=split)
    ]


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
