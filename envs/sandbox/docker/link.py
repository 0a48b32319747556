"""The line to a container's first process, over docker's attach."""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import threading
import time
from collections.abc import Callable
from typing import Any

from workgym.envs.sandbox.docker.inside.frames import FrameReader, pack_frame
from workgym.tasks.errors import SandboxError

__all__ = ["Link"]

_HEAD = struct.Struct(">BxxxI")  # docker's own: stream, length
_STDOUT = 1
_LAST_WORDS_BYTES = 4000
_SEND_S = 30.0


class Link:
    """Messages to and from a container's first process. For many threads: whoever waits reads for all.

    Args:
        line: a connected stream socket; ours from now on.
        hear: called with each message, one at a time.

    Attributes:
        is_closed: whether the other end is gone.
    """

    def __init__(self, line: socket.socket, hear: Callable[[dict[str, Any], bytes], None]) -> None:
        line.settimeout(_SEND_S)
        self._line, self._hear = line, hear
        self._turn = threading.Condition(threading.RLock())
        self._sending = threading.Lock()
        self._is_reading = False
        self._raw = bytearray()
        self._reader = FrameReader()
        self._last_words = b""
        self.is_closed = False

    def send(self, meta: dict[str, Any], blob: bytes = b"") -> None:
        """Send a message. Where the other end is gone that is noticed by whoever waits for an answer."""
        self.send_raw(pack_frame(meta, blob))

    def send_raw(self, data: bytes) -> None:
        """Send bytes.

        Raises:
            SandboxError: the other end has not taken them for a long time.
        """
        with self._sending:
            try:
                self._line.sendall(data)
            except TimeoutError as error:
                raise SandboxError(f"the container has not read what it was sent for {_SEND_S:g} s") from error
            except OSError:
                self.is_closed = True

    def wait(self, ready: Callable[[], bool], deadline: float) -> bool:
        """Read messages until something is the case.

        Args:
            ready: what is waited for.
            deadline: by `time.monotonic()`.

        Returns:
            Whether it is the case; False at the deadline, or when the other end is gone.
        """
        with self._turn:
            while not ready():
                left_s = deadline - time.monotonic()
                if self.is_closed or left_s <= 0:
                    return False
                if self._is_reading:
                    self._turn.wait(left_s)
                else:
                    self._read(left_s)
            return True

    def _read(self, timeout_s: float) -> None:
        """Read once, with the turn given away meanwhile."""
        self._is_reading = True
        self._turn.release()
        data: bytes | None = None
        try:
            data = self._receive(timeout_s)
        finally:
            self._turn.acquire()
            self._is_reading = False
            try:
                if data is not None:
                    self._take(data)
            finally:
                self._turn.notify_all()

    def _receive(self, timeout_s: float) -> bytes | None:
        poll = select.poll()
        try:
            poll.register(self._line, select.POLLIN)
            if not poll.poll(timeout_s * 1000 + 0.5):
                return None
            return self._line.recv(1 << 18)
        except (OSError, ValueError):  # reset, or closed by us
            return b""

    def _take(self, data: bytes) -> None:
        if not data:
            self.is_closed = True
        self._raw += data
        while len(self._raw) >= _HEAD.size:
            stream, length = _HEAD.unpack_from(self._raw)
            if len(self._raw) < _HEAD.size + length:
                return
            payload = bytes(self._raw[_HEAD.size : _HEAD.size + length])
            del self._raw[: _HEAD.size + length]
            if stream != _STDOUT:
                self._last_words = (self._last_words + payload)[-_LAST_WORDS_BYTES:]
                continue
            for meta, blob in self._reader.feed(payload):
                self._hear(meta, blob)

    @property
    def last_words(self) -> str:
        """What the first process wrote to its stderr, if anything."""
        return self._last_words.decode("utf-8", "replace").strip()

    def close(self) -> None:
        """Hang up; the container then ends. Idempotent."""
        self.is_closed = True
        with contextlib.suppress(OSError):
            self._line.shutdown(socket.SHUT_RDWR)
        self._line.close()

    def forsake(self) -> None:
        """Close our copy after a fork: the line belongs to the parent process."""
        self.is_closed = True
        self._line.close()
