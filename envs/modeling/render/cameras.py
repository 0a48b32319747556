"""Where is looked from.

A camera fits the frame box of the task, never what was handed in: a part that is too large then looks too large.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = ["SHEET", "VIEWS", "Camera", "FrameBox", "View", "checked"]

FrameBox = tuple[Sequence[float], Sequence[float]]
"""The lowest and the highest corner of what is looked at, in millimetres."""

Floats = npt.NDArray[np.float64]

_WIDTH_SHARE: Final = 0.86
_HEIGHT_SHARE: Final = 0.80
_MAX_MM: Final = 1e5
_LEAST_MM: Final = 1e-3


@dataclass(frozen=True)
class View:
    """A direction to look in.

    Attributes:
        name: what it is called.
        right: where in space the right of the picture is, a unit vector.
        up: where in space the top of the picture is, a unit vector.
    """

    name: str
    right: tuple[float, float, float]
    up: tuple[float, float, float]

    @property
    def axes(self) -> Floats:
        """Right, up and ahead, [3, 3]."""
        right, up = np.array(self.right), np.array(self.up)
        return np.array([right, up, -np.cross(right, up)])


def _isometric(name: str, x: int, y: int) -> View:
    """From above, over the corner of x and y, so that all three axes are equally foreshortened."""
    right = np.array([-y, x, 0]) / np.sqrt(2)
    up = np.array([-x, -y, 2]) / np.sqrt(6)
    return View(name, tuple(right.tolist()), tuple(up.tolist()))


VIEWS: Final[Mapping[str, View]] = {
    view.name: view
    for view in (
        View("front", (1, 0, 0), (0, 0, 1)),
        View("right", (0, 1, 0), (0, 0, 1)),
        View("top", (1, 0, 0), (0, 1, 0)),
        _isometric("iso", 1, -1),
        _isometric("iso_back", -1, 1),
        View("bottom", (1, 0, 0), (0, -1, 0)),
        View("back", (-1, 0, 0), (0, 0, 1)),
        View("left", (0, -1, 0), (0, 0, 1)),
    )
}
"""x runs to the right, y to the back, z up: the front is what is seen along y."""

SHEET: Final = ("front", "right", "top", "iso", "iso_back", "bottom")
"""The views of a sheet, row by row."""


@dataclass(frozen=True)
class Camera:
    """Looks at a frame box in parallel projection.

    Attributes:
        view: the direction.
        low: the lowest corner of the frame box, [3].
        high: the highest corner, [3].
        width: of the picture, in pixels.
        height: of the picture, in pixels.
    """

    view: View
    low: Floats
    high: Floats
    width: int
    height: int

    @property
    def scale(self) -> float:
        """Pixels a millimetre."""
        across, upward, _ = np.abs(self.view.axes) @ (self.high - self.low)
        smallest = (
            float(np.max(self.high - self.low)) / 20
        )  # what is seen from its thin side is not blown up beyond all
        return min(
            _WIDTH_SHARE * self.width / max(float(across), smallest),
            _HEIGHT_SHARE * self.height / max(float(upward), smallest),
        )

    @property
    def depth(self) -> float:
        """How deep the frame box is along the view, in pixels."""
        return float(np.abs(self.view.axes[2]) @ (self.high - self.low)) * self.scale

    @property
    def box(self) -> Floats:
        """The corners of the frame box in the picture, [8, 3]; those whose numbers differ in one bit share an edge."""
        return self.place(np.array(list(product(*zip(self.low, self.high, strict=True)))))

    def place(self, points: Floats) -> Floats:
        """Where points are: to the right, up and away from the middle of the picture, in pixels.

        Args:
            points: in millimetres, [..., 3].
        """
        placed: Floats = (points - (self.low + self.high) / 2) @ (self.view.axes.T * self.scale)
        return placed


def checked(frame_box: FrameBox) -> tuple[Floats, Floats]:
    """The corners of a frame box, as arrays.

    Raises:
        ValueError: it is none.
    """
    low, high = (np.array(corner, dtype=np.float64) for corner in frame_box)
    if low.shape != (3,) or high.shape != (3,):
        raise ValueError(f"the frame box is two corners of three numbers, not {frame_box!r}")
    if not (np.all(np.abs([low, high]) <= _MAX_MM) and np.all(high - low >= 0) and np.max(high - low) >= _LEAST_MM):
        raise ValueError(f"the frame box goes from a lower to a higher corner within {_MAX_MM:g} mm, not {frame_box!r}")
    return low, high
