"""Whether memory can be limited by control groups here, where, and what mends it where not."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, replace
from pathlib import Path

from workgym.envs.sandbox.cgroup.files import read_text, write_text
from workgym.envs.sandbox.cgroup.group import Place
from workgym.envs.sandbox.cgroup.mounts import Mount, read_mounts
from workgym.envs.sandbox.cgroup.tree import CgroupTree
from workgym.tasks.errors import SandboxError

__all__ = ["Missing", "find_cgroups"]

_UNIFIED = "unified"


@dataclass(frozen=True)
class Missing:
    """Memory cannot be limited by control groups.

    Attributes:
        cause: why.
        fix: what mends it.
    """

    cause: str
    fix: str


def find_cgroups(root: Path = Path("/"), pid: int | None = None) -> CgroupTree | Missing:
    """Find where groups can be made below the one that a process is in.

    A controller lives in one version at a time. Where version 1 has memory, its hierarchies limit and count, and a
    version 2 tree beside them is used for what every group of it can: to be killed and frozen. In version 2 a group
    that holds processes cannot limit its children ("no internal processes"), so a sibling may have to do.

    Args:
        root: the folder that holds `proc` and what is mounted; "/" but for recorded trees.
        pid: the process; by default this one.

    Raises:
        SandboxError: proc cannot be read.
    """
    mounts = read_mounts(root, "self" if pid is None else str(pid))
    if not mounts:
        return Missing("no control groups are mounted", "mount them: `mount -t cgroup2 none /sys/fs/cgroup`")
    memory = next((mount for mount in mounts if "memory" in mount.controllers), None)
    unified = next((mount for mount in mounts if mount.version == 2), None)
    if memory is not None:
        return _with_v1_memory(memory, mounts)
    if unified is None:
        return Missing(
            "control groups are mounted without the memory controller",
            "`mkdir /sys/fs/cgroup/memory && mount -t cgroup -o memory none /sys/fs/cgroup/memory`; "
            "the kernel's command line may need cgroup_enable=memory",
        )
    return _with_v2_memory(unified)


def _with_v1_memory(memory: Mount, mounts: list[Mount]) -> CgroupTree | Missing:
    if reason := _unusable(memory):
        return reason
    usable = [mount for mount in mounts if _unusable(mount) is None]
    return CgroupTree(
        tuple(
            Place(mount.version, mount.controllers or frozenset((_UNIFIED,)), mount.own)
            for mount in sorted(usable, key=lambda mount: mount is not memory)
        )
    )


def _unusable(mount: Mount) -> Missing | None:
    """Why no group can be made in a process's own; None where one can."""
    if mount.read_only:
        return Missing(
            f"control groups are mounted read-only at {mount.top}",
            f"`mount -o remount,rw {mount.top}`; a container needs --privileged, or its cgroup mount writable",
        )
    if not mount.own.is_dir():
        return Missing(
            f"this process's control group {mount.own} is not to be seen",
            "mount proc and the control groups of the same namespace",
        )
    if not _may_write(mount.own):
        return Missing(
            f"user {os.geteuid()} may not make groups in {mount.own}",
            f"run as root, or have root give it to you: `chown -R {os.geteuid()} {mount.own}`",
        )
    return None


def _with_v2_memory(mount: Mount) -> CgroupTree | Missing:
    if mount.read_only:
        return _unusable(mount) or _not_offered(mount)
    if "memory" not in _controllers(mount.own / "cgroup.controllers"):
        return _not_offered(mount)
    reason = _unusable(mount)
    if reason is None:
        reason = _enable(mount.own)
        if reason is None:
            return _tree(mount.own)
    parent = mount.own.parent
    if mount.own != mount.top and _may_write(parent) and "memory" in _controllers(parent / "cgroup.subtree_control"):
        return _tree(parent)
    return replace(reason, fix=f"{reason.fix}; under systemd: `systemd-run --user --scope -p Delegate=yes <command>`")


def _enable(own: Path) -> Missing | None:
    """Have a group give memory and processes to its children to limit; the answer says why it cannot."""
    control = own / "cgroup.subtree_control"
    try:
        if "memory" not in _controllers(control):
            write_text(control, "+memory")
    except SandboxError as error:
        return Missing(
            f"{own} gives its children no memory limit while it holds processes: {error.__cause__ or error}",
            f"move them down: `mkdir {own}/main; for p in $(cat {own}/cgroup.procs); "
            f"do echo $p > {own}/main/cgroup.procs; done; echo +memory +pids > {control}`",
        )
    with contextlib.suppress(SandboxError):  # the tree then says that it limits no processes
        if "pids" not in _controllers(control):
            write_text(control, "+pids")
    return None


def _tree(folder: Path) -> CgroupTree:
    given = _controllers(folder / "cgroup.subtree_control") & {"memory", "pids"}
    return CgroupTree((Place(2, given | {_UNIFIED}, folder),))


def _not_offered(mount: Mount) -> Missing:
    if mount.own == mount.top:
        fix = "boot with cgroup_enable=memory, or have what started the container enable it"
    else:
        fix = f"`echo +memory +pids > {mount.own.parent}/cgroup.subtree_control` as root, and in each group above it"
    return Missing(f"the memory controller is not enabled for {mount.own}", fix)


def _controllers(path: Path) -> frozenset[str]:
    """The names in a file of controllers."""
    try:
        return frozenset(read_text(path).split())
    except SandboxError:  # not there: it has none
        return frozenset()


def _may_write(folder: Path) -> bool:
    return os.access(folder, os.W_OK | os.X_OK, effective_ids=True)
