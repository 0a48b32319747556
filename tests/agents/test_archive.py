"""The archive: what is appended stays, and is found again."""

from __future__ import annotations

import json
import resource
import threading
from dataclasses import replace
from pathlib import Path

import pytest
import zstandard
from episodes import make_trajectory

from workgym.agents.archive import FRAMES, Archive
from workgym.agents.frames import compressor, scan_frames
from workgym.agents.records import SCHEMA, to_record
from workgym.tasks.errors import ArchiveError


def fill(folder: Path, numbers: range, **options: bool) -> None:
    with Archive.open(folder, "a", **options) as archive:
        for number in numbers:
            archive.append(make_trajectory(number))


@pytest.mark.parametrize("durable", [False, True])
def test_what_was_appended_is_read_in_order(tmp_path: Path, durable: bool) -> None:
    fill(tmp_path / "a", range(5), durable=durable)
    fill(tmp_path / "a", range(5, 9), durable=durable)
    with Archive.open(tmp_path / "a") as archive:
        assert len(archive) == 9
        assert list(archive) == [make_trajectory(number) for number in range(9)]


def test_a_writer_reads_what_it_has_just_appended(tmp_path: Path) -> None:
    with Archive.open(tmp_path, "a") as archive:
        archive.append(make_trajectory(1))
        assert archive.get("rl/00001") == make_trajectory(1)


def test_a_reader_sees_what_is_appended_after_it_was_opened(tmp_path: Path) -> None:
    with Archive.open(tmp_path, "a") as writer:
        writer.append(make_trajectory(1))
        with Archive.open(tmp_path) as reader:
            writer.append(make_trajectory(2))
            writer.sync()
            assert [one.rollout_id for one in reader] == ["rl/00001", "rl/00002"]


def test_each_record_is_a_line_of_json_in_a_frame_of_its_own(tmp_path: Path) -> None:
    fill(tmp_path, range(3))
    frames = [frame.content for frame in scan_frames(tmp_path / FRAMES)]
    assert [json.loads(frame)["rollout_id"] for frame in frames] == ["rl/00000", "rl/00001", "rl/00002"]
    assert all(frame.endswith(b"\n") and frame.count(b"\n") == 1 for frame in frames)
    reader = zstandard.ZstdDecompressor().stream_reader((tmp_path / FRAMES).read_bytes(), read_across_frames=True)
    assert reader.read() == b"".join(frames)


def test_a_rollout_that_is_appended_again_supersedes_the_earlier_one(tmp_path: Path) -> None:
    again = replace(make_trajectory(1), policy="another")
    with Archive.open(tmp_path, "a") as archive:
        for trajectory in (make_trajectory(1), make_trajectory(2), again):
            archive.append(trajectory)
        assert list(archive) == [make_trajectory(2), again]
        assert list(archive.query(policy="scripted")) == [make_trajectory(2)]


