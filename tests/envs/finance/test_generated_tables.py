"""What is planned is what is read: every line and every cell of generated filings, after HTML and its reader."""

from __future__ import annotations

from fractions import Fraction

import pytest

from workgym.envs.finance.html_document import read_html
from workgym.tasks.finance.blocks import Text
from workgym.tasks.finance.filing import plan_filing
from workgym.tasks.finance.ledger import draw_ledger
from workgym.tasks.finance.render.html import render_html
from workgym.tasks.finance.structure import draw_structure

UNITS = {"currency": "USD", "currency/share": "USD/share", "count": ""}


def _filing(seed, level):
    structure = draw_structure(seed).at_level(level)
    ledger = draw_ledger(structure, seed % 7)
    filing = plan_filing(structure, level)
    return filing, ledger, read_html(render_html(filing, ledger))


def _misread(seeds):
    return [wrong for seed in seeds for level in (1, 2) for wrong in _wrong_cells(*_filing(seed, level))]


def _wrong_cells(filing, ledger, document):
    for table in filing.tables:
        read = document.tables[table.address].cells
        for row in table.rows:
            for cell in row.cells:
                wanted = _wanted(cell, row, ledger, is_blank=cell.address in table.blanks)
                seen = _seen(read.get(cell.address))
                if wanted != seen:
                    yield filing.structure.seed, filing.level, cell.address, wanted, seen


def _wanted(cell, row, ledger, *, is_blank):
    if is_blank:
        return ("blank", row.path, cell.fact.period)
    value = cell.value(ledger)
    return (
        value,
        cell.scale,
        UNITS.get(cell.unit, cell.unit),
        cell.decimals if value else 0,
        row.path,
        cell.fact.period,
    )


def _seen(cell):
    if cell is None:
        return None
    if cell.kind != "amount":
        return (cell.kind, cell.row_path, cell.period)
    scale = Fraction(cell.scale)
    return (Fraction(cell.value) * scale, scale, cell.unit, cell.decimals, cell.row_path, cell.period)


def test_every_cell_of_12_companies_is_read_as_it_was_planned():
    assert _misread(range(12)) == []


@pytest.mark.slow
@pytest.mark.timeout(1800)  # of the clock, on a machine with much else to do
def test_every_cell_of_200_companies_is_read_as_it_was_planned():
    assert _misread(range(200)) == []


def test_a_reader_that_is_wrong_about_a_cell_would_be_seen():
    filing, ledger, document = _filing(0, 1)
    other = draw_ledger(filing.structure, 6)

    assert list(_wrong_cells(filing, ledger, document)) == []
    assert len(list(_wrong_cells(filing, other, document))) > 20


def test_pages_and_lines_are_counted_as_they_were_planned():
    for seed in range(12):
        for level in (1, 2):
            filing, _, document = _filing(seed, level)
            assert document.title == filing.title
            assert [page.number for page in document.pages] == [page.number for page in filing.pages]
            for planned, read in zip(filing.pages, document.pages, strict=True):
                assert len(read.lines) == len(planned.blocks)
                for block, line in zip(planned.blocks, read.lines, strict=True):
                    assert line == block.text if isinstance(block, Text) else line.startswith("[d1:t")


def test_headings_have_addresses_and_titles_name_the_tables():
    for seed in range(12):
        filing, _, document = _filing(seed, 2)
        for table in filing.tables:
            read = document.tables[table.address]
            assert read.title == table.title
            assert read.headings == table.headings
            assert [read.cells[address].text for address in table.heading_addresses] == list(table.headings)


def test_nothing_is_read_that_was_not_planned():
    for seed in range(12):
        filing, _, document = _filing(seed, 2)
        for table in filing.tables:
            planned = table.cells.keys() | table.blanks | set(table.heading_addresses)
            extra = document.tables[table.address].cells.keys() - planned
            assert {address for address in extra if not address.endswith("!r1c1")} == set()
