"""Puts pictures of a part together: a sheet of six views, or one view in full."""

from __future__ import annotations

from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from workgym.envs.modeling.render.cameras import SHEET, VIEWS, Camera, FrameBox, checked
from workgym.envs.modeling.render.marks import annotate, backdrop
from workgym.envs.modeling.render.protocol import Bytes, Drawn, ViewRenderer
from workgym.envs.modeling.render.shading import CUT, INSIDE, depth_picture, face_colors, flatten_cut, picture, shows
from workgym.tasks.modeling.solid import Solid

__all__ = ["HEIGHT", "MODES", "WIDTH", "Mode", "draw_sheet", "draw_view"]

Mode = Literal["shaded", "depth", "section"]
MODES: Final[tuple[Mode, ...]] = ("shaded", "depth", "section")

HEIGHT: Final = 512
WIDTH: Final = 768
_TILE: Final = 256
_COLUMNS: Final = WIDTH // _TILE
_RULE: Final = (120, 124, 132)
_OFF_PLANE: Final = 1e-5  # of the frame's depth: a plane through a face of the part would cut it in some pixels only


def draw_sheet(renderer: ViewRenderer, solid: Solid, frame_box: FrameBox) -> Bytes:
    """Six views: front, right and top, two isometric ones and bottom; uint8 [512, 768, 3].

    Args:
        renderer: draws the triangles.
        solid: the part. It may be open, inside out or empty.
        frame_box: what the cameras fit.
    """
    low, high = checked(frame_box)
    sheet = np.empty((HEIGHT, WIDTH, 3), dtype=np.uint8)
    for number, name in enumerate(SHEET):
        row, column = divmod(number, _COLUMNS)
        tile = _draw(renderer, solid, Camera(VIEWS[name], low, high, _TILE, _TILE), "shaded")
        sheet[row * _TILE : (row + 1) * _TILE, column * _TILE : (column + 1) * _TILE] = tile
    sheet[_TILE] = _RULE
    for column in range(1, _COLUMNS):
        sheet[:, column * _TILE] = _RULE
    return sheet


def draw_view(renderer: ViewRenderer, solid: Solid, frame_box: FrameBox, view: str, mode: Mode = "shaded") -> Bytes:
    """One view, as large as a sheet; uint8 [512, 768, 3].

    Args:
        renderer: draws the triangles.
        solid: the part. It may be open, inside out or empty.
        frame_box: what the camera fits.
        view: a name in `VIEWS`.
        mode: "depth" is light where the part is near; "section" cuts away what lies before the middle of the frame box.
    """
    low, high = checked(frame_box)
    return _draw(renderer, solid, Camera(VIEWS[view], low, high, WIDTH, HEIGHT), mode)


def _draw(renderer: ViewRenderer, solid: Solid, camera: Camera, mode: Mode) -> Bytes:
    is_section = mode == "section"
    near = _OFF_PLANE * camera.depth if is_section else -np.inf
    corners = camera.place(solid.vertices)[solid.faces]
    # Right, up and ahead are left-handed: the product of two edges points into the part.
    crosses = -np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    matters = np.any(crosses != 0, axis=1) & _within(corners, camera)
    colors = face_colors(crosses[matters], CUT if is_section else INSIDE)
    drawn = renderer.draw(corners[matters].astype(np.float32), colors, camera.width, camera.height, near)
    if mode == "depth":
        return annotate(depth_picture(drawn, camera.depth), camera, _title(drawn, camera, mode))
    if is_section:
        drawn = flatten_cut(drawn, near)
    return annotate(picture(drawn, backdrop(camera), camera.depth), camera, _title(drawn, camera, mode))


def _within(corners: npt.NDArray[np.float64], camera: Camera) -> npt.NDArray[np.bool_]:
    """Which faces the picture may show. One that is far off would cost the others their precision."""
    half = np.array([camera.width, camera.height]) / 2
    a, b, c = corners[..., :2].swapaxes(0, 1)
    low, high = np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(a, b), c)
    return np.asarray(np.all((high > -half) & (low < half), axis=1))


def _title(drawn: Drawn, camera: Camera, mode: Mode) -> str:
    name = camera.view.name
    if mode == "depth":
        return f"{name}: depth, from light to dark {camera.depth / camera.scale:.4g} mm"
    if mode == "section":
        return f"{name}: section{_plane(camera)}, cut faces orange"
    if shows(drawn, INSIDE).any():
        return f"{name} (red: inner sides)"
    return name


def _plane(camera: Camera) -> str:
    """Where the plane lies, if it is square to an axis."""
    axis = int(np.argmax(np.abs(camera.view.axes[2])))
    if abs(camera.view.axes[2][axis]) < 1 - 1e-9:
        return " through the middle"
    return f" at {'xyz'[axis]} = {(camera.low[axis] + camera.high[axis]) / 2:.4g}"