def test_threads_may_append_at_once(tmp_path: Path) -> None:
    with Archive.open(tmp_path, "a") as archive:

        def append(first: int) -> None:
            for number in range(first, first + 40):
                archive.append(make_trajectory(number))

        threads = [threading.Thread(target=append, args=(first,)) for first in range(0, 320, 40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    with Archive.open(tmp_path) as archive:
        assert sorted(one.rollout_id for one in archive) == [f"rl/{number:05d}" for number in range(320)]
        assert archive.get("rl/00123") == make_trajectory(123)


# ---- finding


@pytest.fixture(scope="module")
def hundred(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hundred")
    fill(folder, range(100))
    return folder


@pytest.mark.parametrize(
    "filters",
    [
        {"success": True},
        {"success": False, "level": 2},
        {"family": "even", "split": "test"},
        {"domain": "toy", "policy": "scripted", "valid": True},
        {"end_reason": "turns"},
        {"task_id": "toy/7"},
        {"level": 9},
    ],
)
def test_a_query_finds_exactly_what_matches(hundred: Path, filters: dict[str, object]) -> None:
    everything = [make_trajectory(number) for number in range(100)]
    wanted = [one for one in everything if all(getattr(one, name) == value for name, value in filters.items())]
    with Archive.open(hundred) as archive:
        assert list(archive.query(**filters)) == wanted


def test_a_query_by_prefix_takes_it_as_text(hundred: Path) -> None:
    with Archive.open(hundred) as archive:
        assert [one.rollout_id for one in archive.entries(prefix="rl/0001")] == [f"rl/{n:05d}" for n in range(10, 20)]
        assert archive.entries(prefix="rl/%") == []


def test_an_unknown_filter_names_the_nearest(hundred: Path) -> None:
    with Archive.open(hundred) as archive, pytest.raises(ArchiveError, match="Did you mean 'success'"):
        archive.query(succes=True)


def test_a_rollout_is_found_by_the_beginning_of_its_id(hundred: Path) -> None:
    with Archive.open(hundred) as archive:
        assert archive.get("rl/00042") == archive.get("rl/0004" + "2") == make_trajectory(42)
        with pytest.raises(ArchiveError, match=r"10 rollouts begin with 'rl/0004'.*Give more"):
            archive.get("rl/0004")


def test_an_id_that_begins_another_is_still_found(tmp_path: Path) -> None:
    with Archive.open(tmp_path, "a") as archive:
        archive.append(replace(make_trajectory(1), rollout_id="a"))
        archive.append(replace(make_trajectory(2), rollout_id="ab"))
        assert archive.get("a").seed == 1


def test_a_missing_rollout_names_the_nearest(hundred: Path) -> None:
    with Archive.open(hundred) as archive, pytest.raises(ArchiveError, match=r"no rollout 'r1/00042'.*rl/00042"):
        archive.get("r1/00042")


# ---- refusals


def test_a_folder_without_an_archive_names_the_one_below_it(tmp_path: Path) -> None:
    fill(tmp_path / "run" / "archive", range(1))
    with pytest.raises(ArchiveError, match=r"Did you mean .*run/archive"):
        Archive.open(tmp_path)
    with pytest.raises(ArchiveError, match="no such folder"):
        Archive.open(tmp_path / "nowhere")


def test_another_mode_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'r' to read or 'a' to append"):
        Archive.open(tmp_path, "w")  # type: ignore[arg-type]


def test_a_reader_cannot_append(hundred: Path) -> None:
    with Archive.open(hundred) as archive, pytest.raises(ArchiveError, match="not open for appending"):
        archive.append(make_trajectory(1))


def test_a_closed_archive_says_so(tmp_path: Path) -> None:
    fill(tmp_path, range(1))
    archive = Archive.open(tmp_path, "a")
    archive.close()
    archive.close()
    with pytest.raises(ArchiveError, match="closed"):
        len(archive)
    with pytest.raises(ArchiveError, match="not open for appending"):
        archive.append(make_trajectory(1))


@pytest.mark.parametrize("state", [{"x": {1, 2}}, {"x": float("nan")}, {"x": b"bytes"}])
def test_what_json_cannot_hold_is_refused_and_harms_nothing(tmp_path: Path, state: dict[str, object]) -> None:
    good = make_trajectory(1)
    assert good.attempt is not None
    bad = replace(make_trajectory(2), attempt=replace(good.attempt, state=state))
    with Archive.open(tmp_path, "a") as archive:
        archive.append(good)
        with pytest.raises(ArchiveError, match="'rl/00002' cannot be archived"):
            archive.append(bad)
        assert list(archive) == [good]


@pytest.mark.parametrize("mode", ["r", "a"])
def test_a_record_of_a_newer_schema_is_refused_with_the_way_out(tmp_path: Path, mode: str) -> None:
    fill(tmp_path, range(1))
    line = json.dumps(to_record(make_trajectory(2)) | {"schema": SCHEMA + 1}).encode() + b"\n"
    with (tmp_path / FRAMES).open("ab") as file:
        file.write(compressor(1).compress(line))
    with pytest.raises(ArchiveError, match=r"byte \d+: .*pip install --upgrade workgym"):
        Archive.open(tmp_path, mode)  # type: ignore[arg-type]


@pytest.mark.parametrize("line", [b"no json\n", b"[]\n", b'{"schema": 1}\n'])
def test_a_frame_that_is_no_record_is_refused_with_its_offset(tmp_path: Path, line: bytes) -> None:
    (tmp_path / FRAMES).write_bytes(compressor(1).compress(line))
    with pytest.raises(ArchiveError, match="byte 0"):
        Archive.open(tmp_path)


def test_what_a_full_disk_left_of_a_record_is_taken_back(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Archive.open(tmp_path, "a") as archive:
        archive.append(make_trajectory(1))
        size = (tmp_path / FRAMES).stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 50, hard))  # a write beyond is cut short, then refused
        try:
            with pytest.raises(ArchiveError, match="cannot append"):
                archive.append(make_trajectory(2))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert (tmp_path / FRAMES).stat().st_size == size
        archive.append(make_trajectory(3))
        assert list(archive) == [make_trajectory(1), make_trajectory(3)]
