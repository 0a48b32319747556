"""What draws triangles, as the rest of the domain knows it.

Where is looked from, how a face is lit and what is written over a picture is decided elsewhere, once. A renderer gets
triangles that lie in front of its camera and have their colors, and says which of them is seen in each pixel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, Protocol

import numpy as np
import numpy.typing as npt

__all__ = ["BACKENDS", "Backend", "Bytes", "Drawn", "Floats32", "ViewRenderer"]

Floats32 = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.uint8]

Backend = Literal["pyrender", "raycast"]
BACKENDS: Final[tuple[Backend, ...]] = ("pyrender", "raycast")
"""In the order in which they are tried."""


@dataclass(frozen=True)
class Drawn:
    """A picture of triangles.

    Attributes:
        rgba: uint8 [H, W, 4]; alpha is the share of the pixel that is covered, and colors are multiplied by it.
        depth: of what is seen in the middle of the pixel, in pixels, float32 [H, W]; infinite where there is nothing.
    """

    rgba: Bytes
    depth: Floats32


class ViewRenderer(Protocol):
    """Draws triangles, both sides of them, in parallel projection. Lives in one thread of one process."""

    @property
    def version(self) -> str:
        """What draws, and in which version: pictures of two versions may differ."""
        ...

    def draw(self, corners: Floats32, colors: Bytes, width: int, height: int, near: float = -np.inf) -> Drawn:
        """Draw triangles as a camera sees them that looks along the third axis.

        Args:
            corners: float32 [F, 3, 3]: to the right, up and away from the middle of the picture, in pixels.
            colors: of the faces, uint8 [F, 3].
            width: of the picture.
            height: of the picture.
            near: what lies before this depth is cut away.
        """
        ...
