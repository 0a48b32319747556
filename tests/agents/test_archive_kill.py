"""The archive through the death of its writer."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from archive_writer import SIZES
from episodes import make_trajectory

from workgym.agents.archive import FRAMES, Archive
from workgym.tasks.errors import ArchiveError

WRITER = Path(__file__).parent / "archive_writer.py"


@contextmanager
def writer(folder: Path, argument: str) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, str(WRITER), str(folder), argument], stdout=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


def write_and_kill(folder: Path, first: int, n_acknowledged: int) -> list[int]:
    """Let a writer start at a number, kill it soon after so many acknowledgments; all those that it had printed."""
    with writer(folder, str(first)) as process:
        assert process.stdout is not None
        seen = [process.stdout.readline() for _ in range(n_acknowledged)]
        process.send_signal(signal.SIGKILL)
        return [int(line) for line in [*seen, *process.stdout.read().splitlines()]]


def test_no_acknowledged_record_is_lost_in_twenty_kills(tmp_path: Path) -> None:
    rng = random.Random(1)
    acknowledged: set[int] = set()
    for _ in range(20):
        first = max(0, max(acknowledged, default=-1) - 3)  # as after a resume: the last ones come again
        acknowledged |= set(write_and_kill(tmp_path, first, rng.randrange(1, 12)))
    with Archive.open(tmp_path, "a") as archive:
        found = {one.seed: one for one in archive}
        assert len(found) == len(archive)
        assert acknowledged <= set(found)
        assert set(found) == set(range(len(found)))
        for number, trajectory in found.items():
            assert trajectory == make_trajectory(number, turn_chars=SIZES[number % 3])


def test_a_last_frame_torn_at_any_byte_is_cut_off(tmp_path: Path) -> None:
    with Archive.open(tmp_path / "whole", "a") as archive:
        archive.append(make_trajectory(0))
        archive.append(make_trajectory(1))
        sound = (tmp_path / "whole" / FRAMES).stat().st_size
        archive.append(make_trajectory(2, n_turns=1, turn_chars=10))
    data = (tmp_path / "whole" / FRAMES).read_bytes()
    torn = tmp_path / "torn"
    torn.mkdir()
    for length in range(sound, len(data)):
        (torn / FRAMES).write_bytes(data[:length])
        with Archive.open(torn) as reader:
            assert len(reader) == 2
        with Archive.open(torn, "a") as archive:
            assert (torn / FRAMES).stat().st_size == sound
            archive.append(make_trajectory(7, n_turns=1))
            assert [one.seed for one in archive] == [0, 1, 7]


def test_a_second_writer_in_the_same_process_is_refused(tmp_path: Path) -> None:
    with Archive.open(tmp_path, "a") as archive:
        with pytest.raises(ArchiveError, match="another writer"):
            Archive.open(tmp_path, "a")
        archive.append(make_trajectory(1))
        with pytest.raises(ArchiveError, match="another writer"):
            Archive.open(tmp_path, "a")
    with Archive.open(tmp_path, "a") as archive:
        assert len(archive) == 1


def test_a_writer_in_another_process_is_refused_until_the_first_is_gone(tmp_path: Path) -> None:
    with writer(tmp_path, "0") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"0\n"
        with pytest.raises(ArchiveError, match="another writer"):
            Archive.open(tmp_path, "a")
        with Archive.open(tmp_path) as reader:
            assert reader.get("rl/00000") == make_trajectory(0, turn_chars=SIZES[0])
    with Archive.open(tmp_path, "a") as archive:
        assert len(archive) >= 1


def test_a_forked_child_neither_appends_nor_keeps_the_lock(tmp_path: Path) -> None:
    with writer(tmp_path, "--fork") as process:
        assert process.stdout is not None
        said = {process.stdout.readline().strip(), process.stdout.readline().strip()}
    assert b"refused" in said
    (child,) = (int(word) for word in said if word != b"refused")
    try:
        os.kill(child, 0)  # the child outlives the writer
        with Archive.open(tmp_path, "a") as archive:
            archive.append(make_trajectory(1))
    finally:
        os.kill(child, signal.SIGKILL)
