"""The simple shapes that features are made of: placed in the datum frame, with exact volumes.

A shape is pure data. An axis is 0, 1 or 2 for x, y, z; a profile that runs along axis k lies in the plane of the axes
k + 1 and k + 2 (around the corner), so that its outline and its axis are right-handed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from workgym.tasks.errors import TaskError
from workgym.tasks.modeling.profile import Corner, area_and_center, outline
from workgym.tasks.naming import unknown_name

__all__ = [
    "Point",
    "Shape",
    "axis_of",
    "bounds",
    "box",
    "cone",
    "cylinder",
    "lengthened",
    "measure",
    "mirrored",
    "moved",
    "prism",
    "sphere",
    "torus",
]

Point = tuple[float, float, float]

_KINDS: Final = ("box", "cone", "prism", "sphere", "torus")


@dataclass(frozen=True, slots=True)
class Shape:
    """One solid of a kind that has a closed form.

    Attributes:
        kind: "box", "cone" (cylinders too), "prism", "sphere" or "torus".
        sizes: its positions and sizes in millimetres, JSON types, as its maker names them.
    """

    kind: str
    sizes: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        """The shape in JSON types."""
        return {"kind": self.kind, **self.sizes}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Shape:
        """The shape that `as_json` wrote.

        Raises:
            TaskError: there is no such kind.
        """
        if value["kind"] not in _KINDS:
            raise TaskError(unknown_name("shape", value["kind"], _KINDS))
        return cls(value["kind"], {name: size for name, size in value.items() if name != "kind"})


def box(low: Sequence[float], high: Sequence[float]) -> Shape:
    """A box between two corners."""
    return Shape("box", {"low": list(low), "high": list(high)})


def cylinder(start: Sequence[float], end: Sequence[float], radius: float) -> Shape:
    """A cylinder along an axis of the frame, from the center of one end to the center of the other."""
    return cone(start, end, radius, radius)


def cone(start: Sequence[float], end: Sequence[float], radius_start: float, radius_end: float) -> Shape:
    """A frustum of a cone along an axis of the frame; one radius may be 0."""
    return Shape(
        "cone", {"start": list(start), "end": list(end), "radius_start": radius_start, "radius_end": radius_end}
    )


def prism(corners: Sequence[Corner], axis: int, start: float, end: float) -> Shape:
    """An outline, counter-clockwise, drawn along an axis from `start` to `end`."""
    return Shape("prism", {"corners": [list(corner) for corner in corners], "axis": axis, "start": start, "end": end})


def sphere(center: Sequence[float], radius: float) -> Shape:
    """A ball."""
    return Shape("sphere", {"center": list(center), "radius": radius})


def torus(center: Sequence[float], radius: float, tube: float) -> Shape:
    """A ring around the z direction: `radius` reaches to the middle of the tube, `tube` is the tube's own radius."""
    return Shape("torus", {"center": list(center), "radius": radius, "tube": tube})


def axis_of(shape: Shape) -> int:
    """The axis along which a cone, a cylinder or a prism runs; 2 for the others."""
    if shape.kind == "prism":
        return int(shape.sizes["axis"])
    if shape.kind == "cone":
        start, end = shape.sizes["start"], shape.sizes["end"]
        return max(range(3), key=lambda axis: abs(end[axis] - start[axis]))
    return 2


def measure(shape: Shape) -> tuple[float, Point]:
    """Volume in cubic millimetres and center of mass in millimetres, exact for true curves."""
    sizes = shape.sizes
    if shape.kind == "box":
        low, high = sizes["low"], sizes["high"]
        return math.prod(h - b for b, h in zip(low, high, strict=True)), _blend(low, high, 0.5)
    if shape.kind == "cone":
        a, b = sizes["radius_start"], sizes["radius_end"]
        length, both = math.dist(sizes["start"], sizes["end"]), a * a + a * b + b * b
        return math.pi * length * both / 3, _blend(
            sizes["start"], sizes["end"], (a * a + 2 * a * b + 3 * b * b) / (4 * both)
        )
    if shape.kind == "sphere":
        return 4 / 3 * math.pi * sizes["radius"] ** 3, _point(sizes["center"])
    if shape.kind == "torus":
        return 2 * math.pi**2 * sizes["radius"] * sizes["tube"] ** 2, _point(sizes["center"])
    area, (u, v) = area_and_center(_corners(shape))
    center = [0.0, 0.0, 0.0]
    first, second, along = _plane(sizes["axis"])
    center[first], center[second], center[along] = u, v, (sizes["start"] + sizes["end"]) / 2
    return area * (sizes["end"] - sizes["start"]), _point(center)


