"""The zygote's namespaces and the file system its children see.

Two ways, one outcome. As root with CAP_SYS_ADMIN the zygote enters its namespaces directly and every run gets a user id
of its own. As a plain user it first makes a user namespace, and every run gets another one inside it, so that the
kernel counts its processes apart.
"""

from __future__ import annotations

import contextlib
import os
import socket

from workgym.envs.sandbox.local import kernel

__all__ = [
    "NOBODY",
    "PROC",
    "SETTINGS",
    "SHELF",
    "SYSTEM",
    "TERMINALS",
    "WORKSPACE",
    "Denied",
    "build_root",
    "covered",
    "enter",
    "enter_workspace",
    "has_admin",
    "lay_files",
    "lay_terminals",
    "leave_groups",
    "map_identity",
    "mount_shelf",
    "user_ids",
]

WORKSPACE = "/workspace"
SHELF = "/.leases"  # where all workspaces lie; runs do not see it
PROC = "/proc"
TERMINALS = "/dev/pts"
NOBODY = 65534

_CAP_SYS_ADMIN = 21
_OLD = "/.host"
_SHOWN = "/.shown"  # for what lies below /tmp, which is a link to the workspace
_VOID = "/.void"  # an empty folder, to cover others with
_MOST_PLACES = 8192
_MOST_TERMINALS = 16  # of a run: all sandboxes of the machine share what the kernel has
_HIGH_IDS = 1 << 30
_SLOTS = 256
_DEVICES = ("null", "zero", "full", "random", "urandom")
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
SETTINGS = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")
_PASSWD = f"root:x:0:0:root:/:/bin/sh\nnobody:x:{NOBODY}:{NOBODY}:nobody:{WORKSPACE}:/bin/sh\n"
_GROUP = f"root:x:0:\nnogroup:x:{NOBODY}:\n"
_READ_ONLY = kernel.MS_RDONLY | kernel.MS_NOSUID | kernel.MS_NODEV


class Denied(Exception):
    """The kernel refused one step of the isolation."""

    def __init__(self, step: str, error: OSError) -> None:
        super().__init__(f"{step}: {error}")
        self.step = step
        self.errno = error.errno or 0


def has_admin() -> bool:
    """Whether this process is root and may make namespaces without a user namespace."""
    if os.geteuid() != 0 or not _knows_nobody():
        return False
    with open("/proc/self/status") as lines:
        effective = next(int(line.split()[1], 16) for line in lines if line.startswith("CapEff:"))
    return bool(effective >> _CAP_SYS_ADMIN & 1)


def _knows_nobody() -> bool:
    """Whether root may become another user here: in a user namespace there may be no other."""
    with open("/proc/self/uid_map") as lines:
        ranges = [(int(start), int(count)) for start, _, count in (line.split() for line in lines)]
    return any(start <= NOBODY < start + count for start, count in ranges)


def leave_groups() -> None:
    """Belong to no group but nobody's."""
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)


def map_identity(inside: int, user: int, group: int) -> None:
    """Map one user and one group into the user namespace just entered, as itself may."""
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{inside} {user} 1"),
        ("gid_map", f"{inside} {group} 1"),
    ):
        target = os.open(f"/proc/self/{name}", os.O_WRONLY)
        try:
            os.write(target, text.encode())
        finally:
            os.close(target)


def enter(admin: bool) -> None:
    """Enter fresh network, mount, IPC and UTS namespaces; the next fork starts a PID namespace.

    Raises:
        Denied: the kernel refused.
    """
    step = "become a plain user"
    try:
        if not admin:
            if os.geteuid() == 0 and _knows_nobody():  # the kernel does not limit the number of root's processes
                leave_groups()
                os.setresuid(NOBODY, NOBODY, NOBODY)
                kernel.set_dumpable()  # to own our /proc entries again
            user, group = os.geteuid(), os.getegid()
            step = "make a user namespace"
            kernel.unshare(kernel.CLONE_NEWUSER)
            step = "map the user into its namespace"
            map_identity(NOBODY, user, group)
        step = "make network, mount, IPC, UTS and PID namespaces"
        kernel.unshare(
            kernel.CLONE_NEWNS | kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS | kernel.CLONE_NEWPID
        )
        socket.sethostname("sandbox")
    except OSError as error:
        raise Denied(step, error) from error


