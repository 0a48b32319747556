"""Whether triangles are the surface of anything: closed, of one winding, a manifold at each edge and each vertex."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from workgym.envs.modeling.mesh import Floats, Ints, Mesh, weld

__all__ = ["MAX_COORDINATE_MM", "MAX_TRIANGLES", "Flaw", "close_surface"]

MAX_TRIANGLES: Final = 200_000
MAX_COORDINATE_MM: Final = 1e5


@dataclass(frozen=True, slots=True)
class Flaw:
    """Why a mesh is no part.

    Attributes:
        label: the cause, to count by.
        detail: the cause in words.
    """

    label: str
    detail: str


def close_surface(vertices: Floats, faces: Ints) -> Mesh | Flaw:
    """Weld a mesh and see that it is a closed surface.

    Args:
        vertices: float64 [V, 3], as they were read.
        faces: int64 [F, 3], as they were read.

    Returns:
        The welded mesh, or why it is no closed surface.
    """
    flaw = _within_bounds(vertices, faces) or _without_doubled_corners(vertices, faces)
    if flaw:
        return flaw
    mesh = weld(vertices, faces)
    collapsed = _has_equal_corners(mesh.faces)
    if collapsed.any():
        kept = mesh.faces[~collapsed]
        if not np.isin(mesh.faces[collapsed], kept).all():
            return Flaw("degenerate", "a body is smaller than 0.0001 mm")
        mesh = Mesh(mesh.vertices, kept)
    return _at_each_edge(mesh) or _at_each_vertex(mesh) or mesh


def _within_bounds(vertices: Floats, faces: Ints) -> Flaw | None:
    if len(faces) == 0 or len(vertices) == 0:
        return Flaw("empty", "there is no triangle")
    if len(faces) > MAX_TRIANGLES:
        return Flaw("too_large", f"{len(faces):,} triangles; at most {MAX_TRIANGLES:,} are judged")
    if faces.min() < 0 or faces.max() >= len(vertices):
        return Flaw("index", "a triangle names a vertex that is not there")
    if not np.isfinite(vertices).all():
        return Flaw("not_finite", "a coordinate is not a finite number")
    if np.abs(vertices).max() > MAX_COORDINATE_MM:
        return Flaw("too_large", f"a coordinate lies beyond {MAX_COORDINATE_MM:g} mm")
    return None


def _has_equal_corners(faces: Ints) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    a, b, c = faces.T
    equal: np.ndarray[tuple[int], np.dtype[np.bool_]] = (a == b) | (b == c) | (c == a)
    return equal


def _without_doubled_corners(vertices: Floats, faces: Ints) -> Flaw | None:
    a, b, c = vertices[faces].swapaxes(0, 1)
    equal = np.all(a == b, axis=1) | np.all(b == c, axis=1) | np.all(c == a, axis=1)
    if equal.any():
        return Flaw("degenerate", f"{int(equal.sum())} triangles have two equal corners")
    return None


def _at_each_edge(mesh: Mesh) -> Flaw | None:
    """Each edge has two triangles, which run along it in opposite directions."""
    forth, back = _directed(mesh)
    forth, back = np.sort(forth), np.sort(back)
    if np.array_equal(forth, back) and not (forth[1:] == forth[:-1]).any():
        return None
    n = len(mesh.vertices)
    low, high = np.minimum(forth // n, forth % n), np.maximum(forth // n, forth % n)
    _, counts = np.unique(low * n + high, return_counts=True)
    if (counts > 2).any():
        return Flaw("nonmanifold", f"{int((counts > 2).sum())} edges have more than two triangles")
    if (counts < 2).any():
        return Flaw("open", f"{int((counts < 2).sum())} edges have one triangle only")
    return Flaw("winding", "neighbors face in opposite directions")


def _directed(mesh: Mesh) -> tuple[Ints, Ints]:
    """A number for each directed edge, and for the same edge backwards; edge k of a triangle begins at its corner k."""
    begin, end = mesh.faces.ravel(), np.roll(mesh.faces, -1, axis=1).ravel()
    return begin * len(mesh.vertices) + end, end * len(mesh.vertices) + begin


def _at_each_vertex(mesh: Mesh) -> Flaw | None:
    """The triangles at each vertex are one fan, not two that touch at their tips."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    forth, back = _directed(mesh)
    edge, twin = np.argsort(forth), np.argsort(back)  # the i-th of the one is the i-th of the other, backwards
    after_twin = twin // 3 * 3 + (twin % 3 + 1) % 3  # where the twin ends is where the edge begins
    size = 3 * len(mesh.faces)
    graph = coo_array((np.ones(size, dtype=np.int8), (edge, after_twin)), shape=(size, size))
    n_fans, _ = connected_components(graph, directed=False)
    n_vertices = len(np.unique(mesh.faces))
    if n_fans != n_vertices:
        return Flaw("nonmanifold", f"surfaces touch at {n_fans - n_vertices} points")
    return None
