"""Checks that closing an environment gives back what it took: processes and descriptors."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from workgym.envs.testing.subject import Subject, require

__all__ = ["nothing_is_left_behind"]

_Left = TypeVar("_Left", int, str)

_PATIENCE_S: Final = 3.0
"""A process that was told to end may need a moment."""


def nothing_is_left_behind(subject: Subject) -> None:
    """No process and no descriptor is left once an environment is closed, in mid-episode and after one."""
    subject.close()
    processes = _descendants()
    _use(subject)  # the first use may load modules and make what the process keeps for good
    descriptors = _descriptors()
    _use(subject)
    left = _remaining(lambda: _descendants() - processes)
    require(not left, f"these processes are left after close(): {', '.join(map(_name_of, left))}. End them in close()")
    open_still = _remaining(lambda: _descriptors() - descriptors)
    require(
        not open_still, f"these descriptors are open after close(): {', '.join(sorted(open_still))}. Close them there"
    )


def _use(subject: Subject) -> None:
    noop, task = subject.player("noop"), subject.tasks[0]
    for n_turns in (0, 1, 50):
        env = subject.new_env()
        observation, info = env.reset(options={"task": task})
        for _ in range(n_turns):
            observation, _, terminated, truncated, info = env.step(noop(str(observation), info, env))
            if terminated or truncated:
                break
        subject.close()


def _remaining(look: Callable[[], set[_Left]]) -> set[_Left]:
    deadline_s = time.monotonic() + _PATIENCE_S
    while (found := look()) and time.monotonic() < deadline_s:
        gc.collect()
        time.sleep(0.05)
    return found


def _descendants() -> set[int]:
    """Ids of the processes that this one started, and of those that they started."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue  # it has ended meanwhile
    found, new = set[int](), {os.getpid()}
    while new:
        new = {process for process, parent in parents.items() if parent in new} - found
        found |= new
    return found


def _name_of(process: int) -> str:
    try:
        return f"{process} ({Path(f'/proc/{process}/comm').read_text().strip()})"
    except OSError:
        return str(process)


def _descriptors() -> set[str]:
    """Open descriptors with what they lead to."""
    found = set()
    for entry in Path("/proc/self/fd").iterdir():
        try:
            found.add(f"{entry.name} -> {entry.readlink()}")
        except OSError:
            continue  # the one by which this folder was read
    return found
