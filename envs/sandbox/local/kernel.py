"""System calls that Python does not offer, for the zygote and its children.

Loaded from source into a bare interpreter: only the standard library, and little of it, because every child carries its
pages. Calls keep the interpreter's lock (PyDLL), which a raw `clone` needs and single-threaded code never misses.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import platform
import socket
import struct

__all__ = [
    "CLONE_NEWIPC",
    "CLONE_NEWNET",
    "CLONE_NEWNS",
    "CLONE_NEWPID",
    "CLONE_NEWUSER",
    "CLONE_NEWUTS",
    "bind",
    "capabilities_clear",
    "capability_bounding_clear",
    "clone",
    "close_from",
    "install_filter",
    "lock_tree",
    "make_private",
    "mount",
    "no_new_privileges",
    "pivot_root",
    "raise_loopback",
    "set_death_signal",
    "set_dumpable",
    "unmount",
    "unshare",
]

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT = 1, 2, 4, 8, 32
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18

_CLONE_PIDFD = 0x1000
_CLONE_CHILD_CLEARTID, _CLONE_CHILD_SETTID = 0x00200000, 0x01000000
_SIGCHLD = 17
_MNT_DETACH = 2
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS, _PR_GET_TID_ADDRESS = 1, 4, 24, 38, 40

_ARM = platform.machine() == "aarch64"
_SYS_CLONE, _SYS_PIVOT_ROOT, _SYS_CAPSET, _SYS_SECCOMP = (220, 41, 91, 277) if _ARM else (56, 155, 126, 317)
_SYS_CLOSE_RANGE, _SYS_MOUNT_SETATTR = 436, 442

_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1

_c = ctypes.PyDLL(None, use_errno=True)
_c.syscall.restype = ctypes.c_long
_c.PyOS_BeforeFork.restype = None
_c.PyOS_AfterFork_Parent.restype = None
_c.PyOS_AfterFork_Child.restype = None
_LAST_CAPABILITY = 63


class _MountAttributes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "userns_fd")]


class _FilterProgram(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)
    return result


def _long(value: int) -> ctypes.c_long:
    """Variadic arguments must be passed at full width."""
    return ctypes.c_long(value)


def unshare(flags: int) -> None:
    """Move this process into new namespaces."""
    _checked(_c.unshare(flags), "unshare")


def _tid_address() -> int:
    """Where the C library keeps this thread's id: `clone` must write the child's there, or `abort` signals nobody."""
    address = ctypes.c_void_p()
    if _c.prctl(_PR_GET_TID_ADDRESS, ctypes.byref(address), 0, 0, 0) != 0:
        return 0
    return address.value or 0


_TID_ADDRESS = _tid_address()


def clone(namespaces: int) -> tuple[int, int]:
    """Fork into new namespaces; the caller must be single-threaded.

    Returns:
        (pid, pidfd) in the parent, (0, -1) in the child.
    """
    address = _TID_ADDRESS
    flags = namespaces | _CLONE_PIDFD | _SIGCHLD | (_CLONE_CHILD_SETTID | _CLONE_CHILD_CLEARTID if address else 0)
    pidfd = ctypes.c_int(-1)
    last = (_long(0), _long(address)) if _ARM else (_long(address), _long(0))
    _c.PyOS_BeforeFork()
    pid = _c.syscall(_long(_SYS_CLONE), _long(flags), _long(0), ctypes.byref(pidfd), *last)
    if pid == 0:
        _c.PyOS_AfterFork_Child()
        return 0, -1
    _c.PyOS_AfterFork_Parent()
    return _checked(pid, "clone"), pidfd.value


def mount(kind: str, target: str, flags: int = 0, options: str = "") -> None:
    """Mount a new file system of a kind (tmpfs, proc)."""
    name = kind.encode()
    _checked(
        _c.mount(name, os.fsencode(target), name, ctypes.c_ulong(flags), options.encode() or None),
        f"mount {kind} on {target}",
    )


def bind(source: str, target: str) -> None:
    """Show a tree, with all that is mounted in it, at a second place."""
    result = _c.mount(os.fsencode(source), os.fsencode(target), None, ctypes.c_ulong(MS_BIND | MS_REC), None)
    _checked(result, f"bind {source}")


def make_private(target: str) -> None:
    """Let no mount of ours reach the host."""
    _checked(
        _c.mount(b"none", os.fsencode(target), None, ctypes.c_ulong(MS_REC | MS_PRIVATE), None), "make mounts private"
    )


def lock_tree(target: str, attributes: int, *, recursive: bool = True) -> None:
    """Add MS_RDONLY, MS_NOSUID, MS_NODEV or MS_NOEXEC to a mount (their MOUNT_ATTR values are the same)."""
    change = _MountAttributes(set=attributes)
    flags = _AT_RECURSIVE if recursive else 0
    result = _c.syscall(
        _long(_SYS_MOUNT_SETATTR),
        _long(_AT_FDCWD),
        os.fsencode(target),
        _long(flags),
        ctypes.byref(change),
        _long(ctypes.sizeof(change)),
    )
    _checked(result, f"mount_setattr {target}")


def unmount(target: str) -> None:
    """Detach a tree of mounts."""
    _checked(_c.umount2(os.fsencode(target), _MNT_DETACH), f"umount {target}")


def pivot_root(new: str, old: str) -> None:
    """Make `new` the root and put the former one at `old`."""
    _checked(_c.syscall(_long(_SYS_PIVOT_ROOT), os.fsencode(new), os.fsencode(old)), "pivot_root")


def raise_loopback() -> None:
    """Bring up the loopback interface of this network namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", _IFF_UP))


def set_death_signal(number: int) -> None:
    """Have this signal sent to us when the thread that forked us ends."""
    _checked(_c.prctl(_PR_SET_PDEATHSIG, _long(number), _long(0), _long(0), _long(0)), "prctl PR_SET_PDEATHSIG")


def set_dumpable() -> None:
    """Own our /proc entries again after a change of user id."""
    _checked(_c.prctl(_PR_SET_DUMPABLE, _long(1), _long(0), _long(0), _long(0)), "prctl PR_SET_DUMPABLE")


def no_new_privileges() -> None:
    """Make setuid programs powerless, for good."""
    _checked(_c.prctl(_PR_SET_NO_NEW_PRIVS, _long(1), _long(0), _long(0), _long(0)), "prctl PR_SET_NO_NEW_PRIVS")


def capability_bounding_clear() -> None:
    """Drop every capability from the bounding set; the kernel answers EINVAL past the last one it knows."""
    for number in range(_LAST_CAPABILITY + 1):
        if _c.prctl(_PR_CAPBSET_DROP, _long(number), _long(0), _long(0), _long(0)) != 0:
            if number == 0:
                _checked(-1, "prctl PR_CAPBSET_DROP")
            return


def capabilities_clear() -> None:
    """Empty the effective, permitted and inheritable sets."""
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    data = (ctypes.c_uint32 * 6)()
    _checked(_c.syscall(_long(_SYS_CAPSET), ctypes.byref(header), ctypes.byref(data)), "capset")


def install_filter(program: bytes) -> None:
    """Put a system call filter (`struct sock_filter[]`) in force, for good."""
    wrapped = _FilterProgram(len(program) // 8, program)
    _checked(_c.syscall(_long(_SYS_SECCOMP), _long(1), _long(0), ctypes.byref(wrapped)), "seccomp")


def close_from(first: int) -> None:
    """Close every descriptor from `first` on."""
    _checked(_c.syscall(_long(_SYS_CLOSE_RANGE), _long(first), _long(0xFFFFFFFF), _long(0)), "close_range")
