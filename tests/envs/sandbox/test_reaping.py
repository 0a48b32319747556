"""What a process that was killed has left is removed by the next one, by its ledger."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from workgym.envs.sandbox.cgroup.find import find_cgroups
from workgym.envs.sandbox.cgroup.tree import CgroupTree
from workgym.envs.sandbox.ledger import Owner, ledger_folder, start_time
from workgym.envs.sandbox.reaping import reap

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
GROUP_AND_WAIT = """
import json, os, subprocess, time
from workgym.envs.sandbox.cgroup.find import find_cgroups
from workgym.envs.sandbox.ledger import own_ledger
tree = find_cgroups()
for group in tree.owner_folders():
    own_ledger().note("cgroup", path=str(group))
stray = subprocess.Popen(["setsid", "sleep", "600"])
tree.make("busy", memory_mb=50, n_processes=10).add(stray.pid)
print("ready", flush=True)
print(json.dumps([stray.pid, *map(str, tree.owner_folders())]), flush=True)
time.sleep(600)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ledger folder of the test's own."""
    monkeypatch.setenv("WORKGYM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "sandboxes"


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


def test_a_forked_process_is_an_owner_of_its_own(folder: Path, tmp_path: Path) -> None:
    ours, childs = tmp_path / "workgym-ours", tmp_path / "workgym-childs"
    ours.mkdir()
    childs.mkdir()
    with running(FORK_AND_WAIT, *(("folder", {"path": str(path)}) for path in (ours, childs))):
        assert len(files(folder)) == 2
        assert len(reap().owners) == 1
        assert (ours.exists(), childs.exists()) == (True, False)
        assert len(files(folder)) == 1


def test_a_note_cut_short_hides_no_other(folder: Path, tmp_path: Path) -> None:
    left = tmp_path / "workgym-left"
    left.mkdir()
    file = write_ledger(folder, dead_owner(), end='\n{"note": "1.9", "ki')
    with file.open("a") as out:
        out.write("\n" + json.dumps({"note": "1.10", "kind": "folder", "path": str(left)}) + "\n")
    reap()
    assert not left.exists()


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


@pytest.mark.parametrize(
    "note",
    [
        {"kind": "folder", "path": "{victim}"},
        {"kind": "folder", "path": "{victim}/workgym-x/.."},
        {"kind": "cgroup", "path": "{victim}/workgym-1-1/.."},
        {"kind": "folder"},
        {"kind": "process", "pid": 1, "start": 0},
        {"kind": "process"},
        {},
    ],
)
def test_what_no_ledger_ever_held_is_left_alone(folder: Path, tmp_path: Path, note: dict[str, str | int]) -> None:
    victim = tmp_path / "victim"
    (victim / "workgym-x").mkdir(parents=True)
    filled = {name: value.format(victim=victim) if isinstance(value, str) else value for name, value in note.items()}
    write_ledger(folder, dead_owner(), {"note": "1.1", **filled})
    assert reap().removed == []
    assert (victim / "workgym-x").is_dir()


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: os.symlink("/etc/passwd", path), os.mkdir])
def test_what_is_no_file_is_no_ledger(folder: Path, make: Callable[[Path], None]) -> None:
    folder.mkdir(parents=True)
    make(folder / "owner-1.jsonl")
    (told,) = reap().left
    assert "cannot be read as a ledger" in told


@pytest.mark.skipif(os.geteuid() != 0, reason="root alone can give a folder away")
def test_a_folder_that_somebody_else_could_replace_takes_no_notes(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folder.mkdir(parents=True)
    os.chown(folder.parent, 1000, 1000)
    assert ledger_folder() != folder


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


def test_a_process_reaps_once(folder: Path, tmp_path: Path) -> None:
    left = tmp_path / "workgym-left"
    left.mkdir()
    write_ledger(folder, dead_owner(), {"kind": "folder", "path": str(left)})
    twice = "from workgym.envs.sandbox.reaping import reap_once; print(reap_once() is reap_once(), reap_once().removed)"
    done = subprocess.run([sys.executable, "-c", twice], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"True ['folder {left} of the dead process")
    assert not left.exists()


@pytest.mark.skipif(not isinstance(find_cgroups(), CgroupTree), reason="no control group can be made here")
def test_a_control_group_is_removed_with_what_still_runs_in_it(folder: Path) -> None:
    with running(GROUP_AND_WAIT) as process:
        assert process.stdout is not None
        pid, *groups = json.loads(process.stdout.readline())
        process.kill()
        process.wait()
        assert all(Path(group).exists() for group in groups)
        done = reap()
    assert done.left == []
    assert [group for group in groups if Path(group).exists()] == []
    assert start_time(pid) == 0


def test_containers_of_a_daemon_whose_folder_is_gone_are_gone(folder: Path, tmp_path: Path) -> None:
    host = f"unix://{tmp_path}/gone/docker.sock"
    write_ledger(folder, dead_owner(), {"kind": "containers", "label": "workgym.owner=1-1-1", "host": host})
    done = reap()
    assert (done.left, files(folder)) == ([], [])


def test_containers_of_a_daemon_that_does_not_answer_are_told_and_tried_again(folder: Path, tmp_path: Path) -> None:
    host = f"unix://{tmp_path}/d"
    with socket.socket(socket.AF_UNIX) as killed:
        killed.bind(f"{tmp_path}/d")
    write_ledger(folder, dead_owner(), {"kind": "containers", "label": "workgym.owner=1-1-1", "host": host})
    done = reap()
    assert len(files(folder)) == len(done.left) == 1
    assert "start it" in done.left[0]
