"""Rendered filings are read back: every cell as it was laid out."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from workgym.envs.finance.document import Document
from workgym.envs.finance.html_document import read_html
from workgym.tasks.finance.filing import Filing, plan_filing
from workgym.tasks.finance.ledger import Ledger, draw_ledger
from workgym.tasks.finance.render.html import render_html
from workgym.tasks.finance.structure import draw_structure

pytest.importorskip("lxml")

UNITS = {"currency": "USD", "currency/share": "USD/share", "shares": "shares", "percent": "percent", "count": ""}


def misread(filing: Filing, ledger: Ledger, document: Document) -> list[object]:
    """What the reader takes from a rendered filing otherwise than it was laid out."""
    wrong: list[object] = []
    for table in filing.tables:
        read = document.tables[table.address]
        if (read.title, read.caption, read.headings) != (table.title, table.caption, table.headings):
            wrong.append((read.title, read.caption, read.headings))
        wrong += [row for row, plan in zip(read.rows[1:], table.rows, strict=True) if row.path != plan.path]
        for plan in table.rows:
            for cell in plan.cells:
                got = read.cells[cell.address]
                right = got.row_path == plan.path and got.period == cell.fact.period
                if cell.address in table.blanks:
                    right = right and got.kind == "blank"
                else:
                    value = Fraction(got.value or 0) * Fraction(got.scale)
                    right = right and got.kind == "amount" and value == cell.value(ledger)
                    right = right and (got.scale, got.unit) == (
                        Decimal(cell.scale.numerator) / cell.scale.denominator,
                        UNITS[cell.unit],
                    )
                if not right:
                    wrong.append(got)
    return wrong


def check_seeds(seeds: range, level: int) -> None:
    for seed in seeds:
        structure = draw_structure(seed).at_level(level)
        filing, ledger = plan_filing(structure, level), draw_ledger(structure, 3)
        document = read_html(render_html(filing, ledger))
        assert misread(filing, ledger, document) == [], seed
        assert [len(page.lines) for page in document.pages] == [len(page.blocks) for page in filing.pages], seed


@pytest.mark.parametrize("level", [1, 2])
def test_every_cell_of_a_rendered_filing_is_read_as_it_was_laid_out(level: int) -> None:
    check_seeds(range(12), level)


@pytest.mark.slow
@pytest.mark.timeout(1800)  # of the clock, on a machine with much else to do
@pytest.mark.parametrize("level", [1, 2])
def test_every_cell_of_200_rendered_filings_is_read_as_it_was_laid_out(level: int) -> None:
    check_seeds(range(12, 212), level)
