"""Settings of the recipe `smollm2-coding`, checked before anything begins."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Final

from workgym.agents.models.smollm2 import SMOLLM2
from workgym.exam import Exam, draw_exam
from workgym.tasks.coding.load.humaneval import load_humaneval
from workgym.tasks.coding.source import CodingTasks
from workgym.tasks.task import Budget
from workgym.training.config import check_levels, check_ranges

__all__ = ["HUMANEVAL", "SmolLM2Config", "task_source"]

HUMANEVAL: Final = "humaneval"
"""Begins the names of results on its tasks."""

_HUMANEVAL_TOKENS: Final = 256
_ONE_ANSWER: Final = Budget(turns=1, tokens=_HUMANEVAL_TOKENS, wall_s=600.0)
"""For a task of HumanEval, as it is usually played."""


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
        check_levels(self.levels)
        check_ranges(self)
        _ = self.exam  # whether there are as many tasks, and the file can be read

    @cached_property
    def exam(self) -> Exam:
        """What the model is asked; the tasks of HumanEval among it where their file is named.

        Raises:
            TaskError: a split holds fewer tasks, or the file cannot be read.
        """
        drawn = draw_exam(task_source(), self.levels, n_held_out=self.n_eval, n_known=self.n_known)
        foreign = load_humaneval(Path(self.humaneval))[: self.n_humaneval] if self.humaneval else []
        return replace(
            drawn,
            foreign=[replace(task, budget=_ONE_ANSWER) for task in foreign],
            foreign_name=HUMANEVAL,
            foreign_tokens=_HUMANEVAL_TOKENS,
        )


def task_source() -> CodingTasks:
    """What is practiced: functions, described in words."""
    return CodingTasks("function")
