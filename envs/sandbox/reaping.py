"""Remove what processes that are dead have left, by what they wrote into their ledgers."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import socket
import stat
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from workgym.envs.sandbox.cgroup.tree import sweep
from workgym.envs.sandbox.docker.leftovers import remove_containers
from workgym.envs.sandbox.ledger import Fate, Owner, Record, ledger_folders, start_time
from workgym.tasks.errors import SandboxError

__all__ = ["Reaped", "reap", "reap_once"]

_DEATH_S: Final = 5.0
_KNOCK_S: Final = 2.0
_DOCKER: Final = "unix:///var/run/docker.sock"


@dataclass
class Reaped:
    """What was removed.

    Attributes:
        owners: names of the dead processes whose ledgers were worked off.
        removed: what was found and is gone, a line each.
        left: what is still there, and why; it is tried again next time.
    """

    owners: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def reap_once() -> Reaped:
    """Reap, unless this process has done so before; what came of it."""
    global _reaped
    with _lock:
        _reaped = _reaped or reap()
        return _reaped


def reap() -> Reaped:
    """Work off the ledgers of this user's dead processes.

    What a living process owns is left alone, and so is what a process owns of which nobody here can tell whether it
    lives: one of another machine or PID namespace. After a reboot only folders and containers can be left.
    While another process is at it, nothing is done.
    """
    done = Reaped()
    for folder in ledger_folders():
        with _sole_reaper(folder) as alone:
            for file in sorted(folder.glob("owner-*.jsonl")) if alone else ():
                _work_off(file, done)
    return done


@contextlib.contextmanager
def _sole_reaper(folder: Path) -> Iterator[bool]:
    """Whether the folder is ours and nobody else reaps there meanwhile."""
    try:
        seen = folder.lstat()
        lock = os.open(folder / "reaping.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError:
        yield False
        return
    try:
        yield stat.S_ISDIR(seen.st_mode) and seen.st_uid == os.geteuid() and _takes(lock)
    finally:
        os.close(lock)


def _takes(lock: int) -> bool:
    """Take a POSIX record lock: a `flock` would go on as long as a child that was forked meanwhile."""
    try:
        fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _work_off(file: Path, done: Reaped) -> None:
    """Remove what a dead process left, and its ledger when nothing is left."""
    try:
        owner, records = _read_ledger(file)
    except FileNotFoundError:  # its owner has just removed it
        return
    except (OSError, ValueError, TypeError, KeyError) as error:
        done.left.append(f"{file}: cannot be read as a ledger: {error}")
        return
    kinds = _LASTING[owner.fate()]
    if not kinds:
        return
    n_left = len(done.left)
    for record in records:
        kind = str(record.get("kind"))
        if kind not in kinds:
            continue
        try:
            _check(record)
            removed = _REMOVE[kind](record)
        except (OSError, ValueError, TypeError, KeyError, SandboxError) as error:
            done.left.append(f"{kind} of the dead process {owner.name}: {error}")
            continue
        done.removed += [f"{removed} of the dead process {owner.name}"] if removed else []
    if len(done.left) == n_left:
        done.owners.append(owner.name)
        file.unlink(missing_ok=True)


def _read_ledger(file: Path) -> tuple[Owner, list[Record]]:
    """Who wrote it, and what is open."""
    lines = [json.loads(line) for line in _read_own(file).decode().splitlines() if _is_whole(line)]
    head: dict[str, Any] = {name: value for name, value in lines[0].items() if name != "owner"} if lines else {}
    records: dict[str, Record] = {}
    for line in lines[1:]:
        if "done" in line:
            records.pop(line["done"], None)
        else:
            records[line["note"]] = line
    return Owner(**head), list(records.values())


def _read_own(file: Path) -> bytes:
    """What stands in a plain file of ours: no link, and no pipe that would have us wait."""
    descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        seen = os.fstat(descriptor)
        if not stat.S_ISREG(seen.st_mode) or seen.st_uid != os.geteuid():
            raise PermissionError(1, "it is no plain file, or belongs to somebody else")
        with open(descriptor, "rb", closefd=False) as opened:
            return opened.read()
    finally:
        os.close(descriptor)


def _check(record: Record) -> None:
    """Refuse what no ledger of ours ever held, though its file is ours."""
    path = str(record.get("path", "/"))
    if not os.path.isabs(path) or ".." in path.split("/"):
        raise ValueError(f"{path!r} is no plain absolute path: left alone")
    if record["kind"] == "folder" and not os.path.basename(path).startswith("workgym"):
        raise ValueError(f"{path!r} has no name that begins with 'workgym': left alone")
    if record["kind"] == "process" and int(record["pid"]) < 2:
        raise ValueError(f"process {record['pid']} is none that we started: left alone")


def _is_whole(line: str) -> bool:
    """A full disk may have cut a line short; what it was to say was then never made."""
    return line.startswith("{") and line.endswith("}")


def _end_process(record: Record) -> str:
    """Kill a process if it is still the same one."""
    pid, start = int(record["pid"]), int(record["start"])
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return ""
    try:
        if not start or start_time(pid) != start:
            return ""
        signal.pidfd_send_signal(handle, signal.SIGKILL)
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        if not poll.poll(_DEATH_S * 1000):
            raise SandboxError(f"process {pid} was killed and is not dead after {_DEATH_S:g} s")
    except ProcessLookupError:
        return ""
    finally:
        os.close(handle)
    return f"process {pid}"


def _sweep_cgroup(record: Record) -> str:
    path = Path(str(record["path"]))
    if not path.exists():
        return ""
    n_killed = sweep(path)
    return f"control group {path} with {n_killed} processes"


def _remove_containers(record: Record) -> str:
    label, host = str(record["label"]), str(record["host"])
    scheme, _, path = (host or _DOCKER).partition("://")
    if scheme in ("unix", "http+unix"):
        if not os.path.isdir(os.path.dirname(path)):  # the daemon had a temporary folder, and went with it
            return ""
        _knock(path)
    removed = remove_containers(label, host)
    return f"{len(removed)} containers with label {label}" if removed else ""


def _knock(path: str) -> None:
    """Go on only where somebody listens: to load docker's package to learn that nobody does would cost 0.3 s."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.settimeout(_KNOCK_S)
        try:
            line.connect(path)
        except OSError as error:
            raise SandboxError(
                f"the docker daemon at {path} does not answer: {error}; start it, or remove the containers with it"
            ) from error


def _remove_folder(record: Record) -> str:
    path = str(record["path"])
    try:
        seen = os.lstat(path)
    except FileNotFoundError:
        return ""
    if not stat.S_ISDIR(seen.st_mode) or seen.st_uid != os.geteuid():
        raise SandboxError(f"{path} is not a folder of ours anymore; look at it and remove it by hand")
    shutil.rmtree(path)
    return f"folder {path}"


def _renew_lock() -> None:
    global _lock
    _lock = threading.Lock()


_REMOVE: Final[dict[str, Callable[[Record], str]]] = {
    "process": _end_process,
    "cgroup": _sweep_cgroup,
    "containers": _remove_containers,
    "folder": _remove_folder,
}
_LASTING: Final[dict[Fate, tuple[str, ...]]] = {
    "living": (),
    "elsewhere": (),
    "dead": ("process", "cgroup", "folder", "containers"),
    "rebooted": ("folder", "containers"),
}
"""What of a process's notes there may still be, by what became of it."""

_lock = threading.Lock()
_reaped: Reaped | None = None
os.register_at_fork(after_in_child=_renew_lock)
