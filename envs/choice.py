"""Which task an episode is about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from workgym.tasks.naming import unknown_name
from workgym.tasks.source import SPLITS, TaskSource
from workgym.tasks.task import Task

__all__ = ["choose_task", "known_level", "known_split"]

_OPTIONS: Final = ("task_id", "task", "level", "split")


def choose_task(
    source: TaskSource, options: Mapping[str, Any], level: int, split: str, rng: np.random.Generator
) -> Task:
    """The task that the options of `reset` ask for.

    Args:
        source: makes tasks.
        options: `task` (a Task), or `task_id`, or `level` and `split` to draw from.
        level: to draw from where the options name none.
        split: likewise.
        rng: draws.

    Raises:
        ValueError: an option is unknown, or its value does not exist.
        TaskError: no task has this id.
    """
    for name in options:
        if name not in _OPTIONS:
            raise ValueError(unknown_name("reset option", name, _OPTIONS))
    if "task" in options and "task_id" in options:
        raise ValueError("the reset options 'task' and 'task_id' both name a task: give one of them")
    if "task" in options:
        task = options["task"]
        if not isinstance(task, Task):
            raise ValueError(f"the reset option 'task' must be a Task, not {type(task).__name__}")
        return task
    if "task_id" in options:
        return source.load(options["task_id"])
    chosen = known_level(source, options.get("level", level))
    return source.sample(chosen, rng, known_split(options.get("split", split)))


def known_level(source: TaskSource, level: object) -> int:
    """A level of the source.

    Raises:
        ValueError: it has no such level.
    """
    if not isinstance(level, (int, np.integer)) or isinstance(level, bool):
        raise ValueError(f"level must be a whole number, not {level!r}")
    if int(level) in source.levels:
        return int(level)
    raise ValueError(unknown_name("level", level, map(str, source.levels)))


def known_split(split: object) -> str:
    """A split.

    Raises:
        ValueError: there is no such split.
    """
    if split not in SPLITS:
        raise ValueError(unknown_name("split", split, SPLITS))
    return str(split)
