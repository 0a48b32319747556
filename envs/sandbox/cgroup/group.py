"""One control group: what it counts, and how it is stopped, emptied and removed."""

from __future__ import annotations

import contextlib
import errno
import os
from dataclasses import dataclass
from pathlib import Path

from workgym.envs.sandbox.cgroup.files import read_number, read_pids, read_table, write_text
from workgym.envs.sandbox.cgroup.killing import freeze_folder, kill_groups, remove_folder, thaw_folder
from workgym.tasks.errors import SandboxError

__all__ = ["Cgroup", "CgroupUsage", "Place", "Tally"]

_KILL_S = 5.0

_DOCTOR = "see `workgym doctor`"
_WAYS_OUT = {
    errno.ENOENT: "is it removed?",
    errno.EMFILE: "raise the limit of open files (ulimit -n)",
    errno.ENFILE: "raise the machine's limit of open files (sysctl fs.file-max)",
}


@dataclass(frozen=True)
class Place:
    """A folder in one hierarchy.

    Attributes:
        version: 1 or 2.
        controllers: what can be limited or counted there; version 2 always has `unified`, which stands for what every
            group of it can: be killed, be frozen, count CPU time.
        folder: the place.
    """

    version: int
    controllers: frozenset[str]
    folder: Path


@dataclass(frozen=True)
class CgroupUsage:
    """What a group has counted since it was made; take differences where it serves many runs.

    Attributes:
        cpu_s: CPU seconds of all processes that ever were in it; None where nobody counts.
        peak_memory_mb: the most that they held together, since the last `reset_peak`; None where nobody counts.
        n_oom_kills: processes that the kernel killed for want of memory.
        n_refused_forks: forks and threads that were refused; None where nobody counts.
        n_processes: how many there are now; with the pids controller threads and zombies count.
    """

    cpu_s: float | None
    peak_memory_mb: float | None
    n_oom_kills: int
    n_refused_forks: int | None
    n_processes: int


