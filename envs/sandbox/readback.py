"""Read a folder that hostile code may be changing right now.

Nothing here trusts a path, a size or a kind that it saw before. The kernel resolves a path beneath the one descriptor
that we hold; what it leads to is looked at first and opened afterwards, as that very thing, so that a FIFO never blocks
us, a device is never opened and a symlink never followed. What is read is bounded before it is read.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

from workgym.envs.sandbox.openat2 import open_beneath, reopen
from workgym.envs.sandbox.paths import MAX_DEPTH, path_problem
from workgym.tasks.errors import SandboxError

__all__ = ["Entry", "Kind", "Refused", "read_plain_file", "refusal", "walk_folder"]

Kind = Literal["file", "folder", "symlink", "fifo", "socket", "device"]
_KINDS: dict[int, Kind] = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "folder",
    stat.S_IFLNK: "symlink",
    stat.S_IFIFO: "fifo",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "device",
    stat.S_IFBLK: "device",
}

# What whoever lives in the folder can bring about. Any other error of the kernel is a fault of the machinery.
_THEIR_DOING = {
    errno.ENOENT: "it does not exist",
    errno.ENOTDIR: "a part of its path is not a folder",
    errno.ELOOP: "it is reached through a symlink",
    errno.EXDEV: "it lies on another mount",
    errno.EACCES: "its permissions forbid it",
    errno.EPERM: "its permissions forbid it",
    errno.EISDIR: "a folder is in its place",
    errno.EEXIST: "something else is in its place",
    errno.EAGAIN: "a program holds a lease on it",
    errno.ESTALE: "it went away",
}
_GONE = (errno.ENOENT, errno.ENOTDIR, errno.ESTALE)
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing in a folder, as it was when it was looked at.

    Attributes:
        path: relative to the folder; bytes that are no UTF-8 are escaped as `os.fsdecode` does.
        kind: what it is.
        size: bytes, as the file claims: a sparse file claims more than it takes.
        n_links: names of the same file.
        problem: why it is not to be read, or not entered; "" for a plain file or folder.
    """

    path: str
    kind: Kind
    size: int
    n_links: int
    problem: str = ""


class Refused(Exception):
    """What is in the folder cannot be read, by the doing of whoever lives there.

    Attributes:
        reason: a sentence about "it".
        gone: there is nothing under that path.
    """

    def __init__(self, reason: str, *, gone: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.gone = reason, gone


def refusal(what: str, error: OSError) -> Refused:
    """Take an error of the kernel for the doing of those who live in the folder.

    Args:
        what: what could not be done.
        error: the kernel's.

    Raises:
        SandboxError: they cannot bring it about: the machinery failed.
    """
    reason = _THEIR_DOING.get(error.errno or 0)
    if reason is None:
        raise SandboxError(f"{what}: {error.strerror}; see the machine's memory, disk and open files") from error
    return Refused(reason, gone=error.errno in _GONE)


def read_plain_file(folder: int, path: str, max_bytes: int) -> bytes:
    """Read a regular file with one name, as long as it was when it was looked at.

    Args:
        folder: descriptor.
        path: below it, as `checked_path` allows.
        max_bytes: a larger file is refused.

    Raises:
        Refused: there is no such file, it is something else, or too large.
        SandboxError: the machine failed.
    """
    try:
        looked_at = open_beneath(folder, path, os.O_PATH | os.O_NOFOLLOW)
        try:
            entry = _entry(path, os.fstat(looked_at))
            problem = _problem(entry, max_bytes)
            if problem:
                raise Refused(problem)
            # Of a regular file O_NONBLOCK asks for no more than this: do not wait for whoever holds a lease.
            opened = reopen(looked_at, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
        finally:
            os.close(looked_at)
        try:
            return _read_up_to(opened, entry.size)
        finally:
            os.close(opened)
    except OSError as error:
        raise refusal(f"cannot read {path!r} of a workspace", error) from None


def walk_folder(folder: int, max_entries: int, max_bytes: int | None = None) -> Iterator[Entry]:
    """List all that is below a folder: each folder before what it holds, names in order.

    One folder is open at a time, and memory holds `max_entries` names at most. What has no problem adds up to
    `max_bytes` at most.

    Args:
        folder: descriptor.
        max_entries: where there are more, the last one's path is "." and its `problem` says so.
        max_bytes: sum of the sizes of files; None: any.

    Raises:
        SandboxError: the machine failed.
    """
    n_left, bytes_left = max_entries, max_bytes
    waiting = [Entry("", "folder", 0, 1)]
    while waiting:
        here = waiting.pop()
        listed, problem = _list(folder, here.path, n_left + 1)
        if here.path or problem:
            yield replace(here, path=here.path or ".", problem=problem)
        n_left -= len(listed)
        if n_left < 0:
            yield Entry(".", "folder", 0, 1, f"it holds more than {max_entries} entries: the rest is left out")
            return
        for entry in listed:
            if entry.kind == "folder":
                continue
            problem = _problem(entry, bytes_left)
            if not problem and bytes_left is not None:
                bytes_left -= entry.size
            yield replace(entry, problem=problem)
        waiting += [entry for entry in reversed(listed) if entry.kind == "folder"]


def _list(folder: int, path: str, at_most: int) -> tuple[list[Entry], str]:
    """What one folder holds, in order, and why that is not to be seen."""
    problem = _path_problem(path)
    if not problem and path.count("/") + 1 == MAX_DEPTH:
        problem = f"what it holds lies deeper than {MAX_DEPTH} names"
    if problem:
        return [], problem
    prefix = path + "/" if path else ""
    try:
        opened = open_beneath(folder, path or ".", os.O_RDONLY | os.O_DIRECTORY)
        try:
            with os.scandir(opened) as names:
                looked_at = [(prefix + name.name, _look(name)) for name in islice(names, at_most)]
        finally:
            os.close(opened)
    except OSError as error:
        return [], refusal(f"cannot list {path!r} of a workspace", error).reason
    return sorted((_entry(found, seen) for found, seen in looked_at if seen), key=lambda entry: entry.path), ""


def _look(name: os.DirEntry[str]) -> os.stat_result | None:
    """What stands under a name that a folder listed; None where it has just gone."""
    try:
        return name.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None


def _entry(path: str, seen: os.stat_result) -> Entry:
    return Entry(path, _KINDS[stat.S_IFMT(seen.st_mode)], seen.st_size, seen.st_nlink)


def _problem(entry: Entry, max_bytes: int | None) -> str:
    """Why a thing that is no folder to enter is not to be read, or ""."""
    if entry.kind != "file":
        return f"it is a {entry.kind}, not a plain file"
    if entry.n_links > 1:
        return f"it is one of {entry.n_links} hard links to a file"
    if max_bytes is not None and entry.size > max_bytes:
        return f"it has {entry.size} bytes, more than the {max_bytes} that may be read"
    return _path_problem(entry.path)


def _path_problem(path: str) -> str:
    problem = path_problem(path) if path else ""
    return f"its path {problem}" if problem else ""


def _read_up_to(descriptor: int, n_bytes: int) -> bytes:
    """Read so many bytes, fewer where the file ends before."""
    parts = []
    while n_bytes > 0 and (part := os.read(descriptor, min(n_bytes, _CHUNK))):
        parts.append(part)
        n_bytes -= len(part)
    return b"".join(parts)
