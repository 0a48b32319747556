"""From physical cells to logical ones: `$`, `)`, `%` and spacers are folded away, and columns found.

HTML filings give a number up to five physical columns. What belongs together is joined within each row; the columns are
then where pieces of several rows stand above one another.
"""

from __future__ import annotations

import bisect
import operator
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from workgym.envs.finance.cell_reader import CellContent, plain_cell, read_cell
from workgym.envs.finance.html_grid import MARK, GridCell
from workgym.envs.finance.marks import CURRENCY_SIGNS
from workgym.tasks.errors import TaskError

__all__ = ["LogicalRow", "Piece", "logical_rows"]

_start: Final = operator.itemgetter(0)
_end: Final = operator.itemgetter(1)
_MAX_COLUMNS: Final = 400
_LONGEST_LABEL: Final = 400  # characters of a label that may have a footnote mark at its end
_CURRENCY: Final = "|".join(re.escape(sign) for sign in sorted(CURRENCY_SIGNS, key=len, reverse=True))
_BEFORE: Final = re.compile(rf"[(-]? ?(?:{_CURRENCY})? ?[(]?|-? ?(?:{_CURRENCY})", re.IGNORECASE)
_BEHIND: Final = re.compile(r"\) ?%?|% ?\)?|\]|pts?|bps|x|×|\([a-z]\)", re.IGNORECASE)  # noqa: RUF001
_YEAR: Final = re.compile(r"(?:19|20)[0-9]{2}")
_MARKED: Final = re.compile(f"{MARK}([^{MARK}]*){MARK}")
_TRAILING_MARKS: Final = re.compile(r"(?: ?,? ?(?:\([0-9]{1,2}\)|\([a-z]\)|\[[0-9a-z]{1,2}\]|[*†‡§¹²³⁴⁵⁶⁷⁸⁹]))+$")

