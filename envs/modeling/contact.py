"""Where a surface meets itself: triangles that cross, lie upon one another or touch without being neighbors.

Every pair of triangles that comes near is looked at, so nothing is left to chance; what is shallower than `depth`
counts as rounding, since a file of single precision is no more exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from workgym.envs.modeling.mesh import Floats, Ints, Mesh
from workgym.envs.modeling.tree import BoxTree

__all__ = ["MOST_PAIRS", "Meeting", "find_meeting"]

MOST_PAIRS: Final = 30_000_000
"""Pairs of near triangles that are looked at; a part that anybody can use has a few for each of its triangles."""

_WIDE: Final = 10  # depths: booleans leave crumbs of about one, which fold upon themselves

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Meeting:
    """Where a surface meets itself.

    Attributes:
        kind: "crossing" (triangles cut through one another), "overlap" (they lie upon one another, material on the same
            side), "contact" (they lie upon or touch one another from two sides), "fold" (neighbors folded flat upon one
            another), or "tangle" (too many are near to be looked at).
        point: where, in mm.
    """

    kind: str
    point: tuple[float, float, float]


@dataclass(frozen=True)
class _Triangles:
    """One side of a list of pairs."""

    face: Ints
    corners: Floats
    normal: Floats
    unshared: Flags

    @classmethod
    def of(cls, mesh: Mesh, normals: Floats, face: Ints, shared: Flags) -> _Triangles:
        return cls(face, mesh.corners[face], normals[face], ~shared)

    def where(self, keep: Flags) -> _Triangles:
        return _Triangles(self.face[keep], self.corners[keep], self.normal[keep], self.unshared[keep])


def find_meeting(mesh: Mesh, depth: float) -> Meeting | None:
    """The first place found where the surface meets itself; None where there is none.

    Args:
        mesh: a closed manifold.
        depth: what is shallower is rounding, in mm.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        lengths = np.linalg.norm(mesh.crosses, axis=1, keepdims=True)
        normals = np.where(lengths > 0, mesh.crosses / lengths, 0.0)
    tree = BoxTree(mesh.corners.min(axis=1), mesh.corners.max(axis=1))
    n_pairs = 0
    for a, b in tree.pairs(2 * depth):
        n_pairs += len(a)
        if n_pairs > MOST_PAIRS:
            return Meeting("tangle", _point(mesh.corners[a[0], 0]))
        shared = mesh.faces[a][:, :, None] == mesh.faces[b][:, None, :]
        n_shared = shared.any(axis=2).sum(axis=1)
        found = _fold(mesh, a, b, shared, n_shared == 2, depth)
        apart = n_shared < 2
        a, b, shared = a[apart], b[apart], shared[apart]
        one = _Triangles.of(mesh, normals, a, shared.any(axis=2))
        other = _Triangles.of(mesh, normals, b, shared.any(axis=1))
        found = found or _between(one, other, depth)
        if found:
            return found
    return None


def _between(one: _Triangles, other: _Triangles, depth: float) -> Meeting | None:
    """The first meeting of triangles that have at most one vertex in common."""
    heights = _heights(one, other)  # of one's corners over the other's plane
    depths = _heights(other, one)
    for mine, yours, height in ((one, other, heights), (other, one, depths)):
        found = _pierced(mine, yours, height, depth) or _touched(mine, yours, height, depth)
        if found:
            return found
    flat = (np.abs(heights).max(axis=1) <= 2 * depth) | (np.abs(depths).max(axis=1) <= 2 * depth)
    return _lying_upon(one, other, flat, depth)


def _heights(one: _Triangles, other: _Triangles) -> Floats:
    heights = np.einsum("nki,ni->nk", one.corners - other.corners[:, :1], other.normal)
    return np.where(one.unshared, heights, 0.0)


def _pierced(one: _Triangles, other: _Triangles, height: Floats, depth: float) -> Meeting | None:
    """An edge of one goes through the other, from well above to well below."""
    spans = (height.max(axis=1) > depth) & (height.min(axis=1) < -depth)
    if not spans.any():
        return None
    one, other, height = one.where(spans), other.where(spans), height[spans]
    for k in range(3):
        a, b = height[:, k], height[:, (k + 1) % 3]
        through = (np.minimum(a, b) < -depth) & (np.maximum(a, b) > depth)
        if not through.any():
            continue
        start, end = one.corners[through, k], one.corners[through, (k + 1) % 3]
        t = a[through] / (a[through] - b[through])
        point = start + t[:, None] * (end - start)
        inside = _inside(point, other.where(through), -1e-9)
        if inside.any():
            return Meeting("crossing", _point(point[inside][0]))
    return None


