"""The groups of a part: what must hold of its features, derived from its tree.

Along every face of a feature lie two thin probes, one within the feature and one beyond it, each a tolerance from the
face: the one must be full and the other empty, or the other way round where the feature is cut away. So a face that is
off by twice its tolerance fails its feature's group, whatever else the part is like. Where a feature ends in its like
there is no face. Probes of what is added lie at its rims, since holes may go through its middle.

A round face has the tolerance of its radius. A flat one has the least there is: it is told in exact numbers, and no
number of chords can move it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

from workgym.tasks.modeling.groups import (
    Group,
    Predicate,
    bbox,
    bodies,
    center_of_mass,
    empty,
    full,
    genus,
    tolerance_of,
    volume,
)
from workgym.tasks.modeling.profile import Corner
from workgym.tasks.modeling.shape import Shape, axis_of, bounds
from workgym.tasks.modeling.strips import edge_strips, fillet_strips, generatrix_strips
from workgym.tasks.modeling.tree import Piece, Tree, center_of, extent, pieces, volume_of

__all__ = ["THICKNESS", "groups_of"]

THICKNESS: Final = 2.0
"""Thickness of a probe, in tolerances."""

_EDGES: Final = ("y-", "x+", "y+", "x-")  # of a box, as its outline goes around


def groups_of(tree: Tree, level: int) -> tuple[Group, ...]:
    """The groups that a tree's part passes: one for the outer size, one for the whole, one for each feature.

    A part of one feature has one group for size and whole: its bounding block is then no part way to it.

    Args:
        tree: the features.
        level: decides the tolerances.
    """
    low, high = extent(tree)
    size = max(b - a for a, b in zip(low, high, strict=True))
    single = len(tree.steps) == 1
    outer = (bbox(low, high, level), bodies(1))
    place = center_of_mass(center_of(tree), 0.0 if single else size, level)
    whole = (genus(tree.genus), volume(volume_of(tree), level), place)
    features: dict[str, list[Predicate]] = {}
    for piece in pieces(tree):
        found = features.setdefault(piece.step.name, [])
        if not (piece.shape.kind == "box" and bounds(piece.shape) == (low, high)):  # else the bounding box is enough
            found += _predicates(piece, level, first=not found)
    named = tuple(Group(name, tuple(found)) for name, found in features.items() if found)
    if single:
        return (Group("size", (*outer, *whole)), *named)
    return (Group("size", outer), Group("whole", whole), *named)


def _predicates(piece: Piece, level: int, *, first: bool) -> list[Predicate]:
    within, beyond = (full, empty) if piece.step.verb == "add" else (empty, full)
    return [within(shape) if inside else beyond(shape) for shape, inside in _probes(piece, level, detailed=first)]


def _probes(piece: Piece, level: int, *, detailed: bool) -> Iterator[tuple[dict[str, Any], bool]]:
    """Probe shapes, and whether each lies within its feature. The whole's measures are enough for a ball."""
    shape = piece.shape
    if shape.kind == "cone" and shape.sizes["radius_start"] == shape.sizes["radius_end"]:
        yield from _of_cylinder(piece, level)
    elif shape.kind == "cone":
        yield from _of_cone(piece, level)
    elif shape.kind in ("box", "prism"):
        yield from _of_prism(piece, level, detailed=detailed)
    elif shape.kind == "torus":
        yield from _of_torus(shape, level)


def _of_cylinder(piece: Piece, level: int) -> Iterator[tuple[dict[str, Any], bool]]:
    axis, start, end = _spine(piece.shape)
    center, radius = piece.shape.sizes["start"], piece.shape.sizes["radius_start"]
    t, along = tolerance_of(radius, level), tolerance_of(0, level)
    w = THICKNESS * t
    near, opens = (start + along, end - along), _ends(piece)
    rim = (max(0.0, radius - t - w), radius - t)
    if piece.step.verb == "cut":
        yield _tube(axis, center, near, 0.0, rim[1]), True
        inner, outer = [near, *_beside(opens, _zones(*near, along))], [near]
    else:
        inner = outer = _zones(*near, along)
    yield from ((_tube(axis, center, zone, *rim), True) for zone in inner)
    yield from ((_tube(axis, center, zone, radius + t, radius + t + w), False) for zone in outer)
    yield from ((_tube(axis, center, zone, *rim), False) for zone in _beside(opens, _outside(start, end, along)))


def _of_cone(piece: Piece, level: int) -> Iterator[tuple[dict[str, Any], bool]]:
    axis, start, end = _spine(piece.shape)
    center, radii = piece.shape.sizes["start"], _radii(piece.shape)
    along = tolerance_of(0, level)
    for strip, inside in generatrix_strips((start, end), radii, level, THICKNESS):
        yield strip.as_shape(axis, center), inside
    for is_open, radius, zone in zip(_ends(piece), radii, _outside(start, end, along), strict=True):
        t = tolerance_of(radius, level)
        if not is_open and radius > (1 + THICKNESS) * t:
            yield _tube(axis, center, zone, radius - (1 + THICKNESS) * t, radius - t), False


