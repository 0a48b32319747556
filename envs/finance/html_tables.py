"""Logical tables from HTML tables: rows below their headings, and cells with value, scale, unit and period.

    table = read_table(grid_rows(element), surroundings)

What a table does not say itself, its scale or its year, is taken from the words above it, and for a table that goes on
after a page break from the part before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from workgym.envs.finance.cell_reader import CellContent
from workgym.envs.finance.column_headings import (
    Column,
    InColumn,
    column_phrases,
    headed_columns,
    in_columns,
    is_reference,
)
from workgym.envs.finance.document import Table, TableCell, TableRow
from workgym.envs.finance.html_columns import LogicalRow, Piece, logical_rows
from workgym.envs.finance.html_grid import GridCell
from workgym.envs.finance.row_paths import join_labels, row_paths
from workgym.envs.finance.table_currencies import currency_of
from workgym.envs.finance.table_heads import head_size, is_new_head, title_above
from workgym.envs.finance.table_periods import is_opening, is_period_heading, latest_year, period_before, row_period
from workgym.envs.finance.table_scales import NO_PHRASE, Phrase, caption_of, measure, read_phrase

__all__ = ["ReadTable", "Surroundings", "read_table"]

_HEADING: Final = 100  # characters: where only such lines stand between two tables, the caption is of both


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What stands around a table.

    Attributes:
        address: of the table, "d1:t12".
        page: that it begins on, from 1.
        above: the lines above it, the nearest first, up to the table before.
        year: the fiscal year that the document reports on; "" where its cover does not tell it.
        currency: of the document.
        phrase: what the document says of the scale of all its tables.
        before: the table before this one.
        european: numbers are written 1.234.567,89.
        negative_side: the side, "CR" or "DR", whose amounts are negative; or "".
    """

    address: str
    page: int
    above: tuple[str, ...] = ()
    year: str = ""
    currency: str = ""
    phrase: Phrase = NO_PHRASE
    before: ReadTable | None = None
    european: bool = False
    negative_side: str = ""


@dataclass(frozen=True, slots=True)
class ReadTable:
    """A table, and what the part after a page break takes over from it: periods of its columns and its phrase."""

    table: Table
    columns: tuple[Column, ...]
    phrase: Phrase


@dataclass(slots=True)
class _Reading:
    """A table that is being read; `year` is said above it or on the cover, `phrases` are those of its columns."""

    around: Surroundings
    rows: list[LogicalRow]
    head: int
    n_columns: int
    phrases: list[Phrase]
    currency: str
    columns: list[Column]
    paths: list[tuple[str, ...]]
    year: str
    inside: dict[int, InColumn]


def read_table(grid: Iterable[list[GridCell]], around: Surroundings) -> ReadTable:
    """Read a table.

    Args:
        grid: its rows of physical cells.
        around: what stands around it.

    Raises:
        TaskError: it has more columns than a table has.
    """
    rows = logical_rows(grid, european=around.european, negative_side=around.negative_side)
    head = head_size(rows)
    join_labels(rows, head)
    n_columns = max((span.stop for row in rows for span in row.spans.values()), default=1)
    caption, phrase = _caption(rows, head, around)
    before = around.before
    goes_on = before is not None and _goes_on(rows, head, n_columns, around)
    if before is not None and goes_on and not caption:
        caption, phrase = before.table.caption, before.phrase
    signs = (piece.content.currency for row in rows[head:] for piece in row.pieces.values())
    currency = currency_of(signs) or (around.currency if phrase.money is not None else "")
    if before is not None and goes_on:
        columns = list(before.columns)
    else:
        columns = headed_columns(rows[:head], n_columns, around.above, around.year)
    year = latest_year(around.above[:2], around.year) or around.year
    inside = in_columns(rows[head:])
    phrases = column_phrases(columns, inside, phrase)
    reading = _Reading(around, rows, head, n_columns, phrases, currency, columns, row_paths(rows, head), year, inside)
    read_rows = _rows(reading)
    title = title_above(around.above, rows[:head])
    if before is not None and goes_on and not title:
        title = before.table.title
    table = Table(
        address=around.address,
        page=around.page,
        title=title,
        caption=caption,
        headings=tuple(column.heading for column in columns[1:]),
        rows=read_rows,
        cells={cell.address: cell for row in read_rows for cell in row.cells},
    )
    return ReadTable(table, tuple(columns), phrase)


def _goes_on(rows: list[LogicalRow], head: int, n_columns: int, around: Surroundings) -> bool:
    """Whether the table is the rest of the one before: without a head of its own, or said to be continued."""
    before = around.before
    if before is None or len(before.columns) != n_columns or n_columns < 2:
        return False
    if len(around.above) > 3 or any(len(line) > _HEADING for line in around.above):
        return False
    return head == 0 and any(row.has_amounts for row in rows) and any(column.period for column in before.columns)


