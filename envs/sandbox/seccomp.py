"""The system call filter of a sandbox, as a classic BPF program.

What the filter refuses answers EPERM, so that programs see an ordinary error. `clone3` answers ENOSYS: its flags lie in
memory, where a filter cannot look, and the C library then falls back to `clone`, whose flags it can. `sync` does
nothing and succeeds: what is in here outlives no power cut.

There are two, and a program is under both. The wide one is laid on the zygote and inherited, which costs a run nothing.
The narrow one forbids what a run itself needs to set up its walls, and is laid on last: it is short because the kernel
tries a new filter on every system call there is, which took longer than all mounts together.

Source: seccomp(2), Documentation/userspace-api/seccomp_filter.rst of the Linux kernel.
"""

from __future__ import annotations

import errno
import struct

__all__ = ["ARCHITECTURES", "narrow_filter", "wide_filter"]

ARCHITECTURES = ("x86_64", "aarch64")

_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_CLONE = {"x86_64": 56, "aarch64": 220}
_SOCKET = {"x86_64": 41, "aarch64": 198}
_SOCKETPAIR = {"x86_64": 53, "aarch64": 199}
_MOUNT = {"x86_64": 165, "aarch64": 40}
_UMOUNT = {"x86_64": 166, "aarch64": 39}
_SIGACTION = {"x86_64": 13, "aarch64": 134}
_SIGCHLD = 17
_FCNTL = {"x86_64": 72, "aarch64": 25}
_F_SETLEASE = 1024
_CLONE3 = 435
# To write all disks of the host takes as long as they need, and nobody who waits for it can be killed.
_SYNC = {"x86_64": (162, 306), "aarch64": (81, 267)}  # sync, syncfs
# Attributes of files have no limit, and those of overlayfs would spoil a snapshot: as in a tmpfs before Linux 6.6.
_SET_ATTRIBUTE = {"x86_64": (188, 189, 190, 463), "aarch64": (5, 6, 7, 463)}  # setxattr, lsetxattr, f..., ...at
_X32_BIT = 0x40000000
# mount, cgroup, UTS, IPC, user, PID and network namespaces
_CLONE_NEW = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000
_AF_UNIX = 1
_FAMILIES_OF_LOOPBACK = (_AF_UNIX, 2, 10)  # and AF_INET, AF_INET6

# Numbers since 5.0 are the same on every architecture.
_DENIED_EVERYWHERE = {
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "pidfd_getfd": 438,
    "process_madvise": 440,
    "mount_setattr": 442,
    "quotactl_fd": 443,
    "memfd_secret": 447,
    "process_mrelease": 448,
    "statmount": 457,
    "listmount": 458,
    "open_tree_attr": 467,
}

# (x86_64, aarch64). Memory that memfd and System V IPC hold is bounded by no resource limit: they are refused too.
_DENIED = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "fanotify_init": (300, 262),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "syslog": (103, 116),
    "vhangup": (153, 58),
    "personality": (135, 92),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "mbind": (237, 235),
    "set_mempolicy": (238, 237),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "memfd_create": (319, 279),
    "vmsplice": (278, 75),
    "splice": (275, 76),
    "tee": (276, 77),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
}
# Runs of one zygote share its network namespace: without a name no socket of one is found by another. setsockopt among
# them, since a socket with SO_PASSCRED is given a name when it first sends.
_DENIED_WITHOUT_SOCKETS = {
    "bind": (49, 200),
    "connect": (42, 203),
    "listen": (50, 201),
    "accept": (43, 202),
    "accept4": (288, 242),
    "setsockopt": (54, 208),
}
_DENIED_X86 = {"iopl": 172, "ioperm": 173, "modify_ldt": 154, "uselib": 134, "sysfs": 139}

_LOAD, _JUMP_EQ, _JUMP_GE, _JUMP_SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_OFFSET_NR, _OFFSET_ARCH, _OFFSET_ARG0, _OFFSET_ARG1 = 0, 4, 16, 24  # of struct seccomp_data, little endian
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000

_Step = tuple[int, int, str, str]  # code, operand, label if true, label if false ("" = next)


