"""The processes below this one, by /proc, and how to end those that a request started."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Container, Iterator

__all__ = ["descendants", "kill_new", "stop"]

Identity = tuple[int, int]  # process id and start time: an id alone may be given to another process
_ROUNDS = 20
_STOP_S = 0.1
_DEATH_S = 1.0


def descendants(root: int) -> set[Identity]:
    """All processes below one."""
    return set(_below(root, (), 0))


def kill_new(root: int, spared: int, old: Container[Identity]) -> None:
    """Kill what is below `root`, but for one process, and for old processes with all that is below them.

    They are stopped first, until no new one appears: a process that is killed alone leaves its children time to go on.
    Then it is waited, but not for long, until they are dead.
    """
    stopped: set[Identity] = set()
    for _ in range(_ROUNDS):
        fresh = set(_below(root, old, spared)) - stopped
        if not fresh:
            break
        _signal(fresh, signal.SIGSTOP)
        stopped |= fresh
    _signal(stopped, signal.SIGKILL)
    deadline = time.monotonic() + _DEATH_S
    while stopped & set(_below(root, old, spared)) and time.monotonic() < deadline:
        time.sleep(0.001)


def stop(pid: int) -> None:
    """Stop a process, and wait a moment until it stands: what it is told of its children meanwhile, it does not see."""
    os.kill(pid, signal.SIGSTOP)
    deadline = time.monotonic() + _STOP_S
    while _state(pid) not in (b"T", b"t", b"Z", b"") and time.monotonic() < deadline:
        time.sleep(0.001)


def _state(pid: int) -> bytes:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:
        return file.read().rpartition(b")")[2].split()[0]
    return b""


def _below(root: int, old: Container[Identity], spared: int) -> Iterator[Identity]:
    children = _children()
    ahead = list(children.get(root, ()))
    while ahead:
        identity = ahead.pop()
        if identity in old and identity[0] != spared:
            continue
        ahead += children.get(identity[0], ())
        if identity[0] != spared:
            yield identity


def _children() -> dict[int, list[Identity]]:
    """Parent -> its children, of all processes that can be seen and are not dead."""
    children: dict[int, list[Identity]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
                if fields[0] != b"Z":
                    children.setdefault(int(fields[1]), []).append((int(name), int(fields[19])))
    return children


def _signal(identities: set[Identity], number: int) -> None:
    for pid, _ in identities:
        with contextlib.suppress(OSError):  # it ended, or is not ours
            os.kill(pid, number)
