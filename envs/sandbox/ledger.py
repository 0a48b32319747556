"""What this process is about to make outside of itself, written down before it is made.

A process that is killed cleans up nothing. The next one that opens a pool reads what it wrote down and removes that
(`workgym.envs.sandbox.reaping`), and nothing else: nothing is ever found by its name.

A process has one file of JSON lines, there only as long as something is open: who it is, then `{"note": ...}` and
`{"done": ...}`. A file outlives a killed process; it need not outlive a power cut: the next boot has another id.
"""

from __future__ import annotations

import json
import os
import platform
import secrets
import stat
import tempfile
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal

from workgym.tasks.errors import SandboxError
from workgym.tasks.naming import unknown_name

__all__ = ["Fate", "Kind", "Ledger", "Owner", "Record", "ledger_folder", "ledger_folders", "own_ledger", "start_time"]

Kind = Literal["process", "cgroup", "folder", "containers"]
Fate = Literal["living", "dead", "rebooted", "elsewhere"]
Record = dict[str, str | int]

_FIELDS: Final[dict[str, set[str]]] = {
    "process": {"pid"},
    "cgroup": {"path"},
    "folder": {"path"},
    "containers": {"label", "host"},
}


@dataclass(frozen=True, slots=True)
class Owner:
    """A process, told apart from every other that ever had its id.

    Attributes:
        node: name of its machine.
        boot: id of that machine's boot.
        namespace: the PID namespace in which `pid` means something.
        pid: its process id.
        start: when it was started, in clock ticks since the boot.
    """

    node: str
    boot: str
    namespace: str
    pid: int
    start: int

    @classmethod
    def this_process(cls) -> Owner:
        """The process that asks."""
        pid = os.getpid()
        boot = _read("/proc/sys/kernel/random/boot_id").strip()
        return cls(platform.node(), boot, _own_namespace(), pid, start_time(pid))

    @property
    def name(self) -> str:
        """A short name that no other process has, for labels and folders."""
        return f"{self.pid}-{self.start}-{self.boot[:8]}"

    def fate(self) -> Fate:
        """What became of it; "elsewhere" where that cannot be known from here: another machine or PID namespace."""
        here = Owner.this_process()
        if self.node != here.node:
            return "elsewhere"
        if self.boot != here.boot:
            return "rebooted"
        if self.namespace != here.namespace:
            return "elsewhere"
        return "living" if self.start == start_time(self.pid) else "dead"


def start_time(pid: int) -> int:
    """When a process was started, in clock ticks since the boot; 0 where there is none, or only its zombie."""
    fields = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    if not fields:
        return 0
    if fields[0] in "ZX" and len(_list(f"/proc/{pid}/task")) < 2:  # a first thread that ended may have left others
        return 0
    return int(fields[19])


class Ledger:
    """The notes of this process. After a fork the child's is empty, and its own. Safe to use from many threads."""

    def __init__(self) -> None:
        self.begin_anew()

    def begin_anew(self) -> None:
        """Hold nothing: in a process that was just forked."""
        self._lock = threading.RLock()  # a finalizer may strike out a note in the midst of another's being written
        self._n_notes = 0
        self._open: dict[str, Record] = {}
        self._file: Path | None = None

    def note(self, kind: Kind, **what: str | int) -> str:
        """Write down what is about to be made.

        Args:
            kind: "process" (pid=; right after it was started), "cgroup" (path=, a folder that is swept with all below
                it), "folder" (path=, whose last part begins with "workgym"), or "containers" (label=, host=, the
                daemon's address).
            what: where to find it.

        Returns:
            The note, for `done`.

        Raises:
            ValueError: no such kind, or it is found by other names than these.
            SandboxError: no folder takes the note.
        """
        record = {"kind": kind, **_checked(kind, what)}
        with self._lock:
            self._n_notes += 1
            note = f"{os.getpid()}.{self._n_notes}"
            self._open[note] = {"note": note, **record}
            try:
                self._append(self._open[note])
            except BaseException:
                del self._open[note]
                raise
        return note

    def done(self, note: str) -> None:
        """It was removed. Idempotent; the note of a process that we were forked from is none of ours.

        Raises:
            SandboxError: the note cannot be struck out.
        """
        with self._lock:
            if self._open.pop(note, None) is None:
                return
            if self._open:
                self._append({"done": note})
            elif self._file is not None:
                self._file.unlink(missing_ok=True)
                self._file = None

    @property
    def n_open(self) -> int:
        """How many notes are open."""
        return len(self._open)

    def _append(self, record: Record) -> None:
        if self._file is None or not _write(self._file, [record], os.O_APPEND):
            self._file = self._make_file()  # the first note, or somebody removed the file

    def _make_file(self) -> Path:
        """A file with all that is open, complete from the moment that it can be seen."""
        owner = Owner.this_process()
        name = (
            f"{owner.name}-{secrets.token_hex(4)}.jsonl"  # after an exec a process is the same one, its notes are not
        )
        records: list[Record] = [{"owner": owner.name, **asdict(owner)}, *self._open.values()]
        troubles = []
        for folder in ledger_folders():
            try:
                _make_private(folder)
                hidden = folder / f".{name}"
                _write(hidden, records, os.O_CREAT | os.O_EXCL)
                return hidden.rename(folder / f"owner-{name}")
            except OSError as error:
                troubles.append(f"{folder}: {error.strerror or error}")
        raise SandboxError(
            "cannot write down what a sandbox is made of, so that it could be removed after a crash: "
            f"{'; '.join(troubles)}; set WORKGYM_CACHE to a folder that you may write"
        )


