"""A file of zstd frames, one for each record: what can be told of it without trusting it.

Every frame carries the checksum of its content, so that `zstd -t` finds damage and `zstdcat` prints the records. Where
a frame ends is read from its block headers (RFC 8878, sections 3.1.1 and 3.1.1.2), which needs no decompression.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

import zstandard

from workgym.tasks.errors import ArchiveError

__all__ = ["Frame", "compressor", "decode_frame", "frame_end", "scan_frames"]

MAGIC: Final = b"\x28\xb5\x2f\xfd"
_MAX_BYTES: Final = 1 << 30
_CHUNK: Final = 1 << 20
_RLE: Final = 1
_RESERVED: Final = 3


@dataclass(frozen=True, slots=True)
class Frame:
    """Where a record lies in its file, and what it holds: bytes `[offset, offset + size)`."""

    offset: int
    size: int
    content: bytes


def compressor(level: int) -> zstandard.ZstdCompressor:
    """A compressor for frames; each thread needs its own."""
    return zstandard.ZstdCompressor(level=level, write_checksum=True, write_content_size=True)


def decode_frame(data: bytes) -> bytes | None:
    """The content of one whole frame; None where it is damaged."""
    try:
        size = zstandard.get_frame_parameters(data).content_size
        if size > _MAX_BYTES:
            return None
        return zstandard.ZstdDecompressor().decompress(data)
    except zstandard.ZstdError:
        return None


def frame_end(data: bytes, start: int) -> int | None:
    """Where the frame that starts at `start` ends.

    Returns:
        The offset after its last byte; None where `data` stops before that.

    Raises:
        ValueError: there is no frame at `start`, or its headers are impossible.
    """
    if data[start : start + 4] != MAGIC[: len(data) - start]:
        raise ValueError("no zstd frame")
    if len(data) < start + 5:
        return None
    descriptor = data[start + 4]
    if descriptor & 0x08:
        raise ValueError("the reserved bit of the frame header is set")
    single_segment = bool(descriptor & 0x20)
    content_size_bytes = (int(single_segment), 2, 4, 8)[descriptor >> 6]
    position = start + 5 + (not single_segment) + (0, 1, 2, 4)[descriptor & 3] + content_size_bytes
    last = False
    while not last:
        if len(data) < position + 3:
            return None
        header = int.from_bytes(data[position : position + 3], "little")
        last, kind, size = bool(header & 1), header >> 1 & 3, header >> 3
        if kind == _RESERVED:
            raise ValueError("a block is of the reserved type")
        position += 3 + (1 if kind == _RLE else size)
    position += 4 if descriptor & 0x04 else 0
    return position if position <= len(data) else None


def scan_frames(path: Path, start: int = 0) -> Iterator[Frame]:
    """Read the frames of a file in order, up to its end or to a torn last frame.

    Args:
        path: the file.
        start: offset of a frame's first byte.

    Yields:
        Every whole frame. A last frame that was cut short, as a process killed in mid-write leaves it, ends the scan
        without an error: the end of the last frame yielded is where the sound part ends.

    Raises:
        ArchiveError: a frame is damaged; the message names its offset.
    """
    with path.open("rb") as file:
        file.seek(start)
        offset, data, position = start, b"", 0
        while True:
            end = _end_or_damage(path, data, position, offset)
            if end is None:
                more = _read_more(file, len(data) - position)
                if not more:
                    _require_torn(path, data[position:], offset)
                    return
                data, position = data[position:] + more, 0
                continue
            content = decode_frame(data[position:end])
            if content is None:
                raise _damaged(path, offset)
            yield Frame(offset, end - position, content)
            offset, position = offset + end - position, end


def _end_or_damage(path: Path, data: bytes, position: int, offset: int) -> int | None:
    try:
        return frame_end(data, position)
    except ValueError as error:
        raise _damaged(path, offset) from error


def _read_more(file: IO[bytes], have: int) -> bytes:
    """Read at least as much as is there already, so that a large frame costs linear time."""
    return file.read(max(_CHUNK, have))


def _require_torn(path: Path, tail: bytes, offset: int) -> None:
    """Tell a torn last frame from a damaged length: behind a torn one no sound frame can follow."""
    candidate = tail.find(MAGIC, 1)
    while candidate != -1:
        try:
            end = frame_end(tail, candidate)
        except ValueError:
            end = None
        if end is not None and decode_frame(tail[candidate:end]) is not None:
            raise _damaged(path, offset)
        candidate = tail.find(MAGIC, candidate + 1)


def _damaged(path: Path, offset: int) -> ArchiveError:
    return ArchiveError(
        f"{path} is damaged at byte {offset}. What lies before is sound; to keep that alone: "
        f"head -c {offset} {path.name} > sound.jsonl.zst"
    )
