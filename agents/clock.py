"""How much CPU a run has used, sandboxes included."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["cpu_seconds"]


def cpu_seconds() -> float:
    """CPU seconds of this process and of all its descendants, those that have ended and been waited for included.

    Off Linux, where nobody tells, running descendants are left out.
    """
    total = sum(os.times()[:4])
    return total + sum(_of_process(pid) for pid in _descendants(os.getpid()))


def _descendants(pid: int) -> list[int]:
    found: list[int] = []
    waiting = [pid]
    while waiting:
        try:
            tasks = list(Path(f"/proc/{waiting.pop()}/task").iterdir())
            children = [int(word) for task in tasks for word in (task / "children").read_text().split()]
        except OSError:
            continue  # it has just ended
        found += children
        waiting += children
    return found


def _of_process(pid: int) -> float:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0.0
    # The name in parentheses may hold anything; user, system, and the same of waited children are fields 14 to 17.
    fields = text.rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
