"""A program that is running, as process 1 sees it: its pipes and its times."""

from __future__ import annotations

import os
import select
import socket
import time
from collections.abc import Iterator
from typing import Any

from workgym.envs.sandbox.docker.inside.frames import CHUNK_BYTES
from workgym.envs.sandbox.docker.inside.rights import files_as_nobody

__all__ = ["Running"]

_LAST_CHUNKS = 64  # what a dead program's pipe may hold

Message = tuple[dict[str, Any], bytes]


def _file_of(data: bytes) -> int:
    descriptor = os.memfd_create("program")
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
    return descriptor


class Running:
    """Pipes to a program, and what is known of it.

    Attributes:
        number: names it between us and the other end.
        pid: of its first process.
        status: as `os.wait` gives it; None as long as that process lives.
        reason: why it was killed, if it was.
        theirs: what it is born with, until it is born: a file that says what to become, its ends of its pipes, and the
            pipe over which it says that it could not become that.

    Args:
        number: see there.
        what: the program, as it is to be read by whoever becomes it.
        channel: open a private line from it to us.

    Raises:
        OSError: there are no descriptors left.
    """

    def __init__(self, number: int, what: bytes, *, channel: bool) -> None:
        self.number, self.pid = number, 0
        self.began = time.monotonic()
        self.status: int | None = None
        self.reason = ""
        self.is_ending = self.was_full = False
        self.ends_at = 0.0
        self.n_killed = self.peak_kib = self.oom_before = self.refused_before = 0
        self.cpu_before_s = self.cpu_s = self.wall_s = 0.0
        self.theirs: list[int] = []
        self._outlets: dict[int, int] = {}  # descriptor -> 1 stdout, 2 stderr, 3 channel
        self._inlet = self._fault = -1
        self._pending = bytearray()
        self._input_ends = False
        self._n_taken = 0
        self._is_deaf = False
        try:
            self.theirs.append(_file_of(what))
            self._open(channel)
        except OSError:
            self.close()
            raise

    def _open(self, channel: bool) -> None:
        # Pipes belong to who makes them, and a program may open its own anew through /dev/stdout.
        with files_as_nobody():
            reader, self._inlet = os.pipe()
            self.theirs.append(reader)
            for stream in (1, 2):
                ours, writer = os.pipe()
                self.theirs.append(writer)
                self._outlets[ours] = stream
        if channel:
            # A socket: a pipe could be opened anew through /proc, and what was written read back before we see it.
            ours, writer = (end.detach() for end in socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM))
            self.theirs.append(writer)
            self._outlets[ours] = 3
        self._fault, writer = os.pipe()
        self.theirs.append(writer)
        for descriptor in (self._inlet, self._fault, *self._outlets):
            os.set_blocking(descriptor, False)

    @property
    def is_over(self) -> bool:
        """Whether its first process has ended."""
        return self.status is not None

    def wants(self, is_clogged: bool) -> Iterator[tuple[int, int]]:
        """Descriptors to be woken for, and by what."""
        if self._fault >= 0:
            yield self._fault, select.POLLIN
        if self._inlet >= 0 and self._pending:
            yield self._inlet, select.POLLOUT
        if not is_clogged:
            for descriptor in self._outlets:
                yield descriptor, select.POLLIN

    def attend(self, ready: set[int]) -> Iterator[Message]:
        """Move what can be moved; gives messages for the other end."""
        if self._fault in ready:
            text = os.read(self._fault, 1 << 12)
            os.close(self._fault)
            self._fault = -1
            if text:
                yield {"op": "fault", "run": self.number, "text": text.decode("utf-8", "replace")}, b""
        if self._inlet in ready:
            self._write()
        for descriptor in [one for one in self._outlets if one in ready]:
            yield from self._relay(descriptor)
        if self._n_taken:
            yield {"op": "took", "run": self.number, "n": self._n_taken}, b""
            self._n_taken = 0
        if self._is_deaf:
            yield {"op": "deaf", "run": self.number}, b""
            self._is_deaf = False

    def feed(self, data: bytes, *, ends: bool) -> None:
        """Take more of its input."""
        self._input_ends = self._input_ends or ends
        self._pending += data
        self._write()

    def _write(self) -> None:
        try:
            while self._pending and self._inlet >= 0:
                n = os.write(self._inlet, self._pending[:CHUNK_BYTES])
                del self._pending[:n]
                self._n_taken += n
        except BlockingIOError:
            return
        except OSError:
            self._is_deaf = True
            self._close_inlet()
        if self._input_ends or self._inlet < 0:
            self._close_inlet()

    def _close_inlet(self) -> None:
        """Nobody reads it, or nothing comes: what is left is taken and lost."""
        self._n_taken += len(self._pending)
        self._pending.clear()
        if self._inlet >= 0:
            os.close(self._inlet)
            self._inlet = -1

    def _relay(self, descriptor: int) -> Iterator[Message]:
        stream = self._outlets[descriptor]
        try:
            data = os.read(descriptor, CHUNK_BYTES)
        except BlockingIOError:
            return
        except ConnectionResetError:  # a channel's other end was closed
            data = b""
        if data:
            yield {"op": "out", "run": self.number, "stream": stream}, data
        else:
            os.close(descriptor)
            del self._outlets[descriptor]
            yield {"op": "closed", "run": self.number, "stream": stream}, b""

    def drain(self) -> Iterator[Message]:
        """Read what is left, when nobody can write anymore."""
        for descriptor in list(self._outlets):
            for _ in range(_LAST_CHUNKS):
                if descriptor in self._outlets:
                    yield from self._relay(descriptor)

    def close_theirs(self) -> None:
        """Close what it was born with: it has copies."""
        for descriptor in self.theirs:
            os.close(descriptor)
        self.theirs = []

    def close(self) -> None:
        """Close everything."""
        self.close_theirs()
        for descriptor in (self._inlet, self._fault, *self._outlets):
            if descriptor >= 0:
                os.close(descriptor)
        self._inlet = self._fault = -1
        self._outlets.clear()
