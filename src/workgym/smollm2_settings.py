"""Settings of the recipe `smollm2-coding`, checked before anything begins."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Final

from workgym.agents.models.smollm2 import SMOLLM2
from workgym.tasks.coding.load.humaneval import load_humaneval
from workgym.tasks.coding.source import CodingTasks
from workgym.tasks.naming import unknown_name
from workgym.tasks.source import distinct_tasks
from workgym.tasks.task import LEVELS, Budget, Task

__all__ = [
    "EVALUATION_SEED",
    "HUMANEVAL_TOKENS",
    "SmolLM2Config",
    "evaluation_tasks",
    "humaneval_tasks",
    "task_source",
]

EVALUATION_SEED: Final = 20_000
"""Decides which tasks are evaluated: the same in every run."""

HUMANEVAL_TOKENS: Final = 256
"""Of one answer to a task of HumanEval."""

_MOST: Final = 1_000_000
_ONE_ANSWER: Final = Budget(turns=1, tokens=HUMANEVAL_TOKENS, wall_s=600.0)


@dataclass(frozen=True)
class SmolLM2Config:
    """Settings of `smollm2-coding`.

    Attributes:
        seed: decides demonstrations, tasks and noise.
        model: "smollm2", or the directory of another Llama chat model in Hugging Face's layout.
        levels: difficulties of the functions to be written.
        n_demonstrations: episodes of the oracle to imitate, over all levels.
        sft_steps: optimizer steps of imitation.
        sft_rows: demonstrations in each.
        sft_lr: peak learning rate of imitation.
        rl_steps: optimizer steps of reinforcement.
        rl_tasks: tasks in each.
        rl_group: episodes of each task.
        rl_lr: learning rate of reinforcement.
        clip_low: how far below 1 the ratio of new to old probability is followed.
        clip_high: how far above 1.
        n_eval: held-out tasks of each level that are evaluated, no two alike.
        n_known: tasks of each level of the training split that are evaluated beside them.
        max_turn_tokens: tokens that one answer may have.
        humaneval: path of HumanEval.jsonl.gz; its first tasks are tried before and after. "" leaves that out.
        n_humaneval: how many of them, with one answer of up to 256 tokens each.
        checkpoint_every: steps between checkpoints; one takes 2 GB.
        n_envs: episodes that run at once.
        n_threads: threads of torch.
    """

    seed: int = 0
    model: str = SMOLLM2
    levels: tuple[int, ...] = (1, 2)
    n_demonstrations: int = 1280
    sft_steps: int = 80
    sft_rows: int = 16
    sft_lr: float = 2e-4
    rl_steps: int = 24
    rl_tasks: int = 8
    rl_group: int = 8
    rl_lr: float = 2e-5
    clip_low: float = 0.2
    clip_high: float = 0.28
    n_eval: int = 64
    n_known: int = 8
    max_turn_tokens: int = 96
    humaneval: str = ""
    n_humaneval: int = 20
    checkpoint_every: int = 20
    n_envs: int = 64
    n_threads: int = 2

    def __post_init__(self) -> None:
        for level in self.levels:
            if level not in LEVELS:
                raise ValueError(unknown_name("level", level, map(str, LEVELS)))
        if not self.levels or len(set(self.levels)) < len(self.levels):
            raise ValueError(f"setting levels needs at least one level, and none twice: {list(self.levels)}")
        if not 0 <= self.seed < 2**32:
            raise ValueError(f"setting seed must be from 0 to {2**32 - 1}, not {self.seed}")
        for one in fields(self):
            value = getattr(self, one.name)
            if one.type == "int" and one.name != "seed" and not 1 <= value <= _MOST:
                raise ValueError(f"setting {one.name} must be from 1 to {_MOST}, not {value}")
            if one.type == "float" and not 0 <= value <= 1:
                raise ValueError(f"setting {one.name} must be in [0, 1], not {value}")
        evaluation_tasks(self, "test", self.n_eval)
        evaluation_tasks(self, "train", self.n_known)
        humaneval_tasks(self)


def task_source() -> CodingTasks:
    """What is practiced: functions, described in words."""
    return CodingTasks("function")


def evaluation_tasks(config: SmolLM2Config, split: str, n: int) -> list[Task]:
    """The tasks that are evaluated, level by level.

    Raises:
        TaskError: the split holds fewer.
    """
    return [
        task
        for level in config.levels
        for task in distinct_tasks(task_source(), level, n, seed=EVALUATION_SEED, split=split)
    ]


def humaneval_tasks(config: SmolLM2Config) -> list[Task]:
    """The first tasks of HumanEval, for one answer each, as it is usually played; none where no file is named.

    Raises:
        TaskError: the file cannot be read.
    """
    tasks = load_humaneval(Path(config.humaneval))[: config.n_humaneval] if config.humaneval else []
    return [replace(task, budget=_ONE_ANSWER) for task in tasks]
