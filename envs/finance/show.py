"""How tables of a document are shown to an agent: every cell with its address, its text and what it says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from workgym.envs.finance.document import Table, TableCell, TableRow
from workgym.tasks.errors import ActionError

__all__ = ["MOST_ROWS", "choose_rows", "show_rows"]

MOST_ROWS: Final = 60
"""Shown by one call."""

_RANGE: Final = re.compile(r"r([1-9][0-9]{0,4})(?:\s*-\s*r?([1-9][0-9]{0,4}))?")


def choose_rows(table: Table, part: str) -> list[TableRow]:
    """The rows that a part names: "r5", "r5-r12", or words that stand in a row's labels; all for "".

    The rows of the head, which say what the columns are, always come with them.

    Raises:
        ActionError: there are no such rows.
    """
    part = part.strip()
    head = _head(table)
    body = [row for row in table.rows if row.number not in head]
    if match := _RANGE.fullmatch(part):
        first, last = int(match[1]), int(match[2] or match[1])
        chosen = [row for row in body if first <= row.number <= last]
        if not chosen and not any(first <= number <= last for number in head):
            raise ActionError(f"{table.address} has the rows r1 to r{len(table.rows)}, not {part}")
    elif part:
        words = _plain(part)
        chosen = [row for row in body if row.cells and _plain(row.label) == words] or [
            row for row in body if words in _plain(" ".join(row.path))
        ]
        if not chosen:
            raise ActionError(
                f"no row of {table.address} has the words {part[:60]!r}; without a part all rows are shown"
            )
    else:
        chosen = body
    return [row for row in table.rows if row.number in head] + chosen


def show_rows(table: Table, rows: Sequence[TableRow]) -> tuple[str, list[int]]:
    """Rows for a language model: a line of what holds for the table, then a line for each row.

    Returns:
        The text, and the numbers of the rows that it shows.
    """
    usual = _usual(rows)
    about = ", ".join(part for part in (table.title, table.caption) if part)
    lines = [f"{table.address} on page {table.page}{': ' + about if about else ''}"]
    if usual:
        lines.append(f"amounts are {_measure(*usual)} where nothing else is said; = gives the digits with their sign")
    shown = rows[:MOST_ROWS]
    lines += [_line(row, usual) for row in shown]
    if rest := rows[MOST_ROWS:]:
        lines.append(f"[{len(rest)} more rows: ask for the part r{rest[0].number}-r{rest[-1].number}]")
    return "\n".join(lines), [row.number for row in shown]


def _line(row: TableRow, usual: tuple[str, Decimal] | None) -> str:
    cells = [f"c{cell.address.rpartition('c')[2]} {_cell(cell, usual)}" for cell in row.cells]
    return " | ".join([f"r{row.number} {' > '.join(row.path) or row.label}".rstrip(), *cells])


def _cell(cell: TableCell, usual: tuple[str, Decimal] | None) -> str:
    period = f" ({cell.period})" if cell.period else ""
    if cell.kind == "amount" and cell.value is not None:
        measure = "" if usual == (cell.unit, cell.scale) else f" {_measure(cell.unit, cell.scale)}"
        return f'"{cell.text}"{period} = {cell.value}{measure}'
    return f'"{cell.text}"{period} {cell.kind}' if cell.kind != "words" else f'"{cell.text}"'


def _measure(unit: str, scale: Decimal) -> str:
    if unit == "percent" or scale == 1:
        return unit or "plain numbers"
    return f"{unit or 'plain numbers'} x {scale:f}"


def _usual(rows: Sequence[TableRow]) -> tuple[str, Decimal] | None:
    """The unit and scale that most amounts have."""
    measures = [(cell.unit, cell.scale) for row in rows for cell in row.cells if cell.kind == "amount"]
    return max(measures, key=measures.count) if measures else None


def _head(table: Table) -> frozenset[int]:
    """The numbers of the rows above the first amount: they say what the columns are."""
    numbers: list[int] = []
    for row in table.rows:
        if any(cell.kind != "words" for cell in row.cells) or (row.label and not row.cells and numbers):
            break
        numbers.append(row.number)
    return frozenset(numbers)


def _plain(words: str) -> str:
    return " ".join(words.casefold().split())
