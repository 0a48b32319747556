"""Where tasks come from, and how they are split."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Final, Protocol

import numpy as np

from workgym.tasks.errors import TaskError
from workgym.tasks.task import Task

__all__ = ["SPLITS", "TaskSource", "distinct_tasks", "split_of"]

SPLITS: Final = ("train", "validation", "test")

_BUCKETS: Final = 12
_TEST_BUCKETS: Final = 4
_VALIDATION_BUCKETS: Final = 1


def split_of(structure: str) -> str:
    """Say to which split a structure belongs: a third to "test", a twelfth to "validation", the rest to "train".

    The hash alone decides, so the splits are disjoint by construction, whatever seeds are drawn.

    Args:
        structure: a text that is equal for two tasks exactly if solving one is solving the other.

    Returns:
        "train", "validation" or "test".
    """
    bucket = int.from_bytes(hashlib.blake2b(structure.encode(), digest_size=8).digest(), "big") % _BUCKETS
    if bucket < _TEST_BUCKETS:
        return "test"
    return "validation" if bucket < _TEST_BUCKETS + _VALIDATION_BUCKETS else "train"


class TaskSource(Protocol):
    """Makes the tasks of one domain."""

    @property
    def version(self) -> str:
        """Version of the generator or of the imported file; a change of any task changes it."""
        ...

    @property
    def levels(self) -> tuple[int, ...]:
        """The levels that this source has."""
        ...

    def sample(self, level: int, rng: np.random.Generator, split: str = "train") -> Task:
        """Draw one task.

        Args:
            level: difficulty, 1 to 5.
            rng: the only source of randomness.
            split: "train", "validation" or "test".

        Raises:
            TaskError: the level or the split does not exist.
        """
        ...

    def load(self, task_id: str) -> Task:
        """Make the task of this id again, its hidden part included.

        Raises:
            TaskError: no task has this id.
        """
        ...


def distinct_tasks(source: TaskSource, level: int, n_tasks: int, *, seed: int = 0, split: str = "test") -> list[Task]:
    """Draw tasks of different structure.

    Args:
        source: makes the tasks.
        level: difficulty.
        n_tasks: how many.
        seed: decides which.
        split: the split to draw from.

    Returns:
        `n_tasks` tasks, no two of the same structure.

    Raises:
        TaskError: the split holds fewer structures than asked for.
    """
    return list(_distinct(source, level, n_tasks, np.random.default_rng(seed), split))


def _distinct(source: TaskSource, level: int, n_tasks: int, rng: np.random.Generator, split: str) -> Iterator[Task]:
    seen: set[str] = set()
    misses = 0
    while len(seen) < n_tasks:
        task = source.sample(level, rng, split)
        if task.structure not in seen:
            seen.add(task.structure)
            misses = 0
            yield task
            continue
        misses += 1
        if misses > 200 + 20 * len(seen):  # where one in len(seen) were new, so many misses would be a wonder
            raise TaskError(
                f"level {level} has no {n_tasks} distinct tasks in split {split!r}: found {len(seen)}. Ask for fewer."
            )
