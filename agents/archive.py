"""The archive: every episode that was ever run, append-only, kept through a crash.

A folder with three files. `trajectories.jsonl.zst` is the truth: one JSON line a record, each its own zstd frame, so
that `zstdcat` reads it. `index.sqlite` finds records and may be deleted at any time. `writer.lock` says that someone
writes.

    with Archive.open("runs/7/archive", "a") as archive:
        archive.append(trajectory)      # returned: a kill -9 no longer loses it
    with Archive.open("runs/7/archive") as archive:
        failed = list(archive.query(level=2, success=False))
"""

from __future__ import annotations

import difflib
import json
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, Literal, Self, TypeVar

import zstandard

from workgym.agents.frame_index import FrameIndex
from workgym.agents.frames import compressor, decode_frame
from workgym.agents.index import Entry, Index
from workgym.agents.records import from_record, to_record
from workgym.agents.trajectory import Trajectory
from workgym.agents.writer_lock import WriterLock
from workgym.tasks.errors import ArchiveError

__all__ = ["FRAMES", "Archive", "Entry"]

FRAMES: Final = "trajectories.jsonl.zst"
_INDEX: Final = "index.sqlite"
_LOCK: Final = "writer.lock"
_MAX_RECORD_BYTES: Final = 1 << 30

_T = TypeVar("_T")

_ENCODER: Final = json.JSONEncoder(separators=(",", ":"), allow_nan=False, check_circular=False)


