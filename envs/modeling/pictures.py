"""Pictures of a part, for observations."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from workgym.envs.modeling.render.cameras import VIEWS
from workgym.envs.modeling.render.server import render_sheet, render_view
from workgym.envs.modeling.render.sheet import HEIGHT, MODES, WIDTH, Mode
from workgym.tasks.modeling.solid import Solid

__all__ = ["IMAGE_SHAPE", "MODES", "VIEWS", "draw_part"]

IMAGE_SHAPE: Final = (HEIGHT, WIDTH, 3)

_NOTHING: Final = Solid(np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int32))


def draw_part(solid: Solid | None, frame: Any, view: str = "", mode: Mode = "shaded") -> npt.NDArray[np.uint8]:
    """A sheet of six views, or one of them in full; uint8 [512, 768, 3].

    Args:
        solid: the part; None draws the empty frame.
        frame: the box that the pictures are fitted to.
        view: one of `VIEWS`, or "" for the sheet.
        mode: one of `MODES`.

    Raises:
        SandboxError: no renderer works.
    """
    drawn = _NOTHING if solid is None else solid
    return render_view(drawn, frame, view, mode) if view else render_sheet(drawn, frame)
