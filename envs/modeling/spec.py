"""Which groups of predicates hold of a part: each feature there, in its place and of its size."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from workgym.envs.modeling.mesh import Mesh, box_of
from workgym.tasks.errors import TaskError
from workgym.tasks.modeling.groups import Group

__all__ = ["Part", "SpecTest"]

_SEGMENTS: Final = 64
_NEGLIGIBLE: Final = 1e-3  # share of the smallest shape that may be missing or too much
_PROBES: Final = ("full", "empty")


@dataclass(frozen=True)
class Part:
    """A sound part, as it is measured.

    Attributes:
        mesh: welded.
        manifold: the same as a `manifold3d.Manifold`.
        n_solids: bodies of positive volume.
    """

    mesh: Mesh
    manifold: Any
    n_solids: int

    @classmethod
    def of(cls, mesh: Mesh) -> Part:
        """Make one of a mesh that is sound."""
        return cls(mesh, mesh.manifold(), int((mesh.volumes > 0).sum()))


class SpecTest:
    """Tells which groups hold. The shapes of its probes are built once.

    Args:
        groups: what is asked.
        truth: the wanted part.

    Raises:
        TaskError: a shape of a group has no volume.
    """

    def __init__(self, groups: Sequence[Group], truth: Part) -> None:
        self._truth = truth
        self._groups = [
            (
                [one for one in group.predicates if one.kind not in _PROBES],
                _probes(group, "full"),
                _probes(group, "empty"),
            )
            for group in groups
        ]

    def holds(self, part: Part) -> list[bool]:
        """Whether each group holds of a part."""
        return [
            all(_MEASURES[one.kind](part, one.params, self._truth) for one in measured)
            and (full is None or full.missing(part) <= full.negligible)
            and (empty is None or empty.common(part) <= empty.negligible)
            for measured, full, empty in self._groups
        ]


@dataclass(frozen=True)
class _Probes:
    """The shapes of one kind of a group, as one solid: what is asked is asked of all."""

    manifold: Any
    mm3: float
    negligible: float

    def common(self, part: Part) -> float:
        return float((self.manifold ^ part.manifold).volume())

    def missing(self, part: Part) -> float:
        return self.mm3 - self.common(part)


def _probes(group: Group, kind: str) -> _Probes | None:
    import manifold3d

    shapes = [_shape(one.params["shape"]) for one in group.predicates if one.kind == kind]
    if not shapes:
        return None
    least = min(float(one.volume()) for one in shapes)
    if not least > 0:
        raise TaskError(f"a shape of the group {group.name!r} has no volume")
    together = manifold3d.Manifold.batch_boolean(shapes, manifold3d.OpType.Add) if len(shapes) > 1 else shapes[0]
    return _Probes(together, float(together.volume()), _NEGLIGIBLE * least)


def _shape(shape: Mapping[str, Any]) -> Any:
    """The solid of a shape."""
    from manifold3d import Manifold

    kind = shape["shape"]
    if kind == "box":
        low, high = shape["low"], shape["high"]
        return Manifold.cube([b - a for a, b in zip(low, high, strict=True)]).translate(low)
    if kind == "ball":
        return Manifold.sphere(shape["radius"], _SEGMENTS).translate(shape["center"])
    if kind == "hull":
        return Manifold.hull_points(np.array(shape["points"], dtype=np.float64))
    length = math.dist(shape["from"], shape["to"])
    if kind == "cylinder":
        upright = Manifold.cylinder(length, shape["radius"], circular_segments=_SEGMENTS)
    elif kind == "cone":
        upright = _cone(length, shape["radius_from"], shape["radius_to"])
    else:
        core = Manifold.cylinder(3 * length, shape["inner"], circular_segments=_SEGMENTS).translate((0, 0, -length))
        upright = Manifold.cylinder(length, shape["outer"], circular_segments=_SEGMENTS) - core
    return upright.transform(_frame(shape["from"], shape["to"]))


def _cone(length: float, first: float, last: float) -> Any:
    """manifold3d wants the point of a cone at its far end."""
    from manifold3d import Manifold

    if first > 0:
        return Manifold.cylinder(length, first, last, _SEGMENTS)
    return Manifold.cylinder(length, last, 0, _SEGMENTS).mirror((0, 0, 1)).translate((0, 0, length))


def _frame(start: Sequence[float], end: Sequence[float]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The map that lays the z axis from one point to another, [3, 4]."""
    along = np.subtract(end, start) / math.dist(start, end)
    side = np.eye(3)[(int(np.argmax(np.abs(along))) + 1) % 3]
    x = side - (side @ along) * along
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(along, x), along, start])


def _bbox(part: Part, params: Mapping[str, Any], _: Part) -> bool:
    low, high = box_of(part.mesh.vertices)
    wanted_low, wanted_high, tolerance = (np.array(params[name]) for name in ("low", "high", "tolerance"))
    off = np.stack([low - wanted_low, high - wanted_high, (high - low) - (wanted_high - wanted_low)])
    return bool((np.abs(off) <= tolerance + 1e-9).all())


def _volume(part: Part, params: Mapping[str, Any], _: Part) -> bool:
    return bool(abs(float(part.mesh.volumes.sum()) - params["mm3"]) <= params["share"] * params["mm3"])


def _genus(part: Part, params: Mapping[str, Any], _: Part) -> bool:
    return bool(part.mesh.genera[part.mesh.volumes > 0].sum() == params["n"])


def _bodies(part: Part, params: Mapping[str, Any], _: Part) -> bool:
    return bool(part.n_solids == params["n"])


def _center_of_mass(part: Part, params: Mapping[str, Any], _: Part) -> bool:
    return bool(np.linalg.norm(part.mesh.moments[0] - params["xyz"]) <= params["tolerance"])


def _inertia(part: Part, params: Mapping[str, Any], _: Part) -> bool:
    wanted = np.array(params["tensor"])
    return bool(np.abs(part.mesh.moments[1] - wanted).max() <= params["share"] * np.abs(wanted).max())


def _unchanged(part: Part, params: Mapping[str, Any], truth: Part) -> bool:
    region = _shape({"shape": "box", "low": params["low"], "high": params["high"]})
    wanted, found = truth.manifold ^ region, part.manifold ^ region
    common = float((wanted ^ found).volume())
    differs = float(wanted.volume()) + float(found.volume()) - 2 * common
    return bool(differs <= params["share"] * max(float(wanted.volume()), _NEGLIGIBLE))


_Measure = Callable[[Part, Mapping[str, Any], Part], bool]
_MEASURES: Final[dict[str, _Measure]] = {
    "bbox": _bbox,
    "volume": _volume,
    "genus": _genus,
    "bodies": _bodies,
    "center_of_mass": _center_of_mass,
    "inertia": _inertia,
    "unchanged": _unchanged,
}
