"""How much of its space a part has in common with the wanted one: volumes by exact booleans, no sampling."""

from __future__ import annotations

from typing import Any, Final

__all__ = ["ENOUGH", "above_null", "overlap_of"]

ENOUGH: Final = 0.98
"""The normalized value that counts as whole: coarser meshes than the truth's differ by less."""


def overlap_of(part: Any, part_mm3: float, other: Any, other_mm3: float) -> float:
    """Intersection over union of two solids.

    Only the intersection is a boolean; the union follows from it.

    Args:
        part: a `manifold3d.Manifold`.
        part_mm3: its volume.
        other: a `manifold3d.Manifold`.
        other_mm3: its volume.
    """
    common = float((part ^ other).volume())
    return min(1.0, max(0.0, common / (part_mm3 + other_mm3 - common)))


def above_null(value: float, null: float) -> float:
    """Where a likeness lies between that of the best null artifact (0) and sameness (1), in [0, 1].

    Args:
        value: the likeness, in [0, 1].
        null: the best that was to be had without any work, 0 if there is none.
    """
    if null >= 1.0:
        return 1.0 if value >= 1.0 else 0.0
    return min(1.0, max(0.0, (value - null) / (1 - null) / ENOUGH))
