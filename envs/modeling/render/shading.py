"""The looks of a part: how its faces are lit, and the lines along its edges.

What is seen straight on would show none of its pockets if it were only lit: lines follow each step and crease of the
depth, and what lies deeper is darker.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from workgym.envs.modeling.render.protocol import Bytes, Drawn, Floats32

__all__ = ["BACKGROUND", "CUT", "INSIDE", "depth_picture", "face_colors", "flatten_cut", "picture", "shows"]

BACKGROUND: Final = (250, 250, 248)
CUT: Final = (226, 132, 48)
"""The color of material where a section cuts it."""

INSIDE: Final = (214, 48, 60)
"""The color of a face that is seen from its inner side: the mesh is open there, or inside out."""

_PART: Final = np.array([150, 178, 212], dtype=np.float64)
_LIGHT: Final = np.array([-0.36, 0.52, -0.78]) / np.linalg.norm([0.36, 0.52, 0.78])  # towards it, in the camera's axes
_AMBIENT: Final = 0.42
_EDGE_SHADE: Final = 0.25
_CREASE: Final = 0.3  # curvature, one over pixels
_STEP_PX: Final = 1.0
_DEEPER: Final = 0.22  # how much darker the far end of the frame box is
_NEAR_GRAY: Final = 235.0
_FAR_GRAY: Final = 45.0

Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


def face_colors(crosses: Floats, inside: tuple[int, int, int]) -> Bytes:
    """Colors of faces by the light that falls on them.

    Args:
        crosses: normals of any length in the camera's axes, none of them zero, [F, 3].
        inside: the color of faces that turn their back to the camera.
    """
    normals = crosses / np.linalg.norm(crosses, axis=1, keepdims=True)
    light = _AMBIENT + (1 - _AMBIENT) * np.clip(normals @ _LIGHT, 0, 1)
    colors: Bytes = np.rint(_PART * light[:, None] * 1.08).clip(0, 255).astype(np.uint8)
    colors[normals[:, 2] > 0] = inside
    return colors


def flatten_cut(drawn: Drawn, plane: float) -> Drawn:
    """Lay what a section cuts into its plane: the picture has the depth of the back of the material there.

    A pixel on the rim of a cut is of both colors, and may have the depth of either.
    """
    red, blue = drawn.rgba[..., 0].astype(np.int16), drawn.rgba[..., 2].astype(np.int16)
    return Drawn(drawn.rgba, np.where(5 * red > 4 * blue, np.float32(plane), drawn.depth))


def shows(drawn: Drawn, color: tuple[int, int, int]) -> Mask:
    """Which pixels show this color and nothing else."""
    wanted = np.array([*color, 255], dtype=np.uint8).view(np.uint32)
    return np.asarray(np.ascontiguousarray(drawn.rgba).view(np.uint32)[..., 0] == wanted)


def picture(drawn: Drawn, backdrop: Bytes, depth: float) -> Bytes:
    """Lay a part over a backdrop.

    Args:
        drawn: the part.
        backdrop: uint8 [H, W, 3].
        depth: of the frame box, in pixels.
    """
    alpha = drawn.rgba[..., 3]
    shade = 1 - np.float32(_DEEPER) * _deepness(drawn, depth)
    shade[_edges(drawn.depth) | _outline(alpha)] *= np.float32(_EDGE_SHADE)
    behind = 1 - alpha / np.float32(255)
    blend = drawn.rgba[..., :3] * shade[..., None] + backdrop * behind[..., None]
    return np.asarray(np.minimum(np.rint(blend), 255).astype(np.uint8))


def depth_picture(drawn: Drawn, depth: float) -> Bytes:
    """Near is light and far is dark, from the nearest to the farthest plane of the frame box."""
    shown, deep = np.isfinite(drawn.depth), _deepness(drawn, depth)
    gray = np.rint(_NEAR_GRAY + (_FAR_GRAY - _NEAR_GRAY) * deep).astype(np.uint8)
    return np.where(shown[..., None], gray[..., None], np.array((200, 220, 245), np.uint8))


def _deepness(drawn: Drawn, depth: float) -> Floats32:
    """0 at the nearest plane of the frame box, 1 at the farthest."""
    deep = np.where(np.isfinite(drawn.depth), drawn.depth, np.float32(0)) / np.float32(max(depth, 1e-6))
    return np.clip(deep + np.float32(0.5), 0, 1)


def _outline(alpha: Bytes) -> Mask:
    """Pixels that a part covers, and beside them it does not; and those that it covers in part."""
    covered = np.pad(alpha >= 128, 1)
    within = covered[:-2, 1:-1] & covered[2:, 1:-1] & covered[1:-1, :-2] & covered[1:-1, 2:]
    return np.asarray((covered[1:-1, 1:-1] & ~within) | ((alpha > 0) & (alpha < 255)))


def _edges(depth: Floats32) -> Mask:
    """Pixels along steps and creases, on the nearer side of each."""
    shown = np.isfinite(depth)
    deep = np.where(shown, depth, np.float32(np.nan))  # of which nothing is larger: outlines are found elsewhere
    across, upward = _bends(deep), _bends(deep.T)
    slopes = across[1], upward[1].T
    return np.asarray((_found(*across, slopes[1]) | _found(*upward, slopes[0].T).T) & shown)


def _bends(depth: Floats32) -> tuple[Floats32, Floats32]:
    """How the slope changes from left to right in each pixel, and the gentler slope beside it."""
    steps = np.diff(depth, axis=1, prepend=depth[:, :1], append=depth[:, -1:])
    before, after = steps[:, :-1], steps[:, 1:]
    return after - before, np.minimum(np.abs(before), np.abs(after))


def _found(bend: Floats32, along: Floats32, across: Floats32) -> Mask:
    """Where the surface bends more than a curved one would, or breaks."""
    squared = 1 + along**2
    size = np.abs(bend)
    found = (size > _CREASE * squared * np.sqrt(squared + across**2)) | (size > 2.5 * along + 2 * _STEP_PX)
    near, hollow = found & (bend > 0), found & (bend < 0)
    beside = np.pad(near, ((0, 0), (1, 1)))
    return np.asarray(near | (hollow & ~beside[:, :-2] & ~beside[:, 2:]))
