"""What there is of processes, descriptors, mounts, groups and files: to be compared before and after."""

from __future__ import annotations

import contextlib
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from workgym.envs.sandbox.cgroup.find import find_cgroups
from workgym.envs.sandbox.cgroup.tree import CgroupTree, owner_folder
from workgym.envs.sandbox.ledger import ledger_folders, start_time

__all__ = ["Census", "Site", "children_of", "descendants_of", "shared_files", "take_census"]

Census = dict[str, Counter[str]]
"""What is counted -> what was found of it, a description each."""

_SHARED: Final = ("/dev/shm", "/tmp", "/var/tmp")
_OF_DAEMONS: Final = re.compile("docker|containerd|/overlay2?/|/containers/|/netns/")
"""Mounts that container daemons of this machine make and remove at any time, for anybody."""


@dataclass(frozen=True)
class Site:
    """Where to look.

    Attributes:
        worker: the process that uses sandboxes.
        temp: its folder for temporary files, which nobody else uses.
        nonce: a part of the name of every file that the programs of the audit make.
        containers: lists the containers that the worker owns; None where its backend makes none.
    """

    worker: int
    temp: Path
    nonce: str
    containers: Callable[[], list[str]] | None = field(default=None)


def take_census(site: Site) -> Census:
    """Count what there is.

    Descendants are all of it only where this process adopts orphans, or the worker is all that it started.
    """
    living, dead = _sort_processes(site.worker)
    worker = f"/proc/{site.worker}"
    found = {
        "processes": Counter(living),
        "zombies": Counter(dead),
        "threads": Counter(_read(f"{worker}/task/{name}/comm") for name in _names(f"{worker}/task")),
        "descriptors": Counter(_links(f"{worker}/fd")),
        "mounts": Counter(_mounts(f"{worker}/mountinfo")),
        "cgroups": Counter(_groups(site.worker)),
        "folders": Counter(str(path) for path in site.temp.rglob("*")),
        "shared files": Counter(shared_files(site.nonce)),
        "System V IPC": Counter(line for kind in ("shm", "sem", "msg") for line in _ipc(kind)),
        "notes": Counter(_notes(site.worker)),
    }
    if site.containers is not None:
        found["containers"] = Counter(site.containers())
    return found


def shared_files(nonce: str) -> list[str]:
    """Files of a name in the folders where everybody may write."""
    return [f"{folder}/{name}" for folder in _SHARED for name in _names(folder) if nonce in name]


def children_of(pid: int) -> list[int]:
    """The processes whose parent a process is, zombies too."""
    threads = (_read(f"/proc/{pid}/task/{thread}/children") for thread in _names(f"/proc/{pid}/task"))
    return [int(child) for children in threads for child in children.split()]


def descendants_of(pid: int) -> list[int]:
    """The processes below a process, zombies too."""
    found = [pid]
    for parent in found:
        found += children_of(parent)
    return found[1:]


def _sort_processes(worker: int) -> tuple[list[str], list[str]]:
    """All below this process, but for the worker itself: the living and the zombies."""
    living, dead = list[str](), list[str]()
    for pid in descendants_of(os.getpid()):
        command = _read(f"/proc/{pid}/comm")
        if pid == worker or not command:
            continue
        (living if start_time(pid) else dead).append(f"{pid} ({command})")
    return living, dead


def _links(folder: str) -> Iterator[str]:
    for name in _names(folder):
        with contextlib.suppress(OSError):  # closed meanwhile
            yield f"{name} -> {os.readlink(f'{folder}/{name}')}"


def _mounts(table: str) -> Iterator[str]:
    for line in _read(table).splitlines():
        fields = line.split()
        kind = fields[fields.index("-") + 1]
        if not _OF_DAEMONS.search(fields[4]):
            yield f"{kind} on {fields[4]}"


def _groups(worker: int) -> Iterator[str]:
    tree = find_cgroups(pid=worker)
    if not isinstance(tree, CgroupTree):
        return
    for place in tree.places:
        for folder, _, _ in os.walk(place.folder / owner_folder(worker)):
            yield folder


def _notes(worker: int) -> Iterator[str]:
    start = f"owner-{worker}-{start_time(worker)}-"
    for folder in ledger_folders():
        yield from (f"{folder}/{name}" for name in _names(str(folder)) if name.startswith(start))


def _ipc(kind: str) -> list[str]:
    lines = _read(f"/proc/sysvipc/{kind}").splitlines()[1:]
    return [f"{kind} {' '.join(line.split()[:2])}" for line in lines]


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