def _of_prism(piece: Piece, level: int, *, detailed: bool) -> Iterator[tuple[dict[str, Any], bool]]:
    """Strips along the edges of its outline; copies after the first keep those that tell where they are."""
    corners, axis, (start, end) = _profile(piece.shape)
    along, opens = tolerance_of(0, level), _ends(piece)
    near = (start + along, end - along)
    rims = _zones(*near, along)
    caps = _beside(opens, _outside(start, end, along)) if detailed else []
    if piece.step.verb == "cut":
        inner, outer = [near, *(_beside(opens, rims) if detailed else [])], [near]
    else:
        inner = outer = rims if detailed else rims[-1:]
    for edge in range(len(corners)):
        closed = piece.shape.kind == "prism" or _EDGES[edge] not in piece.open
        for strip, inside in edge_strips(corners, edge, along, THICKNESS):
            if inside or closed:
                zones = inner if inside else outer
                yield from ((strip.between(*zone).as_shape(axis), inside) for zone in zones)
            if inside:
                yield from ((strip.between(*zone).as_shape(axis), False) for zone in caps)
        if detailed and corners[edge][2] > 0:
            for strip, inside in fillet_strips(corners, edge, level, THICKNESS):
                yield from ((strip.between(*zone).as_shape(axis), inside) for zone in outer)


def _of_torus(shape: Shape, level: int) -> Iterator[tuple[dict[str, Any], bool]]:
    """Rings along its inner and its outer equator, so flat that the tube's roundness does not count."""
    center, radius, tube = shape.sizes["center"], shape.sizes["radius"], shape.sizes["tube"]
    t = tolerance_of(tube, level)
    half = math.sqrt(t * tube / 2)
    sag, w = half**2 / (2 * tube), THICKNESS * t
    zone = (center[2] - half, center[2] + half)
    inner, outer = radius - tube, radius + tube
    yield _tube(2, center, zone, inner + t + sag, inner + t + sag + w), True
    yield _tube(2, center, zone, outer - t - sag - w, outer - t - sag), True
    yield _tube(2, center, zone, inner - t - w, inner - t), False
    yield _tube(2, center, zone, outer + t, outer + t + w), False


def _profile(shape: Shape) -> tuple[list[Corner], int, tuple[float, float]]:
    sizes = shape.sizes
    if shape.kind == "prism":
        return [(u, v, r) for u, v, r in sizes["corners"]], sizes["axis"], (sizes["start"], sizes["end"])
    (x, y, z), (far_x, far_y, far_z) = sizes["low"], sizes["high"]
    return [(x, y, 0.0), (far_x, y, 0.0), (far_x, far_y, 0.0), (x, far_y, 0.0)], 2, (z, far_z)


def _spine(shape: Shape) -> tuple[int, float, float]:
    """The axis of a cone, and where it starts and ends along it, the lower first."""
    axis = axis_of(shape)
    low, high = sorted((shape.sizes["start"][axis], shape.sizes["end"][axis]))
    return axis, low, high


def _radii(shape: Shape) -> tuple[float, float]:
    first, last = shape.sizes["radius_start"], shape.sizes["radius_end"]
    return (last, first) if _turned(shape) else (first, last)


def _ends(piece: Piece) -> tuple[bool, bool]:
    """Whether the lower and the upper end are open."""
    names = ("z-", "z+") if piece.shape.kind == "box" else ("start", "end")
    low, high = (name in piece.open for name in names)
    return (high, low) if piece.shape.kind == "cone" and _turned(piece.shape) else (low, high)


def _turned(shape: Shape) -> bool:
    axis = axis_of(shape)
    return bool(shape.sizes["end"][axis] < shape.sizes["start"][axis])


def _zones(low: float, high: float, t: float) -> list[tuple[float, float]]:
    """The two ends of a length."""
    width = THICKNESS * t
    return [(low, low + width), (high - width, high)] if high - low > 2 * width else [(low, high)] * 2


def _outside(start: float, end: float, t: float) -> list[tuple[float, float]]:
    w = THICKNESS * t
    return [(start - t - w, start - t), (end + t, end + t + w)]


def _beside(opens: tuple[bool, bool], zones: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Of the zones at the two ends those at closed ends."""
    return [zone for is_open, zone in zip(opens, zones, strict=True) if not is_open]


def _tube(axis: int, center: Sequence[float], zone: tuple[float, float], inner: float, outer: float) -> dict[str, Any]:
    ends = [[zone[side] if k == axis else float(center[k]) for k in range(3)] for side in (0, 1)]
    if inner <= 0:
        return {"shape": "cylinder", "from": ends[0], "to": ends[1], "radius": outer}
    return {"shape": "ring", "from": ends[0], "to": ends[1], "inner": inner, "outer": outer}