_ENDS_OF_MARKS: Final = frozenset(")]*†‡§¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(slots=True)
class Piece:
    """A logical cell, not yet placed.

    Attributes:
        start: its first physical column.
        end: the column after its last one.
        text: as it stands, the cells next door that belong to it joined on.
        content: what it says.
        head: it stands in a cell that is marked as a heading.
        indent: how far it is set in, in points.
        label: its words without raised marks and marks at its end.
    """

    start: int
    end: int
    text: str
    content: CellContent
    head: bool
    indent: float
    label: str

    @property
    def is_year(self) -> bool:
        """Four digits that may well be a year."""
        return self.content.bare and bool(_YEAR.fullmatch(self.label))

    @property
    def is_amount(self) -> bool:
        """An amount that is not a year."""
        return self.content.kind == "amount" and not self.is_year


@dataclass(slots=True)
class LogicalRow:
    """A row whose pieces have their logical columns, from 0 for the labels; `spans` are all that a piece lies over.

    `unfinished`: its label goes on in the row below.
    """

    pieces: dict[int, Piece]
    spans: dict[int, range]
    unfinished: bool = False

    @property
    def label(self) -> str:
        """The words in the column of the labels."""
        return self.pieces[0].label if 0 in self.pieces else ""

    @property
    def has_amounts(self) -> bool:
        """Whether an amount stands in it, or what should be one, the column of the labels left out."""
        pieces = (piece for column, piece in self.pieces.items() if column)
        return any(piece.is_amount or piece.content.kind == "unreadable" for piece in pieces)


def logical_rows(grid: Iterable[list[GridCell]], *, european: bool, negative_side: str) -> list[LogicalRow]:
    """Fold the rows of a grid and place their pieces in logical columns.

    Args:
        grid: rows of physical cells.
        european: numbers are written 1.234.567,89.
        negative_side: the side, "CR" or "DR", whose amounts are negative; or "".

    Raises:
        TaskError: it has more columns than a table has.
    """
    rows = [_folded(cells, european, negative_side) for cells in grid]
    columns = _columns(rows)
    return [_placed(row, columns) for row in rows]


def _folded(cells: list[GridCell], european: bool, negative_side: str) -> list[Piece]:
    pieces: list[Piece] = []
    before: GridCell | None = None
    for cell in cells:
        text = plain_cell(cell.text)
        if before is not None:
            joined = _join(before, cell, european, negative_side)
            before = None
            if joined is not None:
                pieces[-1] = joined
                continue
        if pieces and _belongs_behind(pieces[-1], text, cell):
            behind = _joined_text(pieces[-1].text, cell.text)
            pieces[-1] = _piece(cell, pieces[-1].start, behind, european, negative_side, pieces[-1].indent)
            continue
        pieces.append(_piece(cell, cell.start, cell.text, european, negative_side, cell.indent))
        if text and text != "-" and (cell.start or not text.isalpha()) and _BEFORE.fullmatch(text) and not cell.inner:
            before = cell
    return pieces


def _join(before: GridCell, cell: GridCell, european: bool, negative_side: str) -> Piece | None:
    """A `$` or `(` and the amount behind it; None where what comes is no amount."""
    joined = _piece(cell, before.start, before.text.strip() + cell.text.strip(), european, negative_side, before.indent)
    return joined if joined.content.kind == "amount" else None


def _belongs_behind(piece: Piece, text: str, cell: GridCell) -> bool:
    """Whether a cell holds only the end of the piece before it."""
    if MARK in cell.text and _is_mark(cell.text):
        return True
    if not text or not _BEHIND.fullmatch(text) or piece.content.kind != "amount":
        return False
    if text[0] == "(" or text[0].isalpha() or text[0] == "×":  # noqa: RUF001
        return cell.start - piece.end <= 1
    return not piece.is_year and (text[0] != ")" or "(" in piece.text) and cell.start - piece.end <= 2


def _is_mark(text: str) -> bool:
    stripped = text.strip()
    return stripped.startswith(MARK) and not _MARKED.sub("", stripped).strip()


def _joined_text(text: str, behind: str) -> str:
    return text.rstrip() + behind.strip()


def _piece(cell: GridCell, start: int, raw: str, european: bool, negative_side: str, indent: float) -> Piece:
    text = label = " ".join(raw.split())
    if MARK in raw:
        text = " ".join(_MARKED.sub(_shown_mark, raw).split())
        label = " ".join(_MARKED.sub("", raw).split())
    if cell.inner:
        content = CellContent("unreadable")
    else:
        content = read_cell(text if label else "", european=european, negative_side=negative_side)
    if label and label[-1] in _ENDS_OF_MARKS and len(label) <= _LONGEST_LABEL:
        label = _TRAILING_MARKS.sub("", label) or label
    return Piece(start, cell.end, text, content, cell.head, indent, label)


def _shown_mark(found: re.Match[str]) -> str:
    mark = found[1]
    return f"({mark})" if mark.isalnum() else mark


def _columns(rows: list[list[Piece]]) -> list[tuple[int, int]]:
    """The physical extents of the logical columns; the first is that of the labels."""
    bodies = [any(piece.is_amount for piece in row) for row in rows]
    columns: list[list[int]] = []
    _grow(columns, (piece for row in rows for piece in row[1:] if piece.is_amount))
    _grow(columns, (piece for row, body in zip(rows, bodies, strict=True) if body for piece in row))
    _grow(columns, (piece for row in rows for piece in row))
    columns = _without_strays(columns, rows)
    columns = _with_labels(columns, rows)
    return [(start, end) for start, end in columns]


def _grow(columns: list[list[int]], pieces: Iterable[Piece]) -> None:
    """Add what no column lies over, and widen a column by what lies over it alone; narrow pieces first."""
    extents = sorted({(piece.end - piece.start, piece.start, piece.end) for piece in pieces})
    for _, start, end in extents:
        first, last = _under(columns, start, end)
        if first == last:
            columns.insert(first, [start, end])
        elif last - first == 1:
            low, high = min(start, columns[first][0]), max(end, columns[first][1])
            if _under(columns, low, high) == (first, last):
                columns[first] = [low, high]
    if len(columns) > _MAX_COLUMNS:
        raise TaskError(f"a table has {len(columns)} columns; at most {_MAX_COLUMNS} are read")


def _under(columns: Sequence[Sequence[int]], start: int, end: int) -> tuple[int, int]:
    """The columns that an extent lies over: the first one, and the one after the last; columns are in order."""
    first = bisect.bisect_right(columns, start, key=_end)
    last = bisect.bisect_left(columns, end, first, key=_start)
    return first, last


def _without_strays(columns: list[list[int]], rows: list[list[Piece]]) -> list[list[int]]:
    """Join a column of headings alone with its neighbor without a heading, over which it should stand."""
    bodies = [number for number, row in enumerate(rows) if any(piece.is_amount for piece in row)]
    kept: list[tuple[list[int], set[int]]] = []
    for column, used in zip(columns, _users(columns, rows), strict=True):
        if len(kept) > 1 and bodies and _complete(kept[-1][1], used, bodies[0]):
            before, users = kept.pop()
            kept.append(([before[0], column[1]], users | used))
        else:
            kept.append((column, used))
    return [column for column, _ in kept]


def _users(columns: Sequence[Sequence[int]], rows: list[list[Piece]]) -> list[set[int]]:
    """For each column the rows with a piece in it that does not reach out of it."""
    users: list[set[int]] = [set() for _ in columns]
    for number, row in enumerate(rows):
        for piece in row:
            first, last = _under(columns, piece.start, piece.end)
            if last - first == 1 and columns[first][0] <= piece.start and piece.end <= columns[first][1]:
                users[first].add(number)
    return users


def _complete(first: set[int], second: set[int], body: int) -> bool:
    """Whether one of two columns has headings alone, above the row where amounts begin, and the other none of them."""
    if not first or not second:
        return False
    heads, others = (first, second) if max(first) < body else (second, first)
    return max(heads) < body <= min(others)


def _with_labels(columns: list[list[int]], rows: list[list[Piece]]) -> list[list[int]]:
    """Join the columns of labels that never stand in one row; add one where amounts begin a table without labels."""
    joined = 1
    while joined < len(columns) - 1 and _are_labels(columns[: joined + 1], rows):
        joined += 1
    if joined > 1:
        return [[columns[0][0], columns[joined - 1][1]], *columns[joined:]]
    if columns and columns[0][0] > 0:
        inside = [piece for row in rows for piece in row if piece.end <= columns[0][1]]
        if all(piece.content.kind == "amount" for piece in inside) and any(piece.is_amount for piece in inside):
            return [[0, columns[0][0]], *columns]
    return columns


def _are_labels(columns: Sequence[Sequence[int]], rows: list[list[Piece]]) -> bool:
    """Whether only words stand in these first columns, and in no row more than one."""
    for row in rows:
        inside = [piece for piece in row[: len(columns) + 1] if piece.end <= columns[-1][1]]
        if len(inside) > 1 or any(piece.content.kind != "words" for piece in inside):
            return False
    return True


def _placed(row: list[Piece], columns: list[tuple[int, int]]) -> LogicalRow:
    pieces: dict[int, Piece] = {}
    spans: dict[int, range] = {}
    for piece in row:
        first, last = _under(columns, piece.start, piece.end)
        over = range(first, max(last, first + 1)) if columns else range(1)
        column = over[-1] if piece.is_amount else over[0]
        column = next((number for number in (column, *over) if number not in pieces), column)
        if column in pieces:
            pieces[column].text += " " + piece.text
            pieces[column].label += " " + piece.label
            pieces[column].content = CellContent("words")
            continue
        pieces[column] = piece
        spans[column] = over
    return LogicalRow(dict(sorted(pieces.items())), spans)
