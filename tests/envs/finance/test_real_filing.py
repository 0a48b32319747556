"""The reader against a real filing: what it takes from the display is held against the tags of inline XBRL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from workgym.envs.finance.document import Document, TableCell
from workgym.envs.finance.html_document import read_html

lxml_html = pytest.importorskip("lxml.html")

FILING = "aapl-10-k-2024-11-01.html"


@dataclass(frozen=True)
class Fact:
    """A tagged number: where it is displayed, what its tag says, and whether it stands alone in its cell."""

    table: int
    row: int
    cell_text: str
    display: str
    value: Decimal
    shown_negative: bool
    year: str
    alone: bool


def seen(element: Any) -> str:
    return "".join(element.itertext()).replace("\xa0", " ")


def squeezed(text: str) -> str:
    return "".join(text.split())


def facts_of(data: bytes) -> Iterator[Fact]:
    """The facts in tables, from the tags alone; nothing of the reader is used."""
    root = lxml_html.document_fromstring(data, parser=lxml_html.HTMLParser(encoding="utf-8"))
    years = {}
    for context in root.iter("xbrli:context"):
        ends = [found for found in context.iter() if found.tag in ("xbrli:enddate", "xbrli:instant")]
        years[context.get("id")] = ends[0].text.strip()[:4]
    for number, table in enumerate(root.iter("table"), 1):
        rows = [row for row in table.iter("tr") if seen(row).strip()]
        for row_number, row in enumerate(rows, 1):
            for tag in row.iter("ix:nonfraction"):
                if (tag.get("xsi:nil") or "") != "true":
                    yield fact(tag, number, row_number, years)


def fact(tag: Any, table: int, row: int, years: dict[str, str]) -> Fact:
    cell = next(tag.iterancestors("td", "th"))
    display = seen(tag).strip()
    shape = (tag.get("format") or "").split(":")[-1]
    zero = shape in ("fixed-zero", "fixedzero", "zerodash")
    digits = Decimal(0) if zero else Decimal(display.replace(",", "").replace("none", "0"))
    before = seen(cell).partition(display)[0].rstrip(" $")
    return Fact(
        table,
        row,
        seen(cell).strip(),
        display,
        digits * Decimal(10) ** int(tag.get("scale") or "0"),
        before.endswith(("(", "-", "−")),  # noqa: RUF001
        years[tag.get("contextref")],
        seen(cell).strip().strip("$()% ") == display,
    )


def placed(document: Document, facts: list[Fact]) -> Iterator[tuple[Fact, TableCell | None]]:
    """Each fact with the cell that the reader gives for its place: the next in its row that shows the same text."""
    taken: set[str] = set()
    for one in facts:
        cells = document.tables[f"d1:t{one.table}"].rows[one.row - 1].cells
        wanted = squeezed(one.cell_text)
        found = [cell for cell in cells if cell.address not in taken and wanted in squeezed(cell.text)]
        found.sort(key=lambda cell: squeezed(cell.text).strip("$)%(") != wanted.strip("$)%("))
        cell = found[0] if found else None
        if cell is not None:
            taken.add(cell.address)
        yield one, cell


def is_right(one: Fact, cell: TableCell | None) -> bool:
    if cell is None or cell.value is None:
        return False
    return abs(cell.value) * cell.scale == one.value and (cell.value < 0) == (one.shown_negative and one.value != 0)


@pytest.fixture(scope="module")
def filing(test_data: Callable[[str], Path]) -> bytes:
    return (test_data("filings") / FILING).read_bytes()


@pytest.fixture(scope="module")
def document(filing: bytes) -> Document:
    return read_html(filing)


@pytest.fixture(scope="module")
def facts(filing: bytes) -> list[Fact]:
    return list(facts_of(filing))


@pytest.fixture(scope="module")
def pairs(document: Document, facts: list[Fact]) -> list[tuple[Fact, TableCell | None]]:
    return list(placed(document, [one for one in facts if one.alone]))


def test_value_scale_and_shown_sign_agree_with_99_percent_of_the_tags(
    pairs: list[tuple[Fact, TableCell | None]],
) -> None:
    wrong = [(one, cell) for one, cell in pairs if not is_right(one, cell)]
    assert len(pairs) > 850
    assert len(wrong) <= 0.01 * len(pairs), wrong


def test_periods_agree_with_all_contexts(pairs: list[tuple[Fact, TableCell | None]]) -> None:
    """Balances at the beginning of a year are those at the end of the year before, as their contexts have it."""
    wrong = [(one, cell) for one, cell in pairs if cell is None or cell.period[:4] != one.year]
    assert wrong == []


def test_numbers_amid_words_are_no_amounts(document: Document, facts: list[Fact]) -> None:
    """As in `0.03% - 6.65%`, and in a label that tells the par value: 14 of the 866 facts."""
    amid = [one for one in facts if not one.alone]
    cells = [cell for _, cell in placed(document, amid) if cell is not None]
    assert len(amid) == 14
    assert {cell.kind for cell in cells} == {"words"}


def test_nothing_of_the_tags_is_in_what_is_read(document: Document) -> None:
    lines = [line for page in document.pages for line in page.lines]
    assert len(document.pages) == 59
    assert len(document.tables) == 63
    assert not [line for line in lines if "us-gaap:" in line or "xbrli" in line or "contextRef" in line]
    assert "CONSOLIDATED STATEMENTS OF OPERATIONS" in lines
