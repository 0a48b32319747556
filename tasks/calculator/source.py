"""The tasks of the calculator domain: the smallest complete `TaskSource`.

A task's id holds the level, the split and a seed; the seed decides everything else. So an archived episode can be
judged again by whoever knows the id of its task.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from workgym.tasks.calculator.arithmetic import draw_sum, work_out
from workgym.tasks.errors import TaskError
from workgym.tasks.naming import unknown_name
from workgym.tasks.source import SPLITS, split_of
from workgym.tasks.task import LEVELS, Budget, Task, content_hash

__all__ = ["STYLES", "CalculatorTasks"]

STYLES: Final = ("full", "short")

_BUDGET: Final = Budget(turns=8, tokens=1024, wall_s=120.0)
_TASK_ID: Final = re.compile(r"calculator-(?P<level>[0-9])-(?P<split>[a-z]+)-(?P<seed>[0-9a-f]{1,16})")
_PROMPT: Final = (
    "Work out the sum below. Do one operation at a time with calculate, then submit its value: one whole number."
)


class CalculatorTasks:
    """Makes sums from seeds.

    Args:
        style: "full" puts the instructions before the sum; "short" shows the sum alone, for small models.

    Raises:
        ValueError: there is no such style.
    """

    def __init__(self, style: str = "full") -> None:
        if style not in STYLES:
            raise ValueError(unknown_name("style", style, STYLES))
        self.style: Final = style
        self.version: Final = "1"
        self.levels: Final = LEVELS

    def sample(self, level: int, rng: np.random.Generator, split: str = "train") -> Task:
        """Draw one task.

        Args:
            level: difficulty, 1 to 5.
            rng: the only source of randomness.
            split: "train", "validation" or "test".

        Raises:
            TaskError: the level or the split does not exist.
        """
        return self._make(level, split, int(rng.integers(0, 2**63)))

    def load(self, task_id: str) -> Task:
        """Make the task of this id again.

        Raises:
            TaskError: no task has this id.
        """
        match = _TASK_ID.fullmatch(task_id) if isinstance(task_id, str) else None
        if match is None:
            raise TaskError(
                f"no calculator task has the id {task_id!r}; ids look like calculator-1-test-1f (level, split, seed)"
            )
        return self._make(int(match["level"]), match["split"], int(match["seed"], 16))

    def _make(self, level: int, split: str, seed: int) -> Task:
        """The seed decides a sequence of sums; the task is the first of them that belongs to the split."""
        if level not in self.levels:
            raise TaskError(unknown_name("level", level, map(str, self.levels)))
        if split not in SPLITS:
            raise TaskError(unknown_name("split", split, SPLITS))
        rng = np.random.default_rng(seed)
        text = draw_sum(level, rng)
        while split_of(text) != split:
            text = draw_sum(level, rng)
        return Task(
            id=f"calculator-{level}-{split}-{seed:x}",
            domain="calculator",
            family="sum",
            level=level,
            split=split,
            prompt=_PROMPT if self.style == "full" else "",
            structure=content_hash(["sum", text]),
            public={"sum": text},
            hidden={"answer": str(work_out(text)[-1].value)},
            budget=_BUDGET,
            source=f"CalculatorTasks {self.version}",
        )
