"""What a process writes down before it makes it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from workgym.envs.sandbox.ledger import Ledger, ledger_folder, start_time
from workgym.envs.sandbox.reaping import reap
from workgym.tasks.errors import SandboxError


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ledger folder of the test's own."""
    monkeypatch.setenv("WORKGYM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "sandboxes"


@pytest.fixture
def ledger(folder: Path) -> Ledger:
    """A ledger beside the process's own, which pools of other tests may be using."""
    return Ledger()


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("owner-*"))


def test_our_own_notes_are_left_alone_and_leave_no_file_when_done(ledger: Ledger, folder: Path, tmp_path: Path) -> None:
    kept = tmp_path / "workgym-kept"
    kept.mkdir()
    first, second = (ledger.note("folder", path=str(kept)) for _ in range(2))
    assert reap().removed == []
    ledger.done(first)
    assert len(files(folder)) == 1
    ledger.done(second)
    ledger.done(second)
    assert files(folder) == []
    assert kept.exists()


def test_a_zombie_counts_as_dead() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert start_time(process.pid) > 0
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.close()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert start_time(process.pid) == 0


def test_a_process_that_became_another_program_keeps_its_notes(folder: Path, ledger: Ledger, tmp_path: Path) -> None:
    old, new = ledger.note("folder", path=str(tmp_path / "workgym-old")), Ledger()
    note = new.note("folder", path=str(tmp_path / "workgym-new"))
    assert len(files(folder)) == 2
    new.done(note)
    ledger.done(old)
    assert files(folder) == []


def test_many_threads_write_whole_notes(ledger: Ledger, folder: Path, tmp_path: Path) -> None:
    def work(number: int) -> None:
        for n in range(25):
            note = ledger.note("folder", path=str(tmp_path / f"workgym-{number}-{n}"))
            ledger.done(note)

    keeper = ledger.note("folder", path=str(tmp_path / "workgym-keeper"))
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(8)))
    (file,) = folder.glob("owner-*")
    lines = [json.loads(line) for line in file.read_text().split("\n") if line]
    assert sum("kind" in line for line in lines) == sum("done" in line for line in lines) + 1 == 201
    ledger.done(keeper)
    assert ledger.n_open == 0


def test_a_ledger_that_somebody_removed_is_written_anew(ledger: Ledger, folder: Path, tmp_path: Path) -> None:
    notes = [ledger.note("folder", path=str(tmp_path / "workgym-1"))]
    (file,) = folder.glob("owner-*")
    file.unlink()
    notes.append(ledger.note("folder", path=str(tmp_path / "workgym-2")))
    (file,) = folder.glob("owner-*")
    assert [note in file.read_text() for note in notes] == [True, True]
    for note in notes:
        ledger.done(note)
    assert files(folder) == []


def test_a_folder_that_others_may_write_is_made_private(folder: Path) -> None:
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    assert ledger_folder() == folder
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_link_is_no_folder_for_a_ledger(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "elsewhere"
    target.mkdir(mode=0o700)
    folder.parent.mkdir()
    folder.symlink_to(target)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    assert ledger_folder() == tmp_path / "runtime" / "workgym" / "sandboxes"


def test_where_nothing_can_be_written_down_nothing_is_made(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("WORKGYM_CACHE", str(tmp_path / "file"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "file"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "file"))
    with pytest.raises(SandboxError, match="set WORKGYM_CACHE"):
        ledger.note("folder", path=str(tmp_path / "workgym-left"))
    assert ledger.n_open == 0
    with pytest.raises(SandboxError, match="set WORKGYM_CACHE"):
        ledger_folder()


@pytest.mark.parametrize(
    ("kind", "what", "message"),
    [
        ("proces", {"pid": 1}, "Did you mean 'process'"),
        ("process", {"path": "/"}, "has pid"),
        ("containers", {"label": "x"}, "has host and label"),
        ("cgroup", {"path": "workgym"}, "absolute path"),
        ("folder", {"path": "/home"}, "begins with 'workgym'"),
    ],
)
def test_a_note_that_could_not_be_found_again_is_refused(
    ledger: Ledger, kind: str, what: dict[str, str | int], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        ledger.note(kind, **what)  # type: ignore[arg-type]