class Archive:
    """Trajectories in a folder. Open it with `Archive.open`.

    A rollout id that is appended again supersedes its earlier record: readers see the last one only, so a run that is
    resumed and repeats some episodes leaves no duplicates. One process writes; its threads may append at once.
    """

    def __init__(self, folder: Path, mode: Literal["r", "a"], durable: bool, level: int) -> None:
        self.folder: Final = folder
        self.mode: Final = mode
        self._durable: Final = durable
        self._level: Final = level
        self._guard: Final = threading.RLock()
        self._local: Final = threading.local()
        self._pid: Final = os.getpid()
        self._index: FrameIndex | None = None
        self._lock: WriterLock | None = None
        self._file = -1

    @classmethod
    def open(cls, path: str | Path, mode: Literal["r", "a"] = "r", *, durable: bool = False, level: int = 1) -> Self:
        """Open an archive.

        Args:
            path: its folder; "a" makes it where it is missing.
            mode: "r" reads, also while another process writes; "a" appends as well.
            durable: each append also survives a power failure (fsync), not only the death of the process.
            level: of compression, 1 (fast) to 19.

        Raises:
            ArchiveError: there is no archive, someone else writes it, or it is damaged.
            ValueError: another mode.
        """
        if mode not in ("r", "a"):
            raise ValueError(f"mode {mode!r} of an archive: use 'r' to read or 'a' to append")
        folder = Path(path)
        if folder.name == FRAMES:
            folder = folder.parent
        archive = cls(folder, mode, durable, level)
        try:
            archive._open()
        except BaseException:
            archive.close()
            raise
        return archive

    def append(self, trajectory: Trajectory) -> None:
        """Append one record. Once this returns, the end of the process no longer loses it.

        Raises:
            ArchiveError: the archive is not open for appending, the trajectory holds something that JSON cannot, or
                the disk refuses it; what was there before is then unharmed.
        """
        record = to_record(trajectory)
        frame = self._compress(trajectory.rollout_id, record)
        with self._guard:
            index = self._require_writer()
            self._write(frame, index.size)
            index.note(Entry.of(record, index.size, len(frame)), frame)

    def sync(self) -> None:
        """Wait until everything appended so far survives a power failure."""
        with self._guard:
            self._require_writer()
            os.fsync(self._file)

    def __len__(self) -> int:
        return self._ask(Index.count)

    def __iter__(self) -> Iterator[Trajectory]:
        return self.query()

    def query(self, *, prefix: str = "", **filters: object) -> Iterator[Trajectory]:
        """The trajectories that match, in the order in which they were appended.

        Args:
            prefix: how the rollout id must begin; a stage of a run puts its name there.
            filters: any of rollout_id, task_id, domain, family, level, split, policy, end_reason, success, valid.

        Raises:
            ArchiveError: no such filter, or damage.
        """
        return map(self.read, self.entries(prefix=prefix, **filters))

    def entries(self, *, prefix: str = "", **filters: object) -> list[Entry]:
        """Like `query`, but what the index knows of each record; reads no record.

        Raises:
            ArchiveError: no such filter.
        """
        return self._ask(lambda index: index.find(filters, prefix))

    def get(self, rollout_id: str) -> Trajectory:
        """The trajectory of this id, or of the one id that begins so.

        Raises:
            ArchiveError: none or several; the message names the nearest.
        """
        found = self.entries(rollout_id=rollout_id) or self.entries(prefix=rollout_id)
        if len(found) == 1:
            return self.read(found[0])
        if found:
            names = ", ".join(entry.rollout_id for entry in found[:5])
            raise ArchiveError(f"{len(found)} rollouts begin with {rollout_id!r}: {names}. Give more of the id.")
        known = self._ask(Index.rollout_ids)
        close = difflib.get_close_matches(rollout_id, known, n=3, cutoff=0.3) or known[:3]
        raise ArchiveError(
            f"no rollout {rollout_id!r} among the {len(known)} of {self.folder}. Nearest: {', '.join(close) or 'none'}."
        )

    def read(self, entry: Entry) -> Trajectory:
        """Read the record of an entry.

        Raises:
            ArchiveError: the record is damaged.
        """
        with (self.folder / FRAMES).open("rb") as file:
            data = os.pread(file.fileno(), entry.size, entry.offset)
        content = decode_frame(data)
        if content is None:
            raise ArchiveError(
                f"{self.folder / FRAMES} is damaged at byte {entry.offset}, rollout {entry.rollout_id!r}"
            )
        trajectory = from_record(json.loads(content))
        if trajectory.rollout_id != entry.rollout_id:
            raise ArchiveError(f"{self.folder / FRAMES} was replaced while it was read. Open the archive again.")
        return trajectory

    def close(self) -> None:
        """Write the index and give back the lock. Idempotent."""
        with self._guard:
            if self._index is not None and self._pid == os.getpid():
                self._index.close()
            if self._file >= 0:
                os.close(self._file)
            if self._lock is not None:
                self._lock.close()
            self._index, self._file, self._lock = None, -1, None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self) -> None:
        path = self.folder / FRAMES
        if self.mode == "a":
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = WriterLock(self.folder / _LOCK)
            self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        elif not path.is_file():
            raise ArchiveError(f"no archive in {self.folder}: it holds no {FRAMES}. {_archives_below(self.folder)}")
        self._index = FrameIndex(path, self.folder / _INDEX)
        if self.mode == "a":
            self._cut_torn_frame(self._index.size)

    def _cut_torn_frame(self, size: int) -> None:
        """Drop what a writer that was killed left of its last record: it was never acknowledged."""
        if os.fstat(self._file).st_size > size:
            os.ftruncate(self._file, size)
        if self._durable:
            os.fsync(self._file)
            folder = os.open(self.folder, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)

    def _compress(self, rollout_id: str, record: dict[str, Any]) -> bytes:
        try:
            line = _ENCODER.encode(record).encode() + b"\n"
        except (TypeError, ValueError, RecursionError) as error:
            raise ArchiveError(
                f"trajectory {rollout_id!r} cannot be archived: {error}. A record holds finite numbers and JSON types; "
                "bytes belong into Attempt.files"
            ) from error
        if len(line) > _MAX_RECORD_BYTES:
            raise ArchiveError(
                f"trajectory {rollout_id!r} is {len(line)} bytes of JSON; the most is {_MAX_RECORD_BYTES}"
            )
        local: zstandard.ZstdCompressor | None = getattr(self._local, "compressor", None)
        if local is None:
            local = self._local.compressor = compressor(self._level)
        return local.compress(line)

    def _ask(self, ask: Callable[[Index], _T]) -> _T:
        with self._guard:
            if self._index is None:
                raise ArchiveError(f"the archive {self.folder} is closed")
            return self._index.use(ask)

    def _require_writer(self) -> FrameIndex:
        if self._file < 0 or self._index is None:
            raise ArchiveError(f"{self.folder} is not open for appending: use Archive.open(path, 'a')")
        if self._pid != os.getpid():
            raise ArchiveError(f"{self.folder} was opened by process {self._pid}; a forked child cannot append to it")
        return self._index

    def _write(self, frame: bytes, size: int) -> None:
        """One write for one frame; what a full disk leaves of it is taken back."""
        try:
            written = os.write(self._file, frame)
            while written < len(frame):
                written += os.write(self._file, frame[written:])
            if self._durable:
                os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, size)
            raise ArchiveError(f"cannot append to {self.folder / FRAMES}: {error}. Free space and go on.") from error


def _archives_below(folder: Path) -> str:
    """Say where the archives are that the reader may have meant."""
    if not folder.is_dir():
        return "There is no such folder."
    found = sorted(path.parent for pattern in ("*", "*/*") for path in folder.glob(f"{pattern}/{FRAMES}"))
    return f"Did you mean {found[-1]}?" if found else "Runs of workgym keep theirs in a folder 'archive'."