def _touched(one: _Triangles, other: _Triangles, height: Floats, depth: float) -> Meeting | None:
    """A corner of one lies on the other, well within its edges."""
    for k in range(3):
        on = one.unshared[:, k] & (np.abs(height[:, k]) <= depth)
        if not on.any():
            continue
        inside = _inside(one.corners[on, k], other.where(on), _WIDE * depth)
        if inside.any():
            return Meeting("contact", _point(one.corners[on, k][inside][0]))
    return None


def _inside(points: Floats, triangles: _Triangles, margin: float) -> Flags:
    """Whether points of the triangles' planes lie within them, further than `margin` from each edge."""
    inside: Flags = np.any(triangles.normal != 0, axis=1)
    for k in range(3):
        start, end = triangles.corners[:, k], triangles.corners[:, (k + 1) % 3]
        along = end - start
        inward = np.cross(triangles.normal, along)
        reach = np.einsum("ni,ni->n", points - start, inward)
        inside &= reach >= margin * np.linalg.norm(along, axis=1)
    return inside


def _lying_upon(one: _Triangles, other: _Triangles, flat: Flags, depth: float) -> Meeting | None:
    """Two triangles of one plane that have an area in common, by the axes that could separate them."""
    flat = flat & np.any(one.normal != 0, axis=1) & np.any(other.normal != 0, axis=1)
    if not flat.any():
        return None
    one, other = one.where(flat), other.where(flat)
    least = np.full(len(one.face), np.inf)
    for triangles in (one, other):
        for k in range(3):
            along = triangles.corners[:, (k + 1) % 3] - triangles.corners[:, k]
            across = np.cross(triangles.normal, along)
            across /= np.linalg.norm(across, axis=1, keepdims=True)
            mine = np.einsum("nki,ni->nk", one.corners, across)
            yours = np.einsum("nki,ni->nk", other.corners, across)
            common = np.minimum(mine.max(axis=1) - yours.min(axis=1), yours.max(axis=1) - mine.min(axis=1))
            least = np.minimum(least, common)
    upon = least > _WIDE * depth
    if not upon.any():
        return None
    first = int(np.argmax(upon))
    kind = "overlap" if one.normal[first] @ other.normal[first] > 0 else "contact"
    return Meeting(kind, _point(one.corners[first].mean(axis=0)))


def _fold(mesh: Mesh, a: Ints, b: Ints, shared: npt.NDArray[np.bool_], pairs: Flags, depth: float) -> Meeting | None:
    """Neighbors that lie upon one another: their free corners are on the same side of the edge, in one plane."""
    a, b, shared = a[pairs], b[pairs], shared[pairs]
    if not len(a):
        return None
    rows = np.arange(len(a))
    free_a, free_b = np.argmin(shared.any(axis=2), axis=1), np.argmin(shared.any(axis=1), axis=1)
    start, end = mesh.corners[a][rows, (free_a + 1) % 3], mesh.corners[a][rows, (free_a + 2) % 3]
    along = (end - start) / np.linalg.norm(end - start, axis=1, keepdims=True)
    one, other = mesh.corners[a][rows, free_a] - start, mesh.corners[b][rows, free_b] - start
    one = one - np.einsum("ni,ni->n", one, along)[:, None] * along
    other = other - np.einsum("ni,ni->n", other, along)[:, None] * along
    far = np.maximum(np.linalg.norm(one, axis=1), np.linalg.norm(other, axis=1))
    near = np.minimum(np.linalg.norm(one, axis=1), np.linalg.norm(other, axis=1))
    gap = np.linalg.norm(np.cross(one, other), axis=1) / np.maximum(far, 1e-300)  # of the nearer from the other's line
    folded = (np.einsum("ni,ni->n", one, other) > 0) & (near > 10 * depth) & (gap < 0.2 * depth)
    if not folded.any():
        return None
    return Meeting("fold", _point(start[folded][0]))


def _point(xyz: Floats) -> tuple[float, float, float]:
    x, y, z = (float(one) for one in xyz)
    return x, y, z
