"""What is done with a workspace on behalf of its owner, with a program's rights and no more.

A snapshot is a stream of messages: "root", then a walk of the tree: "folder" goes down, "up" comes back, "file" is
followed by its "data" (holes are left out), "again" is another name of a file that came before. It is made and laid out
while no program runs, so that nothing moves; links are never followed all the same.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from typing import Any

from workgym.envs.sandbox.docker.inside.birth import WORKSPACE
from workgym.envs.sandbox.docker.inside.frames import CHUNK_BYTES, FrameReader, pack_frame
from workgym.envs.sandbox.docker.inside.rights import files_as_nobody
from workgym.envs.sandbox.workspace import Workspace
from workgym.tasks.errors import ActionError, SandboxError

__all__ = ["Files"]

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_Pieces = Iterator[tuple[dict[str, Any], bytes]]


class Files:
    """Answers requests. `disk_mb` bounds what is read at once."""

    def __init__(self, disk_mb: int) -> None:
        self._max_bytes = min(64, disk_mb) << 20
        self._incoming = bytearray()
        self._layout: _Layout | None = None
        with files_as_nobody():
            self._workspace = _open_workspace({})

    def answer(self, meta: dict[str, Any], blob: bytes, *, n_programs: int) -> Iterator[bytes]:
        """Do what is asked; gives packed messages, of which the last says so, or nothing where more is to come."""
        pieces = self._do(meta, blob, n_programs)
        while True:
            try:
                with files_as_nobody():
                    piece = next(pieces, None)
            except (ValueError, ActionError, SandboxError, OSError) as error:
                kind = {ValueError: "value", ActionError: "action"}.get(type(error), "sandbox")
                piece = {"error": kind, "text": str(error), "last": True}, b""
                pieces = iter(())
            if piece is None:
                return
            yield pack_frame({"op": "answer", "ask": meta["ask"], **piece[0]}, piece[1])

    def _do(self, meta: dict[str, Any], blob: bytes, n_programs: int) -> _Pieces:
        if n_programs and meta["op"] in ("snapshot", "restore"):
            raise SandboxError(f"cannot {meta['op']} while a program is running: wait for it, or kill_all()")
        match meta["op"]:
            case "ping":
                yield {"nonce": meta["nonce"], "last": True}, b""
            case "write":
                yield from self._write(meta, blob)
            case "read":
                yield from _chunks({}, self._workspace.read(meta["path"], meta["max_bytes"]))
                yield {"last": True}, b""
            case "diff":
                yield from self._diff()
            case "snapshot":
                yield from self._snapshot()
            case "restore":
                yield from self._restore(meta, blob)

    def _write(self, meta: dict[str, Any], blob: bytes) -> _Pieces:
        self._incoming += blob
        if meta["ends"]:
            data = bytes(self._incoming)
            self._incoming.clear()
            self._workspace.write(meta["path"], data)
            yield {"last": True}, b""

    def _diff(self) -> _Pieces:
        diff = self._workspace.diff(max_bytes=self._max_bytes)
        for path, data in diff.written.items():
            yield {"path": path}, b""
            yield from _chunks({"path": path}, data)
        yield {"removed": list(diff.removed), "skipped": dict(diff.skipped), "last": True}, b""

    def _snapshot(self) -> _Pieces:
        baseline = {path: digest.hex() for path, digest in self._workspace.baseline.items()}
        for meta, blob in _walk(baseline):
            yield {}, pack_frame(meta, blob)
        yield {"last": True}, b""

    def _restore(self, meta: dict[str, Any], blob: bytes) -> _Pieces:
        if self._layout is None:
            self._layout = _Layout()
        self._layout.take(blob)
        if meta["ends"]:
            layout, self._layout = self._layout, None
            baseline = layout.finish()
            self._workspace.close()
            self._workspace = _open_workspace(baseline)
            yield {"last": True}, b""


def _open_workspace(baseline: dict[str, bytes]) -> Workspace:
    return Workspace(os.open(WORKSPACE, os.O_PATH | os.O_DIRECTORY), user=None, group=None, baseline=baseline)


def _chunks(meta: dict[str, Any], data: bytes) -> _Pieces:
    for at in range(0, len(data), CHUNK_BYTES):
        yield meta, data[at : at + CHUNK_BYTES]


def _walk(baseline: dict[str, str]) -> _Pieces:
    """Describe the workspace."""
    root = os.stat(WORKSPACE)
    os.chmod(WORKSPACE, 0o700)
    os.chdir(WORKSPACE)
    yield {**_described("root", WORKSPACE, root), "baseline": baseline}, b""
    seen: set[int] = set()
    levels = [iter(sorted(os.listdir(".")))]
    folders = [(WORKSPACE, stat.S_IMODE(root.st_mode))]
    while levels:
        name = next(levels[-1], None)
        if name is None:
            levels.pop()
            os.chdir(".." if levels else "/")
            os.chmod(*folders.pop())
            yield {"is": "up"}, b""
            continue
        info = os.lstat(name)
        if stat.S_ISDIR(info.st_mode):
            yield _described("folder", name, info), b""
            folders.append((name, stat.S_IMODE(info.st_mode)))
            os.chmod(name, 0o700)
            os.chdir(name)
            levels.append(iter(sorted(os.listdir("."))))
        elif info.st_ino in seen:
            yield {"is": "again", "name": name, "inode": info.st_ino}, b""
        else:
            if info.st_nlink > 1:
                seen.add(info.st_ino)
            yield from _describe(name, info)


def _described(what: str, name: str, info: os.stat_result) -> dict[str, Any]:
    return {"is": what, "name": name, "mode": stat.S_IMODE(info.st_mode), "mtime": info.st_mtime_ns}


def _describe(name: str, info: os.stat_result) -> _Pieces:
    """Describe what is no folder. Sockets are left out: nobody is left behind them."""
    several = {"inode": info.st_ino} if info.st_nlink > 1 else {}
    if stat.S_ISLNK(info.st_mode):
        yield {"is": "symlink", "name": name, "target": os.readlink(name), **several}, b""
    elif stat.S_ISFIFO(info.st_mode):
        yield {**_described("fifo", name, info), **several}, b""
    elif stat.S_ISREG(info.st_mode):
        yield {**_described("file", name, info), **several, "size": info.st_size}, b""
        os.chmod(name, 0o400)
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        os.chmod(name, stat.S_IMODE(info.st_mode))
        try:
            yield from _extents(descriptor)
        finally:
            os.close(descriptor)


def _extents(descriptor: int) -> _Pieces:
    at = 0
    while True:
        try:
            at = os.lseek(descriptor, at, os.SEEK_DATA)
        except OSError:  # ENXIO: there is a hole up to its end, or nothing
            return
        end = os.lseek(descriptor, at, os.SEEK_HOLE)
        while at < end:
            data = os.pread(descriptor, min(CHUNK_BYTES, end - at), at)
            yield {"is": "data", "at": at}, data
            at += len(data)


class _Layout:
    """A workspace that is being laid out anew, from the messages that describe it."""

    def __init__(self) -> None:
        self._reader = FrameReader()
        self._folders: list[dict[str, Any]] = []
        self._file = -1
        self._described: dict[str, Any] = {}
        self._by_inode: dict[int, int] = {}  # an open descriptor for each file that may get more names
        self._baseline: dict[str, bytes] = {}
        self._error: OSError | None = None
        _clear()

    def take(self, data: bytes) -> None:
        """Take more of the stream."""
        if self._error is None:
            try:
                for meta, blob in self._reader.feed(data):
                    self._lay(meta, blob)
            except OSError as error:
                self._error = error

    def finish(self) -> dict[str, bytes]:
        """Close what is open.

        Returns:
            What its owner had written, by path.

        Raises:
            OSError: what went wrong on the way.
        """
        self._finish_file()
        for descriptor in self._by_inode.values():
            os.close(descriptor)
        if self._error is not None:
            raise self._error
        return self._baseline

    def _lay(self, meta: dict[str, Any], blob: bytes) -> None:
        if meta["is"] == "data":
            os.pwrite(self._file, blob, meta["at"])
            return
        self._finish_file()
        getattr(self, f"_lay_{meta['is']}")(meta)

    def _lay_root(self, meta: dict[str, Any]) -> None:
        os.chdir(WORKSPACE)
        self._baseline = {path: bytes.fromhex(digest) for path, digest in meta["baseline"].items()}
        self._folders.append(meta)

    def _lay_folder(self, meta: dict[str, Any]) -> None:
        os.mkdir(meta["name"], 0o700)
        os.chdir(meta["name"])
        self._folders.append(meta)

    def _lay_up(self, _: dict[str, Any]) -> None:
        meta = self._folders.pop()
        os.chdir(".." if self._folders else "/")
        os.utime(meta["name"], ns=(meta["mtime"], meta["mtime"]))
        os.chmod(meta["name"], meta["mode"])

    def _lay_symlink(self, meta: dict[str, Any]) -> None:
        os.symlink(meta["target"], meta["name"])
        self._keep(meta)

    def _lay_fifo(self, meta: dict[str, Any]) -> None:
        os.mkfifo(meta["name"])
        os.chmod(meta["name"], meta["mode"])
        self._keep(meta)

    def _lay_again(self, meta: dict[str, Any]) -> None:
        descriptor = self._by_inode[meta["inode"]]
        # The first folder is not looked at, but without one Python calls a link() that does not follow.
        os.link(f"/proc/self/fd/{descriptor}", meta["name"], src_dir_fd=descriptor, follow_symlinks=True)

    def _lay_file(self, meta: dict[str, Any]) -> None:
        self._file = os.open(meta["name"], os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        self._described = meta
        os.ftruncate(self._file, meta["size"])
        self._keep(meta)

    def _keep(self, meta: dict[str, Any]) -> None:
        if "inode" in meta:
            self._by_inode[meta["inode"]] = os.open(meta["name"], os.O_PATH | os.O_NOFOLLOW)

    def _finish_file(self) -> None:
        if self._file >= 0:
            meta = self._described
            os.fchmod(self._file, meta["mode"])
            os.utime(self._file, ns=(meta["mtime"], meta["mtime"]))
            os.close(self._file)
            self._file = -1


def _clear() -> None:
    """Remove all that is in the workspace."""
    os.chmod(WORKSPACE, 0o700)
    os.chdir(WORKSPACE)
    names: list[str] = []
    while True:
        found = os.listdir(".")
        if not found and not names:
            break
        if not found:
            os.chdir("..")
            os.rmdir(names.pop())
            continue
        for name in found:
            if _is_gone(name):
                continue
            names.append(name)
            os.chmod(name, 0o700)
            os.chdir(name)
            break
    os.chdir("/")


def _is_gone(name: str) -> bool:
    """Remove what is no folder."""
    if stat.S_ISDIR(os.lstat(name).st_mode):
        return False
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name)
    return True
