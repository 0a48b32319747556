"""A flat outline whose corners may be round: its points, its area and where that is centred."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

__all__ = ["Corner", "area_and_center", "outline"]

_SAME_MM: Final = 1e-7  # where two arcs meet, as at the ends of a slot, one point is enough
_DIGITS: Final = 9  # an arc ends exactly in the plane of the face that it leaves

Corner = tuple[float, float, float]
"""A corner of an outline: its two coordinates and the radius of its fillet, 0 for a sharp one, in millimetres."""


def outline(corners: Sequence[Corner], segments: int) -> list[tuple[float, float]]:
    """The points of an outline, its arcs in as many chords as a full circle of `segments` would give them.

    Args:
        corners: counter-clockwise.
        segments: chords of a full circle.

    Returns:
        Points, counter-clockwise, the first one not repeated.
    """
    points: list[tuple[float, float]] = []
    for arc in _arcs(corners):
        if arc.radius == 0:
            points.append((arc.corner[0], arc.corner[1]))
            continue
        chords = max(1, round(segments * abs(arc.sweep) / math.tau))
        for chord in range(chords + 1):
            angle = arc.start + arc.sweep * chord / chords
            points.append((arc.center[0] + arc.radius * math.cos(angle), arc.center[1] + arc.radius * math.sin(angle)))
    points = [(round(x, _DIGITS), round(y, _DIGITS)) for x, y in points]
    return [point for i, point in enumerate(points) if math.dist(point, points[i - 1]) > _SAME_MM]


def area_and_center(corners: Sequence[Corner]) -> tuple[float, tuple[float, float]]:
    """Area and centroid of an outline with true arcs.

    A fillet takes from a convex corner, and adds to a reflex one, the kite between the corner, its two tangent points
    and the arc's center, less the sector of the arc.

    Returns:
        The area in square millimetres and the centroid in millimetres.
    """
    parts = [_polygon([(x, y) for x, y, _ in corners])]
    for arc in _arcs(corners):
        if arc.radius == 0:
            continue
        sign = -1.0 if arc.sweep > 0 else 1.0
        kite, kite_center = _polygon(arc.kite)
        sector = 0.5 * arc.radius**2 * abs(arc.sweep)
        reach = 4 * arc.radius * math.sin(abs(arc.sweep) / 2) / (3 * abs(arc.sweep))
        middle = arc.start + arc.sweep / 2
        sector_center = (arc.center[0] + reach * math.cos(middle), arc.center[1] + reach * math.sin(middle))
        parts += [(sign * abs(kite), kite_center), (-sign * sector, sector_center)]
    area = sum(part for part, _ in parts)
    center = tuple(sum(part * at[axis] for part, at in parts) / area for axis in (0, 1))
    return area, (center[0], center[1])


class _Arc:
    """The arc that rounds one corner; `sweep` is positive at a convex corner, in radians."""

    def __init__(self, before: Corner, corner: Corner, after: Corner) -> None:
        self.corner = corner
        self.radius = corner[2]
        into = math.atan2(corner[1] - before[1], corner[0] - before[0])
        out = math.atan2(after[1] - corner[1], after[0] - corner[0])
        self.sweep = math.remainder(out - into, math.tau)
        side = math.copysign(1.0, self.sweep)
        cut = self.radius * math.tan(abs(self.sweep) / 2)
        first = (corner[0] - cut * math.cos(into), corner[1] - cut * math.sin(into))
        last = (corner[0] + cut * math.cos(out), corner[1] + cut * math.sin(out))
        self.start = into - side * math.pi / 2
        self.center = (first[0] - self.radius * math.cos(self.start), first[1] - self.radius * math.sin(self.start))
        self.kite = [(corner[0], corner[1]), last, self.center, first]


def _arcs(corners: Sequence[Corner]) -> list[_Arc]:
    n = len(corners)
    return [_Arc(corners[i - 1], corners[i], corners[(i + 1) % n]) for i in range(n)]


def _polygon(points: Sequence[tuple[float, float]]) -> tuple[float, tuple[float, float]]:
    area = moment_x = moment_y = 0.0
    for (x, y), (next_x, next_y) in zip(points, [*points[1:], points[0]], strict=True):
        cross = x * next_y - next_x * y
        area += cross / 2
        moment_x += (x + next_x) * cross / 6
        moment_y += (y + next_y) * cross / 6
    return area, (moment_x / area, moment_y / area)