def user_ids(unique: int) -> list[int]:
    """User ids for as many runs at once, apart from those of other zygotes.

    Args:
        unique: a number that no other zygote of this machine has (its process id).
    """
    with open("/proc/self/uid_map") as lines:
        end = max(int(start) + int(count) for start, _, count in (line.split() for line in lines))
    first = _HIGH_IDS + unique % (1 << 22) * _SLOTS
    if first + _SLOTS > end:  # a container that maps few ids
        first = max(end - _SLOTS, 1)
    return list(range(first, min(first + _SLOTS, end)))


def build_root(visible: list[str], hidden: list[str], shown: list[tuple[str, str]]) -> dict[str, str]:
    """Make a new root: read-only views of the system and the interpreter, each at its own path, and nothing else.

    Args:
        visible: folders to show beside the system's.
        hidden: folders below those to cover with emptiness.
        shown: (path inside, folder of the host) to show beside all that.

    Returns:
        Links that every fresh workspace needs, name -> target: none, unless the interpreter lives below /tmp.

    Raises:
        Denied: the kernel refused.
    """
    step = "make the mounts private"
    try:
        kernel.make_private("/")
        step = "mount a tmpfs"
        staging = next(folder for folder in ("/tmp", "/var/tmp", "/mnt", "/run") if os.path.isdir(folder))
        kernel.mount("tmpfs", staging, kernel.MS_NOSUID | kernel.MS_NODEV, "mode=0755,size=4m,nr_inodes=4096")
        os.chdir(staging)
        os.mkdir(_OLD[1:])
        kernel.pivot_root(".", _OLD[1:])
        os.chdir("/")
        step = "show the system's folders"
        roots = _show_system()
        roots = _show(sorted({os.path.normpath(path) for path in visible}), roots)
        _hide(hidden, roots)
        lay_files("")
        step = "show the folders of the lease"
        for inside, host in shown:
            os.makedirs(inside)
            kernel.bind(_OLD + host, inside)
            kernel.lock_tree(inside, _READ_ONLY)
        step = "mount /proc"
        os.mkdir(PROC)
        kernel.mount("proc", PROC, kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
        step = "lay the devices"
        _lay_devices()
        step = "leave the host's file system"
        _lay_workspace()
        kernel.unmount(_OLD)
        os.rmdir(_OLD)
        shelf = f"{_SHOWN}/tmp"
        links = {name: f"{shelf}/{name}" for name in os.listdir(shelf)} if os.path.isdir(shelf) else {}
        for name, target in links.items():
            os.symlink(target, f"{WORKSPACE}/{name}")
        step = "make room for workspaces"
        for folder in (SHELF, _VOID):
            os.mkdir(folder, 0o755)
        mount_shelf(SHELF, 0o700)
        kernel.lock_tree("/", _READ_ONLY, recursive=False)
        return links
    except OSError as error:
        raise Denied(step, error) from error


def covered(path: str, roots: list[str]) -> bool:
    """Whether a path lies in one of some folders."""
    return any(path == root or path.startswith(root + "/") for root in roots)


def _show_system() -> list[str]:
    roots: list[str] = []
    for path in SYSTEM:
        host = _OLD + path
        if os.path.islink(host):
            os.symlink(os.readlink(host), path)
        elif os.path.isdir(host):
            _bind_read_only(path, path)
        else:
            continue
        roots.append(path)
    for path in SETTINGS:
        host = _host_path(path)
        if host and os.path.exists(_OLD + host):
            _bind_read_only(host, path)
    return roots


def _host_path(path: str) -> str:
    """Resolve the links of a host path as the host would: the host's root is not ours anymore."""
    done = ""
    parts = path.strip("/").split("/")
    for _ in range(256):
        if not parts:
            return done or "/"
        part = parts.pop(0)
        if part in ("", "."):
            continue
        if part == "..":
            done = os.path.dirname(done)
            continue
        link = f"{_OLD}{done}/{part}"
        if os.path.islink(link):
            target = os.readlink(link)
            done = "" if target.startswith("/") else done
            parts = target.strip("/").split("/") + parts
        else:
            done = f"{done}/{part}"
    return ""


def _show(paths: list[str], roots: list[str]) -> list[str]:
    """Bind each path where it lies; where it goes through a link, bind the target and make the link."""
    for path in paths:
        real = _host_path(path)
        with contextlib.suppress(FileNotFoundError):
            os.stat(_OLD + real)  # a folder that exists and may not be seen is a failure, not a folder less
        if not real or not os.path.isdir(_OLD + real):
            continue
        if not covered(real, roots):
            _bind_read_only(real, real)
            roots.append(real)
        place = _place(path)
        if path != real and not covered(path, roots) and not os.path.lexists(place):
            os.makedirs(os.path.dirname(place), exist_ok=True)
            os.symlink(real, place)
    return roots


def _place(path: str) -> str:
    """Where a host's path is laid down in our root."""
    return _SHOWN + path if path.startswith("/tmp/") else path


def _bind_read_only(host: str, path: str) -> None:
    target = _place(path)
    if os.path.isdir(_OLD + host):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o444))
    kernel.bind(_OLD + host, target)
    kernel.lock_tree(target, _READ_ONLY)


