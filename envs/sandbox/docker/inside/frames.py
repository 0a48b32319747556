"""Messages between a container's first process and us: settings as JSON, and bytes behind them.

Both ends load this very source.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from typing import Any

__all__ = ["CHUNK_BYTES", "STDIN_WINDOW_BYTES", "FrameReader", "pack_frame"]

_HEAD = struct.Struct(">II")  # length of the JSON, length of the bytes
CHUNK_BYTES = 1 << 16
STDIN_WINDOW_BYTES = 1 << 18  # of a program's input that may be on its way


def pack_frame(meta: dict[str, Any], blob: bytes = b"") -> bytes:
    """Make a message of settings and bytes."""
    text = json.dumps(meta, separators=(",", ":")).encode()
    return b"".join((_HEAD.pack(len(text), len(blob)), text, blob))


class FrameReader:
    """Takes bytes as they come and gives whole messages."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[dict[str, Any], bytes]]:
        """Take more bytes, and give the messages that are complete."""
        self._buffer += data
        while len(self._buffer) >= _HEAD.size:
            n_text, n_blob = _HEAD.unpack_from(self._buffer)
            end = _HEAD.size + n_text + n_blob
            if len(self._buffer) < end:
                return
            text = bytes(self._buffer[_HEAD.size : _HEAD.size + n_text])
            blob = bytes(self._buffer[_HEAD.size + n_text : end])
            del self._buffer[:end]
            yield json.loads(text), blob
