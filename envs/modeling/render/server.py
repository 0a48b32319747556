"""Pictures of parts, as the rest of the domain asks for them: drawn in a process of their own.

OpenGL wants one process with one context for life and no forks, and a driver that crashes must not be the environment.
A process that dies is started again once; if it dies again, rays are cast instead from then on.
"""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from workgym.envs.modeling.render.cameras import VIEWS, FrameBox, checked
from workgym.envs.modeling.render.protocol import BACKENDS, Backend, Bytes
from workgym.envs.modeling.render.sheet import HEIGHT, MODES, WIDTH, Mode
from workgym.envs.modeling.render.spawned import Died, Spawned, Unusable
from workgym.envs.modeling.surface import MAX_COORDINATE_MM, MAX_TRIANGLES
from workgym.tasks.errors import ActionError, SandboxError, TaskError
from workgym.tasks.modeling.solid import Solid
from workgym.tasks.naming import unknown_name

__all__ = ["RenderServer", "close_shared_servers", "render_sheet", "render_view", "shared_server"]

_TRIES: Final = 2
_WAY_OUT: Final = (
    "pip install 'workgym[modeling]'; for pyrender on Debian or Ubuntu also "
    "apt-get install libegl1 libegl-mesa0 libgl1-mesa-dri libglx-mesa0 libgl1"
)


class RenderServer:
    """A process that draws. Starts with the first picture; safe in threads; a forked process starts its own.

    Args:
        backend: "pyrender" (OpenGL through EGL) or "raycast" (no OpenGL); None takes the first that works.
        timeout_s: of wall time for a picture; the CPU limit of the process decides long before.
    """

    def __init__(self, backend: Backend | None = None, timeout_s: float = 300.0) -> None:
        if backend is not None and backend not in BACKENDS:
            raise ValueError(unknown_name("renderer", backend, BACKENDS))
        self._timeout_s = timeout_s
        self._wanted: tuple[Backend, ...] = BACKENDS if backend is None else (backend,)
        self._begin()
        _servers.add(self)

    def _begin(self) -> None:
        self._lock = threading.RLock()
        self._left = list(self._wanted)
        self._process: Spawned | None = None

    @property
    def drawn_by(self) -> tuple[Backend, str]:
        """What draws, and in which version. Pictures are equal to the byte only where both are, on one machine.

        Raises:
            SandboxError: no renderer works.
        """
        with self._lock:
            box = {"low": [0.0] * 3, "high": [1.0] * 3}
            self._draw({"view": "front", "mode": "shaded", **box}, [b"", b""])
            assert self._process is not None  # it has just drawn
            return self._left[0], self._process.version

    def sheet(self, solid: Solid, frame_box: FrameBox) -> Bytes:
        """Six views of a part: front, right, top, two isometric ones and bottom.

        Args:
            solid: the part. It may be open, inside out or empty.
            frame_box: the lowest and the highest corner of what the task is about, in mm. The cameras fit it.

        Returns:
            uint8 [512, 768, 3].

        Raises:
            ActionError: the part cannot be drawn.
            TaskError: the frame box is none.
            SandboxError: no renderer works.
        """
        return self._picture(solid, frame_box, None, "shaded")

    def view(self, solid: Solid, frame_box: FrameBox, view: str, mode: Mode = "shaded") -> Bytes:
        """One view of a part, as large as a sheet.

        Args:
            solid: the part. It may be open, inside out or empty.
            frame_box: as for a sheet.
            view: a name in `cameras.VIEWS`.
            mode: "depth" is light where the part is near; "section" cuts away what lies before the middle of the box.

        Returns:
            uint8 [512, 768, 3].

        Raises:
            ActionError: there is no such view or mode, or the part cannot be drawn.
            TaskError: the frame box is none.
            SandboxError: no renderer works.
        """
        for noun, name, known in (("view", view, tuple(VIEWS)), ("mode", mode, MODES)):
            if name not in known:
                raise ActionError(f"render: {unknown_name(noun, name, known)}")
        return self._picture(solid, frame_box, view, mode)

    def close(self) -> None:
        """End the process. Idempotent; a later picture starts another."""
        with self._lock:
            process, self._process = self._process, None
            if process is not None:
                process.end()

    def _picture(self, solid: Solid, frame_box: FrameBox, view: str | None, mode: Mode) -> Bytes:
        try:
            low, high = checked(frame_box)
        except ValueError as error:
            raise TaskError(f"render: {error}") from error
        arrays = _arrays(solid)
        head = {"view": view, "mode": mode, "low": low.tolist(), "high": high.tolist()}
        with self._lock:
            data = self._draw(head, arrays)
        return np.frombuffer(data, np.uint8).reshape(HEIGHT, WIDTH, 3).copy()

    def _draw(self, head: Mapping[str, Any], arrays: Sequence[bytes]) -> bytes:
        """Ask, and ask the next renderer where one does not work or has died twice over a picture."""
        failures = []
        while self._left:
            for _ in range(_TRIES):
                try:
                    return self._ask(head, arrays)
                except Died as died:
                    failures.append(f"{self._left[0]} {died}")
                except Unusable as unusable:
                    failures.append(f"{self._left[0]} does not work here ({unusable})")
                    break
            del self._left[0]
        self._left = list(self._wanted)
        raise SandboxError(f"render: no renderer is left: {'; '.join(failures)}. {_WAY_OUT}")

    def _ask(self, head: Mapping[str, Any], arrays: Sequence[bytes]) -> bytes:
        """One question, one answer; a process that has failed to give it is not asked again."""
        try:
            if self._process is not None and not self._process.is_alive:
                self.close()
            if self._process is None:
                self._process = Spawned(self._left[0])
            return self._process.ask(head, arrays, self._timeout_s)
        except BaseException as error:
            self._process = None  # whatever is raised has ended it
            if isinstance(error, TimeoutError):
                raise SandboxError(f"render: {error}; is the machine overloaded?") from error
            if isinstance(error, OSError):
                raise SandboxError(f"render: the process that draws does not start: {error}") from error
            raise

    def _forsake(self) -> None:
        """In a forked process: the server is the parent's; another comes at the next need."""
        process = self._process
        self._begin()
        if process is not None:
            process.forsake()


