"""The script that makes a part: Python with manifold3d, as an agent would write it."""

from __future__ import annotations

from typing import Any, Final

from workgym.tasks.modeling.build import CLEARANCE_MM, TRUTH_SEGMENTS
from workgym.tasks.modeling.profile import outline
from workgym.tasks.modeling.shape import Shape, axis_of, lengthened
from workgym.tasks.modeling.tree import Tree, pieces

__all__ = ["oracle_script"]

_TURNS: Final = {0: ".rotate((90, 0, 90))", 1: ".rotate((-90, -90, 0))", 2: ""}
"""What lays z along an axis, and x and y along the two that follow it."""


def oracle_script(tree: Tree) -> str:
    """A script that leaves the part in `result`, a manifold3d.Manifold.

    It draws circles as the truth does: the null score of a small edit is so near to 1 that coarser ones would count.
    """
    lines = ["from manifold3d import CrossSection, Manifold", "", "result = Manifold()"]
    for piece in pieces(tree):
        cuts = piece.step.verb == "cut"
        shape = lengthened(piece.shape, piece.open, CLEARANCE_MM) if cuts else piece.shape
        segments = TRUTH_SEGMENTS // 2 if cuts else TRUTH_SEGMENTS
        lines.append(f"result {'-' if cuts else '+'}= {_expression(shape, segments)}  # {piece.step.name}")
    return "\n".join(lines) + "\n"


def _expression(shape: Shape, segments: int) -> str:
    sizes: Any = shape.sizes
    if shape.kind == "box":
        size = [high - low for low, high in zip(sizes["low"], sizes["high"], strict=True)]
        return f"Manifold.cube({_tuple(size)}).translate({_tuple(sizes['low'])})"
    if shape.kind == "sphere":
        return f"Manifold.sphere({sizes['radius']!r}, {segments}).translate({_tuple(sizes['center'])})"
    if shape.kind == "torus":
        tube = f"CrossSection.circle({sizes['tube']!r}, {segments * 3 // 4}).translate({_tuple((sizes['radius'], 0))})"
        return f"Manifold.revolve({tube}, {segments}).translate({_tuple(sizes['center'])})"
    if shape.kind == "cone":
        return _cone(sizes, axis_of(shape), segments)
    points = [list(point) for point in outline([(u, v, r) for u, v, r in sizes["corners"]], segments)]
    place = [0.0, 0.0, 0.0]
    place[sizes["axis"]] = sizes["start"]
    solid = f"Manifold.extrude(CrossSection([{points!r}]), {sizes['end'] - sizes['start']!r})"
    return f"{solid}{_TURNS[sizes['axis']]}.translate({_tuple(place)})"


def _cone(sizes: Any, axis: int, segments: int) -> str:
    length = sizes["end"][axis] - sizes["start"][axis]
    radii = f"{sizes['radius_start']!r}, {sizes['radius_end']!r}, {segments}"
    if length < 0:
        radii, length = f"{sizes['radius_end']!r}, {sizes['radius_start']!r}, {segments}", -length
    start = min(sizes["start"], sizes["end"], key=lambda point: point[axis])
    return f"Manifold.cylinder({length!r}, {radii}){_TURNS[axis]}.translate({_tuple(start)})"


def _tuple(values: Any) -> str:
    return "(" + ", ".join(repr(value) for value in values) + ")"
