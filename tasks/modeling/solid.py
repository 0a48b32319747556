"""A solid as a mesh, as every part of the domain hands it on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Solid"]


@dataclass(frozen=True, slots=True)
class Solid:
    """A closed triangle mesh in the datum frame of its task.

    Attributes:
        vertices: positions in millimetres, float64 [V, 3].
        faces: three vertices a triangle, counter-clockwise seen from outside, int32 [F, 3].
    """

    vertices: npt.NDArray[np.float64]
    faces: npt.NDArray[np.int32]
