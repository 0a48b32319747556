"""The process that draws. It is spawned, never forked, holds one renderer for life, and knows nothing of any task.

It ends when its input does, or its owner, however that one ended.
"""

from __future__ import annotations

import os
import resource
import select
import signal
import sys
import threading
import traceback
from typing import Any, BinaryIO, Final

import numpy as np

from workgym.envs.modeling.render.protocol import ViewRenderer
from workgym.envs.modeling.render.sheet import draw_sheet, draw_view
from workgym.envs.modeling.wire import Closed, receive, send
from workgym.tasks.modeling.solid import Solid

__all__ = ["CPU_S", "main"]

CPU_S: Final = 60
"""CPU seconds of one request; the largest parts take a few."""

_GL: Final = {
    "PYOPENGL_PLATFORM": "egl",
    "LP_NUM_THREADS": "0",  # Mesa draws in our thread: there are as many of these processes as there are workers
    "MESA_SHADER_CACHE_DISABLE": "true",  # nothing is left in the home folder
}


def _end_with(owner: int) -> None:
    """End this process with its owner, whatever it is doing.

    A signal at the parent's death would come when the thread ends that started us, and a pipe stays open in those whom
    the owner forked.
    """
    handle = os.pidfd_open(owner)
    if os.getppid() != owner:
        raise SystemExit("the owner has gone")
    poll = select.poll()
    poll.register(handle, select.POLLIN)

    def watch() -> None:
        poll.poll()
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


def _renderer(backend: str) -> ViewRenderer:
    """A renderer that has drawn a triangle rightly."""
    renderer: ViewRenderer
    if backend == "pyrender":
        os.environ.update(_GL)
        from workgym.envs.modeling.render.pyrender_egl import PyrenderRenderer

        renderer = PyrenderRenderer()
    else:
        from workgym.envs.modeling.render.raycast import RaycastRenderer

        renderer = RaycastRenderer()
    corners = np.array([[[-6, -6, 2], [6, -6, 2], [-6, 6, 2]]], dtype=np.float32)
    drawn = renderer.draw(corners, np.array([[200, 100, 50]], dtype=np.uint8), 16, 16)
    seen, beside = drawn.rgba[10, 4].tolist(), drawn.rgba[2, 14].tolist()
    if (seen, beside) != ([200, 100, 50, 255], [0, 0, 0, 0]) or abs(float(drawn.depth[10, 4]) - 2) > 1e-3:
        raise RuntimeError(f"it draws a triangle wrongly: {seen}, {beside}, depth {drawn.depth[10, 4]}")
    return renderer


def _answer(renderer: ViewRenderer, head: dict[str, Any], blobs: list[bytes]) -> bytes:
    vertices = np.frombuffer(blobs[0], "<f8").reshape(-1, 3)
    faces = np.frombuffer(blobs[1], "<i4").reshape(-1, 3)
    solid, box = Solid(vertices, faces), (head["low"], head["high"])
    if head["view"] is None:
        return draw_sheet(renderer, solid, box).tobytes()
    return draw_view(renderer, solid, box, head["view"], head["mode"]).tobytes()


def main(requests: BinaryIO, answers: BinaryIO, backend: str, owner: int) -> None:
    """Draw until there are no more requests."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the owner's terminal interrupts the owner
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _end_with(owner)
    try:
        renderer = _renderer(backend)
    except Exception as error:  # noqa: BLE001 - a driver may raise anything; the owner says it and looks for another
        send(answers, {"unusable": f"{type(error).__name__}: {error}"})
        return
    send(answers, {"version": renderer.version})
    while True:
        try:
            head, blobs = receive(requests)
        except Closed:
            return
        signal.setitimer(signal.ITIMER_PROF, CPU_S)
        try:
            picture = _answer(renderer, head, blobs)
        except Exception:  # noqa: BLE001 - the owner ends us, and tries once more
            send(answers, {"fault": traceback.format_exc(limit=-3)})
            return
        signal.setitimer(signal.ITIMER_PROF, 0)
        send(answers, {}, [picture])


if __name__ == "__main__":
    channel = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print must not get among the answers
    main(sys.stdin.buffer, channel, sys.argv[1], int(sys.argv[2]))
