"""The processes of a run, as its zygote sees them: in a PID namespace nobody leaves the tree below the first one."""

from __future__ import annotations

import contextlib
import os
import signal
import time

__all__ = ["SeveralThreads", "cpu_seconds", "descendants", "require_one_thread", "signal_all", "stop_all"]

_TICK_S = 1 / os.sysconf("SC_CLK_TCK")


class SeveralThreads(OSError):
    """This process has more than one thread: what is forked from it may wait for ever for a lock that another held."""


def require_one_thread(warm: str) -> None:
    """Refuse to fork where there is more than one thread.

    Args:
        warm: the names of what was loaded, which may have started others.

    Raises:
        SeveralThreads: there is more than one.
    """
    with open("/proc/self/status", "rb") as file:
        status = file.read()
    n_threads = int(status.partition(b"Threads:")[2].split(None, 1)[0])
    if n_threads != 1:
        raise SeveralThreads(
            f"the zygote has {n_threads} threads and must have one: what it has warm ({warm or 'nothing'}) starts "
            "others. Load it in the program instead, or keep it from starting threads when it is imported"
        )


def cpu_seconds(pid: int) -> float:
    """CPU of the first process, to the nanosecond, and of its descendants, dead ones too, to the tick."""
    try:
        total = time.clock_gettime((~pid << 3) | 2)
    except OSError:
        return 0.0
    first, *others = descendants(pid)
    total += _ticks(first, own=False) * _TICK_S
    for other in others:
        total += _ticks(other) * _TICK_S
    return total


def descendants(pid: int) -> list[int]:
    """A process and all below it."""
    found = [pid]
    for parent in found:
        try:
            threads = os.listdir(f"/proc/{parent}/task")
            for thread in threads:
                with open(f"/proc/{parent}/task/{thread}/children") as file:
                    found += map(int, file.read().split())
        except OSError:
            continue  # it ended while we looked
    return found


def signal_all(pid: int, number: int) -> int:
    """Send a signal to a process and all below it, and say how many there were."""
    found = descendants(pid)
    for one in found:
        with contextlib.suppress(ProcessLookupError):
            os.kill(one, number)
    return len(found)


def stop_all(pid: int) -> None:
    """Stop a process and all below it: again and again, since some may fork while others stop already."""
    n_seen = 0
    while (n_found := signal_all(pid, signal.SIGSTOP)) > n_seen:
        n_seen = n_found


def _ticks(pid: int, *, own: bool = True) -> int:
    """CPU of a process and of the children it waited for, or of those alone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # a process's name may be any bytes
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return 0
    return sum(map(int, fields[11 if own else 13 : 15]))
