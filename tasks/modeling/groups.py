"""What a part must hold, as plain data: predicates in groups, derived from the feature tree that made the task.

A predicate is measured on the solid alone. A feature that is absent, elsewhere or of another size is found by where
there must be material and where there must be none: a hole is an empty core and a full ring around it. Lengths are
millimetres in the task's datum frame.

A shape is a mapping with "shape" and, by its kind:
    box       low, high          xyz
    cylinder  from, to, radius   the ends of its axis
    cone      from, to, radius_from, radius_to
    ring      from, to, inner, outer   a tube
    ball      center, radius
    hull      points             the convex hull of at least four points
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from workgym.tasks.errors import TaskError
from workgym.tasks.naming import unknown_name

__all__ = [
    "KINDS", "SHAPES", "Group", "Predicate", "bbox", "bodies", "boss", "center_of_mass", "empty", "from_json", "full",
    "genus", "hole", "inertia", "to_json", "tolerance_of", "unchanged", "volume",
]  # fmt: skip

KINDS: Final[dict[str, tuple[str, ...]]] = {
    "bbox": ("low", "high", "tolerance"),
    "volume": ("mm3", "share"),
    "genus": ("n",),
    "bodies": ("n",),
    "center_of_mass": ("xyz", "tolerance"),
    "inertia": ("tensor", "share"),
    "full": ("shape",),
    "empty": ("shape",),
    "unchanged": ("low", "high", "share"),
}
"""Kind of predicate -> its parameters."""

SHAPES: Final[dict[str, tuple[str, ...]]] = {
    "box": ("low", "high"),
    "cylinder": ("from", "to", "radius"),
    "cone": ("from", "to", "radius_from", "radius_to"),
    "ring": ("from", "to", "inner", "outer"),
    "ball": ("center", "radius"),
    "hull": ("points",),
}
"""Kind of shape -> its parameters."""

_LEAST_MM: Final = 0.05
_SHARE: Final = 0.005
_FINE_SHARE: Final = 0.0025
_FINE_LEVEL: Final = 4

Point = Sequence[float]


@dataclass(frozen=True, slots=True)
class Predicate:
    """One thing that holds of a part or does not.

    Attributes:
        kind: a key of `KINDS`.
        params: what the kind needs, of JSON types.

    Raises:
        TaskError: there is no such kind, or a parameter is missing, unknown or not finite.
    """

    kind: str
    params: Mapping[str, Any]

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise TaskError(unknown_name("predicate", self.kind, KINDS))
        _check_names(f"predicate {self.kind!r}", self.params, KINDS[self.kind])
        if "shape" in self.params:
            shape = self.params["shape"]
            if shape.get("shape") not in SHAPES:
                raise TaskError(unknown_name("shape", str(shape.get("shape")), SHAPES))
            _check_names(f"shape {shape['shape']!r}", shape, ("shape", *SHAPES[shape["shape"]]))


@dataclass(frozen=True, slots=True)
class Group:
    """Predicates of one feature: the group holds where all of them hold.

    Attributes:
        name: of the feature, unique within a task.
        predicates: at least one.
    """

    name: str
    predicates: tuple[Predicate, ...]

    def __post_init__(self) -> None:
        if not self.predicates:
            raise TaskError(f"group {self.name!r} holds no predicate")


def _check_names(what: str, params: Mapping[str, Any], wanted: Sequence[str]) -> None:
    if sorted(params) != sorted(wanted):
        raise TaskError(f"{what} has the parameters {sorted(params)}; it needs {sorted(wanted)}")
    if not _all_finite(params):
        raise TaskError(f"{what} holds a number that is not finite: {dict(params)}")


def _all_finite(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(map(_all_finite, value.values()))
    if isinstance(value, (list, tuple)):
        return all(map(_all_finite, value))
    return not isinstance(value, float) or math.isfinite(value)


def tolerance_of(size: float, level: int) -> float:
    """How far a length may be off, in mm: 0.05 mm or 0.5 % of it (0.25 % from level 4 on), whichever is more."""
    return max(_LEAST_MM, (_FINE_SHARE if level >= _FINE_LEVEL else _SHARE) * abs(size))


def _share(level: int) -> float:
    """How far a volume may be off: as if three lengths were off by their tolerance."""
    return 3 * (_FINE_SHARE if level >= _FINE_LEVEL else _SHARE)


def _xyz(point: Point) -> list[float]:
    return [float(one) for one in point]


def bbox(low: Point, high: Point, level: int) -> Predicate:
    """The bounding box: each bound and each extent is within the tolerance of that extent."""
    tolerance = [tolerance_of(b - a, level) for a, b in zip(low, high, strict=True)]
    return Predicate("bbox", {"low": _xyz(low), "high": _xyz(high), "tolerance": tolerance})


def volume(mm3: float, level: int) -> Predicate:
    """The volume."""
    return Predicate("volume", {"mm3": float(mm3), "share": _share(level)})


def genus(n: int) -> Predicate:
    """The number of holes through the part, over all its bodies."""
    return Predicate("genus", {"n": n})


def bodies(n: int) -> Predicate:
    """The number of separate solids."""
    return Predicate("bodies", {"n": n})


def center_of_mass(xyz: Point, size: float, level: int) -> Predicate:
    """Where the center of mass is, within the tolerance of a length `size`."""
    return Predicate("center_of_mass", {"xyz": _xyz(xyz), "tolerance": tolerance_of(size, level)})


def inertia(tensor: Sequence[Point], level: int) -> Predicate:
    """The inertia tensor [3, 3] about the center of mass at density 1, relative to its largest entry."""
    return Predicate("inertia", {"tensor": [_xyz(row) for row in tensor], "share": 5 / 3 * _share(level)})


def full(shape: Mapping[str, Any]) -> Predicate:
    """There is material everywhere in this shape."""
    return Predicate("full", {"shape": dict(shape)})


def empty(shape: Mapping[str, Any]) -> Predicate:
    """There is no material anywhere in this shape."""
    return Predicate("empty", {"shape": dict(shape)})


def hole(start: Point, end: Point, radius: float, level: int, wall: float = 0.5) -> tuple[Predicate, Predicate]:
    """A round hole: its core is empty, and the ring around it is full.

    Args:
        start: one end of the axis of what is tested; within the material, for the ring to be full.
        end: the other end.
        radius: of the hole.
        level: decides the tolerance.
        wall: thickness of the ring; there must be that much material around the hole.
    """
    t = tolerance_of(radius, level)
    ends = {"from": _xyz(start), "to": _xyz(end)}
    core = {"shape": "cylinder", **ends, "radius": radius - t}
    return empty(core), full({"shape": "ring", **ends, "inner": radius + t, "outer": radius + t + wall})


def boss(start: Point, end: Point, radius: float, level: int, gap: float = 0.5) -> tuple[Predicate, Predicate]:
    """A round pin: its core is full, and the ring around it is empty for `gap` mm."""
    t = tolerance_of(radius, level)
    ends = {"from": _xyz(start), "to": _xyz(end)}
    core = {"shape": "cylinder", **ends, "radius": radius - t}
    return full(core), empty({"shape": "ring", **ends, "inner": radius + t, "outer": radius + t + gap})


def unchanged(low: Point, high: Point, level: int) -> Predicate:
    """Within this box the part is as the wanted one: they differ by a small share of its material there."""
    share = _FINE_SHARE if level >= _FINE_LEVEL else _SHARE
    return Predicate("unchanged", {"low": _xyz(low), "high": _xyz(high), "share": share})


def to_json(groups: Sequence[Group]) -> list[dict[str, Any]]:
    """The groups as JSON types, for `Task.hidden`."""
    return [
        {"name": group.name, "predicates": [{"kind": one.kind, "params": dict(one.params)} for one in group.predicates]}
        for group in groups
    ]


def from_json(data: Sequence[Mapping[str, Any]]) -> tuple[Group, ...]:
    """The groups of `to_json`.

    Raises:
        TaskError: a predicate or a shape is not one of those known, or two groups have one name.
    """
    groups = tuple(
        Group(one["name"], tuple(Predicate(each["kind"], each["params"]) for each in one["predicates"])) for one in data
    )
    if len({group.name for group in groups}) < len(groups):
        raise TaskError(f"two groups have one name: {[group.name for group in groups]}")
    return groups
