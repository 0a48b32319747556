"""Where groups are made: one folder an owner in each hierarchy, one group a sandbox below it."""

from __future__ import annotations

import contextlib
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path

from workgym.envs.sandbox.cgroup.files import write_text
from workgym.envs.sandbox.cgroup.group import Cgroup, Place
from workgym.envs.sandbox.cgroup.killing import kill_groups, remove_folder
from workgym.envs.sandbox.ledger import start_time
from workgym.tasks.errors import SandboxError

__all__ = ["CgroupTree", "owner_folder", "sweep"]

_OWNER = re.compile(r"workgym-(\d+)-(\d+)")
_TRIES = 5
_SWEEP_S = 5.0


@dataclass(frozen=True)
class CgroupTree:
    """The hierarchies in which this process may make groups. `memory` is among their controllers.

    Attributes:
        places: a hierarchy each: its version, its controllers and the folder in which an owner's folder is made.
            Version 2 has the controller `unified`, beside those that it can give to its children.
    """

    places: tuple[Place, ...]

    @property
    def kind(self) -> str:
        """v1, v2 or hybrid."""
        versions = {place.version for place in self.places}
        return "hybrid" if len(versions) > 1 else f"v{versions.pop()}"

    @property
    def limits_processes(self) -> bool:
        """Whether the number of processes can be limited."""
        return any("pids" in place.controllers for place in self.places)

    def keep(self, *controllers: str) -> CgroupTree:
        """The same tree with those hierarchies alone that hold one of these; each costs a little for every run.

        Args:
            controllers: of memory, pids, cpuacct, freezer and unified. Memory is always kept.
        """
        wanted = {"memory", *controllers}
        return replace(self, places=tuple(place for place in self.places if wanted & place.controllers))

    def folders(self, name: str) -> list[Path]:
        """The folders that `make(name)` would make, one a hierarchy; nothing is made."""
        owner = owner_folder(os.getpid())
        return [place.folder / owner / name for place in self.places]

    def owner_folders(self) -> list[Path]:
        """The folders that hold all groups of this process, one a hierarchy."""
        owner = owner_folder(os.getpid())
        return [place.folder / owner for place in self.places]

    def make(self, name: str, *, memory_mb: int, n_processes: int) -> Cgroup:
        """Make a group, or take the one that has this name already.

        Args:
            name: of one folder, unique in this process.
            memory_mb: what its processes may hold together, swap included.
            n_processes: how many there may be, where `limits_processes`; the kernel counts threads.

        Raises:
            ValueError: the name is no folder's name, or a limit is below 1.
            SandboxError: the group cannot be made or limited.
        """
        if not name or "/" in name or name.startswith("."):
            raise ValueError(f"a control group's name is one folder's name, not {name!r}")
        if min(memory_mb, n_processes) < 1:
            raise ValueError(f"a control group holds at least 1 MB and 1 process, not {memory_mb} and {n_processes}")
        places = []
        try:
            for place, folder in zip(self.places, self.folders(name), strict=True):
                places.append(replace(place, folder=folder))
                _make_folder(place, folder)
                _limit(place, folder, memory_mb, n_processes)
        except BaseException:
            with contextlib.suppress(SandboxError):
                Cgroup(tuple(places)).remove()
            raise
        return Cgroup(tuple(places))

    def close(self) -> None:
        """Remove this process's own folders, where no group is left in them. Idempotent."""
        for folder in self.owner_folders():
            with contextlib.suppress(OSError):  # not there, or another pool of this process has groups in it
                folder.rmdir()


def owner_folder(pid: int) -> str:
    """The name of a process's folder: no other process ever had, or will have, the same until the machine starts anew.

    Raises:
        ProcessLookupError: there is no such process.
    """
    start = start_time(pid)
    if not start:
        raise ProcessLookupError(f"there is no process {pid}")
    return f"workgym-{pid}-{start}"


def sweep(*paths: Path) -> int:
    """Remove the folders of dead owners with all that is in them, killing what still runs there. Idempotent.

    Args:
        paths: owners' folders, or groups in them. Those of one owner in all hierarchies belong into one call: what the
            freezer of version 1 holds cannot be killed through another hierarchy.

    Returns:
        How many processes were found alive and killed.

    Raises:
        ValueError: a path lies in no owner's folder.
        SandboxError: an owner is alive and another process, or a folder cannot be emptied or removed.
    """
    for path in paths:
        owner = next((match for part in path.parts if (match := _OWNER.fullmatch(part))), None)
        if owner is None:
            raise ValueError(f"{path} lies in no folder that workgym made (workgym-<pid>-<start time>): left alone")
        if int(owner[1]) != os.getpid() and _is_alive(owner):
            raise SandboxError(f"{path} belongs to process {owner[1]}, which is alive: left alone; end it first")
    folders = [Path(folder) for path in paths for folder, _, _ in os.walk(path, topdown=False)]
    n_killed = kill_groups(folders, _SWEEP_S)
    for folder in folders:
        remove_folder(folder)
    return n_killed


def _is_alive(owner: re.Match[str]) -> bool:
    try:
        return owner_folder(int(owner[1])) == owner[0]
    except ProcessLookupError:
        return False


def _make_folder(place: Place, folder: Path) -> None:
    """Make it and the owner's folder above, which another pool that closes may take away in between."""
    for _ in range(_TRIES):
        try:
            folder.parent.mkdir(exist_ok=True)
            if place.version == 2:
                for controller in sorted(place.controllers - {"unified"}):
                    write_text(folder.parent / "cgroup.subtree_control", f"+{controller}")
            folder.mkdir(exist_ok=True)
            return
        except FileNotFoundError:
            continue
        except OSError as error:
            raise SandboxError(
                f"cannot make the control group {folder}: {error.strerror}; see `workgym doctor`"
            ) from error
    raise SandboxError(f"cannot make the control group {folder}: {folder.parent} is removed again and again")


def _limit(place: Place, folder: Path, memory_mb: int, n_processes: int) -> None:
    if "memory" in place.controllers and place.version == 1:
        write_text(folder / "memory.limit_in_bytes", str(memory_mb << 20))
        if (folder / "memory.memsw.limit_in_bytes").exists():  # memory and swap together; else there is no swap here
            write_text(folder / "memory.memsw.limit_in_bytes", str(memory_mb << 20))
    elif "memory" in place.controllers:
        write_text(folder / "memory.max", str(memory_mb << 20))
        if (folder / "memory.swap.max").exists():
            write_text(folder / "memory.swap.max", "0")
    if "pids" in place.controllers:
        write_text(folder / "pids.max", str(n_processes))
