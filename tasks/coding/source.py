"""The tasks of the coding domain, by family."""

from __future__ import annotations

import re
from typing import Any, Final

import numpy as np

from workgym.tasks.coding.expression import Puzzle, draw_function, draw_puzzle
from workgym.tasks.coding.function.make import draw_exercise
from workgym.tasks.coding.function.make_pair import draw_pair
from workgym.tasks.errors import TaskError
from workgym.tasks.naming import unknown_name
from workgym.tasks.source import SPLITS, split_of
from workgym.tasks.task import LEVELS, Budget, Task, content_hash

__all__ = ["FAMILIES", "CodingTasks"]

FAMILIES: Final = ("expression", "function")

_VERSIONS: Final = {"expression": "2", "function": "2"}
_BUDGET: Final = Budget(turns=4, tokens=1024, wall_s=120.0)
_FUNCTION_BUDGET: Final = Budget(turns=4, tokens=4096, wall_s=300.0)
_TASK_ID: Final = re.compile(r"coding-(?P<family>[a-z]+)-(?P<level>[0-9])-(?P<split>[a-z]+)-(?P<seed>[0-9a-f]{1,16})")
_PROMPT: Final = (
    "Find a Python expression in x, a whole number, that has the values shown. "
    "Try one with run, as often as your turns allow, then submit one: it is judged at other x."
)


class CodingTasks:
    """Makes coding tasks from seeds.

    Args:
        family: the kind of task: "expression" or "function".
        style: "full" puts the instructions before the examples; "short" drops them, for small models.

    Raises:
        ValueError: the family or the style does not exist.
    """

    def __init__(self, family: str = "expression", style: str = "full") -> None:
        if family not in FAMILIES:
            raise ValueError(unknown_name("family", family, FAMILIES))
        if style not in ("full", "short"):
            raise ValueError(unknown_name("style", style, ("full", "short")))
        self.family: Final = family
        self.style: Final = style
        self.version: Final = f"{family}-{_VERSIONS[family]}"
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
        if level not in self.levels:
            raise TaskError(unknown_name("level", level, map(str, self.levels)))
        if split not in SPLITS:
            raise TaskError(unknown_name("split", split, SPLITS))
        return self._make(level, split, int(rng.integers(0, 2**63)))

    def load(self, task_id: str) -> Task:
        """Make the task of this id again.

        Raises:
            TaskError: no task of this family has this id.
        """
        match = _TASK_ID.fullmatch(task_id) if isinstance(task_id, str) else None
        if match is None or match["family"] != self.family or match["split"] not in SPLITS:
            raise TaskError(
                f"no task of family {self.family!r} has the id {task_id!r}; "
                f"ids look like coding-{self.family}-1-test-1f (level, split, seed)"
            )
        if int(match["level"]) not in self.levels:
            raise TaskError(unknown_name("level", match["level"], map(str, self.levels)))
        return self._make(int(match["level"]), match["split"], int(match["seed"], 16))

    def _make(self, level: int, split: str, seed: int) -> Task:
        task_id = f"coding-{self.family}-{level}-{split}-{seed:x}"
        make = self._expression if self.family == "expression" else self._function
        return make(task_id, level, split, np.random.default_rng(seed))

    def _expression(self, task_id: str, level: int, split: str, rng: np.random.Generator) -> Task:
        """The seed decides a sequence of functions; the task is the first of them that belongs to the split.

        A function that a trivial expression equals (1*x+0) has no hidden inputs to be judged by, and is passed over.
        """
        puzzle: Puzzle | None = None
        while puzzle is None:
            function = draw_function(level, rng)
            if split_of(function.text) == split:
                puzzle = draw_puzzle(function, rng)
        return Task(
            id=task_id,
            domain="coding",
            family=self.family,
            level=level,
            split=split,
            prompt=_PROMPT if self.style == "full" else "",
            structure=content_hash([self.family, puzzle.text]),
            public={"examples": [list(pair) for pair in puzzle.shown]},
            hidden={"reference": puzzle.text, "cases": [list(pair) for pair in puzzle.hidden]},
            budget=_BUDGET,
            source=f"CodingTasks {self.version}",
        )

    def _function(self, task_id: str, level: int, split: str, rng: np.random.Generator) -> Task:
        exercise = draw_pair(rng, split) if level == max(self.levels) else draw_exercise(level, rng, split)
        hidden: dict[str, Any] = {
            "reference": exercise.reference,
            "cases": [case.as_json() for case in exercise.hidden],
            "n_parts": exercise.n_parts,
        }
        return Task(
            id=task_id,
            domain="coding",
            family=self.family,
            level=level,
            split=split,
            prompt=exercise.prompt,
            structure=content_hash([self.family, exercise.identity]),
            public={
                "entry_point": exercise.entry_point,
                **({"builder": exercise.builder} if exercise.builder else {}),
                "examples": [[list(case.args), case.value] for case in exercise.shown],
            },
            hidden={**hidden, "large": exercise.large} if exercise.large else hidden,
            budget=_FUNCTION_BUDGET,
            source=f"CodingTasks {self.version}",
        )
