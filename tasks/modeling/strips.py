"""Thin strips beside the faces of a feature, where there must be material or none."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from workgym.tasks.modeling.groups import tolerance_of
from workgym.tasks.modeling.profile import Corner

__all__ = ["Strip", "edge_strips", "fillet_strips", "generatrix_strips"]

_AZIMUTHS = 4
_FIRST_AZIMUTH = math.pi / 7  # of no symmetry, so that no strip lies where a polygon's corners do


@dataclass(frozen=True, slots=True)
class Strip:
    """A convex piece: a flat quadrilateral, and where it starts and ends along the axis.

    Attributes:
        base: its corners at the start, in the two coordinates of a profile.
        top: its corners at the end.
        start: along the axis.
        end: along the axis.
    """

    base: tuple[tuple[float, float], ...]
    top: tuple[tuple[float, float], ...]
    start: float = 0.0
    end: float = 0.0

    def between(self, start: float, end: float) -> Strip:
        """The same strip, elsewhere along the axis."""
        return replace(self, start=start, end=end)

    def as_shape(self, axis: int, center: Sequence[float] = (0.0, 0.0, 0.0)) -> dict[str, Any]:
        """The strip as a shape of a predicate; `center` is where its profile's origin lies."""
        first, second = (axis + 1) % 3, (axis + 2) % 3
        points = []
        for corners, along in ((self.base, self.start), (self.top, self.end)):
            for u, v in corners:
                point = [0.0, 0.0, 0.0]
                point[first], point[second], point[axis] = u + center[first], v + center[second], along
                points.append(point)
        return {"shape": "hull", "points": points}


def edge_strips(corners: Sequence[Corner], edge: int, t: float, thickness: float) -> Iterator[tuple[Strip, bool]]:
    """A strip on each side of the straight part of an outline's edge, and whether it lies within the outline.

    Args:
        corners: of the outline, counter-clockwise.
        edge: the one that begins at this corner.
        t: the tolerance of a flat face.
        thickness: of a strip, in tolerances.
    """
    n = len(corners)
    (x, y, _), (far_x, far_y, _) = corners[edge], corners[(edge + 1) % n]
    length = math.dist((x, y), (far_x, far_y))
    along = ((far_x - x) / length, (far_y - y) / length)
    inward = (-along[1], along[0])
    depth = (1 + thickness) * t
    first = _trim(corners, edge, depth)
    last = length - _trim(corners, (edge + 1) % n, depth)
    if last - first < 0.1 * length:
        if corners[edge][2] > 0:
            return  # all of the edge is round
        first, last = 0.45 * length, 0.55 * length
    for inside, near, far in ((True, t, depth), (False, -t, -depth)):
        points = [
            (x + along[0] * s + inward[0] * d, y + along[1] * s + inward[1] * d)
            for s, d in ((first, near), (last, near), (last, far), (first, far))
        ]
        yield Strip(tuple(points), tuple(points)), inside


def fillet_strips(corners: Sequence[Corner], index: int, level: int, thickness: float) -> Iterator[tuple[Strip, bool]]:
    """Strips beside the middle of a rounded corner's arc, one a side, and whether each lies in the outline.

    Where the radius grows by one, the middle of the arc moves inward by 1/sin(half the corner) - 1.
    """
    (x, y, radius), half = corners[index], _half_angle(corners, index)
    to_center, convex = _toward_center(corners, index)
    t = tolerance_of(radius, level) * (1 / math.sin(half) - 1)
    width = 0.7 * math.sqrt(t * radius)
    sag = width**2 / (2 * radius)
    middle = radius / math.sin(half) - radius  # from the corner to the arc
    across = (-to_center[1], to_center[0])
    # The arc bends toward its center: a flat strip on that side keeps off by its own sag.
    for toward, near, far in ((True, t + sag, (1 + thickness) * t + sag), (False, -t, -(1 + thickness) * t)):
        points = [
            (
                x + to_center[0] * (middle + d) + across[0] * s,
                y + to_center[1] * (middle + d) + across[1] * s,
            )
            for s, d in ((-width, near), (width, near), (width, far), (-width, far))
        ]
        yield Strip(tuple(points), tuple(points)), toward == convex


def generatrix_strips(
    ends: tuple[float, float], radii: tuple[float, float], level: int, thickness: float
) -> Iterator[tuple[Strip, bool]]:
    """Strips on each side of a cone's mantle, near both ends, and whether each lies within the cone.

    Args:
        ends: where it starts and ends along its axis.
        radii: there.
        level: decides the tolerance, which is that of the radius at the end.
        thickness: of a strip, in tolerances.
    """
    slope = (radii[1] - radii[0]) / (ends[1] - ends[0])
    along = tolerance_of(0, level)
    for end, radius, inward in ((ends[0], radii[0], 1), (ends[1], radii[1], -1)):
        t = tolerance_of(radius, level)
        reach = min(2 * thickness * t, 0.3 * (ends[1] - ends[0]))
        first, last = sorted((end + inward * along, end + inward * (along + reach)))
        span = [(at, radii[0] + slope * (at - ends[0])) for at in (first, last)]
        if min(narrow for _, narrow in span) < 3 * thickness * t:
            continue  # too near to the point of the cone
        for turn in range(_AZIMUTHS):
            azimuth = _FIRST_AZIMUTH + math.tau * turn / _AZIMUTHS
            for inside in (True, False):
                yield _on_mantle(span, azimuth, t, thickness * t, inside=inside), inside


def _on_mantle(span: list[tuple[float, float]], azimuth: float, t: float, width: float, *, inside: bool) -> Strip:
    out, across = (math.cos(azimuth), math.sin(azimuth)), (-math.sin(azimuth), math.cos(azimuth))
    least = min(radius for _, radius in span)
    half = math.sqrt(t * least / 4)
    sag = half**2 / (2 * least)
    quads = []
    for _, radius in span:
        near, far = (radius - t - sag, radius - t - sag - width) if inside else (radius + t, radius + t + width)
        quads.append(
            tuple(
                (out[0] * d + across[0] * s, out[1] * d + across[1] * s)
                for s, d in ((-half, near), (half, near), (half, far), (-half, far))
            )
        )
    return Strip(quads[0], quads[1], span[0][0], span[1][0])


def _trim(corners: Sequence[Corner], index: int, depth: float) -> float:
    """How far from a corner a strip has to end: beyond the fillet, and clear of the next edge."""
    half = _half_angle(corners, index)
    return max(depth, corners[index][2] / math.tan(half), depth / math.tan(half)) + depth


def _half_angle(corners: Sequence[Corner], index: int) -> float:
    """Half the angle between the two edges of a corner, less than a right one."""
    x, y, _ = corners[index]
    before, after = corners[index - 1], corners[(index + 1) % len(corners)]
    turn = math.atan2(after[1] - y, after[0] - x) - math.atan2(before[1] - y, before[0] - x)
    return abs(math.remainder(turn, math.tau)) / 2


def _toward_center(corners: Sequence[Corner], index: int) -> tuple[tuple[float, float], bool]:
    """The direction from a corner to its arc's center, and whether the corner is convex."""
    x, y, _ = corners[index]
    before, after = corners[index - 1], corners[(index + 1) % len(corners)]
    back = math.atan2(before[1] - y, before[0] - x)
    turn = math.remainder(math.atan2(after[1] - y, after[0] - x) - back, math.tau)
    middle = back + turn / 2
    return (math.cos(middle), math.sin(middle)), turn < 0
