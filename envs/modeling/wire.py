"""How the scorer's process is spoken to: a head of JSON, then arrays and bytes as they lie in memory. No pickle."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO, Final

__all__ = ["Closed", "receive", "send"]

_LENGTH: Final = struct.Struct("<I")
_MOST_BYTES: Final = 64 * 2**20


class Closed(Exception):
    """The other side is gone, or says what is no message."""


def send(stream: BinaryIO, head: Mapping[str, Any], blobs: Sequence[bytes] = ()) -> None:
    """Write one message.

    Raises:
        OSError: the other side is gone.
    """
    text = json.dumps({"head": head, "blobs": [len(one) for one in blobs]}).encode()
    stream.write(b"".join([_LENGTH.pack(len(text)), text, *blobs]))
    stream.flush()


def receive(stream: BinaryIO) -> tuple[dict[str, Any], list[bytes]]:
    """Read one message.

    Raises:
        Closed: the stream ends before it does.
    """
    (length,) = _LENGTH.unpack(_exactly(stream, _LENGTH.size))
    said = json.loads(_exactly(stream, length))
    return said["head"], [_exactly(stream, one) for one in said["blobs"]]


def _exactly(stream: BinaryIO, n: int) -> bytes:
    if n > _MOST_BYTES:
        raise Closed(f"a message of {n} bytes")
    data = stream.read(n)
    if len(data) < n:
        raise Closed("the stream has ended")
    return data