class Cgroup:
    """A group of processes, in one or more hierarchies. `kill` may come from another thread.

    Args:
        places: its folders, one a hierarchy.
    """

    def __init__(self, places: tuple[Place, ...]) -> None:
        self._places = places
        self._at = {name: place for place in places for name in place.controllers}
        self._peak: int | None = None  # version 2: a peak is reset for one open file alone

    @property
    def folders(self) -> list[Path]:
        """Its folders, one a hierarchy."""
        return [place.folder for place in self._places]

    # Who is in it

    def add(self, pid: int) -> None:
        """Move a process into it; what that held before stays counted where it was.

        The kernel takes a lock over all forks of the machine for this, which may take it 10 ms of waiting. Doors have
        no such lock.

        Raises:
            SandboxError: there is no such process, or it cannot be moved.
        """
        for folder in self.folders:
            write_text(folder / "cgroup.procs", str(pid))

    def open_doors(self) -> list[int]:
        """Descriptors through which a process moves itself, by writing b"0" to each; the caller closes them.

        The permission is that of whoever opened them. The process must have one thread: version 1 moves no other.

        Raises:
            SandboxError: they cannot be opened.
        """
        names = ["tasks" if place.version == 1 else "cgroup.procs" for place in self._places]
        return _open_all([place.folder / name for place, name in zip(self._places, names, strict=True)], os.O_WRONLY)

    def open_directory(self) -> int | None:
        """A descriptor of its version 2 folder, for clone3 with CLONE_INTO_CGROUP; None without. The caller closes it.

        Raises:
            SandboxError: it cannot be opened.
        """
        place = self._at.get("unified")
        return _open_all([place.folder], os.O_RDONLY | os.O_DIRECTORY)[0] if place else None

    def pids(self) -> list[int]:
        """The living processes in it, in any hierarchy.

        Raises:
            SandboxError: they cannot be listed.
        """
        return sorted({pid for folder in self.folders for pid in read_pids(folder)})

    # What it counts

    def usage(self) -> CgroupUsage:
        """What it has counted.

        Raises:
            SandboxError: the group is gone, or its counters cannot be read.
        """
        peak = self._peak_bytes(self._at["memory"])
        with contextlib.closing(self.open_tally()) as tally:
            n_oom_kills, *n_refused_forks = tally.count()
        return CgroupUsage(
            cpu_s=self._cpu_s(),
            peak_memory_mb=None if peak is None else peak / (1 << 20),
            n_oom_kills=n_oom_kills,
            n_refused_forks=n_refused_forks[0] if n_refused_forks else None,
            n_processes=self._n_processes(),
        )

    def open_tally(self) -> Tally:
        """What every run asks, from files that stay open; the caller closes it.

        Raises:
            SandboxError: the kernel does not count it, or the group is gone.
        """
        memory = self._at["memory"]
        kills = memory.folder / "memory.oom_control" if memory.version == 1 else self._event_file("memory")
        forks = [self._event_file("pids")] if "pids" in self._at else []
        return Tally([(kills, b"oom_kill"), *((path, b"max") for path in forks)])

    def reset_peak(self) -> bool:
        """Let `peak_memory_mb` begin at what is held now.

        Returns:
            False where the kernel cannot (version 2 before Linux 6.12).
        """
        memory = self._at["memory"]
        if memory.version == 1:
            write_text(memory.folder / "memory.max_usage_in_bytes", "0")
            return True
        try:
            if self._peak is None:
                self._peak = os.open(memory.folder / "memory.peak", os.O_RDWR | os.O_CLOEXEC)
            os.pwrite(self._peak, b"reset", 0)
        except OSError:
            self._close_peak()
            return False
        return True

    def _event_file(self, controller: str) -> Path:
        """The events of the group itself, without those of groups below where the kernel tells them apart."""
        folder = self._at[controller].folder
        local = folder / f"{controller}.events.local"
        return local if local.exists() else folder / f"{controller}.events"

    def _peak_bytes(self, memory: Place) -> int | None:
        if memory.version == 1:
            return read_number(memory.folder / "memory.max_usage_in_bytes")
        if self._peak is not None:
            return int(os.pread(self._peak, 32, 0))
        return read_number(memory.folder / "memory.peak")

    def _cpu_s(self) -> float | None:
        if place := self._at.get("unified"):
            used = read_table(place.folder / "cpu.stat").get("usage_usec")
            return None if used is None else used / 1e6
        if place := self._at.get("cpuacct"):
            used = read_number(place.folder / "cpuacct.usage")
            return None if used is None else used / 1e9
        return None

    def _n_processes(self) -> int:
        if place := self._at.get("pids"):
            n = read_number(place.folder / "pids.current")
            if n is not None:
                return n
        return len(self.pids())

    # How it is stopped

    def freeze(self) -> None:
        """Stop every process where it is, and wait until they have stopped. Idempotent.

        Raises:
            SandboxError: nobody can freeze here, or it takes too long.
        """
        freeze_folder(self._freezable(), _KILL_S)

    def thaw(self) -> None:
        """Let them go on. Idempotent.

        Raises:
            SandboxError: nobody can freeze here, or the kernel refuses.
        """
        thaw_folder(self._freezable())

    def _freezable(self) -> Path:
        place = self._at.get("unified") or self._at.get("freezer")
        if place is None:
            raise SandboxError(
                f"the control group {self.folders[0]} cannot be frozen: keep the freezer's hierarchy or version 2"
            )
        return place.folder

    def kill(self) -> int:
        """Kill every process in it and wait until none is left. Idempotent; the group can be used again.

        Returns:
            How many were found alive.

        Raises:
            SandboxError: some would not die in time.
        """
        return kill_groups(self.folders, _KILL_S)

    def remove(self) -> None:
        """Remove it, once its processes are dead. Idempotent.

        Raises:
            SandboxError: processes live in it, or the kernel does not let go of it.
        """
        self._close_peak()
        for folder in self.folders:
            remove_folder(folder)

    def _close_peak(self) -> None:
        if self._peak is not None:
            os.close(self._peak)
            self._peak = None


class Tally:
    """Counters of a group, read again and again: to open their files takes longer than to read them.

    Args:
        fields: file and name of each counter.

    Raises:
        SandboxError: a file cannot be opened.
    """

    def __init__(self, fields: list[tuple[Path, bytes]]) -> None:
        self._fields = fields
        self._files = _open_all([path for path, _ in fields], os.O_RDONLY)

    def count(self) -> list[int]:
        """Each counter as it is now: processes killed for want of memory, and forks refused where that is counted.

        Raises:
            SandboxError: the group is gone, or the kernel does not count it.
        """
        return [self._read(file, *field) for file, field in zip(self._files, self._fields, strict=True)]

    def _read(self, file: int, path: Path, name: bytes) -> int:
        try:
            words = os.pread(file, 4096, 0).split()
            return int(words[words.index(name) + 1])
        except (OSError, ValueError, IndexError) as error:
            raise SandboxError(f"cannot read {name.decode()} from {path}: {error}; is the group removed?") from error

    def close(self) -> None:
        """Close the files. Idempotent."""
        for file in self._files:
            os.close(file)
        self._files = []


def _open_all(paths: list[Path], flags: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        opened = []
        for path in paths:
            try:
                opened.append(os.open(path, flags | os.O_CLOEXEC))
            except OSError as error:
                raise SandboxError(
                    f"cannot open {path}: {error.strerror}; {_WAYS_OUT.get(error.errno or 0, _DOCTOR)}"
                ) from error
            stack.callback(os.close, opened[-1])
        stack.pop_all()
    return opened
