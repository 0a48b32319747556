"""The script that makes a part: Python with manifold3d, as an agent would write it."""

from __future__ import annotations

from typing import Any, Final

from workgym.tasks.modeling.build import CLEARANCE_MM
from workgym.tasks.modeling.profile import outline
from workgym.tasks.modeling.shape import Shape, axis_of, lengthened
from workgym.tasks.modeling.tree import Tree, pieces

__all__ = ["oracle_script"]

_SEGMENTS: Final = 64
_TURNS: Final = {0: ".rotate((90, 0, 90))", 1: ".rotate((-90, -90, 0))", 2: ""}
"""What lays z along an axis, and x and y along the two that follow it."""


def oracle_script(tree: Tree) -> str:
    """A script that leaves the part in `result`, a manifold3d.Manifold.

    It takes 64 segments for a full circle, twice as many for rings and balls, which have two directions to be round in.
    """
    lines = ["from manifold3d import CrossSection, Manifold", "", "result = Manifold()"]
    for piece in pieces(tree):
        cuts = piece.step.verb == "cut"
        shape = lengthened(piece.shape, piece.open, CLEARANCE_MM) if cuts else piece.shape
        lines.append(f"result {'-' if cuts else '+'}= {_expression(shape)}  # {piece.step.name}")
    return "\n".join(lines) + "\n"


def _expression(shape: Shape) -> str:
    sizes: Any = shape.sizes
    if shape.kind == "box":
        size = [high - low for low, high in zip(sizes["low"], sizes["high"], strict=True)]
        return f"Manifold.cube({_tuple(size)}).translate({_tuple(sizes['low'])})"
    if shape.kind == "sphere":
        return f"Manifold.sphere({sizes['radius']!r}, {2 * _SEGMENTS}).translate({_tuple(sizes['center'])})"
    if shape.kind == "torus":
        tube = f"CrossSection.circle({sizes['tube']!r}, {_SEGMENTS}).translate({_tuple((sizes['radius'], 0))})"
        return f"Manifold.revolve({tube}, {2 * _SEGMENTS}).translate({_tuple(sizes['center'])})"
    if shape.kind == "cone":
        return _cone(sizes, axis_of(shape))
    points = [list(point) for point in outline([(u, v, r) for u, v, r in sizes["corners"]], _SEGMENTS)]
    place = [0.0, 0.0, 0.0]
    place[sizes["axis"]] = sizes["start"]
    solid = f"Manifold.extrude(CrossSection([{points!r}]), {sizes['end'] - sizes['start']!r})"
    return f"{solid}{_TURNS[sizes['axis']]}.translate({_tuple(place)})"


def _cone(sizes: Any, axis: int) -> str:
    length = sizes["end"][axis] - sizes["start"][axis]
    radii = f"{sizes['radius_start']!r}, {sizes['radius_end']!r}, {_SEGMENTS}"
    if length < 0:
        radii, length = f"{sizes['radius_end']!r}, {sizes['radius_start']!r}, {_SEGMENTS}", -length
    start = min(sizes["start"], sizes["end"], key=lambda point: point[axis])
    return f"Manifold.cylinder({length!r}, {radii}){_TURNS[axis]}.translate({_tuple(start)})"


def _tuple(values: Any) -> str:
    return "(" + ", ".join(repr(value) for value in values) + ")"
