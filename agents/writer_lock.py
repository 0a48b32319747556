"""One writer at a time."""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path
from typing import Final

from workgym.tasks.errors import ArchiveError

__all__ = ["WriterLock"]

_held: Final[set[tuple[int, int]]] = set()
"""Lock files that this process holds: a POSIX lock does not stop its own process."""
_guard: Final = threading.Lock()


class WriterLock:
    """Held by the one process that writes.

    A POSIX record lock: unlike flock it is not inherited by forked children, which may outlive a writer that was
    killed. It lies on a file of its own, since closing any descriptor of a file gives up all such locks on it.
    """

    def __init__(self, path: Path) -> None:
        """Take the lock.

        Raises:
            ArchiveError: another process, or this one, holds it.
        """
        self._file = -1
        with _guard:
            key = _identity(path)
            if key in _held:
                raise _in_use(path)
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                os.close(file)
                raise _in_use(path) from error
            self._file, self._key = file, _identity(path)
            _held.add(self._key)

    def close(self) -> None:
        """Give it back. Idempotent."""
        with _guard:
            if self._file >= 0:
                _held.discard(self._key)
                os.close(self._file)
                self._file = -1


def _identity(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except FileNotFoundError:
        return (-1, -1)
    return status.st_dev, status.st_ino


def _in_use(path: Path) -> ArchiveError:
    return ArchiveError(f"another writer has the archive {path.parent} open. Wait for it to end, or write elsewhere.")
