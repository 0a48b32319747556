"""How a part compares with the wanted one, in numbers that leave the scorer's process."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Comparison"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a sound part compares with the wanted one.

    Attributes:
        spec: share of the groups that hold, of those that no null artifact passes; 0 where one that it passes does not.
        n_held: groups that hold.
        n_groups: all groups.
        iou: intersection over union.
        shape: the same above the best null artifact, in [0, 1].
        views: likeness of depth images above the best null artifact, in [0, 1].
    """

    spec: float
    n_held: int
    n_groups: int
    iou: float
    shape: float
    views: float
