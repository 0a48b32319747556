"""Two ends of pipes as a stream that gives up in time. It has no buffer: a fork in mid-message copies nothing."""

from __future__ import annotations

import os
import select
import time
from typing import BinaryIO, Final, cast

__all__ = ["Pipe"]

_CHUNK: Final = 2**20


class Pipe:
    """Reads from one descriptor and writes to another. Closes neither.

    Args:
        reads: the descriptor to read from.
        writes: the descriptor to write to; it is made not to block.
    """

    def __init__(self, reads: int, writes: int) -> None:
        self._reads, self._writes = reads, writes
        self._until = float("inf")
        os.set_blocking(writes, False)

    @property
    def stream(self) -> BinaryIO:
        """This pipe, for those who ask for a stream: it has what a message needs of one."""
        return cast("BinaryIO", self)

    def allow(self, seconds: float) -> None:
        """From now on, all that is read and written may take so long.

        Args:
            seconds: of wall time.
        """
        self._until = time.monotonic() + seconds

    def write(self, data: bytes) -> None:
        """Write all of it.

        Raises:
            TimeoutError: the other side does not take it.
            OSError: the other side is gone.
        """
        left = memoryview(data)
        while left:
            self._wait(self._writes, select.POLLOUT)
            left = left[os.write(self._writes, left[:_CHUNK]) :]

    def flush(self) -> None:
        """Nothing waits to be written."""

    def read(self, n: int) -> bytes:
        """So many bytes; fewer where the stream ends.

        Raises:
            TimeoutError: they do not come.
        """
        parts = []
        while n > 0:
            self._wait(self._reads, select.POLLIN)
            part = os.read(self._reads, min(n, _CHUNK))
            if not part:
                break
            parts.append(part)
            n -= len(part)
        return b"".join(parts)

    def _wait(self, descriptor: int, event: int) -> None:
        poll = select.poll()
        poll.register(descriptor, event)
        left_s = self._until - time.monotonic()
        if left_s <= 0 or not poll.poll(left_s * 1000):
            raise TimeoutError("the process that draws did not answer in time")
