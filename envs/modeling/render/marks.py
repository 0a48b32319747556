"""What is written over and under a picture: the frame box, the datum's axes, a scale bar and the name of the view."""

from __future__ import annotations

import functools
import math
from typing import Any, Final

import numpy as np

from workgym.envs.modeling.render.cameras import Camera
from workgym.envs.modeling.render.protocol import Bytes
from workgym.envs.modeling.render.shading import BACKGROUND

__all__ = ["annotate", "backdrop", "bar_mm"]

_INK: Final = (40, 44, 52)
_BOX: Final = (176, 180, 188)
_AXES: Final = (("x", (200, 30, 40)), ("y", (20, 130, 50)), ("z", (40, 70, 210)))
_AXIS_PX: Final = 20
_MARGIN: Final = 6
_FONT_PX: Final = 12
_LEAST_FORESHORTENED: Final = 0.2


def backdrop(camera: Camera) -> Bytes:
    """An empty picture with the edges of the frame box, uint8 [H, W, 3]: the part hides what lies behind it."""
    image, draw = _canvas(np.full((camera.height, camera.width, 3), BACKGROUND, dtype=np.uint8))
    corners = camera.box
    for one in range(8):
        for other in (one | 1, one | 2, one | 4):
            if other != one:
                draw.line([_pixel(camera, corners[one]), _pixel(camera, corners[other])], fill=_BOX)
    return np.array(image)


def annotate(picture: Bytes, camera: Camera, title: str) -> Bytes:
    """Write over a picture.

    Args:
        picture: uint8 [H, W, 3].
        camera: what it was taken with.
        title: the name of the view, and what else is to be known.
    """
    image, draw = _canvas(picture)
    _datum(draw, camera)
    _triad(draw, camera)
    _scale_bar(draw, camera)
    _write(draw, (_MARGIN, _MARGIN - 2), title, _INK)
    return np.array(image)


def bar_mm(camera: Camera) -> float:
    """The length of the scale bar: 1, 2 or 5 times a power of ten, a quarter of the picture at most."""
    most = 0.25 * camera.width / camera.scale
    power = 10.0 ** math.floor(math.log10(most))
    return next(step * power for step in (5, 2, 1) if step * power <= most)


def _datum(draw: Any, camera: Camera) -> None:
    """A ring around the origin, where the picture shows it."""
    x, y = _pixel(camera, camera.place(np.zeros(3)))
    if 0 <= x < camera.width and 0 <= y < camera.height:
        draw.ellipse([x - 3, y - 3, x + 3, y + 3], outline=(255, 255, 255))
        draw.ellipse([x - 2, y - 2, x + 2, y + 2], outline=(150, 20, 140))


def _triad(draw: Any, camera: Camera) -> None:
    """The directions of the axes, in the lower left corner. One that runs along the view is not drawn."""
    tips = camera.view.axes[:2].T * (1, -1)
    x, y = (_MARGIN + 4, camera.height - _MARGIN - 5) - (_AXIS_PX + 7) * np.array(
        [tips[:, 0].min(initial=0), tips[:, 1].max(initial=0)]
    )
    for (name, color), (right, down) in zip(_AXES, tips, strict=True):
        if math.hypot(right, down) < _LEAST_FORESHORTENED:
            continue
        draw.line([(x, y), (x + _AXIS_PX * right, y + _AXIS_PX * down)], fill=color, width=2)
        _write(draw, (x + (_AXIS_PX + 7) * right, y + (_AXIS_PX + 7) * down), name, color, anchor="mm")


def _scale_bar(draw: Any, camera: Camera) -> None:
    length_mm = bar_mm(camera)
    last, y = camera.width - _MARGIN - 2, camera.height - _MARGIN - 4
    first = last - round(length_mm * camera.scale)
    draw.line([(first, y), (last, y)], fill=_INK, width=2)
    for x in (first, last):
        draw.line([(x, y - 4), (x, y + 4)], fill=_INK)
    _write(draw, ((first + last) / 2, y - 12), f"{length_mm:g} mm", _INK, anchor="mm")


def _write(draw: Any, at: tuple[float, float], text: str, color: tuple[int, int, int], anchor: str = "la") -> None:
    draw.text(at, text, fill=color, font=_font(), anchor=anchor, stroke_width=2, stroke_fill=BACKGROUND)


def _pixel(camera: Camera, place: Any) -> tuple[float, float]:
    return float(place[0]) + camera.width / 2 - 0.5, camera.height / 2 - 0.5 - float(place[1])


def _canvas(picture: Bytes) -> tuple[Any, Any]:
    from PIL import Image, ImageDraw

    image = Image.fromarray(picture)
    return image, ImageDraw.Draw(image)


@functools.cache
def _font() -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(_FONT_PX)
