"""What a process writes down before it makes it, and what the next one removes after a SIGKILL."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from workgym.envs.sandbox.ledger import Ledger, Owner, ledger_folder, start_time
from workgym.envs.sandbox.reaping import reap
from workgym.tasks.errors import SandboxError

NOTE_AND_WAIT = """
import json, sys, time
from workgym.envs.sandbox.ledger import own_ledger
ledger = own_ledger()
for kind, what in json.loads(sys.argv[1]):
    ledger.note(kind, **what)
print("ready", flush=True)
time.sleep(600)
"""
FORK_AND_WAIT = """
import json, os, sys, time
from workgym.envs.sandbox.ledger import own_ledger
ledger = own_ledger()
(kind, ours), (_, childs) = json.loads(sys.argv[1])
note = ledger.note(kind, **ours)
child = os.fork()
if child == 0:
    ledger.done(note)
    ledger.note(kind, **childs)
    os._exit(0)
os.waitpid(child, 0)
print("ready", flush=True)
time.sleep(600)
"""
LOCK_AND_WAIT = """
import fcntl, json, sys, time
file = open(json.loads(sys.argv[1])[0], "w")
fcntl.lockf(file, fcntl.LOCK_EX)
print("ready", flush=True)
time.sleep(600)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ledger folder of the test's own."""
    monkeypatch.setenv("WORKGYM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "sandboxes"


@pytest.fixture
def ledger(folder: Path) -> Ledger:
    """A ledger beside the process's own, which pools of other tests may be using."""
    return Ledger()


@contextlib.contextmanager
def running(source: str, *arguments: object) -> Iterator[subprocess.Popen[bytes]]:
    """Another process, once it is ready; it lives until it is killed."""
    command = [sys.executable, "-c", source, json.dumps(arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            yield process
        finally:
            process.kill()


def owner(*notes: tuple[str, dict[str, str | int]]) -> contextlib.AbstractContextManager[subprocess.Popen[bytes]]:
    """Another process that has noted these."""
    return running(NOTE_AND_WAIT, *notes)


@contextlib.contextmanager
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """A process that does nothing."""
    with subprocess.Popen(["sleep", "600"]) as process:
        try:
            yield process
        finally:
            process.kill()


def write_ledger(folder: Path, who: Owner, *notes: dict[str, str | int], end: str = "\n") -> Path:
    """A ledger as that process would have left it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = folder / f"owner-{who.name}.jsonl"
    lines = [asdict(who), *({"note": f"{who.pid}.{n}", **note} for n, note in enumerate(notes))]
    file.write_text("\n".join(map(json.dumps, lines)) + end)
    return file


def dead_owner() -> Owner:
    """A process that is dead, whose id this one has now."""
    return replace(Owner.this_process(), start=start_time(os.getpid()) - 1)


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("owner-*"))


def test_what_a_killed_process_left_is_removed(folder: Path, tmp_path: Path) -> None:
    left = tmp_path / "workgym-left"
    left.mkdir()
    (left / "file").touch()
    with sleeper() as stray:
        notes = [("process", {"pid": stray.pid}), ("folder", {"path": str(left)})]
        with owner(*notes) as process:
            process.kill()
            process.wait()
            done = reap()
        assert stray.wait(timeout=10) == -signal.SIGKILL
    assert not left.exists()
    assert len(done.removed) == 2
    assert (len(done.owners), done.left, files(folder)) == (1, [], [])


def test_what_a_living_process_owns_is_left_alone(folder: Path, tmp_path: Path) -> None:
    kept = tmp_path / "workgym-kept"
    kept.mkdir()
    with sleeper() as stray, owner(("process", {"pid": stray.pid}), ("folder", {"path": str(kept)})):
        done = reap()
        assert stray.poll() is None
        assert len(files(folder)) == 1
    assert kept.exists()
    assert (done.owners, done.removed, done.left) == ([], [], [])


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


def test_a_note_is_struck_out_when_it_is_done(folder: Path, tmp_path: Path) -> None:
    kept, left = tmp_path / "workgym-kept", tmp_path / "workgym-left"
    kept.mkdir()
    left.mkdir()
    notes = [{"kind": "folder", "path": str(kept)}, {"kind": "folder", "path": str(left)}]
    file = write_ledger(folder, dead_owner(), *notes)
    with file.open("a") as out:
        out.write(json.dumps({"done": f"{os.getpid()}.0"}) + "\n")
    reap()
    assert (kept.exists(), left.exists()) == (True, False)


def test_a_process_that_took_over_a_noted_id_is_not_killed(folder: Path) -> None:
    with sleeper() as stranger:
        note = {"kind": "process", "pid": stranger.pid, "start": start_time(stranger.pid) - 1}
        write_ledger(folder, dead_owner(), note)
        done = reap()
        assert stranger.poll() is None
    assert (done.removed, files(folder)) == ([], [])


def test_after_a_reboot_folders_alone_are_removed(folder: Path, tmp_path: Path) -> None:
    left = tmp_path / "workgym-left"
    left.mkdir()
    who = replace(Owner.this_process(), boot="another")
    with sleeper() as stranger:
        process = {"kind": "process", "pid": stranger.pid, "start": start_time(stranger.pid)}
        write_ledger(folder, who, process, {"kind": "folder", "path": str(left)})
        reap()
        assert stranger.poll() is None
    assert not left.exists()
    assert files(folder) == []


@pytest.mark.parametrize("change", [{"node": "elsewhere"}, {"namespace": "1"}])
def test_an_owner_whose_life_cannot_be_seen_from_here_is_left_alone(
    folder: Path, tmp_path: Path, change: dict[str, str]
) -> None:
    kept = tmp_path / "workgym-kept"
    kept.mkdir()
    write_ledger(folder, replace(dead_owner(), **change), {"kind": "folder", "path": str(kept)})
    assert reap().removed == []
    assert kept.exists()
    assert len(files(folder)) == 1


def test_a_zombie_counts_as_dead() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert start_time(process.pid) > 0
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.close()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert start_time(process.pid) == 0


def test_a_forked_process_is_an_owner_of_its_own(folder: Path, tmp_path: Path) -> None:
    ours, childs = tmp_path / "workgym-ours", tmp_path / "workgym-childs"
    ours.mkdir()
    childs.mkdir()
    with running(FORK_AND_WAIT, *(("folder", {"path": str(path)}) for path in (ours, childs))):
        assert len(files(folder)) == 2
        assert len(reap().owners) == 1
        assert (ours.exists(), childs.exists()) == (True, False)
        assert len(files(folder)) == 1


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


def test_a_note_cut_short_hides_no_other(folder: Path, tmp_path: Path) -> None:
    left = tmp_path / "workgym-left"
    left.mkdir()
    file = write_ledger(folder, dead_owner(), end='\n{"note": "1.9", "ki')
    with file.open("a") as out:
        out.write("\n" + json.dumps({"note": "1.10", "kind": "folder", "path": str(left)}) + "\n")
    reap()
    assert not left.exists()


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


def test_a_folder_that_became_a_link_is_left_and_told(folder: Path, tmp_path: Path) -> None:
    kept, link = tmp_path / "kept", tmp_path / "workgym-link"
    kept.mkdir()
    link.symlink_to(kept)
    write_ledger(folder, dead_owner(), {"kind": "folder", "path": str(link)})
    done = reap()
    assert kept.exists()
    assert len(done.left) == 1
    assert "by hand" in done.left[0]
    assert len(files(folder)) == 1


def test_a_file_that_is_no_ledger_is_left_and_told(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True)
    (folder / "owner-1.jsonl").write_text("[]\n")
    done = reap()
    assert len(done.left) == 1
    assert "owner-1.jsonl" in done.left[0]


def test_nothing_is_reaped_while_another_process_reaps(folder: Path, tmp_path: Path) -> None:
    left = tmp_path / "workgym-left"
    left.mkdir()
    write_ledger(folder, dead_owner(), {"kind": "folder", "path": str(left)})
    with running(LOCK_AND_WAIT, str(folder / "reaping.lock")):
        assert reap().owners == []
        assert left.exists()
    assert len(reap().owners) == 1


def test_without_a_home_the_notes_go_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("WORKGYM_CACHE", str(tmp_path / "file"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    assert ledger_folder() == tmp_path / "runtime" / "workgym" / "sandboxes"
    left = tmp_path / "workgym-left"
    left.mkdir()
    with owner(("folder", {"path": str(left)})) as process:
        process.kill()
    assert len(reap().owners) == 1
    assert not left.exists()


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