def bounds(shape: Shape) -> tuple[Point, Point]:
    """The lowest and the highest corner of the smallest box around a shape, exact for true curves."""
    sizes = shape.sizes
    if shape.kind == "box":
        return _point(sizes["low"]), _point(sizes["high"])
    if shape.kind in ("sphere", "torus"):
        reach = (
            [sizes["radius"]] * 3 if shape.kind == "sphere" else [sizes["radius"] + sizes["tube"]] * 2 + [sizes["tube"]]
        )
        center = sizes["center"]
        return _point([c - r for c, r in zip(center, reach, strict=True)]), _point(
            [c + r for c, r in zip(center, reach, strict=True)]
        )
    low, high = [0.0] * 3, [0.0] * 3
    if shape.kind == "cone":
        along = axis_of(shape)
        radius = max(sizes["radius_start"], sizes["radius_end"])
        for axis in range(3):
            ends, out = (sizes["start"][axis], sizes["end"][axis]), 0.0 if axis == along else radius
            low[axis], high[axis] = min(ends) - out, max(ends) + out
        return _point(low), _point(high)
    first, second, along = _plane(sizes["axis"])
    points = outline(_corners(shape), 512)
    for axis, values in ((first, [p[0] for p in points]), (second, [p[1] for p in points])):
        low[axis], high[axis] = min(values), max(values)
    low[along], high[along] = sizes["start"], sizes["end"]
    return _point(low), _point(high)


def moved(shape: Shape, by: Sequence[float]) -> Shape:
    """The shape, shifted by so many millimetres along x, y and z."""
    sizes = dict(shape.sizes)
    for name in ("low", "high", "start", "end", "center"):
        if name in sizes and shape.kind != "prism":
            sizes[name] = [at + shift for at, shift in zip(sizes[name], by, strict=True)]
    if shape.kind == "prism":
        first, second, along = _plane(sizes["axis"])
        sizes["corners"] = [[u + by[first], v + by[second], r] for u, v, r in sizes["corners"]]
        sizes["start"], sizes["end"] = sizes["start"] + by[along], sizes["end"] + by[along]
    return Shape(shape.kind, sizes)


def lengthened(shape: Shape, sides: Sequence[str], by: float) -> Shape:
    """The shape, drawn out at some of its sides: "start" and "end" of a cylinder or prism, "x-" to "z+" of a box."""
    sizes = dict(shape.sizes)
    if shape.kind == "box":
        sizes["low"] = [at - by * (f"{axis}-" in sides) for axis, at in zip("xyz", sizes["low"], strict=True)]
        sizes["high"] = [at + by * (f"{axis}+" in sides) for axis, at in zip("xyz", sizes["high"], strict=True)]
    elif shape.kind == "prism":
        sizes["start"], sizes["end"] = sizes["start"] - by * ("start" in sides), sizes["end"] + by * ("end" in sides)
    elif shape.kind == "cone" and sizes["radius_start"] == sizes["radius_end"]:
        length = math.dist(sizes["start"], sizes["end"])
        for name, share in (("start", -by / length), ("end", 1 + by / length)):
            if name in sides:
                sizes[name] = list(_blend(shape.sizes["start"], shape.sizes["end"], share))
    return Shape(shape.kind, sizes)


def mirrored(shape: Shape, axis: int, at: float) -> Shape:
    """The shape as seen in a mirror that stands across an axis at a position."""
    sizes = dict(shape.sizes)

    def flip(point: Sequence[float]) -> list[float]:
        return [2 * at - value if index == axis else value for index, value in enumerate(point)]

    if shape.kind == "box":
        low, high = flip(sizes["low"]), flip(sizes["high"])
        low[axis], high[axis] = high[axis], low[axis]
        sizes.update(low=low, high=high)
    elif shape.kind == "prism":
        first, second, along = _plane(sizes["axis"])
        if axis == along:
            sizes["start"], sizes["end"] = 2 * at - sizes["end"], 2 * at - sizes["start"]
        else:
            place = (first, second).index(axis)
            turned = [[2 * at - c[i] if i == place else c[i] for i in range(3)] for c in sizes["corners"]]
            sizes["corners"] = turned[::-1]  # a mirror turns the sense of rotation
    else:
        sizes.update({name: flip(sizes[name]) for name in ("start", "end", "center") if name in sizes})
    return Shape(shape.kind, sizes)


def _plane(axis: int) -> tuple[int, int, int]:
    return (axis + 1) % 3, (axis + 2) % 3, axis


def _corners(shape: Shape) -> list[Corner]:
    return [(u, v, r) for u, v, r in shape.sizes["corners"]]


def _blend(a: Sequence[float], b: Sequence[float], share: float) -> Point:
    return _point([x + (y - x) * share for x, y in zip(a, b, strict=True)])


def _point(values: Sequence[float]) -> Point:
    x, y, z = values
    return float(x), float(y), float(z)
