"""Draws with OpenGL on a surface that no screen shows, by way of pyrender and EGL.

The process must have set PYOPENGL_PLATFORM to "egl" before, and must never fork. Of pyrender's scenes only what works
with numpy 2 is used: neither bounds nor scale, and no shadows.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from workgym.envs.modeling.render.protocol import Bytes, Drawn, Floats32

__all__ = ["PyrenderRenderer"]

_TRIANGLES: Final = 4  # the number of this mode in OpenGL


class PyrenderRenderer:
    """One context for the life of the process: those that are made again and again run out.

    Raises:
        Exception: whatever PyOpenGL and the driver make of a machine on which they do not work.
    """

    def __init__(self) -> None:
        import pyrender

        self._pyrender = pyrender
        self._flags = pyrender.RenderFlags.FLAT | pyrender.RenderFlags.SKIP_CULL_FACES | pyrender.RenderFlags.RGBA
        self._offscreen = pyrender.OffscreenRenderer(16, 16)
        self._scene = pyrender.Scene(bg_color=(0.0, 0.0, 0.0, 0.0))
        self._camera = pyrender.OrthographicCamera(xmag=1.0, ymag=1.0, znear=1.0, zfar=2.0)
        self._scene.add(self._camera, pose=np.eye(4))
        self._version = self._versions()

    @property
    def version(self) -> str:
        """The versions of pyrender and of the driver."""
        return self._version

    def draw(self, corners: Floats32, colors: Bytes, width: int, height: int, near: float = -np.inf) -> Drawn:
        """Draw triangles. Edges are smoothed by four samples a pixel."""
        if not len(corners):
            return Drawn(np.zeros((height, width, 4), np.uint8), np.full((height, width), np.inf, np.float32))
        first = max(near, float(corners[..., 2].min()) - 1)
        span = max(float(corners[..., 2].max()) - first, 0.0) + 1
        self._offscreen.viewport_width, self._offscreen.viewport_height = width, height
        self._camera.xmag, self._camera.ymag = width / 2, height / 2
        self._camera.znear, self._camera.zfar = span, 2 * span
        positions = corners.reshape(-1, 3) * np.array([1, 1, -1], np.float32) - np.array(
            [0, 0, span - first], np.float32
        )
        rgba = np.concatenate([colors, np.full((len(colors), 1), 255, np.uint8)], axis=1).repeat(3, axis=0)
        primitive = self._pyrender.Primitive(positions=positions, color_0=rgba / np.float32(255), mode=_TRIANGLES)
        node = self._scene.add(self._pyrender.Mesh([primitive]))
        try:
            seen, distance = self._offscreen.render(self._scene, self._flags)
        finally:
            self._scene.remove_node(node)
        return Drawn(np.array(seen), _depth(distance, first, span))

    def _versions(self) -> str:
        from OpenGL.GL import GL_RENDERER, GL_VERSION, glGetString

        driver = ", ".join(glGetString(name).decode() for name in (GL_RENDERER, GL_VERSION))
        return f"pyrender {self._pyrender.__version__}, {driver}"


def _depth(distance: Any, first: float, span: float) -> Floats32:
    """What pyrender calls a distance is one only in perspective: undo its formula.

    With planes at s and 2 s it turns a share t of the way between them into 2 s / (2 - t).
    """
    empty = distance == 0
    share = 2 - 2 * span / np.where(empty, np.inf, distance).astype(np.float64)
    return np.where(empty, np.inf, first + span * share).astype(np.float32)
