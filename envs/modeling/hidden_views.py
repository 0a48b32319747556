"""What a part looks like from places that nobody is told: depth images by ray casting, and one section.

No driver and no card takes part, so that a reward depends on numbers alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from workgym.envs.modeling.mesh import Floats, Mesh, box_of

__all__ = ["N_PIXELS", "Cameras", "likeness", "look_at"]

N_PIXELS: Final = 128
_N_VIEWS: Final = 4
_MISS: Final = np.inf
_DEPTH_SHARE: Final = 0.005  # of the frame's width: depths that differ by less are the same
_NEIGHBORS: Final = [(row, column) for row in (-1, 0, 1) for column in (-1, 0, 1)]


@dataclass(frozen=True)
class Cameras:
    """Where is looked from: parallel rays through the pixels of a frame around the wanted part.

    Attributes:
        center: of the frame, [3].
        width: of the frame, in mm.
        frames: right, up and ahead of each camera, [5, 3, 3]; the last one is the section's.
    """

    center: Floats
    width: float
    frames: Floats

    @classmethod
    def around(cls, mesh: Mesh, seed: int) -> Cameras:
        """Draw cameras around a part.

        Args:
            mesh: the wanted part: the frame fits it, never what was handed in.
            seed: draws the directions.
        """
        rng = np.random.default_rng(seed)
        low, high = box_of(mesh.vertices)
        frames = []
        for _ in range(_N_VIEWS + 1):
            q, r = np.linalg.qr(rng.normal(size=(3, 3)))
            frames.append((q * np.sign(np.diag(r))).T)
        return cls((low + high) / 2, 1.02 * float(np.linalg.norm(high - low)), np.array(frames))


def look_at(mesh: Mesh, cameras: Cameras) -> Floats:
    """The depth images of a mesh, [5, 128, 128], in mm; infinite where there is nothing.

    The last one is a section through the middle of the frame: 0 where there is material.
    """
    from embreex.mesh_construction import TriangleMesh
    from embreex.rtcore_scene import EmbreeScene

    scale = 100.0 / cameras.width  # single precision is at its best around 1 to 100
    scene = EmbreeScene()
    TriangleMesh(scene, ((mesh.corners - cameras.center) * scale).astype(np.float32))
    ticks = ((np.arange(N_PIXELS) + 0.5) / N_PIXELS - 0.5) * 100
    right, up = np.meshgrid(ticks, -ticks)
    images = []
    for number, (x, y, ahead) in enumerate(cameras.frames):
        origins = right.reshape(-1, 1) * x + up.reshape(-1, 1) * y
        is_section = number == _N_VIEWS
        if not is_section:
            origins = origins - 100 * ahead
        directions = np.broadcast_to(ahead, origins.shape)
        hits = scene.run(origins.astype(np.float32), directions.astype(np.float32), output=True)
        hit = hits["primID"] >= 0
        if is_section:  # a ray that begins within material meets the back of a face first
            depth = np.where(hit & (hits["Ng"] @ ahead.astype(np.float32) > 0), 0.0, _MISS)
        else:
            depth = np.where(hit, hits["tfar"].astype(np.float64) / scale, _MISS)
        images.append(depth.reshape(N_PIXELS, N_PIXELS))
    return np.array(images)


def likeness(seen: Floats, wanted: Floats, width: float) -> float:
    """Mean share of the pixels in which two sets of depth images agree, of those where either shows anything.

    A pixel may agree with a neighbor: an outline that a coarser mesh moves by less than a pixel is the same.

    Args:
        seen: images of what was handed in, [5, H, W].
        wanted: images of the wanted part, [5, H, W].
        width: of the frame, in mm.
    """
    shares = []
    for one, other in zip(seen, wanted, strict=True):
        shown = np.isfinite(one) | np.isfinite(other)
        agree = _agrees(one, other, width) & _agrees(other, one, width)
        shares.append(float((agree & shown).sum() / max(1, int(shown.sum()))))
    return float(np.mean(shares))


def _agrees(image: Floats, other: Floats, width: float) -> npt.NDArray[np.bool_]:
    edged = np.pad(other, 1, constant_values=_MISS)
    agrees = np.zeros(image.shape, dtype=bool)
    for row, column in _NEIGHBORS:
        near = edged[1 + row : 1 + row + image.shape[0], 1 + column : 1 + column + image.shape[1]]
        with np.errstate(invalid="ignore"):
            same = np.abs(image - near) <= _DEPTH_SHARE * width
        agrees |= same | (np.isinf(image) & np.isinf(near))
    return agrees