def _arrays(solid: Solid) -> list[bytes]:
    """The arrays of a part, as they are sent.

    Raises:
        ActionError: they are no mesh, or too large.
    """
    vertices, faces = np.asarray(solid.vertices), np.asarray(solid.faces)
    if vertices.ndim != 2 or vertices.shape[1] != 3 or faces.ndim != 2 or faces.shape[1] != 3:
        raise ActionError(f"render: a part has arrays [V, 3] and [F, 3], not {vertices.shape} and {faces.shape}")
    if len(faces) > MAX_TRIANGLES or len(vertices) > 3 * MAX_TRIANGLES:
        raise ActionError(f"render: {len(faces):,} triangles; at most {MAX_TRIANGLES:,} are drawn")
    if not np.all(np.abs(vertices) <= MAX_COORDINATE_MM):
        raise ActionError(f"render: a coordinate is no number, or beyond {MAX_COORDINATE_MM:g} mm")
    if len(faces) and not (faces.min() >= 0 and faces.max() < len(vertices)):
        raise ActionError(f"render: a face names a vertex that is none of the {len(vertices):,}")
    return [np.ascontiguousarray(vertices, "<f8").tobytes(), np.ascontiguousarray(faces, "<i4").tobytes()]


_servers: weakref.WeakSet[RenderServer] = weakref.WeakSet()
_shared: dict[Backend | None, RenderServer] = {}


def _forsake_all() -> None:
    for server in list(_servers):
        server._forsake()


os.register_at_fork(after_in_child=_forsake_all)


def shared_server(backend: Backend | None = None) -> RenderServer:
    """The server of this process."""
    return _shared.get(backend) or _shared.setdefault(backend, RenderServer(backend))


def close_shared_servers() -> None:
    """End the servers of this process, if they have started. Idempotent."""
    for server in list(_shared.values()):
        server.close()


def render_sheet(solid: Solid, frame_box: FrameBox, backend: Backend | None = None) -> Bytes:
    """`RenderServer.sheet` of the server of this process."""
    return shared_server(backend).sheet(solid, frame_box)


def render_view(
    solid: Solid, frame_box: FrameBox, view: str, mode: Mode = "shaded", backend: Backend | None = None
) -> Bytes:
    """`RenderServer.view` of the server of this process."""
    return shared_server(backend).view(solid, frame_box, view, mode)


atexit.register(close_shared_servers)
