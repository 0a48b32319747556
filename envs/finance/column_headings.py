"""What the columns of a table are: their headings, and which period, currency and scale these name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from workgym.envs.finance.cell_reader import plain_cell
from workgym.envs.finance.html_columns import LogicalRow, Piece
from workgym.envs.finance.table_currencies import currency_in_heading, currency_meant
from workgym.envs.finance.table_periods import column_period, is_opening, latest_year, named
from workgym.envs.finance.table_scales import Phrase, caption_of, heading_scale

__all__ = ["Column", "InColumn", "column_phrases", "headed_columns", "in_columns", "is_reference"]

_REFERENCE: Final = re.compile(
    r"notes?(?: no\.?| nos\.?| reference)?|note\(s\)|page(?: no\.?| number)?s?|ref\.?|exhibit(?: no\.?| number)?|item"
)
_NOTES: Final = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,2})?[a-z]?(?: ?[,;&/-] ?[0-9]{1,3}(?:\.[0-9]{1,2})?[a-z]?)*")


@dataclass(slots=True)
class Column:
    """A logical column: its heading, from the top, and its period.

    `timeless`: it is one of changes; `opening`: of balances at the beginning of the year of each row; `reference`: its
    numbers are those of notes or pages.
    """

    heading: str = ""
    period: str = ""
    timeless: bool = False
    headed: bool = False
    opening: bool = False
    reference: bool = False


@dataclass(slots=True)
class InColumn:
    """What stands in a column: the first sign of a currency, and the units behind its amounts; dashes left out."""

    sign: str
    units: set[str]


def headed_columns(head: Sequence[LogicalRow], n_columns: int, above: Sequence[str], year: str) -> list[Column]:
    """The headings of the columns and the periods that they name.

    Args:
        head: the rows of the head.
        n_columns: of the table, that of the labels among them.
        above: the lines above the table, the nearest first.
        year: the fiscal year that the document reports on; "" where its cover does not tell it.
    """
    columns = [Column() for _ in range(n_columns)]
    stacks: list[list[str]] = [[] for _ in columns]
    for row in head:
        for place, piece in row.pieces.items():
            if place == 0 and len(row.spans[place]) <= 1:
                continue
            for number in row.spans[place]:
                if number < n_columns and not _is_caption(piece.label):
                    stacks[number].append(piece.label)
    spread = _spread(head)
    quarter_year = _year_of_quarters(head, above, year)
    for number, (column, stack) in enumerate(zip(columns, stacks, strict=True)):
        column.heading = " ".join(stack)
        if number:
            column.period, column.timeless = column_period([*stack[::-1], *spread], quarter_year)
            column.headed = bool(stack)
            column.opening = is_opening(column.heading)
            column.reference = bool(_REFERENCE.fullmatch(column.heading.lower()))
            if column.period and year and column.period[:4] > year:
                column.period = ""
    return columns


def _is_caption(words: str) -> bool:
    """Whether words say a scale and nothing else."""
    return words.startswith("(") and caption_of(words) == words


def _spread(head: Sequence[LogicalRow]) -> list[str]:
    """Headings that stand for all columns: in the column of the labels, or over the whole table; the lowest first."""
    words = [row.label for row in head if row.label and (len(row.pieces) == 1 or len(named(row.label).years) == 1)]
    return [label for label in words[::-1] if len(named(label).years) == 1]


def _year_of_quarters(head: Sequence[LogicalRow], above: Sequence[str], year: str) -> str:
    """The year of headings such as "First": in the head of the table, or the nearest above it, or the document's."""
    for label in [row.label for row in head if row.label][::-1]:
        years = named(label).years
        if years:
            return years[-1]
    return latest_year(above, "") or year


def is_reference(piece: Piece, column: Column) -> bool:
    """Whether what looks like broken digits names notes: "8, 36" in a column of notes."""
    return column.reference and bool(_NOTES.fullmatch(plain_cell(piece.label).lower()))


def in_columns(rows: Iterable[LogicalRow]) -> dict[int, InColumn]:
    """What stands in each column that has an amount."""
    found: dict[int, InColumn] = {}
    for row in rows:
        for number, piece in row.pieces.items():
            content = piece.content
            if content.value is None:
                continue
            here = found.get(number)
            if here is None:
                here = found[number] = InColumn("", set())
            here.sign = here.sign or content.currency
            if content.value:
                here.units.add(content.unit)
    return found


def column_phrases(columns: Sequence[Column], inside: dict[int, InColumn], phrase: Phrase) -> list[Phrase]:
    """For each column what the caption of the table says, with the currency and scale that its heading names instead.

    A sign in the column that means no such currency tells that the heading is about something else.
    """
    return [_column_phrase(column.heading, inside.get(number), phrase) for number, column in enumerate(columns)]


def _column_phrase(heading: str, inside: InColumn | None, phrase: Phrase) -> Phrase:
    told = currency_in_heading(heading) if heading else ""
    sign = inside.sign if inside else ""
    currency = currency_meant(sign, told or phrase.currency)
    if told and sign and currency != told:
        currency = currency_meant(sign, phrase.currency)
        told = ""
    scale = heading_scale(heading) if told else None
    if currency == phrase.currency and scale is None:
        return phrase
    return replace(phrase, currency=currency, money=scale or phrase.money)
