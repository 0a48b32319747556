"""An index that keeps itself true to a file of frames: built, caught up and, where it is corrupt, built again."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeVar

from workgym.agents.frames import scan_frames
from workgym.agents.index import Entry, Index
from workgym.agents.records import check_schema
from workgym.tasks.errors import ArchiveError

__all__ = ["FrameIndex"]

_TAIL: Final = 16
_BATCH: Final = 256

_T = TypeVar("_T")


class FrameIndex:
    """The index of one file of frames. One thread at a time may use it.

    Args:
        frames: the file; it exists.
        path: of the index; it is held in memory where it cannot be written.

    Attributes:
        size: where the last sound frame ends.

    Raises:
        ArchiveError: the frames are damaged or of a newer schema.
    """

    def __init__(self, frames: Path, path: Path) -> None:
        self.size = 0
        self._frames: Final = frames
        self._path: Final = path
        self._pending: list[Entry] = []
        self._tail = b""
        self._index = self._open()
        try:
            self.use(self._catch_up)
        except BaseException:
            self._index.close()
            raise

    def note(self, entry: Entry, frame: bytes) -> None:
        """Take in a frame that was just appended; written to the index some frames later."""
        self._pending.append(entry)
        self._tail = frame[-_TAIL:]
        self.size = entry.offset + entry.size
        if len(self._pending) >= _BATCH:
            self.use(lambda _: None)

    def use(self, ask: Callable[[Index], _T]) -> _T:
        """Ask the index, brought up to date; where it turns out to be corrupt, build it again and ask that.

        Raises:
            ArchiveError: the frames are damaged.
        """
        try:
            self._refresh()
            return ask(self._index)
        except sqlite3.Error:
            self._index.close()
            self._index = self._open(fresh=True)
            self._catch_up(self._index)
            return ask(self._index)

    def close(self) -> None:
        """Write what is pending, if that is possible: an index that lags behind catches up when next opened."""
        with suppress(sqlite3.Error):
            self._flush()
        self._index.close()

    def _refresh(self) -> None:
        """Take in what this process appended, or what another one did."""
        self._flush()
        if self._frames.stat().st_size != self.size:
            self._catch_up(self._index)

    def _flush(self) -> None:
        if self._pending:
            self._index.add(self._pending, self.size, self._tail)
            self._pending = []

    def _catch_up(self, index: Index) -> None:
        """Index the frames that it does not cover; all of them where it is not of this file."""
        covered, tail = index.covered()
        if covered and self._bytes_before(covered) != tail:
            index.clear()
            covered = 0
        entries: list[Entry] = []
        end = covered
        for frame in scan_frames(self._frames, covered):
            entries.append(self._entry(frame.offset, frame.size, frame.content))
            end = frame.offset + frame.size
        if entries:
            index.add(entries, end, self._bytes_before(end))
        self.size = end

    def _open(self, fresh: bool = False) -> Index:
        """The index in its file, a new one where it is missing or broken, one in memory where none can be written."""
        if fresh:
            with suppress(OSError):
                self._path.unlink(missing_ok=True)
        try:
            return Index(str(self._path))
        except sqlite3.OperationalError:
            return Index(":memory:")
        except sqlite3.DatabaseError:
            return Index(":memory:") if fresh else self._open(fresh=True)

    def _bytes_before(self, end: int) -> bytes:
        with self._frames.open("rb") as file:
            start = max(0, end - _TAIL)
            return os.pread(file.fileno(), end - start, start)

    def _entry(self, offset: int, size: int, content: bytes) -> Entry:
        try:
            record = json.loads(content)
            check_schema(record)
            return Entry.of(record, offset, size)
        except ArchiveError as error:
            raise ArchiveError(f"{self._frames}, byte {offset}: {error}") from error
        except (ValueError, KeyError, TypeError) as error:
            raise ArchiveError(f"{self._frames}, byte {offset}: no record of a trajectory ({error!r})") from error