def _caption(rows: list[LogicalRow], head: int, around: Surroundings) -> tuple[str, Phrase]:
    """The words that say the scale: within the head of the table, else above it, else for the whole document."""
    for row in rows[:head]:
        for column, piece in row.pieces.items():
            if column == 0 or len(row.spans[column]) > 1 or len(row.pieces) == 1:
                caption = caption_of(piece.text)
                if caption:
                    return caption, read_phrase(caption)
    for line in around.above:
        caption = caption_of(line)
        if caption:
            return caption, read_phrase(caption)
    before = around.before
    has_money = any(piece.content.currency for row in rows for piece in row.pieces.values())
    if before and has_money and before.table.caption and all(len(line) <= _HEADING for line in around.above):
        return before.table.caption, before.phrase
    return "", around.phrase


def _rows(reading: _Reading) -> tuple[TableRow, ...]:
    rows: list[TableRow] = []
    later = _later_balances(reading)
    for index, row in enumerate(reading.rows):
        if index < reading.head:
            rows.append(_head_row(reading, index, row))
            continue
        if is_new_head(row):
            _renew(reading, row)
            rows.append(_head_row(reading, index, row))
            continue
        path = reading.paths[index]
        cells = tuple(_cells(reading, index, row, path, _periods(reading, row, path, later[index])))
        rows.append(TableRow(index + 1, row.label, path, cells))
    return tuple(rows)


def _head_row(reading: _Reading, index: int, row: LogicalRow) -> TableRow:
    cells = tuple(
        TableCell(_address(reading, index, column), piece.text, "words", row_path=(row.label,) if row.label else ())
        for column, piece in row.pieces.items()
        if column
    )
    return TableRow(index + 1, row.label, (row.label,) if row.label else (), cells)


def _renew(reading: _Reading, row: LogicalRow) -> None:
    """A row of headings amid a table: the periods below it are its own."""
    around = reading.around
    for number, column in enumerate(headed_columns([row], reading.n_columns, around.above, around.year)):
        if number and column.period:
            reading.columns[number].period = column.period


def _later_balances(reading: _Reading) -> list[str]:
    """For each row the year of the next balance below it: movements between two balances are of the later year."""
    later = ["" for _ in reading.rows]
    following = ""
    balances = 0
    for index in range(len(reading.rows) - 1, reading.head - 1, -1):
        row = reading.rows[index]
        year = row_period(row.label) if row.has_amounts else ""
        if year:
            following = year
            balances += 1
        later[index] = following
    return later if balances > 1 else ["" for _ in later]


def _periods(reading: _Reading, row: LogicalRow, path: tuple[str, ...], later: str) -> list[str]:
    """Of the cells of a row, by column: its column's period, else its row's, else what is said above the table."""
    own = row_period(row.label)
    period = own or _period_above(path) or later
    if not period or (reading.around.year and period > reading.around.year):
        period = reading.year
    is_before = is_opening(row.label)
    periods: list[str] = []
    for column in reading.columns:
        when = column.period if column.period or column.timeless else period
        if column.opening or (is_before and (column.period or not own)):
            when = period_before(when)
        periods.append(when)
    return periods


def _period_above(path: tuple[str, ...]) -> str:
    return next((row_period(heading) for heading in reversed(path[:-1]) if is_period_heading(heading)), "")


def _cells(
    reading: _Reading, index: int, row: LogicalRow, path: tuple[str, ...], periods: Sequence[str]
) -> Iterable[TableCell]:
    filled = any(number for number in row.pieces)
    for number in range(1, reading.n_columns):
        piece = row.pieces.get(number)
        address = _address(reading, index, number)
        if piece is not None:
            yield _cell(reading, address, piece, number, row, path, periods[number])
        elif filled and reading.columns[number].headed:
            yield TableCell(address, "", "blank", row_path=path, period=periods[number])


def _cell(
    reading: _Reading, address: str, piece: Piece, number: int, row: LogicalRow, path: tuple[str, ...], when: str
) -> TableCell:
    column = reading.columns[number]
    content = _with_unit(piece.content, number, row, reading)
    if content.kind != "amount" or piece.is_year or column.reference:
        kind = "words" if content.kind == "amount" or is_reference(piece, column) else content.kind
        return TableCell(address, piece.text, kind, row_path=path, period=when)
    phrase = reading.phrases[number]
    scale, unit = measure(content, row.label, path[:-1], column.heading, phrase, reading.currency)
    return TableCell(address, piece.text, "amount", content.value, Decimal(scale), unit, content.decimals, path, when)


def _with_unit(content: CellContent, number: int, row: LogicalRow, reading: _Reading) -> CellContent:
    """A dash has the unit that all other amounts of its row have, or of its column."""
    if content.value != 0 or content.unit or content.currency:
        return content
    in_row = {piece.content.unit for place, piece in row.pieces.items() if place and piece.content.value}
    inside = reading.inside.get(number)
    for units in (in_row, inside.units if inside else ()):
        if len(units) == 1:
            return replace(content, unit=next(iter(units)))
    return content


def _address(reading: _Reading, index: int, column: int) -> str:
    return f"{reading.around.address}!r{index + 1}c{column + 1}"
