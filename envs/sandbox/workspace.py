"""The owner's side of a workspace: files go in, come back and are compared, while hostile code may change them."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import secrets
from collections.abc import Iterator, Mapping

from workgym.envs.sandbox.openat2 import open_beneath, reopen
from workgym.envs.sandbox.paths import checked_path
from workgym.envs.sandbox.readback import Entry, Refused, read_plain_file, refusal, walk_folder
from workgym.envs.sandbox.spec import WorkspaceDiff
from workgym.tasks.errors import ActionError, SandboxError

__all__ = ["Entry", "Workspace", "checked_path"]

_FOLDER = os.O_RDONLY | os.O_DIRECTORY


class Workspace:
    """Writes into a workspace, reads back from it and says what changed. Not for several threads at once."""

    def __init__(
        self, descriptor: int, *, user: int | None, group: int | None, baseline: Mapping[str, bytes] | None = None
    ) -> None:
        """Take over a descriptor.

        Args:
            descriptor: of the workspace's folder. It is ours from now on, also where this raises.
            user: who shall own what is written; None, or we are not root: whoever we are.
            group: likewise.
            baseline: path -> SHA-256 digest of what was written before, where this is a copy of another workspace.

        Raises:
            SandboxError: it is no folder, or this machine cannot open files safely.
        """
        self._descriptor = descriptor
        owner = (-1 if user is None else user, -1 if group is None else group)
        self._owner = owner if os.geteuid() == 0 else (-1, -1)
        self._baseline = dict(baseline or {})
        try:  # once, so that later on ENOSYS, or EPERM of a filter around us, is not taken for their doing
            os.close(reopen(descriptor, os.O_PATH | os.O_DIRECTORY))
            os.close(open_beneath(descriptor, ".", os.O_PATH | os.O_DIRECTORY))
        except OSError as error:
            if error.errno == errno.EACCES:  # a program has closed it to its owner, too: so it reads from then on
                return
            self.close()
            raise SandboxError(f"cannot use a workspace: {error}; it takes Linux 5.6 (openat2) and /proc") from error

    @property
    def descriptor(self) -> int:
        """The folder, to look at: it stays ours.

        Raises:
            SandboxError: it is closed.
        """
        if self._descriptor < 0:
            raise SandboxError("this workspace is closed; lease another sandbox")
        return self._descriptor

    @property
    def baseline(self) -> dict[str, bytes]:
        """Path -> SHA-256 digest of each file as it was last written by us: a copy."""
        return dict(self._baseline)

    def close(self) -> None:
        """Give the descriptor back. Idempotent."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def write(self, path: str, data: bytes, *, executable: bool = False) -> None:
        """Write a file, and the folders above it; what stood in its place is replaced whole, never written through.

        Args:
            path: relative to the workspace.
            data: all of it.
            executable: mode 0755 instead of 0644.

        Raises:
            ValueError: of the path, see `checked_path`.
            ActionError: something in the workspace is in the way.
            SandboxError: the machine failed.
        """
        *folders, name = checked_path(path)
        what = f"cannot write {path!r} of {len(data)} bytes"
        try:
            folder = self._make_folders(folders)
            try:
                self._put(folder, name, data, 0o755 if executable else 0o644)
            finally:
                os.close(folder)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                full = "the workspace is full: SandboxSpec.disk_mb and n_inodes say what it holds"
                raise ActionError(f"{what}: {full}") from error
            raise ActionError(f"{what}: {refusal(what, error).reason}") from error
        self._baseline[path] = hashlib.sha256(data).digest()

    def read(self, path: str, max_bytes: int) -> bytes:
        """Read a regular file with one name, as long as it was when it was looked at.

        Args:
            path: relative to the workspace.
            max_bytes: a larger file is refused.

        Raises:
            ValueError: of the path, see `checked_path`.
            ActionError: there is no such file, it is something else, or too large.
            SandboxError: the machine failed.
        """
        checked_path(path)
        try:
            return read_plain_file(self.descriptor, path, max_bytes)
        except Refused as refused:
            raise ActionError(f"cannot read {path!r}: {refused.reason}") from None

    def walk(self, max_files: int, max_bytes: int) -> Iterator[Entry]:
        """List what is there: each folder before what it holds, names in order. Only what has no problem is to be read.

        Args:
            max_files: entries, folders included. Where there are more, the last one's path is ".".
            max_bytes: sum of the sizes of what has no problem.

        Raises:
            SandboxError: the machine failed.
        """
        return walk_folder(self.descriptor, max_files, max_bytes)

    def diff(
        self, baseline: Mapping[str, bytes] | None = None, *, max_files: int = 10_000, max_bytes: int = 64 << 20
    ) -> WorkspaceDiff:
        """Say what has changed since we wrote.

        What we wrote is looked at first, by its name: no flood of new files can hide that it was changed.

        Args:
            baseline: path -> SHA-256 digest to compare with; None: what we wrote.
            max_files: entries to look at beside those, folders included. Where there are more, `skipped` has a ".".
            max_bytes: to read in all, of files that stayed the same too.

        Raises:
            SandboxError: the machine failed.
        """
        known = self._baseline if baseline is None else baseline
        written: dict[str, bytes] = {}
        removed: list[str] = []
        skipped: dict[str, str] = {}
        for path in [*sorted(known), *self._new_files(known, len(known) + max_files, skipped)]:
            try:
                data = read_plain_file(self.descriptor, path, max_bytes)
            except Refused as refused:
                if not refused.gone:
                    skipped[path] = refused.reason
                elif path in known:
                    removed.append(path)
                continue
            max_bytes -= len(data)
            if path not in known or hashlib.sha256(data).digest() != known[path]:
                written[path] = data
        return WorkspaceDiff(written=written, removed=tuple(removed), skipped=skipped)

    def _new_files(self, known: Mapping[str, bytes], max_entries: int, skipped: dict[str, str]) -> Iterator[str]:
        """What we did not write; notes in `skipped` what is no plain file."""
        for entry in walk_folder(self.descriptor, max_entries):
            if entry.path in known:
                continue
            if entry.problem:
                skipped[entry.path] = entry.problem
            elif entry.kind == "file":
                yield entry.path

    def _make_folders(self, names: list[str]) -> int:
        """Open the folder that these names lead to, and make what is missing on the way."""
        here = open_beneath(self.descriptor, ".", _FOLDER)
        for name in names:
            above = here
            try:
                here = self._open_or_make(above, name)
            finally:
                os.close(above)
        return here

    def _open_or_make(self, above: int, name: str) -> int:
        try:
            return open_beneath(above, name, _FOLDER)
        except FileNotFoundError:
            os.mkdir(name, 0o755, dir_fd=above)
        made = open_beneath(above, name, _FOLDER)
        try:
            os.fchmod(made, 0o755)  # whatever our umask is
            os.fchown(made, *self._owner)
        except BaseException:
            os.close(made)
            raise
        return made

    def _put(self, folder: int, name: str, data: bytes, mode: int) -> None:
        """Write a file under a name that nobody can guess, then give it its own."""
        hidden = f".{secrets.token_hex(16)}"
        opened = open_beneath(folder, hidden, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with open(opened, "wb", buffering=0) as file:
                left = memoryview(data)
                while left:
                    left = left[file.write(left) :]
                os.fchmod(opened, mode)
                os.fchown(opened, *self._owner)
            os.rename(hidden, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(hidden, dir_fd=folder)
            raise
