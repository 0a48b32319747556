"""A document as an agent reads it: pages of lines, and tables of cells with addresses.

Readers make it from a file (`html_document` from HTML); nothing in it knows what was asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

__all__ = ["CellKind", "Document", "Page", "Table", "TableCell", "TableRow"]

CellKind = Literal["amount", "blank", "words", "unreadable"]


@dataclass(frozen=True, slots=True)
class TableCell:
    """A logical cell: `$`, `)` and `%` that stand in cells of their own are folded into the digits they belong to.

    Attributes:
        address: "d1:t12!r5c3": document, table, logical row and column, from 1. c1 is the column of the labels.
        text: as it stands: "$(1,234)", "21.4%", "—".
        kind: "amount" (a dash is the amount 0), "blank" (nothing, or "N/A": not reported), "words" or "unreadable".
        value: of an amount, its digits with the sign that is shown: -1234; else None.
        scale: what one unit of the digits stands for: 1000000 in a table in millions, 0.01 for a percentage.
        unit: "USD", "USD/share", "shares", "percent", or "" where nothing tells it.
        decimals: how many digits stand behind the point.
        row_path: the headings above its row and the label of the row: ("Current assets:", "Inventories").
        period: the fiscal year of its column, "2024", or a quarter of it, "2024Q3"; of a balance at the beginning of a
            year the year before, at whose end it stood; "" where nothing tells it.
    """

    address: str
    text: str
    kind: CellKind
    value: Decimal | None = None
    scale: Decimal = Decimal(1)
    unit: str = ""
    decimals: int = 0
    row_path: tuple[str, ...] = ()
    period: str = ""


@dataclass(frozen=True, slots=True)
class TableRow:
    """A logical row.

    Attributes:
        number: from 1.
        label: the words of its first column.
        path: the headings that it stands below, and the label.
        cells: those of the other columns that hold something, or are blank below a heading of their own; by column.
    """

    number: int
    label: str
    path: tuple[str, ...]
    cells: tuple[TableCell, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Attributes:
        address: "d1:t12".
        page: the page that it begins on, from 1.
        title: the words that name it, from above it: "Consolidated Balance Sheets"; "" where there are none.
        caption: the words that say its scale: "(In millions)"; "" where there are none.
        headings: of the logical columns from c2 on, the rows of the head joined.
        rows: logical rows in order; those of the head first, with cells of words.
        cells: address -> cell.
    """

    address: str
    page: int
    title: str
    caption: str
    headings: tuple[str, ...]
    rows: tuple[TableRow, ...]
    cells: Mapping[str, TableCell]


@dataclass(frozen=True, slots=True)
class Page:
    """A page.

    Attributes:
        number: from 1.
        lines: its text, a paragraph a line; where a table stands, one line that gives its address and title:
            "[d1:t3: Consolidated Balance Sheets, 30 rows, 2 columns]".
        tables: the addresses of the tables that begin on it.
    """

    number: int
    lines: tuple[str, ...]
    tables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A document.

    Attributes:
        name: "d1".
        title: from the file's head; "" where there is none.
        pages: in order.
        tables: address -> table, in order.
    """

    name: str
    title: str
    pages: tuple[Page, ...]
    tables: Mapping[str, Table]
