"""The output of a request, of which beginning and end are kept."""

from __future__ import annotations

__all__ = ["Capture"]


class Capture:
    """Keeps the first and the last bytes of a stream, and counts what lay between.

    Args:
        cap_bytes: how many to keep in all.
    """

    def __init__(self, cap_bytes: int) -> None:
        self._half = max(1, cap_bytes // 2)
        self._head, self._tail, self._n_dropped = bytearray(), bytearray(), 0

    def add(self, chunk: bytes) -> None:
        """Take what came."""
        room = self._half - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        excess = len(self._tail) - self._half
        if excess > 0:
            del self._tail[:excess]
            self._n_dropped += excess

    def take(self) -> tuple[bytes, bytes, int]:
        """Hand out beginning, end and the number of bytes between them, and begin anew."""
        taken = bytes(self._head), bytes(self._tail), self._n_dropped
        self._head, self._tail, self._n_dropped = bytearray(), bytearray(), 0
        return taken
