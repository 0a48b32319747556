"""The index of an archive: a SQLite table that finds records without reading them all.

It is never the truth. It says how many bytes of the frames it covers and how those end, so that a missing, stale or
foreign index is seen and built again; a corrupt one raises `sqlite3.DatabaseError`, upon which its owner rebuilds it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, Final

from workgym.tasks.errors import ArchiveError
from workgym.tasks.naming import unknown_name

__all__ = ["Entry", "Index"]

_LAYOUT: Final = 1


@dataclass(frozen=True, slots=True)
class Entry:
    """What the index knows of one record: bytes `[offset, offset + size)` of the frames, and columns to search by."""

    rollout_id: str
    offset: int
    size: int
    task_id: str
    domain: str
    family: str
    level: int
    split: str
    policy: str
    end_reason: str
    success: bool
    valid: bool
    reward: float
    n_turns: int
    n_tokens: int
    wall_s: float

    @classmethod
    def of(cls, record: Mapping[str, Any], offset: int, size: int) -> Entry:
        """The entry of a record.

        Raises:
            KeyError, TypeError: the record lacks something.
        """
        verdict = record["verdict"] or {"success": False, "valid": False, "reward": 0.0}
        return cls(
            rollout_id=record["rollout_id"],
            offset=offset,
            size=size,
            task_id=record["task_id"],
            domain=record["domain"],
            family=record["family"],
            level=record["level"],
            split=record["split"],
            policy=record["policy"],
            end_reason=record["end_reason"],
            success=verdict["success"],
            valid=verdict["valid"],
            reward=verdict["reward"],
            n_turns=len(record["steps"]),
            n_tokens=record["cost"]["tokens_out"],
            wall_s=record["cost"]["wall_s"],
        )


_COLUMNS: Final = tuple(field.name for field in fields(Entry))
_FILTERS: Final = (
    "rollout_id", "task_id", "domain", "family", "level", "split", "policy", "end_reason", "success", "valid"
)  # fmt: skip
_ROW: Final = attrgetter(*_COLUMNS)
_PUT: Final = (
    f"INSERT INTO records VALUES ({','.join('?' * len(_COLUMNS))}) ON CONFLICT (rollout_id) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in _COLUMNS[1:])
    + " WHERE excluded.offset > records.offset"  # another process may have indexed a later record meanwhile
)


class Index:
    """The table, in a file or in memory. One thread at a time may use it."""

    def __init__(self, path: str) -> None:
        """Open or create it.

        Args:
            path: of the file; ":memory:" for none.

        Raises:
            sqlite3.Error: the file is no database, or cannot be opened or written.
        """
        self._db = sqlite3.connect(path, timeout=10, isolation_level=None, check_same_thread=False)
        try:
            self._db.execute("PRAGMA synchronous=OFF")
            self._create()
        except sqlite3.Error:
            self._db.close()
            raise

    def covered(self) -> tuple[int, bytes]:
        """How many bytes of the frames are indexed, and the last few of those bytes."""
        size, tail = self._db.execute("SELECT size, tail FROM covered").fetchone()
        return int(size), bytes(tail)

    def add(self, entries: Iterable[Entry], size: int, tail: bytes) -> None:
        """Put entries in, a later record of a rollout in the place of an earlier, and say how far the index goes."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            self._db.executemany(_PUT, map(_ROW, entries))
            self._db.execute("UPDATE covered SET size = ?, tail = ? WHERE size <= ?", (size, tail, size))
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def clear(self) -> None:
        """Forget everything."""
        for statement in ("BEGIN IMMEDIATE", "DROP TABLE IF EXISTS records", "DROP TABLE IF EXISTS covered", "COMMIT"):
            self._db.execute(statement)
        self._create()

    def find(self, filters: Mapping[str, object], prefix: str = "") -> list[Entry]:
        """The entries that match, in the order of their records.

        Args:
            filters: column -> value that it must equal.
            prefix: how the rollout id must begin.

        Raises:
            ArchiveError: no such filter.
        """
        where, values = ["1"], []
        for name, value in filters.items():
            if name not in _FILTERS:
                raise ArchiveError(unknown_name("filter", name, (*_FILTERS, "prefix")))
            where.append(f"{name} = ?")
            values.append(value)
        if prefix:
            where.append("substr(rollout_id, 1, ?) = ?")
            values += [len(prefix), prefix]
        return self._select(f"WHERE {' AND '.join(where)} ORDER BY offset", values)

    def count(self) -> int:
        """How many records there are, superseded ones left out."""
        return int(self._db.execute("SELECT count(*) FROM records").fetchone()[0])

    def rollout_ids(self) -> list[str]:
        """The ids of all records."""
        return [name for (name,) in self._db.execute("SELECT rollout_id FROM records ORDER BY offset")]

    def close(self) -> None:
        """Close the file. Idempotent."""
        self._db.close()

    def _create(self) -> None:
        """Make the tables where they are missing, or of another layout."""
        (layout,) = self._db.execute("PRAGMA user_version").fetchone()
        if layout not in (0, _LAYOUT):
            self._db.executescript("DROP TABLE IF EXISTS records; DROP TABLE IF EXISTS covered;")
        self._db.executescript(
            f"""
            BEGIN IMMEDIATE;
            CREATE TABLE IF NOT EXISTS records ({", ".join(_COLUMNS)}, PRIMARY KEY (rollout_id)) WITHOUT ROWID;
            CREATE INDEX IF NOT EXISTS by_group ON records (domain, family, level, split);
            CREATE TABLE IF NOT EXISTS covered (id INTEGER PRIMARY KEY CHECK (id = 0), size INTEGER, tail BLOB);
            INSERT OR IGNORE INTO covered VALUES (0, 0, x'');
            PRAGMA user_version = {_LAYOUT};
            COMMIT;
            """
        )

    def _select(self, rest: str, values: Sequence[object]) -> list[Entry]:
        rows = self._db.execute(f"SELECT {', '.join(_COLUMNS)} FROM records {rest}", values)
        return [_entry(dict(zip(_COLUMNS, row, strict=True))) for row in rows]


def _entry(row: dict[str, Any]) -> Entry:
    return Entry(**{**row, "success": bool(row["success"]), "valid": bool(row["valid"])})
