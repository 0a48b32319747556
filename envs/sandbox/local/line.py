"""What a supervisor and its zygote say to each other about one run, on the run's line."""

from __future__ import annotations

import contextlib
import marshal
import select
import socket
import time
from collections.abc import Mapping

from workgym.envs.sandbox.local.pipes import file_of
from workgym.envs.sandbox.protocol import Program
from workgym.envs.sandbox.spec import PythonCode

__all__ = ["hears_end", "is_readable", "pack", "receive"]

_FLAG_FILE = 4  # as local/zygote.py has it
_LARGEST_MESSAGE = 1 << 16
_INLINE_BYTES = 60_000  # a larger program travels as a file


def pack(program: Program, env: Mapping[str, str], files: list[int], n_doors: int) -> tuple[bytes, int]:
    """Marshal a program for the zygote, and lay its file behind the other descriptors, if it travels as one.

    Args:
        program: what to run.
        env: its further environment variables.
        files: descriptors that go with it.
        n_doors: how many of control groups will follow them.

    Returns:
        The message, and flags.
    """
    source, argv = (
        (program.source.encode("utf-8", "surrogatepass"), None)
        if isinstance(program, PythonCode)
        else (None, list(program))
    )
    message = marshal.dumps((source, argv, dict(env), False, n_doors))
    if len(message) <= _INLINE_BYTES:
        return message, 0
    files.append(file_of(marshal.dumps((source, argv, dict(env)))))
    return marshal.dumps((None, None, {}, True, n_doors)), _FLAG_FILE


def is_readable(line: socket.socket, timeout_s: float) -> bool:
    """Wait until there is a message, or the other end is gone; False where neither came in time."""
    poll = select.poll()
    poll.register(line, select.POLLIN)
    return bool(poll.poll(max(0.0, timeout_s) * 1000))


def receive(line: socket.socket) -> bytes:
    """One message, b"" where the other end is gone."""
    for _ in range(2):  # a reset says once that it left something unread, before what it wrote can be read
        with contextlib.suppress(ConnectionResetError):
            return line.recv(_LARGEST_MESSAGE)
    return b""


def hears_end(line: socket.socket, timeout_s: float) -> bool:
    """Read until the run's end is told, or the other end is gone; False where neither came in time."""
    deadline = time.monotonic() + timeout_s
    while is_readable(line, deadline - time.monotonic()):
        if receive(line)[:1] in (b"X", b"E", b""):
            return True
    return False
