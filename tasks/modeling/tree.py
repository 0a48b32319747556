"""A part as a tree of features: pure data, from which solid, volume, prompt, judging and oracle all follow."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from workgym.tasks.errors import TaskError
from workgym.tasks.modeling.shape import Point, Shape, bounds, measure, mirrored, moved
from workgym.tasks.naming import unknown_name

__all__ = [
    "VERBS",
    "Pattern",
    "Piece",
    "Step",
    "Tree",
    "center_of",
    "circle",
    "extent",
    "grid",
    "mirror",
    "pieces",
    "volume_of",
]

VERBS: Final = ("add", "cut")
_PATTERNS: Final = ("circle", "grid", "mirror")


@dataclass(frozen=True, slots=True)
class Pattern:
    """How a feature is repeated.

    Attributes:
        kind: "circle" (around a line along z), "grid" (in x and y) or "mirror" (the feature and its image).
        sizes: counts and distances in JSON types, as its maker names them.
    """

    kind: str
    sizes: Mapping[str, Any]


def circle(count: int, center: Sequence[float]) -> Pattern:
    """`count` copies, equally spaced around the line along z through `center`, the feature itself the first."""
    return Pattern("circle", {"count": count, "center": list(center)})


def grid(count_x: int, count_y: int, step_x: float, step_y: float) -> Pattern:
    """Rows and columns of copies, the feature itself at the lowest x and y."""
    return Pattern("grid", {"counts": [count_x, count_y], "steps": [step_x, step_y]})


def mirror(axis: int, at: float) -> Pattern:
    """The feature and its image in a mirror that stands across an axis (0, 1, 2) at a position."""
    return Pattern("mirror", {"axis": axis, "at": at})


@dataclass(frozen=True, slots=True)
class Step:
    """One feature.

    Attributes:
        name: what the feature is called, unique in its tree.
        verb: "add" material or "cut" it away.
        shape: where.
        open: the sides at which the shape ends in its like, so that there is no face: free space for a cut, material
            for an addition. "start" and "end" of a cone or prism, "x-" to "z+" of a box.
        pattern: how it is repeated, if it is.
        ways: how many ways through the part each copy opens.
    """

    name: str
    verb: str
    shape: Shape
    open: tuple[str, ...] = ()
    pattern: Pattern | None = None
    ways: int = 0

    def as_json(self) -> dict[str, Any]:
        """The step in JSON types."""
        pattern = None if self.pattern is None else {"kind": self.pattern.kind, **self.pattern.sizes}
        return {
            "name": self.name,
            "verb": self.verb,
            "shape": self.shape.as_json(),
            "open": list(self.open),
            "pattern": pattern,
            "ways": self.ways,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Step:
        """The step that `as_json` wrote.

        Raises:
            TaskError: its verb, shape or pattern does not exist.
        """
        if value["verb"] not in VERBS:
            raise TaskError(unknown_name("verb", value["verb"], VERBS))
        stored = value["pattern"]
        if stored is not None and stored["kind"] not in _PATTERNS:
            raise TaskError(unknown_name("pattern", stored["kind"], _PATTERNS))
        return cls(
            name=value["name"],
            verb=value["verb"],
            shape=Shape.from_json(value["shape"]),
            open=tuple(value["open"]),
            pattern=stored and Pattern(stored["kind"], {k: v for k, v in stored.items() if k != "kind"}),
            ways=int(value["ways"]),
        )


@dataclass(frozen=True, slots=True)
class Tree:
    """Features in the order in which they are made; the first one adds.

    Additions touch or stand apart, and cuts lie within what was added and apart from each other: so the volumes of the
    features add up to that of the part.

    Attributes:
        steps: the features.
    """

    steps: tuple[Step, ...]

    @property
    def genus(self) -> int:
        """Handles of the part, as many as there are ways through it."""
        return sum(piece.step.ways for piece in pieces(self))

    def as_json(self) -> dict[str, Any]:
        """The tree in JSON types."""
        return {"steps": [step.as_json() for step in self.steps]}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Tree:
        """The tree that `as_json` wrote.

        Raises:
            TaskError: a step of it names what does not exist.
        """
        return cls(tuple(Step.from_json(step) for step in value["steps"]))


@dataclass(frozen=True, slots=True)
class Piece:
    """One copy of a feature, where it lies.

    Attributes:
        step: the feature.
        shape: the copy's shape.
        open: its open sides.
    """

    step: Step
    shape: Shape
    open: tuple[str, ...] = field(default=())


def pieces(tree: Tree) -> Iterator[Piece]:
    """Every copy of every feature, in order."""
    for step in tree.steps:
        for shape, sides in _copies(step):
            yield Piece(step, shape, sides)


def volume_of(tree: Tree) -> float:
    """The part's volume in cubic millimetres, in closed form."""
    return math.fsum(_signed(piece)[0] for piece in pieces(tree))


def center_of(tree: Tree) -> Point:
    """The part's center of mass in millimetres, in closed form, for a density that is the same everywhere."""
    parts = [_signed(piece) for piece in pieces(tree)]
    total = math.fsum(volume for volume, _ in parts)
    x, y, z = (math.fsum(volume * center[axis] for volume, center in parts) / total for axis in range(3))
    return x, y, z


def extent(tree: Tree) -> tuple[Point, Point]:
    """The lowest and the highest corner of the part."""
    corners = [bounds(piece.shape) for piece in pieces(tree) if piece.step.verb == "add"]
    low = tuple(min(corner[0][axis] for corner in corners) for axis in range(3))
    high = tuple(max(corner[1][axis] for corner in corners) for axis in range(3))
    return (low[0], low[1], low[2]), (high[0], high[1], high[2])


def _signed(piece: Piece) -> tuple[float, Point]:
    volume, center = measure(piece.shape)
    return (volume if piece.step.verb == "add" else -volume), center


def _copies(step: Step) -> Iterator[tuple[Shape, tuple[str, ...]]]:
    shape, pattern = step.shape, step.pattern
    if pattern is None:
        yield shape, step.open
    elif pattern.kind == "grid":
        (count_x, count_y), (step_x, step_y) = pattern.sizes["counts"], pattern.sizes["steps"]
        for row in range(count_y):
            for column in range(count_x):
                yield moved(shape, (column * step_x, row * step_y, 0)), step.open
    elif pattern.kind == "mirror":
        axis, at = pattern.sizes["axis"], pattern.sizes["at"]
        yield shape, step.open
        yield mirrored(shape, axis, at), tuple(_seen_in_mirror(side, axis) for side in step.open)
    else:
        for copy in range(pattern.sizes["count"]):
            yield _turned(shape, math.tau * copy / pattern.sizes["count"], pattern.sizes["center"]), step.open


def _seen_in_mirror(side: str, axis: int) -> str:
    other = {"-": "+", "+": "-"}
    return side[0] + other[side[1]] if side[0] == "xyz"[axis] else side


def _turned(shape: Shape, angle: float, center: Sequence[float]) -> Shape:
    """Turn a cylinder that stands along z around a line along z."""
    if shape.kind != "cone" or shape.sizes["start"][:2] != shape.sizes["end"][:2]:
        raise TaskError(f"a circle of copies is made of cylinders along z, not of a {shape.kind}")
    x, y = (shape.sizes["start"][axis] - center[axis] for axis in (0, 1))
    cos, sin = math.cos(angle), math.sin(angle)
    return moved(shape, (x * cos - y * sin - x, x * sin + y * cos - y, 0))
