"""Draws by casting a ray through each pixel, on the processor alone: where there is no OpenGL."""

from __future__ import annotations

import numpy as np

from workgym.envs.modeling.render.protocol import Bytes, Drawn, Floats32

__all__ = ["RaycastRenderer"]


class RaycastRenderer:
    """Embree's rays.

    Raises:
        ImportError: embreex is not installed.
    """

    def __init__(self) -> None:
        import embreex
        from embreex.rtcore_scene import EmbreeScene

        self._scene = EmbreeScene
        self._version = f"embreex {embreex.__version__}"

    @property
    def version(self) -> str:
        """The version of embreex."""
        return self._version

    def draw(self, corners: Floats32, colors: Bytes, width: int, height: int, near: float = -np.inf) -> Drawn:
        """Draw triangles. Edges are not smoothed: a pixel shows what is in its middle."""
        from embreex.mesh_construction import TriangleMesh

        rgba = np.zeros((height * width, 4), dtype=np.uint8)
        depth = np.full(height * width, np.inf, dtype=np.float32)
        if len(corners):
            start = np.float32(max(near, float(corners[..., 2].min()) - 1))
            right, up = np.meshgrid(np.arange(width) + 0.5 - width / 2, height / 2 - np.arange(height) - 0.5)
            origins = np.stack([right.ravel(), up.ravel(), np.full(right.size, start)], axis=1).astype(np.float32)
            ahead = np.broadcast_to(np.array([0, 0, 1], dtype=np.float32), origins.shape)
            scene = self._scene()
            TriangleMesh(scene, np.ascontiguousarray(corners))
            hits = scene.run(origins, np.ascontiguousarray(ahead), output=True)
            seen = hits["primID"] >= 0
            rgba[seen, :3] = colors[hits["primID"][seen]]
            rgba[seen, 3] = 255
            depth[seen] = start + hits["tfar"][seen]
        return Drawn(rgba.reshape(height, width, 4), depth.reshape(height, width))
