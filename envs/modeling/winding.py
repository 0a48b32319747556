"""How often the surface wraps around a point, along straight lines through the part.

In a sound part every point lies inside once or not at all. Lines find what crosses or turns itself inside out, whatever
the surface looks like, and know nothing of the pairs of triangles that `contact` looks at: two nets with other holes.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from workgym.envs.modeling.mesh import Floats, Ints, Mesh, box_of
from workgym.envs.modeling.tree import BoxTree

__all__ = ["N_LINES", "WindingProbe"]

N_LINES: Final = 2000
"""Lines through a part, a third along each axis."""

_STEEP: Final = 0.05


class WindingProbe:
    """Answers how often a mesh winds around points.

    Args:
        mesh: a closed manifold.
    """

    def __init__(self, mesh: Mesh) -> None:
        self._mesh = mesh
        self._tree = BoxTree(mesh.corners.min(axis=1), mesh.corners.max(axis=1))

    def crossings(self, points: Floats, axis: int) -> tuple[Ints, Floats, Ints, Ints]:
        """Where lines along an axis cross the surface.

        Args:
            points: one on each line, [L, 3].
            axis: 0, 1 or 2.

        Returns:
            For each crossing, sorted by line and place: the line, the place along the axis, +1 where the line goes in
            and -1 where it comes out, and the face.
        """
        line, face = self._tree.hit_by_lines(points, axis)
        u, v = (axis + 1) % 3, (axis + 2) % 3
        corners = self._mesh.corners[face]
        x = corners[:, :, u] - points[line, u][:, None]
        y = corners[:, :, v] - points[line, v][:, None]
        parts = np.roll(x, -1, axis=1) * np.roll(y, -2, axis=1) - np.roll(x, -2, axis=1) * np.roll(y, -1, axis=1)
        total = parts.sum(axis=1)
        inside = (np.all(parts > 0, axis=1) | np.all(parts < 0, axis=1)) & (total != 0)
        line, face, parts, total, corners = line[inside], face[inside], parts[inside], total[inside], corners[inside]
        place = np.einsum("nk,nk->n", parts, corners[:, :, axis]) / total
        order = np.lexsort((place, line))
        return line[order], place[order], np.where(total < 0, 1, -1)[order], face[order]

    def around(self, points: Floats, axis: int, ignore: Ints | None = None) -> Ints:
        """How often the surface winds around each point, by the crossings below it along an axis.

        Args:
            points: off the surface, [L, 3].
            axis: 0, 1 or 2.
            ignore: a body for each point whose own surface does not count, [L].
        """
        line, place, step, face = self.crossings(points, axis)
        counts = place < points[line, axis]
        if ignore is not None:
            counts &= self._mesh.component_of[face] != ignore[line]
        return np.bincount(line[counts], step[counts], minlength=len(points)).astype(np.int64)

    def fault(self, rng: np.random.Generator, thickness: float) -> tuple[float, float, float] | None:
        """A point that the surface winds around neither once nor not at all; None where lines find none.

        Half of the lines go through the bounding box anywhere, half through a triangle each, so that small features
        are met too. A point counts once the other directions say the same.

        Args:
            rng: draws the lines.
            thickness: stretches of a line that are shorter are rounding, in mm.
        """
        for axis in range(3):
            points = self._draw(rng, N_LINES // 3, axis)
            line, place, step, _ = self.crossings(points, axis)
            if not len(line):
                continue
            winding = np.cumsum(step)
            begins = np.concatenate([[True], line[1:] != line[:-1]])
            before = np.concatenate([[0], winding[:-1]])
            winding -= np.repeat(before[begins], np.diff(np.append(np.flatnonzero(begins), len(line))))
            length = np.append(place[1:] - place[:-1], 0.0)
            length[np.append(begins[1:], True)] = 0.0
            wrong = ((winding < 0) | (winding > 1)) & (length > thickness)
            suspects = points[line[wrong]]
            suspects[:, axis] = place[wrong] + length[wrong] / 2
            again = np.stack([self.around(suspects, (axis + other) % 3) for other in (1, 2)])
            offending = suspects[((again < 0) | (again > 1)).all(axis=0)]
            if len(offending):
                x, y, z = (float(one) for one in offending[0])
                return x, y, z
        return None

    def _draw(self, rng: np.random.Generator, n: int, axis: int) -> Floats:
        low, high = box_of(self._mesh.vertices)
        anywhere = rng.uniform(low, high, (n // 2, 3))
        normals = np.abs(self._mesh.crosses)
        facing = np.flatnonzero(normals[:, axis] > _STEEP * normals.max(axis=1))  # a line within a wall tells nothing
        if not len(facing):
            return anywhere
        face = facing[rng.integers(0, len(facing), n - n // 2)]
        weights = rng.dirichlet((1.0, 1.0, 1.0), len(face))
        return np.concatenate([anywhere, np.einsum("nk,nki->ni", weights, self._mesh.corners[face])])
