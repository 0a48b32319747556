"""What a model is asked after every stage of a recipe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from workgym.tasks.source import TaskSource, distinct_tasks
from workgym.tasks.task import Task

__all__ = ["EVALUATION_SEED", "Exam", "draw_exam"]

EVALUATION_SEED: Final = 20_000
"""Decides which tasks are asked: the same in every run."""


@dataclass(frozen=True, slots=True)
class Exam:
    """The tasks of every measurement of a run.

    Attributes:
        held_out: tasks that no stage learns from.
        known: tasks of the training split.
        foreign: tasks of another kind, asked before the first stage and after the last.
        foreign_name: of that kind; begins the names of its results.
        foreign_tokens: tokens that one answer to one of them may have; as many as to any other if 0.
        foreign_between: they are asked between the stages as well.
    """

    held_out: Sequence[Task]
    known: Sequence[Task]
    foreign: Sequence[Task] = ()
    foreign_name: str = ""
    foreign_tokens: int = 0
    foreign_between: bool = False


def draw_exam(source: TaskSource, levels: Sequence[int], *, n_held_out: int, n_known: int) -> Exam:
    """Draw an exam, level by level, no two tasks of a split alike.

    Args:
        source: makes the tasks.
        levels: of the tasks.
        n_held_out: tasks of split "test", of each level.
        n_known: tasks of split "train", of each level.

    Raises:
        TaskError: a split holds fewer.
    """
    test, train = (
        [task for level in levels for task in distinct_tasks(source, level, n, seed=EVALUATION_SEED, split=split)]
        for n, split in ((n_held_out, "test"), (n_known, "train"))
    )
    return Exam(test, train)
