"""The tasks of the modeling domain, by family."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from workgym.tasks.errors import TaskError
from workgym.tasks.modeling.build import build, stl_bytes
from workgym.tasks.modeling.draft import Draft
from workgym.tasks.modeling.families.change import change_groups
from workgym.tasks.modeling.families.edit import draw_edit
from workgym.tasks.modeling.families.repair import draw_repair
from workgym.tasks.modeling.families.text import draw_text
from workgym.tasks.modeling.faults import broken
from workgym.tasks.modeling.frame import frame_around
from workgym.tasks.modeling.groups import to_json
from workgym.tasks.modeling.probes import groups_of
from workgym.tasks.modeling.prompts import INPUT
from workgym.tasks.modeling.tree import Tree
from workgym.tasks.naming import unknown_name
from workgym.tasks.source import SPLITS, split_of
from workgym.tasks.task import Budget, Task, content_hash

__all__ = ["FAMILIES", "SEEDS", "ModelingTasks"]

_DRAW: Final[dict[str, Callable[[int, np.random.Generator, str], Draft]]] = {
    "text_to_part": draw_text,
    "edit": draw_edit,
    "repair": draw_repair,
}
FAMILIES: Final = tuple(_DRAW)

SEEDS: Final = {
    "train": range(2**62),
    "validation": range(2**62, 2**62 + 2**61),
    "test": range(2**62 + 2**61, 2**63),
}
"""Split -> the seeds of its tasks."""

_LEVELS: Final = (1, 2, 3)
_VERSIONS: Final = {"text_to_part": "1", "edit": "1", "repair": "1"}
_BUDGETS: Final = {
    1: Budget(turns=4, tokens=4096, wall_s=300.0),
    2: Budget(turns=6, tokens=8192, wall_s=450.0),
    3: Budget(turns=8, tokens=12288, wall_s=600.0),
}
_TASK_ID: Final = re.compile(
    r"modeling-(?P<family>[a-z_]+)-(?P<level>[0-9])-(?P<split>[a-z]+)-(?P<seed>[0-9a-f]{1,16})"
)


class ModelingTasks:
    """Makes modeling tasks from seeds.

    Three things keep the splits apart: they share no seed and no structure, and kinds of parts that are held out are in
    split "test" alone, of which they are half.

    Args:
        family: the kind of task: "text_to_part", "edit" or "repair".
        style: "full" tells everything in sentences; "short" in few words, for small models: only
            text_to_part of level 1.

    Raises:
        ValueError: the family or the style does not exist, or the two do not go together.
    """

    def __init__(self, family: str = "text_to_part", style: str = "full") -> None:
        if family not in FAMILIES:
            raise ValueError(unknown_name("family", family, FAMILIES))
        if style not in ("full", "short"):
            raise ValueError(unknown_name("style", style, ("full", "short")))
        if style == "short" and family != "text_to_part":
            raise ValueError(f"style 'short' is for family 'text_to_part', not {family!r}")
        self.family: Final = family
        self.style: Final = style
        self.version: Final = f"{family}-{_VERSIONS[family]}"
        self.levels: Final = _LEVELS if style == "full" else (1,)

    def sample(self, level: int, rng: np.random.Generator, split: str = "train") -> Task:
        """Draw one task.

        Args:
            level: difficulty, 1 to 3.
            rng: the only source of randomness.
            split: "train", "validation" or "test".

        Raises:
            TaskError: the level or the split does not exist.
        """
        if level not in self.levels:
            raise TaskError(unknown_name("level", level, map(str, self.levels)))
        if split not in SPLITS:
            raise TaskError(unknown_name("split", split, SPLITS))
        seeds = SEEDS[split]
        return self._make(level, split, int(rng.integers(seeds.start, seeds.stop)))

    def load(self, task_id: str) -> Task:
        """Make the task of this id again.

        Raises:
            TaskError: no task of this family has this id.
        """
        match = _TASK_ID.fullmatch(task_id) if isinstance(task_id, str) else None
        if (
            match is None
            or match["family"] != self.family
            or match["split"] not in SPLITS
            or int(match["seed"], 16) not in SEEDS[match["split"]]
        ):
            raise TaskError(
                f"no task of family {self.family!r} has the id {task_id!r}; "
                f"ids look like modeling-{self.family}-1-train-1f (level, split, a seed of the split's own)"
            )
        if int(match["level"]) not in self.levels:
            raise TaskError(unknown_name("level", match["level"], map(str, self.levels)))
        return self._make(int(match["level"]), match["split"], int(match["seed"], 16))

    def _make(self, level: int, split: str, seed: int) -> Task:
        """The seed decides a sequence of parts; the task is the first of them that belongs to the split."""
        rng = np.random.default_rng(seed)
        draft, structure = None, ""
        while draft is None or split_of(structure) != split:
            draft = _DRAW[self.family](level, rng, split)
            structure = content_hash([self.family, _anonymous(draft.tree), list(draft.variant)])
        start = dict(draft.start)
        more = change_groups(draft.change, level) if draft.change else ()
        return Task(
            id=f"modeling-{self.family}-{level}-{split}-{seed:x}",
            domain="modeling",
            family=self.family,
            level=level,
            split=split,
            prompt=draft.full if self.style == "full" else draft.short,
            structure=structure,
            files=_Start(start) if start else {},
            public={"sizes": dict(draft.told), "words": _words(draft), "frame": frame_around(draft.tree)},
            hidden={
                "template": draft.template.name,
                "held_out": draft.template.held_out,
                "tree": draft.tree.as_json(),
                "groups": to_json([*groups_of(draft.tree, level), *more]),
                "solids": 1,
                "voids": 0,
                "views_seed": int(rng.integers(0, 2**31)),
                "half_right": draft.half_right.as_json(),
                **({"input": start} if start else {}),
            },
            budget=_BUDGETS[level],
            source=f"ModelingTasks {self.version}",
        )


@dataclass(frozen=True, eq=False)
class _Start(Mapping[str, bytes]):
    """The workspace of an edit or a repair; its file is made when it is asked for."""

    start: Mapping[str, Any]

    def __getitem__(self, path: str) -> bytes:
        if path != INPUT:
            raise KeyError(path)
        return self._content

    def __iter__(self) -> Iterator[str]:
        yield INPUT

    def __len__(self) -> int:
        return 1

    @functools.cached_property
    def _content(self) -> bytes:
        solid = build(Tree.from_json(self.start["tree"]))
        if "fault" in self.start:
            return stl_bytes(broken(solid, self.start["fault"], self.start["seed"]))
        return stl_bytes(solid.vertices[solid.faces])


def _anonymous(tree: Tree) -> list[Any]:
    """A tree without the names of its features: what they are called does not make it another part."""
    return [{**step.as_json(), "name": ""} for step in tree.steps]


def _words(draft: Draft) -> list[str]:
    """The names of features and shapes: an agent may know them, and they occur in prompts by their nature."""
    steps = [*draft.tree.steps, *draft.half_right.steps]
    names = {step.name for step in steps} | {step.shape.kind for step in steps} | set(draft.template.name.split("_"))
    return sorted(names)
