"""Meshes made for the tests: sound ones, and each way to be none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Arrays = tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]

_CUBE = [
    (0, 2, 1), (1, 2, 3), (4, 5, 6), (5, 7, 6), (0, 1, 4), (1, 5, 4),
    (2, 6, 3), (3, 6, 7), (0, 4, 2), (2, 4, 6), (1, 3, 5), (3, 7, 5),
]  # fmt: skip


def box(low: Sequence[float] = (0, 0, 0), high: Sequence[float] = (10, 10, 10)) -> Arrays:
    corners = [[(low, high)[k >> axis & 1][axis] for axis in range(3)] for k in range(8)]
    return np.array(corners, dtype=np.float64), np.array(_CUBE, dtype=np.int64)


def octahedron(center: Sequence[float], radius: float) -> Arrays:
    signs = [np.eye(3)[axis] * sign for axis in range(3) for sign in (1, -1)]
    faces = [(0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4), (2, 0, 5), (1, 2, 5), (3, 1, 5), (0, 3, 5)]
    return np.array(center) + radius * np.array(signs), np.array(faces, dtype=np.int64)


def joined(*meshes: Arrays) -> Arrays:
    vertices, faces, n = [], [], 0
    for v, f in meshes:
        vertices.append(v)
        faces.append(f + n)
        n += len(v)
    return np.concatenate(vertices), np.concatenate(faces)


def inverted(mesh: Arrays) -> Arrays:
    return mesh[0], mesh[1][:, ::-1].copy()


def moved(mesh: Arrays, by: Sequence[float]) -> Arrays:
    return mesh[0] + np.array(by), mesh[1]


def scaled(mesh: Arrays, by: float) -> Arrays:
    center = (mesh[0].min(axis=0) + mesh[0].max(axis=0)) / 2
    return (mesh[0] - center) * by + center, mesh[1]


def tube(path: Callable[[float], Sequence[float]], n: int, sides: int, radius: float) -> Arrays:
    """A bent rod, whose cross-sections stand upright: closed at both ends by a fan."""
    t = np.linspace(0, 1, n)
    points = np.array([path(one) for one in t], dtype=np.float64)
    ahead = np.gradient(points, axis=0)
    ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
    side = np.cross(ahead, [0, 0, 1])
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    up = np.cross(side, ahead)
    angles = np.arange(sides) * 2 * np.pi / sides + 0.1
    rings = points[:, None] + radius * (
        np.cos(angles)[None, :, None] * side[:, None] + np.sin(angles)[None, :, None] * up[:, None]
    )
    vertices = np.concatenate([rings.reshape(-1, 3), points[[0, -1]]])
    faces = []
    for i in range(n - 1):
        for k in range(sides):
            a, b = i * sides + k, i * sides + (k + 1) % sides
            faces += [(a, a + sides, b), (b, a + sides, b + sides)]
    for k in range(sides):
        faces.append((n * sides, k, (k + 1) % sides))
        faces.append((n * sides + 1, (n - 1) * sides + (k + 1) % sides, (n - 1) * sides + k))
    made = vertices, np.array(faces, dtype=np.int64)
    return made if volume(made) > 0 else inverted(made)


def loop_tube(rise: float, radius: float = 1.0, n: int = 80) -> Arrays:
    """A rod along a figure of eight: it goes through itself where `rise` is less than its diameter."""
    return tube(
        lambda t: (10 * np.sin(2 * np.pi * (t * 0.8 + 0.3)), 6 * np.sin(4 * np.pi * (t * 0.8 + 0.3)), rise * t * 1.6),
        n,
        12,
        radius,
    )


def spiked(depth: float) -> Arrays:
    """A cube whose top is pushed in to a spike as deep as `depth`: more than 10 and it comes out below."""
    v, f = box()
    v = np.concatenate([v, [[4.9, 4.9, 10], [5.1, 4.9, 10], [5, 5.1, 10], [5, 5, 10 - depth]]])
    top = [(4, 5, 8), (5, 9, 8), (5, 7, 9), (7, 10, 9), (7, 6, 10), (6, 8, 10), (6, 4, 8)]
    f = np.array([*(one for one in map(tuple, f) if one not in {(4, 5, 6), (5, 7, 6)}), *top,
                  (8, 9, 11), (9, 10, 11), (10, 8, 11)])  # fmt: skip
    return v, f


def volume(mesh: Arrays) -> float:
    a, b, c = mesh[0][mesh[1]].swapaxes(0, 1)
    return float(np.einsum("fi,fi->", a, np.cross(b, c)) / 6)


def of_manifold(solid: Any) -> Arrays:
    mesh = solid.to_mesh64()
    return np.array(mesh.vert_properties)[:, :3], np.array(mesh.tri_verts).astype(np.int64)


def split_edge(mesh: Arrays) -> Arrays:
    """One triangle is split at the middle of an edge, and its neighbor is not: a T-junction."""
    v, f = mesh
    a, b, c = f[0]
    v = np.concatenate([v, [(v[a] + v[b]) / 2]])
    return v, np.concatenate([f[1:], [(a, len(v) - 1, c), (len(v) - 1, b, c)]])


def scattered(size: float, n: int = 5000) -> Arrays:
    """Micro tetrahedra around a cube."""
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=np.float64) * size
    faces = np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
    places = np.random.default_rng(3).uniform(11, 20, (n, 3))
    vertices = (places[:, None] + corners).reshape(-1, 3)
    return joined(box(), (vertices, (faces + 4 * np.arange(n)[:, None, None]).reshape(-1, 3)))


def pleated(gap: float) -> Arrays:
    """A bar of which the outline runs forth, back and forth again: three layers that are `gap` apart."""
    outline = [(0, 0), (10, 0), (10, 5), (3, 5), (3, 5 + gap), (7, 5 + gap), (7, 5 + 2 * gap), (0, 5 + 2 * gap)]
    import manifold3d

    solid = manifold3d.Manifold.extrude(manifold3d.CrossSection([outline]), 4)
    return of_manifold(solid)


def folded_fin() -> Arrays:
    """A cube with a flap of no thickness on its top."""
    v, f = box()
    n = len(v)
    v = np.concatenate([v, [[2, 5, 10], [8, 5, 10], [5, 5, 14]]])
    p, q, r = n, n + 1, n + 2
    kept = [tuple(one) for one in f if tuple(one) not in {(4, 5, 6), (5, 7, 6)}]
    top = [(4, 5, p), (5, q, p), (5, 7, q), (7, 6, q), (6, p, q), (6, 4, p)]
    return v, np.array([*kept, *top, (p, q, r), (q, p, r)])