def wide_filter(machine: str, *, sockets: bool = False) -> bytes:
    """The filter that the zygote and all its children are under.

    Args:
        machine: as `platform.machine()` says.
        sockets: let `socket` make Unix and internet sockets, for a network namespace with nothing but loopback in it.

    Returns:
        An array of `struct sock_filter`, 8 bytes each.

    Raises:
        ValueError: there is no table for this machine.
    """
    column = _column(machine)
    denied = {*_DENIED_EVERYWHERE.values(), *(numbers[column] for numbers in _DENIED.values())}
    if not sockets:
        denied |= {numbers[column] for numbers in _DENIED_WITHOUT_SOCKETS.values()}
    steps: list[_Step] = [
        (_LOAD, _OFFSET_ARCH, "", ""),
        (_JUMP_EQ, _AUDIT_ARCH[machine], "", "kill"),
        (_LOAD, _OFFSET_NR, "", ""),
    ]
    if machine == "x86_64":
        denied |= set(_DENIED_X86.values())
        steps.append((_JUMP_GE, _X32_BIT, "eperm", ""))
    steps.append((_JUMP_EQ, _SOCKET[machine], "socket" if sockets else "eperm", ""))
    steps.append((_JUMP_EQ, _SOCKETPAIR[machine], "socketpair", ""))
    steps.append((_JUMP_EQ, _SIGACTION[machine], "sigaction", ""))
    steps.append((_JUMP_EQ, _FCNTL[machine], "fcntl", ""))
    steps += [(_JUMP_EQ, number, "eperm", "") for number in sorted(denied)]
    steps += [(_JUMP_EQ, number, "done", "") for number in _SYNC[machine]]
    steps += [(_JUMP_EQ, number, "unsupported", "") for number in _SET_ATTRIBUTE[machine]]
    families: list[_Step] = [(_JUMP_EQ, family, "allowed", "") for family in _FAMILIES_OF_LOOPBACK]
    return _assemble(
        steps,
        allow=[(_RETURN, _ALLOW, "", "")],
        # Who ignores SIGCHLD has children whose CPU time the kernel forgets: what becomes of that signal is not theirs.
        sigaction=[(_LOAD, _OFFSET_ARG0, "", ""), (_JUMP_EQ, _SIGCHLD, "eperm", "allowed")],
        # Who holds a lease on a file that is shown makes the host wait that wants to write it.
        fcntl=[(_LOAD, _OFFSET_ARG1, "", ""), (_JUMP_EQ, _F_SETLEASE, "eperm", "allowed")],
        socketpair=[(_LOAD, _OFFSET_ARG0, "", ""), (_JUMP_EQ, _AF_UNIX, "allowed", "eperm")],
        socket=[(_LOAD, _OFFSET_ARG0, "", ""), *families],
        eperm=[(_RETURN, _ERRNO | errno.EPERM, "", "")],
        done=[(_RETURN, _ERRNO, "", "")],
        unsupported=[(_RETURN, _ERRNO | errno.EOPNOTSUPP, "", "")],
        allowed=[(_RETURN, _ALLOW, "", "")],
        kill=[(_RETURN, _KILL, "", "")],
    )


def narrow_filter(machine: str) -> bytes:
    """The filter that a run lays on itself when its walls stand: no mount, no new namespace.

    It trusts the wide one to have killed calls of other architectures.

    Raises:
        ValueError: there is no table for this machine.
    """
    _column(machine)
    steps: list[_Step] = [
        (_LOAD, _OFFSET_NR, "", ""),
        (_JUMP_EQ, _CLONE[machine], "clone", ""),
        (_JUMP_EQ, _CLONE3, "enosys", ""),
        (_JUMP_EQ, _MOUNT[machine], "eperm", ""),
        (_JUMP_EQ, _UMOUNT[machine], "eperm", ""),
    ]
    return _assemble(
        steps,
        allow=[(_RETURN, _ALLOW, "", "")],
        clone=[(_LOAD, _OFFSET_ARG0, "", ""), (_JUMP_SET, _CLONE_NEW, "eperm", ""), (_RETURN, _ALLOW, "", "")],
        eperm=[(_RETURN, _ERRNO | errno.EPERM, "", "")],
        enosys=[(_RETURN, _ERRNO | errno.ENOSYS, "", "")],
    )


def _column(machine: str) -> int:
    if machine not in ARCHITECTURES:
        raise ValueError(f"no system call filter for machine {machine!r}; there is one for {', '.join(ARCHITECTURES)}")
    return ARCHITECTURES.index(machine)


def _assemble(steps: list[_Step], **blocks: list[_Step]) -> bytes:
    """Lay labelled blocks behind the first steps, each falling through into the next, and resolve the jumps."""
    program = list(steps)
    labels: dict[str, int] = {}
    for label, block in blocks.items():
        labels[label] = len(program)
        program += block
    return b"".join(_encode(at, step, labels) for at, step in enumerate(program))


def _encode(at: int, step: _Step, labels: dict[str, int]) -> bytes:
    """One `struct sock_filter`; jumps count from the next instruction, forward only."""
    code, operand, if_true, if_false = step
    offsets = [labels[label] - at - 1 if label else 0 for label in (if_true, if_false)]
    return struct.pack("<HBBI", code, *offsets, operand)
