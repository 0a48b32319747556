"""The wanted part and all that a part is compared with: made once a task, in the scorer's process alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from workgym.envs.modeling.comparison import Comparison
from workgym.envs.modeling.hidden_views import Cameras, likeness, look_at
from workgym.envs.modeling.mesh import Floats, Mesh, box_of, weld
from workgym.envs.modeling.mesh_file import Unreadable, parse
from workgym.envs.modeling.shape import above_null, overlap_of
from workgym.envs.modeling.sound import is_sound
from workgym.envs.modeling.spec import Part, SpecTest
from workgym.envs.modeling.surface import Flaw, close_surface
from workgym.tasks.errors import TaskError
from workgym.tasks.modeling.build import build
from workgym.tasks.modeling.groups import from_json
from workgym.tasks.modeling.tree import Tree

__all__ = ["Truth"]

_SAME: Final = 0.999
"""A null artifact that is as near to the wanted part is the wanted part."""

_DIGITS: Final = 9
"""A score is rounded: the last bits of a sum may depend on the order in which threads add it up."""


class Truth:
    """The wanted part of one task.

    Args:
        hidden: `Task.hidden`: tree, groups, solids, voids, views_seed.
        given: the mesh that the task hands out (binary STL), b"" if there is none.

    Raises:
        TaskError: the task's own part does not close, or its groups tell it from nothing.
    """

    def __init__(self, hidden: Mapping[str, Any], given: bytes = b"") -> None:
        self.solids, self.voids = int(hidden["solids"]), int(hidden["voids"])
        wanted = build(Tree.from_json(hidden["tree"]))
        mesh = close_surface(wanted.vertices, wanted.faces.astype(np.int64))
        if isinstance(mesh, Flaw):
            raise TaskError(f"the wanted part is no closed surface: {mesh.detail}")
        self._part = Part.of(mesh)
        self._cameras = Cameras.around(mesh, int(hidden["views_seed"]))
        self._seen = look_at(mesh, self._cameras)
        self._test = SpecTest(from_json(hidden["groups"]), self._part)
        nulls = [one for one in self._nulls(given) if self._iou(one) <= _SAME]
        self._null_iou = max((self._iou(one) for one in nulls), default=0.0)
        self._null_views = max((self._likeness(one) for one in nulls), default=0.0)
        passed = np.array([self._test.holds(one) for one in nulls], dtype=bool)
        self._is_factor = passed.any(axis=0) if nulls else np.zeros(len(hidden["groups"]), dtype=bool)
        if self._is_factor.all():
            raise TaskError("every group of the task is passed by its bounding block, its hull or its input")

    def _nulls(self, given: bytes) -> list[Part]:
        """What is to be had without work: the bounding block, the hull, and the input where it is a part."""
        from manifold3d import Manifold

        low, high = box_of(self._part.mesh.vertices)
        block = Manifold.cube([float(one) for one in high - low]).translate([float(one) for one in low])
        parts = [Part.of(_mesh_of(one)) for one in (block, self._part.manifold.hull())]
        if given:
            try:
                sound = is_sound(*parse(".stl", given))
            except Unreadable as error:
                raise TaskError(f"the input of the task cannot be read: {error}") from error
            if sound.flaw is None and sound.mesh is not None:
                parts.append(Part.of(sound.mesh))
        return parts

    def compare(self, mesh: Mesh) -> Comparison:
        """Compare a sound part."""
        part = Part.of(mesh)
        held = np.array(self._test.holds(part), dtype=bool)
        share = float(held[~self._is_factor].mean()) if held[self._is_factor].all() else 0.0
        iou = self._iou(part)
        return Comparison(
            spec=round(share, _DIGITS),
            n_held=int(held.sum()),
            n_groups=len(held),
            iou=round(iou, _DIGITS),
            shape=round(above_null(iou, self._null_iou), _DIGITS),
            views=round(above_null(self._likeness(part), self._null_views), _DIGITS),
        )

    def _iou(self, part: Part) -> float:
        mine, yours = (float(one.mesh.volumes.sum()) for one in (part, self._part))
        return overlap_of(part.manifold, mine, self._part.manifold, yours)

    def _likeness(self, part: Part) -> float:
        seen: Floats = look_at(part.mesh, self._cameras)
        return likeness(seen, self._seen, self._cameras.width)


def _mesh_of(manifold: Any) -> Mesh:
    mesh = manifold.to_mesh64()
    return weld(np.array(mesh.vert_properties)[:, :3].astype(np.float64), np.array(mesh.tri_verts).astype(np.int64))
