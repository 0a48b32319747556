"""Frames: where they end, and what is torn or damaged."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import zstandard

from workgym.agents.frames import compressor, decode_frame, frame_end, scan_frames
from workgym.tasks.errors import ArchiveError

NOISE = random.Random(0).randbytes(300_000)
CONTENTS = {
    "one byte": b"x",
    "text": b"the quick brown fox " * 20,
    "a run": b"a" * 1_000_000,
    "noise": NOISE,
    "several blocks": (NOISE[:200_000] + b"b" * 400_000) * 2,
}


@pytest.mark.parametrize("name", CONTENTS)
@pytest.mark.parametrize("level", [1, 3, 19])
def test_the_end_of_a_frame_is_found_without_decompressing_it(name: str, level: int) -> None:
    frame = compressor(level).compress(CONTENTS[name])
    assert frame_end(b"before" + frame + b"after", 6) == 6 + len(frame)
    assert decode_frame(frame) == CONTENTS[name]


@pytest.mark.parametrize(("checksum", "size"), [(True, False), (False, True), (False, False)])
def test_the_end_of_a_frame_with_other_headers_is_found(checksum: bool, size: bool) -> None:
    frame = zstandard.ZstdCompressor(write_checksum=checksum, write_content_size=size).compress(CONTENTS["text"])
    assert frame_end(frame + b"after", 0) == len(frame)


def test_no_beginning_of_a_frame_passes_for_a_whole_one() -> None:
    frame = compressor(1).compress(CONTENTS["text"])
    assert [frame_end(frame[:length], 0) for length in range(len(frame))] == [None] * len(frame)


def test_frames_are_read_in_order_from_any_frame_on(tmp_path: Path) -> None:
    contents = [NOISE[start : start + 90_000] for start in range(0, 200_000, 7_000)]
    frames = [compressor(1).compress(content) for content in contents]
    (tmp_path / "f").write_bytes(b"".join(frames))
    assert [frame.content for frame in scan_frames(tmp_path / "f")] == contents
    start = len(frames[0]) + len(frames[1])
    later = list(scan_frames(tmp_path / "f", start))
    assert [frame.content for frame in later] == contents[2:]
    assert later[0].offset == start


def test_a_flipped_bit_anywhere_in_a_frame_is_never_read_as_content(tmp_path: Path) -> None:
    frames = [compressor(1).compress(f"record {number} ".encode() * 9) for number in range(3)]
    first, middle, last = frames
    for position in range(len(middle)):
        for bit in (0, 3, 7):
            damaged = bytearray(middle)
            damaged[position] ^= 1 << bit
            (tmp_path / "f").write_bytes(first + damaged + last)
            with pytest.raises(ArchiveError, match=f"damaged at byte {len(first)}"):
                assert [frame.content for frame in scan_frames(tmp_path / "f")] == []


def test_damage_says_how_to_keep_what_is_sound(tmp_path: Path) -> None:
    frame = compressor(1).compress(b"sound")
    (tmp_path / "f").write_bytes(frame + b"garbage" + frame)
    with pytest.raises(ArchiveError, match=f"head -c {len(frame)} f"):
        list(scan_frames(tmp_path / "f"))
