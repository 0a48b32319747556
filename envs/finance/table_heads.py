"""Which rows are the head of a table, and which words above it are its title."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from workgym.envs.finance.cell_reader import plain_cell
from workgym.envs.finance.html_columns import LogicalRow
from workgym.envs.finance.table_periods import is_period_heading, named
from workgym.envs.finance.table_scales import caption_of

__all__ = ["head_size", "is_new_head", "title_above"]

_LONG: Final = 160  # characters of a title
_NO_TITLE: Final = re.compile(
    r"\(.*\)|page [0-9]+|[0-9]+|"
    r"(?:for the |as of |at )?(?:fiscal )?(?:years?|quarters?|periods?|(?:three|six|nine|twelve) months) ended\b.*|"
    r"table of contents|.*form 10-[kq].*|(?:un)?audited|see (?:accompanying )?notes.*|the accompanying notes.*",
    re.IGNORECASE,
)
# Of percentages, money or fractions: ranges of whole numbers, as "31 - 60", are headings too.
_RANGE: Final = re.compile(
    r"(?=.*[%$€£.])[$€£]?(?:[0-9][0-9,.]*|\.[0-9]+) ?%? ?(?:-|to) ?[$€£]?(?:[0-9][0-9,.]*|\.[0-9]+) ?%?"
)
_CONTINUED: Final = re.compile(r"\s*[-–—,]?\s*\(?\bcont(?:inued|['’.]?d)\b\.?\)?\.?\s*$", re.IGNORECASE)  # noqa: RUF001


def head_size(rows: Sequence[LogicalRow]) -> int:
    """How many rows at the top hold headings of columns.

    They are the rows down to the last one, before amounts begin, that has words, years or dates beside the column of
    the labels. A row with a label alone is one of them where it says a scale or where such a row still follows.
    """
    size = 0
    for number, row in enumerate(rows):
        if row.has_amounts or (number and _has_ranges(row)):
            return size
        beside = [piece for column, piece in row.pieces.items() if column]
        marked = all(piece.head for piece in row.pieces.values())
        only = row.pieces.get(0)
        if beside or marked or (only is not None and caption_of(only.text) and number == size):
            size = number + 1
    marked_rows = sum(all(piece.head for piece in row.pieces.values()) for row in rows)
    return marked_rows or _bold_head(rows)


def _has_ranges(row: LogicalRow) -> bool:
    """Whether ranges of amounts alone stand beside a label: "Discount rate", "4.5% - 6.65%"."""
    beside = [piece for column, piece in row.pieces.items() if column and piece.content.kind != "blank"]
    return bool(row.label and beside) and all(_RANGE.fullmatch(plain_cell(piece.label)) for piece in beside)


def _bold_head(rows: Sequence[LogicalRow]) -> int:
    """The head of a table of words alone: its first row, where that names periods."""
    if len(rows) < 2:
        return 0
    beside = [piece for column, piece in rows[0].pieces.items() if column]
    return int(bool(beside) and all(piece.is_year or is_period_heading(piece.label) for piece in beside))


def is_new_head(row: LogicalRow) -> bool:
    """Whether a row below the head names periods for the rows that follow: only periods stand beside its label."""
    beside = [piece for column, piece in row.pieces.items() if column]
    if not beside or any(piece.is_amount for piece in beside):
        return False
    periods = [piece for piece in beside if piece.is_year or is_period_heading(piece.label)]
    label = row.label
    return len(periods) == len(beside) and (not label or bool(caption_of(label)) or is_ended(label))


def is_ended(label: str) -> bool:
    """Whether a label leads to the periods beside it: "Years ended December 31,"."""
    return bool(re.match(r"(?:for the |as of |at )?(?:fiscal )?(?:years?|quarters?|periods?|months)\b", label.lower()))


def title_above(above: Sequence[str], head: Sequence[LogicalRow]) -> str:
    """The words that name a table.

    Args:
        above: the lines above it, the nearest first.
        head: its rows of headings.
    """
    for row in head:
        only = row.pieces.get(0)
        spans_all = only is not None and len(row.pieces) == 1 and len(row.spans[0]) > 1
        if only is not None and spans_all and _may_be_title(only.label):
            return _CONTINUED.sub("", only.label)
    for line in above[:6]:
        if _NO_TITLE.fullmatch(line) or (caption_of(line) == line) or is_period_heading(line):
            continue
        return _short(line)
    return ""


def _may_be_title(words: str) -> bool:
    return not caption_of(words) and not named(words).years and not _NO_TITLE.fullmatch(words)


def _short(line: str) -> str:
    """A line as a title; of a paragraph its last sentence."""
    words = line
    if len(words) > _LONG:
        words = re.split(r"(?<=[.;]) (?=[A-Z])", words)[-1]
    caption = caption_of(words)
    words = _CONTINUED.sub("", words.replace(caption, "") if caption else words)
    words = " ".join(words.split()).rstrip(":").strip()
    return words if len(words) <= _LONG else words[: _LONG - 1].rsplit(" ", 1)[0] + "…"
