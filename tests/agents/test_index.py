"""The index is never the truth: whatever becomes of it, the frames decide."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from episodes import make_trajectory

from workgym.agents.archive import FRAMES, Archive

INDEX = "index.sqlite"


def fill(folder: Path, numbers: range) -> None:
    with Archive.open(folder, "a") as archive:
        for number in numbers:
            archive.append(make_trajectory(number))


def delete(path: Path) -> None:
    path.unlink()


def empty(path: Path) -> None:
    path.write_bytes(b"")


def scribble_over_all(path: Path) -> None:
    path.write_bytes(b"this is no database" * 500)


def scribble_over_the_records(path: Path) -> None:
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * (size - 4096))


def cut(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)


def become_another_layout(path: Path) -> None:
    database = sqlite3.connect(path)
    database.executescript("DROP TABLE records; CREATE TABLE records (x); PRAGMA user_version = 99;")
    database.close()


def be_in_the_way(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("mode", ["r", "a"])
@pytest.mark.parametrize(
    "harm",
    [delete, empty, scribble_over_all, scribble_over_the_records, cut, become_another_layout, be_in_the_way],
)
def test_whatever_becomes_of_the_index_the_archive_reads_the_same(
    tmp_path: Path, harm: Callable[[Path], None], mode: str
) -> None:
    fill(tmp_path, range(120))
    harm(tmp_path / INDEX)
    with Archive.open(tmp_path, mode) as archive:  # type: ignore[arg-type]
        assert len(archive) == 120
        assert archive.get("rl/00077") == make_trajectory(77)
        assert len(archive.entries(success=True)) == 60


def test_an_index_that_is_harmed_while_it_is_open_is_built_again(tmp_path: Path) -> None:
    fill(tmp_path, range(120))
    with Archive.open(tmp_path) as archive:
        scribble_over_the_records(tmp_path / INDEX)
        assert [one.rollout_id for one in archive] == [f"rl/{number:05d}" for number in range(120)]


def test_an_index_that_lags_behind_catches_up(tmp_path: Path) -> None:
    fill(tmp_path, range(5))
    shutil.copy(tmp_path / INDEX, tmp_path / "old")
    fill(tmp_path, range(3, 9))
    shutil.copy(tmp_path / "old", tmp_path / INDEX)
    with Archive.open(tmp_path) as archive:
        assert list(archive) == [make_trajectory(number) for number in (0, 1, 2, *range(3, 9))]


def test_an_index_that_runs_ahead_is_built_again(tmp_path: Path) -> None:
    fill(tmp_path, range(5))
    shutil.copy(tmp_path / FRAMES, tmp_path / "short")
    fill(tmp_path, range(5, 9))
    shutil.copy(tmp_path / "short", tmp_path / FRAMES)
    with Archive.open(tmp_path) as archive:
        assert list(archive) == [make_trajectory(number) for number in range(5)]


def test_an_index_of_another_archive_is_built_again(tmp_path: Path) -> None:
    fill(tmp_path / "a", range(5))
    fill(tmp_path / "b", range(100, 140))
    shutil.copy(tmp_path / "a" / INDEX, tmp_path / "b" / INDEX)
    with Archive.open(tmp_path / "b") as archive:
        assert list(archive) == [make_trajectory(number) for number in range(100, 140)]


def test_a_reader_that_indexes_late_does_not_bring_back_what_was_superseded(tmp_path: Path) -> None:
    with Archive.open(tmp_path, "a") as writer:
        writer.append(make_trajectory(1))
        with Archive.open(tmp_path) as reader:
            old = reader.entries()[0]
            writer.append(make_trajectory(2, rollout_id=old.rollout_id))
            assert len(writer) == 1
            assert reader._index is not None
            reader._index.use(lambda index: index.add([old], old.size, b"late"))
        assert [one.seed for one in writer] == [2]
