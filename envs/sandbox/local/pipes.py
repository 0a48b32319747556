"""Our ends of a program's pipes."""

from __future__ import annotations

import os

__all__ = ["Inlet", "Outlet", "file_of"]

_CHUNK_BYTES = 1 << 16


class Outlet:
    """What a program writes to one pipe, kept up to a cap.

    Attributes:
        descriptor: our end, non-blocking.
        kept: what it wrote and nobody took yet.
        n_dropped: bytes that found no room.
        is_open: whether the descriptor is still ours.
    """

    __slots__ = ("cap_bytes", "descriptor", "is_open", "kept", "n_dropped")

    def __init__(self, descriptor: int, cap_bytes: int) -> None:
        os.set_blocking(descriptor, False)
        self.descriptor, self.cap_bytes = descriptor, cap_bytes
        self.kept = bytearray()
        self.n_dropped = 0
        self.is_open = True

    def drain(self, n_chunks: int = 1) -> bool:
        """Read up to so many chunks.

        Returns:
            False once nobody can write to it anymore.
        """
        for _ in range(n_chunks):
            try:
                chunk = os.read(self.descriptor, _CHUNK_BYTES)
            except BlockingIOError:
                return True
            except ConnectionResetError:  # a channel's other end was closed
                return False
            if not chunk:
                return False
            room = max(0, self.cap_bytes - len(self.kept))
            self.kept += chunk[:room]
            self.n_dropped += max(0, len(chunk) - room)
        return True

    def take_line(self) -> bytes | None:
        """Take the first whole line, without its newline; None where there is none."""
        at = self.kept.find(b"\n")
        if at < 0:
            return None
        line = bytes(self.kept[:at])
        del self.kept[: at + 1]
        return line

    def close(self) -> None:
        """Close our end. Idempotent."""
        if self.is_open:
            self.is_open = False
            os.close(self.descriptor)


class Inlet:
    """What a program is to read from its stdin.

    Attributes:
        descriptor: our end, non-blocking.
        is_open: whether the descriptor is still ours.
    """

    __slots__ = ("_ends", "_pending", "descriptor", "is_open")

    def __init__(self, descriptor: int, data: bytes, *, ends: bool) -> None:
        """`ends`: close the pipe behind `data`; else keep it open for more."""
        os.set_blocking(descriptor, False)
        self.descriptor = descriptor
        self.is_open = True
        self._pending = memoryview(data)
        self._ends = ends
        self.feed()

    @property
    def is_waiting(self) -> bool:
        """Whether there is more to write than the pipe took so far."""
        return self.is_open and len(self._pending) > 0

    def add(self, data: bytes) -> None:
        """Write more.

        Raises:
            BrokenPipeError: the program has closed its stdin or is gone.
        """
        if self.is_open:
            self._pending = memoryview(bytes(self._pending) + data)
            self.feed()
        if not self.is_open:
            raise BrokenPipeError("the program has closed its stdin or is gone")

    def end(self) -> None:
        """Close it as soon as all is written."""
        self._ends = True
        self.feed()

    def feed(self) -> None:
        """Write what the pipe takes; close it at the end of the input, or where nobody reads."""
        if not self.is_open:
            return
        try:
            while self._pending:
                self._pending = self._pending[os.write(self.descriptor, self._pending) :]
        except BlockingIOError:
            return
        except OSError:
            self.close()
        if self._ends:
            self.close()

    def close(self) -> None:
        """Close our end; what is left is lost. Idempotent."""
        if self.is_open:
            self.is_open = False
            self._pending = memoryview(b"")
            os.close(self.descriptor)


def file_of(data: bytes) -> int:
    """A descriptor of a file in memory that holds these bytes."""
    descriptor = os.memfd_create("workgym-program")
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
    return descriptor
