"""Breaks a sound mesh in ways that can be repaired without knowing the part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt

from workgym.tasks.errors import TaskError
from workgym.tasks.modeling.solid import Solid
from workgym.tasks.naming import unknown_name

__all__ = ["FAULTS", "Triangles", "broken"]

Triangles = npt.NDArray[np.float64]
"""Corners of triangles in millimetres, [F, 3, 3]: triangle, corner, axis."""

_FLAT: Final = 1 - 1e-9
_DUPLICATES: Final = 0.15
_MOST: Final = 12


def broken(solid: Solid, fault: str, seed: int) -> Triangles:
    """The triangles of a solid, with a fault.

    Args:
        solid: a sound one, with a flat side across an axis.
        fault: a key of `FAULTS`.
        seed: decides where.

    Raises:
        TaskError: there is no such fault.
    """
    if fault not in FAULTS:
        raise TaskError(unknown_name("fault", fault, FAULTS))
    return FAULTS[fault](solid.vertices[solid.faces], np.random.default_rng(seed))


def _inverted(triangles: Triangles, _: np.random.Generator) -> Triangles:
    return triangles[:, ::-1]


def _partly_inverted(triangles: Triangles, rng: np.random.Generator) -> Triangles:
    """Turn the triangles of one flat side, and some of the others."""
    sides = _sides(triangles)
    turned = np.isin(np.arange(len(triangles)), sides[int(rng.integers(0, len(sides)))])
    turned |= (rng.random(len(triangles)) < 0.3) & ~np.isin(np.arange(len(triangles)), sides[0])
    if turned.all():
        turned[sides[0][0]] = False
    return np.where(turned[:, None, None], triangles[:, ::-1], triangles)


def _side_missing(triangles: Triangles, rng: np.random.Generator) -> Triangles:
    sides = _sides(triangles)
    return np.delete(triangles, sides[int(rng.integers(0, len(sides)))], axis=0)


def _triangles_missing(triangles: Triangles, rng: np.random.Generator) -> Triangles:
    """Take single triangles out of flat sides, so that what is to be filled is flat."""
    flat = np.concatenate(_sides(triangles))
    count = min(int(rng.integers(2, 5)), max(1, len(flat) // 2))
    return np.delete(triangles, rng.choice(flat, size=count, replace=False), axis=0)


def _duplicates(triangles: Triangles, rng: np.random.Generator) -> Triangles:
    twice = _some(len(triangles), rng, _DUPLICATES)
    return np.concatenate([triangles, triangles[twice]])


def _t_junctions(triangles: Triangles, rng: np.random.Generator) -> Triangles:
    """Split triangles at the middle of their longest edge, while their neighbor there stays whole."""
    first = np.linalg.norm(np.roll(triangles, -1, axis=1) - triangles, axis=2).argmax(axis=1)
    corners = [triangles[np.arange(len(triangles)), (first + step) % 3] for step in range(3)]
    middles = (corners[0] + corners[1]) / 2
    split = _some(len(triangles), rng, _DUPLICATES)
    split = split[np.unique(middles[split], axis=0, return_index=True)[1]]  # of two that share the edge only one
    a, b, c, middle = (points[split] for points in (*corners, middles))
    halves = [np.stack([a, middle, c], axis=1), np.stack([middle, b, c], axis=1)]
    return np.concatenate([np.delete(triangles, split, axis=0), *halves])


def _both(triangles: Triangles, rng: np.random.Generator) -> Triangles:
    return _duplicates(_t_junctions(triangles, rng), rng)


FAULTS: Final[dict[str, Callable[[Triangles, np.random.Generator], Triangles]]] = {
    "inverted": _inverted,
    "partly inverted": _partly_inverted,
    "side missing": _side_missing,
    "triangles missing": _triangles_missing,
    "duplicates": _duplicates,
    "T-junctions": _t_junctions,
    "duplicates and T-junctions": _both,
}
"""Fault -> what makes it."""


def _some(n: int, rng: np.random.Generator, share: float) -> npt.NDArray[np.int64]:
    count = min(_MOST, max(2, round(share * n)))
    return np.sort(rng.choice(n, size=count, replace=False))


def _sides(triangles: Triangles) -> list[npt.NDArray[np.int64]]:
    """The triangles of each flat side that lies across an axis, in a fixed order."""
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    found: list[npt.NDArray[np.int64]] = []
    for axis in range(3):
        for sign in (-1, 1):
            across = np.flatnonzero(sign * normals[:, axis] > _FLAT)
            heights = np.round(triangles[across, 0, axis], 6)
            found += [across[heights == height] for height in np.unique(heights)]
    return found
