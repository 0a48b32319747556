"""What the kernel counts for a container as a whole, read by its first process."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Iterator

__all__ = ["Counters", "descendants_of", "read_parents"]

_V1 = {
    "cpu": "/sys/fs/cgroup/cpuacct/cpuacct.usage",
    "memory": "/sys/fs/cgroup/memory/memory.oom_control",
    "pids": "/sys/fs/cgroup/pids/pids.events",
}
_V2 = {
    "cpu": "/sys/fs/cgroup/cpu.stat",
    "memory": "/sys/fs/cgroup/memory.events",
    "pids": "/sys/fs/cgroup/pids.events",
}


class Counters:
    """CPU time, kills for want of memory, forks refused: since the container began.

    Args:
        zygote: pid of the other process that is no program.

    Raises:
        RuntimeError: the container has no control group of its own, so that nothing bounds it.
    """

    def __init__(self, zygote: int) -> None:
        self._zygote_clock = (~zygote << 3) | 2  # its CPU clock: see clock_getcpuclockid(3)
        self._paths = _V2 if os.path.exists("/sys/fs/cgroup/cgroup.controllers") else _V1
        missing = [path for path in self._paths.values() if not os.path.exists(path)]
        if missing:
            raise RuntimeError(f"the container has no {', '.join(missing)}: docker gives it no control group")

    def cpu_s(self) -> float:
        """Seconds of all processes but this one and the zygote."""
        text = self._read("cpu")
        seconds = int(text) / 1e9 if self._paths is _V1 else _field(text, "usage_usec") / 1e6
        own = resource.getrusage(resource.RUSAGE_SELF)
        return seconds - own.ru_utime - own.ru_stime - time.clock_gettime(self._zygote_clock)

    def n_oom_kills(self) -> int:
        """Processes that were killed because memory ran out."""
        return _field(self._read("memory"), "oom_kill")

    def n_forks_refused(self) -> int:
        """Processes and threads that were one too many."""
        return _field(self._read("pids"), "max")

    def _read(self, what: str) -> str:
        with open(self._paths[what]) as file:
            return file.read()


def _field(text: str, name: str) -> int:
    for line in text.splitlines():
        key, _, value = line.partition(" ")
        if key == name:
            return int(value)
    raise RuntimeError(f"no {name} among {text!r}")


def read_parents() -> dict[int, int]:
    """Tell the parent of every process that descends from us, dead ones that nobody has waited for too."""
    parents = dict(_each_parent())
    return {pid: parents[pid] for pid in descendants_of({1}, parents) if pid in parents and pid != 1}


def _each_parent() -> Iterator[tuple[int, int]]:
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", "rb") as file:  # a process's name may be any bytes
                yield int(name), int(file.read().rpartition(b")")[2].split()[1])
        except OSError:
            continue  # it ended while we looked


def descendants_of(roots: set[int], parents: dict[int, int]) -> set[int]:
    """These processes and all below them."""
    found = set(roots)
    grew = True
    while grew:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        found |= more
        grew = bool(more)
    return found
