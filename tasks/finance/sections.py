"""The sections of a filing in their order, as blocks that are not on pages yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from workgym.tasks.finance.blocks import Block, Grid, PageBreak, TablePlace, Text
from workgym.tasks.finance.layouts import TITLES
from workgym.tasks.finance.prose import Prose
from workgym.tasks.finance.prose_business import BUSINESS, DISCUSSION, LIQUIDITY, PROPERTIES, RISKS
from workgym.tasks.finance.prose_notes import (
    CLOSING_NOTES,
    CONTROLS,
    NO_PROFIT_BY_SEGMENT,
    NO_QUARTERS_BY_SEGMENT,
    NOTES,
    POLICIES,
)
from workgym.tasks.finance.statements import lay_out
from workgym.tasks.finance.structure import Structure

__all__ = ["write_filing"]

_STATEMENTS: Final = ("income", "balance", "cash")
_CONTENTS: Final = (
    "Item 1. Business",
    "Item 1A. Risk Factors",
    "Item 2. Properties and Legal Proceedings",
    "Item 7. Management's Discussion and Analysis",
    "Item 8. Financial Statements",
    "Notes to Consolidated Financial Statements",
    "Item 9A. Controls and Procedures",
    "Signatures",
)


def write_filing(structure: Structure, level: int, *, captions_apart: bool) -> list[Block]:
    """Write all blocks of a filing in their order.

    Args:
        structure: the company, with the tables that are shown.
        level: 1 for a short filing of few words, 2 for one as companies file it.
        captions_apart: the scale of a table is said in a line above it.
    """
    prose = Prose(structure, level)
    captions = {table.key: table.caption for table in lay_out(structure) if captions_apart and table.caption}
    return list(_short(structure, prose, captions) if level == 1 else _long(structure, prose, captions))


def _short(structure: Structure, prose: Prose, captions: dict[str, str]) -> Iterator[Block]:
    yield from _cover(structure, prose)
    yield PageBreak()
    yield Text("item", "Item 1. Business")
    yield from _paragraphs(prose, BUSINESS, 2)
    yield PageBreak()
    yield Text("item", "Item 7. Management's Discussion and Analysis")
    yield from _paragraphs(prose, DISCUSSION, 2)
    for key in structure.tables:
        yield PageBreak()
        yield from _statement(structure, key, captions)
    yield PageBreak()
    yield from _signatures(structure)


def _long(structure: Structure, prose: Prose, captions: dict[str, str]) -> Iterator[Block]:
    yield from _cover(structure, prose)
    yield Grid(
        (
            ("Title of each class", "Name of each exchange on which registered"),
            ("Common stock, par value one cent per share", "New York Stock Exchange"),
        )
    )
    yield PageBreak()
    yield Text("heading", "Table of Contents")
    yield Grid(tuple((item, "") for item in _CONTENTS), of_contents=True)
    items: Sequence[tuple[str, Sequence[str]]] = (
        (_CONTENTS[0], BUSINESS),
        (_CONTENTS[1], RISKS),
        (_CONTENTS[2], PROPERTIES),
        (_CONTENTS[3], DISCUSSION),
    )
    for item, pool in items:
        yield PageBreak()
        yield Text("item", item)
        yield from _paragraphs(prose, pool)
    yield Text("heading", "Liquidity and Capital Resources")
    yield from _paragraphs(prose, LIQUIDITY)
    yield PageBreak()
    yield Text("item", _CONTENTS[4])
    for key in (key for key in structure.tables if key in _STATEMENTS):
        yield from _statement(structure, key, captions)
        yield Text("under", "See accompanying notes to consolidated financial statements.")
        yield PageBreak()
    yield Text("item", _CONTENTS[5])
    yield from _notes(structure, prose, captions)
    yield PageBreak()
    yield Text("item", _CONTENTS[6])
    yield from _paragraphs(prose, CONTROLS)
    yield PageBreak()
    yield from _signatures(structure)


def _cover(structure: Structure, prose: Prose) -> Iterator[Block]:
    yield Text("center", "United States Securities and Exchange Commission")
    yield Text("center", "Form 10-K")
    yield Text("center", "Annual report under Section 13 or 15(d) of the Securities Exchange Act of 1934")
    yield Text("center", f"For the fiscal year ended {structure.year_end}, {structure.years[-1]}")
    yield Text("company", structure.company)
    yield Text("center", "(Exact name of registrant as specified in its charter)")
    yield Text("center", prose.sentence("One {street} Street"))
    yield Text("center", "(Address of principal executive offices)")
    yield Text(
        "paragraph",
        "Numbers of shares that were outstanding are given in the consolidated financial statements. The registrant "
        "has filed all reports that it was required to file during the preceding twelve months.",
    )


def _statement(structure: Structure, key: str, captions: dict[str, str]) -> Iterator[Block]:
    if key in _STATEMENTS:
        yield Text("company", structure.company)
    yield Text("title", TITLES[key])
    if key in captions:
        yield Text("caption", captions[key])
    yield TablePlace(key)


def _notes(structure: Structure, prose: Prose, captions: dict[str, str]) -> Iterator[Block]:
    yield Text("heading", "Note 1. Summary of Significant Accounting Policies")
    yield from _paragraphs(prose, POLICIES)
    notes = [key for key in structure.tables if key not in _STATEMENTS]
    for number, key in enumerate(notes, 2):
        yield Text("heading", f"Note {number}. {TITLES[key]}")
        yield from _paragraphs(prose, NOTES[key][:-1])
        yield from _statement(structure, key, captions)
        yield Text("paragraph", prose.sentence(NOTES[key][-1]))
        if key == "segments":
            yield Text("paragraph", f"{NO_PROFIT_BY_SEGMENT} {NO_QUARTERS_BY_SEGMENT}")
        if key == "quarters":
            yield Text("paragraph", NO_QUARTERS_BY_SEGMENT)
    for number, (title, pool) in enumerate(CLOSING_NOTES.items(), 2 + len(notes)):
        yield Text("heading", f"Note {number}. {title}")
        yield from _paragraphs(prose, pool)


def _signatures(structure: Structure) -> Iterator[Block]:
    yield Text("item", "Signatures")
    yield Text(
        "paragraph",
        "Pursuant to the requirements of Section 13 or 15(d) of the Securities Exchange Act of 1934, the registrant "
        "has duly caused this report to be signed on its behalf by the undersigned, who is duly authorized.",
    )
    yield Text("paragraph", structure.company)
    yield Text("paragraph", "By: Chief Financial Officer (Principal Financial and Accounting Officer)")


def _paragraphs(prose: Prose, pool: Sequence[str], most: int = 1_000) -> Iterator[Block]:
    for words in prose.paragraphs(pool, most):
        yield Text("paragraph", words)
