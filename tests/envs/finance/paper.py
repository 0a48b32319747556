"""Documents for the tests, made by hand: no reader and no renderer has a part in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from workgym.envs.finance.document import Document, Page, Table, TableCell, TableRow

__all__ = ["INCOME", "OTHER", "REPORT", "TABLES", "document_of", "table_of"]


def document_of(*pages: Sequence[str], name: str = "d1", tables: Sequence[Table] = ()) -> Document:
    """A document with these lines on its pages; a line "[d1:t1: ...]" is where that table stands."""
    by_address = {table.address: table for table in tables}
    return Document(
        name,
        "A document",
        tuple(
            Page(number, tuple(lines), tuple(one.address for one in tables if one.page == number))
            for number, lines in enumerate(pages, 1)
        ),
        by_address,
    )


def table_of(
    headings: Sequence[str], rows: Mapping[str, Sequence[str]], *, address: str = "d1:t1", page: int = 1
) -> Table:
    """A table in millions of USD: its first row is the head; a text that is no number is words, "" is blank."""
    head = tuple(TableCell(f"{address}!r1c{c}", text, "words") for c, text in enumerate(headings, 2))
    made = [TableRow(1, "", (), head)]
    for number, (label, texts) in enumerate(rows.items(), 2):
        cells = tuple(
            _cell(f"{address}!r{number}c{c}", text, label, headings[c - 2]) for c, text in enumerate(texts, 2)
        )
        made.append(TableRow(number, label, (label,), cells))
    return Table(
        address,
        page,
        "A table",
        "(In millions)",
        tuple(headings),
        tuple(made),
        {cell.address: cell for row in made for cell in row.cells},
    )


def _cell(address: str, text: str, label: str, period: str) -> TableCell:
    if not text:
        return TableCell(address, text, "blank", row_path=(label,), period=period)
    digits = text.strip("$()%").replace(",", "")
    if not digits.replace(".", "").isdecimal():
        return TableCell(address, text, "words", row_path=(label,), period=period)
    value = Decimal(digits) * (-1 if "(" in text else 1)
    decimals = len(digits.partition(".")[2])
    return TableCell(address, text, "amount", value, Decimal(1_000_000), "USD", decimals, (label,), period)


INCOME = table_of(
    ("2024", "2023", "2023"),
    {"Net sales": ("$1,234", "1,100", "1"), "Loss": ("(5.6)", "", "2"), "Loss of others": ("7", "8", "9")},
)
NOTES = table_of(("Policy",), {"Leases": ("see note 3",), "Debt": ("see note 4",)}, address="d1:t2")
TABLES = {"d1:t1": INCOME, "d1:t2": NOTES}
REPORT = document_of(("Annual report", "[d1:t1: A table, 4 rows, 3 columns]"), ("Second page",), tables=[INCOME, NOTES])
OTHER = document_of(("Another report",))
