"""Pictures of a part, for observations."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from workgym.tasks.modeling.solid import Solid

MODES: Final = ("shaded", "depth", "section")
VIEWS: Final = ("front", "right", "top", "iso", "iso_back", "bottom", "back", "left")
IMAGE_SHAPE: Final = (512, 768, 3)

__all__ = ["IMAGE_SHAPE", "MODES", "VIEWS", "draw_part"]


def draw_part(solid: Solid | None, frame: Any, view: str = "", mode: str = "shaded") -> npt.NDArray[np.uint8]:
    """Stand-in."""
    image = np.zeros(IMAGE_SHAPE, np.uint8)
    if solid is not None:
        image[0, 0, 0] = 1 + int(np.abs(solid.vertices).sum()) % 200
    return image
