"""Open what lies below a folder, and nothing else: the kernel itself refuses every way out."""

from __future__ import annotations

import ctypes
import os

__all__ = ["open_beneath", "reopen"]

_SYS_OPENAT2 = 437  # on every architecture
_NO_XDEV, _NO_MAGICLINKS, _NO_SYMLINKS, _BENEATH = 1, 2, 4, 8

_c = ctypes.CDLL(None, use_errno=True)
_c.syscall.restype = ctypes.c_long


class _How(ctypes.Structure):
    """`struct open_how`."""

    _fields_ = [(name, ctypes.c_uint64) for name in ("flags", "mode", "resolve")]


def open_beneath(folder: int, path: str, flags: int, mode: int = 0) -> int:
    """Open a path below a folder: through no symlink, no mount, no magic link of /proc, and never above the folder.

    Whoever renames folders meanwhile changes nothing of that. A last part that is a symlink is opened itself with
    `O_PATH | O_NOFOLLOW`, and refused (ELOOP) with other flags.

    Args:
        folder: descriptor of the folder.
        path: relative to it.
        flags: as of `os.open`; O_CLOEXEC is added.
        mode: of a file that is made.

    Returns:
        A new descriptor.

    Raises:
        OSError: the kernel's reason: ELOOP a symlink on the way, EXDEV a mount or a way out.

    Source: openat2(2), Linux 5.6.
    """
    how = _How(flags | os.O_CLOEXEC, mode, _NO_XDEV | _NO_MAGICLINKS | _NO_SYMLINKS | _BENEATH)
    result = _c.syscall(
        ctypes.c_long(_SYS_OPENAT2),
        ctypes.c_long(folder),
        os.fsencode(path),
        ctypes.byref(how),
        ctypes.c_long(ctypes.sizeof(how)),
    )
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), path)
    return int(result)


def reopen(descriptor: int, flags: int) -> int:
    """Open the very thing that an O_PATH descriptor stands for, whatever its path leads to by now.

    Raises:
        OSError: as of `os.open`; ENOENT also where /proc is not mounted.
    """
    return os.open(f"/proc/self/fd/{descriptor}", flags | os.O_CLOEXEC)
