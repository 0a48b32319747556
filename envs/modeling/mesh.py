"""A triangle mesh as it is measured: vertices that coincide are one, and each body is told apart.

All sums are numpy's over one fixed order, so that the same arrays give the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from workgym.tasks.modeling.solid import Solid

__all__ = ["WELD_MM", "Floats", "Ints", "Mesh", "box_of", "weld"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

WELD_MM: Final = 1e-4
"""Vertices on the same point of a grid of this width are one vertex."""


@dataclass(frozen=True)
class Mesh:
    """A welded mesh.

    Attributes:
        vertices: float64 [V, 3], each of them used.
        faces: int64 [F, 3].
    """

    vertices: Floats
    faces: Ints

    @cached_property
    def corners(self) -> Floats:
        """The positions of the faces' corners, [F, 3, 3]."""
        return self.vertices[self.faces]

    @cached_property
    def crosses(self) -> Floats:
        """The normals of the faces, each as long as twice its area, [F, 3]."""
        a, b, c = self.corners.swapaxes(0, 1)
        return np.cross(b - a, c - a)

    @cached_property
    def component_of(self) -> Ints:
        """The number of the body that each face belongs to, [F]: faces that share an edge are of one body."""
        return _labels(self.faces.shape[0], *_edge_neighbors(self.faces))

    @cached_property
    def volumes(self) -> Floats:
        """The signed volume of each body; a void's is negative."""
        a, b, c = (self.corners - self.vertices.mean(axis=0)).swapaxes(0, 1)
        sums: npt.NDArray[Any] = np.bincount(self.component_of, np.einsum("fi,fi->f", a, np.cross(b, c)) / 6)
        return sums

    @cached_property
    def areas(self) -> Floats:
        """The surface of each body."""
        sums: npt.NDArray[Any] = np.bincount(self.component_of, np.linalg.norm(self.crosses, axis=1) / 2)
        return sums

    @cached_property
    def genera(self) -> Ints:
        """The number of holes through each body, from Euler's formula; right where the mesh is a closed manifold."""
        faces = np.bincount(self.component_of)
        keys = np.unique(np.stack([np.repeat(self.component_of, 3), self.faces.ravel()], axis=1), axis=0)
        vertices = np.bincount(keys[:, 0], minlength=len(faces))
        return 1 - (vertices - faces // 2) // 2

    @cached_property
    def moments(self) -> tuple[Floats, Floats]:
        """The center of mass [3], and the inertia tensor about it at density 1 [3, 3]."""
        origin = self.vertices.mean(axis=0)
        corners = self.corners - origin
        a, b, c = corners.swapaxes(0, 1)
        sixths = np.einsum("fi,fi->f", a, np.cross(b, c))  # six times the volume of each tetrahedron to the origin
        total = corners.sum(axis=1)
        center = np.einsum("f,fi->i", sixths, total) / 24 / (sixths.sum() / 6)
        second = np.einsum("f,fi,fj->ij", sixths, total, total) + np.einsum("f,fki,fkj->ij", sixths, corners, corners)
        second = second / 120 - sixths.sum() / 6 * np.outer(center, center)
        return origin + center, np.trace(second) * np.eye(3) - second

    def solid(self) -> Solid:
        """The same mesh as other parts of the domain take it."""
        return Solid(self.vertices, self.faces.astype(np.int32))

    def manifold(self) -> Any:
        """The mesh as a `manifold3d.Manifold`. Its `status()` may say that it is none."""
        import manifold3d

        return manifold3d.Manifold(
            manifold3d.Mesh64(np.ascontiguousarray(self.vertices), self.faces.astype(np.uint64, order="C"))
        )


def weld(vertices: Floats, faces: Ints) -> Mesh:
    """Make one vertex of those that coincide; vertices that no face uses are left out. Nothing else is changed.

    A face may come out with two equal corners.

    Args:
        vertices: finite, [V, 3].
        faces: indices in range, [F, 3].
    """
    used, faces = np.unique(faces, return_inverse=True)
    vertices = vertices[used]
    grid = np.round(vertices / WELD_MM).astype(np.int64)
    order = np.lexsort(grid.T)
    ordered = grid[order]
    is_new = np.concatenate([[True], np.any(ordered[1:] != ordered[:-1], axis=1)])
    number = np.empty(len(vertices), dtype=np.int64)
    number[order] = np.cumsum(is_new) - 1
    return Mesh(np.ascontiguousarray(vertices[order[is_new]]), number[faces].reshape(-1, 3))


def box_of(vertices: Floats) -> tuple[Floats, Floats]:
    """The lowest and the highest corner of the bounding box."""
    return vertices.min(axis=0), vertices.max(axis=0)


def _edge_neighbors(faces: Ints) -> tuple[Ints, Ints]:
    """Pairs of faces that share an edge: each face of an edge with the next one."""
    ends = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    order = np.lexsort(ends.T)
    ends = ends[order]
    same = np.all(ends[1:] == ends[:-1], axis=1)
    face = order // 3
    return face[:-1][same], face[1:][same]


def _labels(n: int, a: Ints, b: Ints) -> Ints:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(a), dtype=np.int8), (a, b)), shape=(n, n))
    _, labels = connected_components(graph, directed=False)
    return np.asarray(labels, dtype=np.int64)
