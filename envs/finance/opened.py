"""What an agent has seen of the documents: a citation counts only where the cell was shown to it in this episode."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, Self

__all__ = ["CELL_ADDRESS", "LINE_ADDRESS", "Opened"]

CELL_ADDRESS: Final = re.compile(
    r"(?P<table>d[1-9][0-9]{0,2}:t[1-9][0-9]{0,3})!r(?P<row>[1-9][0-9]{0,4})c[1-9][0-9]{0,3}"
)
LINE_ADDRESS: Final = re.compile(r"(?P<page>d[1-9][0-9]{0,2}:p[1-9][0-9]{0,3})!l(?P<line>[1-9][0-9]{0,4})")


class Opened:
    """Rows of tables ("d1:t2") and lines of pages ("d1:p3") that were shown.

    Args:
        seen: place -> numbers of its rows or lines.
    """

    def __init__(self, seen: Mapping[str, Iterable[int]] | None = None) -> None:
        self._seen: Final[dict[str, set[int]]] = {place: set(numbers) for place, numbers in (seen or {}).items()}

    def add(self, place: str, numbers: Iterable[int]) -> None:
        """Note that rows of a table, or lines of a page, were shown."""
        self._seen.setdefault(place, set()).update(numbers)

    def holds(self, address: str) -> bool:
        """Whether this cell or line was shown; false of what is no address."""
        if match := CELL_ADDRESS.fullmatch(address):
            return int(match["row"]) in self._seen.get(match["table"], ())
        if match := LINE_ADDRESS.fullmatch(address):
            return int(match["line"]) in self._seen.get(match["page"], ())
        return False

    def tables(self) -> list[str]:
        """The tables of which something was shown, in order of their addresses' text."""
        return sorted(place for place in self._seen if ":t" in place)

    def rows(self, table: str) -> frozenset[int]:
        """The rows of a table that were shown."""
        return frozenset(self._seen.get(table, ()))

    def to_state(self) -> dict[str, list[list[int]]]:
        """As JSON types, in ranges: {"d1:t2": [[1, 4], [9, 9]]}."""
        return {place: _ranges(sorted(numbers)) for place, numbers in sorted(self._seen.items())}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """Read what `to_state` wrote."""
        return cls(
            {
                place: [number for first, last in ranges for number in range(int(first), int(last) + 1)]
                for place, ranges in state.items()
            }
        )


def _ranges(numbers: list[int]) -> list[list[int]]:
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ranges
