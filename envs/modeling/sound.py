"""The gate: whether what was handed in is a part at all, and as many solids and voids as were asked for.

No one test is enough. An empty mesh is "no error" to manifold3d, a tube that crosses itself is one watertight volume to
trimesh, and a ray that counts crossings misses an exact duplicate. So several nets with different holes lie behind one
another, the cheap ones first: the surface closes; its bodies have a volume of the right sign; no two triangles meet
that are no neighbors; lines through it wind at most once; each body lies in no other; manifold3d agrees. Nothing is
repaired.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from workgym.envs.modeling.contact import find_meeting
from workgym.envs.modeling.mesh import Floats, Ints, Mesh
from workgym.envs.modeling.surface import Flaw, close_surface
from workgym.envs.modeling.winding import WindingProbe

__all__ = ["Soundness", "is_sound"]

_DEPTH_MM: Final = 1e-4
_DEPTH_SHARE: Final = 5e-7  # of the largest coordinate: eight steps of single precision
_LEAST_THICKNESS_MM: Final = 1e-3
_SAME_VOLUME: Final = 1e-6

_MEETINGS: Final = {
    "crossing": "the surface cuts through itself",
    "overlap": "surfaces lie upon one another, with material on the same side",
    "contact": "the surface touches itself, so that a wall or a gap has no thickness",
    "fold": "the surface is folded flat upon itself",
    "tangle": "too many triangles lie in the same place",
}


@dataclass(frozen=True)
class Soundness:
    """What the gate found.

    Attributes:
        flaw: why it is no part; None where it is one.
        mesh: the welded mesh; None where the surface does not close.
        n_solids: bodies of positive volume.
        n_voids: closed cavities within them.
    """

    flaw: Flaw | None
    mesh: Mesh | None = None
    n_solids: int = 0
    n_voids: int = 0


def is_sound(
    vertices: Floats, faces: Ints, *, solids: int | None = None, voids: int | None = None, seed: int = 0
) -> Soundness:
    """Whether a mesh is a part.

    Args:
        vertices: as they were read, float64 [V, 3].
        faces: as they were read, [F, 3].
        solids: how many the task asks for; None takes any number.
        voids: how many cavities it asks for; None takes any number.
        seed: draws the lines that are looked along.
    """
    surface = close_surface(np.asarray(vertices, dtype=np.float64), np.asarray(faces, dtype=np.int64))
    if isinstance(surface, Flaw):
        return Soundness(surface)
    n_solids, n_voids = int((surface.volumes > 0).sum()), int((surface.volumes < 0).sum())
    rng = np.random.default_rng(seed)
    flaw = (
        _of_bodies(surface)
        or _of_counts(n_solids, n_voids, solids, voids)
        or _of_meetings(surface)
        or _of_winding(surface, rng)
        or _of_kernel(surface)
    )
    return Soundness(flaw, surface, n_solids, n_voids)


def _depth(mesh: Mesh) -> float:
    return max(_DEPTH_MM, _DEPTH_SHARE * float(np.abs(mesh.vertices).max()))


def _of_bodies(mesh: Mesh) -> Flaw | None:
    """Each body has a volume, and one at least is not inside out."""
    thickness = 2 * np.abs(mesh.volumes) / mesh.areas
    if not np.isfinite(thickness).all() or thickness.min() < _LEAST_THICKNESS_MM:
        return Flaw("flat", "a body has no volume")
    if not (mesh.volumes > 0).any():
        return Flaw("inverted", "the surface is inside out")
    return None


def _of_counts(n_solids: int, n_voids: int, solids: int | None, voids: int | None) -> Flaw | None:
    if solids is not None and n_solids != solids:
        return Flaw("solids", f"solids: {n_solids}, asked for: {solids}")
    if voids is not None and n_voids != voids:
        return Flaw("voids", f"cavities or inverted bodies: {n_voids}, cavities asked for: {voids}")
    return None


def _of_meetings(mesh: Mesh) -> Flaw | None:
    meeting = find_meeting(mesh, _depth(mesh))
    if meeting is None:
        return None
    x, y, z = meeting.point
    return Flaw(meeting.kind, f"{_MEETINGS[meeting.kind]}, near ({x:.4g}, {y:.4g}, {z:.4g})")


def _of_winding(mesh: Mesh, rng: np.random.Generator) -> Flaw | None:
    """No line winds twice or backwards, and every body has material on its inside and none on its outside."""
    probe = WindingProbe(mesh)
    inside, outside = _sides(mesh, probe, rng)
    if (inside < 1).any() or (outside < 0).any():
        return Flaw("inverted", "a body is inside out, or a cavity lies in no body")
    if (inside > 1).any() or (outside > 0).any():
        return Flaw("overlap", "a body lies within another")
    point = probe.fault(rng, 10 * _depth(mesh))
    if point is not None:
        x, y, z = point
        return Flaw("winding", f"the surface wraps twice or backwards around ({x:.4g}, {y:.4g}, {z:.4g})")
    return None


def _sides(mesh: Mesh, probe: WindingProbe, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """How often the surface winds around a point just inside and just outside of each body.

    "Inside" is where the body's normals do not point: for a cavity that is the material around it.
    """
    area = np.linalg.norm(mesh.crosses, axis=1)
    order = np.lexsort((area, mesh.component_of))
    last = np.append(mesh.component_of[order][1:] != mesh.component_of[order][:-1], True)
    face = order[last]  # the largest of each body
    weights = rng.dirichlet((4.0, 4.0, 4.0), len(face))
    on = np.einsum("nk,nki->ni", weights, mesh.corners[face])
    step = mesh.crosses[face] / area[face][:, None] * 5 * _depth(mesh)
    votes = [[probe.around(on + side * step, axis) for axis in range(3)] for side in (-1, 1)]
    inside, outside = (np.median(one, axis=0).astype(np.int64) for one in votes)
    return inside, outside


def _of_kernel(mesh: Mesh) -> Flaw | None:
    """manifold3d takes it for a volume, of the same size, and its solids together are no smaller than one by one."""
    import manifold3d

    whole = mesh.manifold()
    if whole.status() != manifold3d.Error.NoError or whole.is_empty():
        return Flaw("kernel", "the solid modeling kernel does not take it for a solid")
    total = float(mesh.volumes.sum())
    if not abs(whole.volume() - total) <= _SAME_VOLUME * abs(total):
        return Flaw("kernel", "the solid modeling kernel finds another volume")
    if len(mesh.volumes) > 1 and (mesh.volumes > 0).all():
        solids = whole.decompose()
        apart = sum(part.volume() for part in solids)
        together = manifold3d.Manifold.batch_boolean(solids, manifold3d.OpType.Add).volume()
        if not abs(apart - together) <= _SAME_VOLUME * apart:
            return Flaw("overlap", "bodies overlap")
    return None