def _hide(paths: list[str], roots: list[str]) -> None:
    for path in paths:
        place = _place(path)
        if covered(path, roots) and os.path.isdir(place):
            kernel.mount("tmpfs", place, _READ_ONLY, "mode=0555,size=4k,nr_inodes=1")


def lay_files(root: str) -> None:
    """Write the few files of /etc that programs look for."""
    os.makedirs(f"{root}/etc", exist_ok=True)
    for name, text in (("passwd", _PASSWD), ("group", _GROUP), ("hosts", "127.0.0.1 localhost\n")):
        with open(f"{root}/etc/{name}", "w") as file:
            file.write(text)


def _lay_devices() -> None:
    os.mkdir("/dev")
    os.mkdir("/dev/pts")
    for name in _DEVICES:
        target = f"/dev/{name}"
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o666))
        kernel.bind(f"{_OLD}{target}", target)
        kernel.lock_tree(target, kernel.MS_NOSUID | kernel.MS_NOEXEC)
    for name, target in (
        ("fd", "/proc/self/fd"),
        ("stdin", "fd/0"),
        ("stdout", "fd/1"),
        ("stderr", "fd/2"),
        ("shm", WORKSPACE),
        ("ptmx", "pts/ptmx"),
    ):
        os.symlink(target, f"/dev/{name}")


def mount_shelf(folder: str, mode: int) -> None:
    """Make the place in which workspaces are laid."""
    kernel.mount("tmpfs", folder, kernel.MS_NOSUID | kernel.MS_NODEV, f"mode={mode:04o},nr_inodes={_MOST_PLACES}")


def enter_workspace(folder: str) -> None:
    """In a run's own mount namespace: show its workspace in its place, and no other."""
    kernel.bind(folder, WORKSPACE)
    kernel.bind(_VOID, SHELF)
    os.chdir(WORKSPACE)


def lay_terminals(folder: str = TERMINALS) -> None:
    """In a run's own mount namespace: pseudo-terminals of its own."""
    flags = kernel.MS_NOSUID | kernel.MS_NOEXEC
    kernel.mount("devpts", folder, flags, f"newinstance,ptmxmode=0666,mode=0620,max={_MOST_TERMINALS}")


def _lay_workspace() -> None:
    os.mkdir(WORKSPACE)
    os.symlink(WORKSPACE, "/tmp")