def ledger_folders() -> list[Path]:
    """Where a ledger may lie, in order of preference: the cache, the session's runtime folder, the temp folder."""
    cache = os.environ.get("WORKGYM_CACHE") or os.path.join(os.path.expanduser("~"), ".cache", "workgym")
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    temp = os.path.join(tempfile.gettempdir(), f"workgym-{os.geteuid()}")
    folders = [cache, *([os.path.join(runtime, "workgym")] if runtime else []), temp]
    return [Path(folder, "sandboxes") for folder in folders if os.path.isabs(folder)]


def ledger_folder() -> Path:
    """The folder that this process's notes go to.

    Raises:
        SandboxError: none of `ledger_folders` can be written.
    """
    for folder in ledger_folders():
        try:
            _make_private(folder)
        except OSError:
            continue
        return folder
    names = ", ".join(map(str, ledger_folders()))
    raise SandboxError(f"no folder for the ledger of sandboxes can be written: {names}; set WORKGYM_CACHE to one")


def own_ledger() -> Ledger:
    """The ledger of this process."""
    return _ledger


def _make_private(folder: Path) -> None:
    """Make a folder that nobody else can write, or refuse one that somebody else made.

    Raises:
        OSError: it cannot be made, or is not ours alone.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    seen = folder.lstat()
    if not stat.S_ISDIR(seen.st_mode) or seen.st_uid != os.geteuid():
        raise PermissionError(1, "it belongs to somebody else, or is a link", str(folder))
    if folder.parent.stat().st_uid not in (0, os.geteuid()):
        raise PermissionError(1, "it lies in a folder of somebody else, who may replace it", str(folder))
    if stat.S_IMODE(seen.st_mode) != 0o700:
        folder.chmod(0o700)
    if not os.access(folder, os.W_OK | os.X_OK, effective_ids=True):
        raise PermissionError(13, "it cannot be written", str(folder))


def _write(file: Path, records: list[Record], flags: int) -> bool:
    """Write lines at once; False where the file is gone."""
    # The newline before ends a line that a full disk cut short.
    lines = "".join(f"\n{json.dumps(record)}\n" for record in records).encode()
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW | flags, 0o600)
    except FileNotFoundError:
        if flags & os.O_CREAT:
            raise
        return False
    try:
        if os.write(descriptor, lines) < len(lines):
            raise OSError(28, "the disk is full", str(file))
    finally:
        os.close(descriptor)
    return True


def _checked(kind: str, what: Record) -> Record:
    if kind not in _FIELDS:
        raise ValueError(unknown_name("kind of note", kind, _FIELDS))
    if set(what) != _FIELDS[kind]:
        raise ValueError(f"a note of a {kind} has {' and '.join(sorted(_FIELDS[kind]))}, not {sorted(what)}")
    if kind == "process":
        return {**what, "start": start_time(int(what["pid"]))}
    path = what.get("path")
    if isinstance(path, str) and not os.path.isabs(path):
        raise ValueError(f"a note of a {kind} needs an absolute path, not {path!r}")
    if kind == "folder" and not os.path.basename(str(path)).startswith("workgym"):
        raise ValueError(f"a note of a folder needs a name that begins with 'workgym', not {path!r}")
    return what


def _own_namespace() -> str:
    try:
        return "".join(filter(str.isdecimal, os.readlink("/proc/self/ns/pid")))
    except OSError:
        return ""


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _list(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


_ledger: Final = Ledger()
os.register_at_fork(after_in_child=_ledger.begin_anew)
