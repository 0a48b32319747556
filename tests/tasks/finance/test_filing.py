from __future__ import annotations

import re
from collections import Counter

import pytest

from workgym.tasks.errors import TaskError
from workgym.tasks.finance.blocks import Grid, Text
from workgym.tasks.finance.filing import plan_filing
from workgym.tasks.finance.statements import Statement, cells_by_address, lay_out
from workgym.tasks.finance.structure import draw_structure

SHORT = [plan_filing(draw_structure(seed).at_level(1), 1) for seed in range(30)]
LONG = [plan_filing(draw_structure(seed), 2) for seed in range(30)]


def _texts(filing):
    return [block for page in filing.pages for block in page.blocks if isinstance(block, Text)]


def _tables(filing):
    return [block for page in filing.pages for block in page.blocks if isinstance(block, (Statement, Grid))]


def test_the_first_level_has_few_pages_and_one_plain_statement():
    assert {len(filing.pages) for filing in SHORT} <= {3, 4, 5}
    assert [[table.key for table in _tables(filing)] for filing in SHORT] == [["income"]] * len(SHORT)
    assert len({filing.style for filing in SHORT}) == 1


def test_the_second_level_has_the_pages_and_the_tables_of_a_real_filing():
    assert all(15 <= len(filing.pages) <= 30 for filing in LONG)
    for filing in LONG:
        assert {table.key for table in filing.tables} == set(filing.structure.tables)
        assert {"income", "balance", "cash", "segments", "debt", "taxes", "operating"} <= set(filing.structure.tables)


@pytest.mark.slow
@pytest.mark.timeout(1800)  # of the clock, on a machine with much else to do
def test_the_second_level_keeps_its_number_of_pages_over_500_companies():
    pages = Counter(len(plan_filing(draw_structure(seed), 2).pages) for seed in range(500))

    assert min(pages) >= 15
    assert max(pages) <= 30


def test_every_table_of_the_document_has_a_number_and_those_of_amounts_know_theirs():
    for filing in LONG:
        tables = _tables(filing)
        named = [(f"d1:t{number}", table) for number, table in enumerate(tables, 1) if isinstance(table, Statement)]
        assert [address for address, _ in named] == [table.address for table in filing.tables]
        assert all(address.startswith(f"{place}!") for place, table in named for address in table.cells)
        assert len(tables) > len(named)


def test_a_filing_shows_the_facts_that_its_structure_lays_out():
    for filing in LONG[:8]:
        shown = Counter(cell.fact for cell in cells_by_address(filing.tables).values())
        assert shown == Counter(cell.fact for cell in cells_by_address(lay_out(filing.structure)).values())


def test_addresses_begin_with_the_name_of_the_document():
    filing = plan_filing(draw_structure(1), 2, document="d7")

    assert all(address.startswith("d7:t") for address in cells_by_address(filing.tables))
    assert filing.lines("Form 10-K")[0] == "d7:p1!l2"


def test_lines_are_found_by_their_words():
    for filing in (*SHORT, *LONG):
        company = filing.lines(filing.structure.company)
        assert company[0] == "d1:p1!l5"
        assert {f"d1:p{page.number}!l{len(page.blocks)}" for page in filing.pages[1:]} <= set(company)
        assert filing.lines("no such words") == ()


def test_prose_tells_no_amounts():
    allowed = re.compile(r"Item \d+A?\.|Note \d+\.|10-K|Section 13 or 15\(d\)|Act of 1934|\| \d+$")
    for filing in (*SHORT, *LONG):
        structure = filing.structure
        years = {structure.year_end.split()[1], *structure.years}
        for block in _texts(filing):
            left = re.findall(r"\d[\d,.]*", allowed.sub("", block.text))
            assert {number.rstrip(",.") for number in left} <= years, block.text


def test_no_sentence_is_left_with_its_places_open():
    for filing in (*SHORT, *LONG):
        assert [block.text for block in _texts(filing) if set("{}[]") & set(block.text.replace("[d1", ""))] == []
        assert [block.text for block in _texts(filing) if not block.text.strip() or "  " in block.text] == []


def test_no_heading_stands_alone_at_the_end_of_a_page():
    for filing in (*SHORT, *LONG):
        for page in filing.pages:
            last = [block for block in page.blocks if not (isinstance(block, Text) and block.kind == "foot")][-1]
            assert not (isinstance(last, Text) and last.leads)


def test_contents_name_the_pages_that_items_begin_on():
    for filing in LONG[:10]:
        contents = next(table for table in _tables(filing) if isinstance(table, Grid) and table.of_contents)
        for item, page in contents.rows:
            assert any(isinstance(block, Text) and block.text == item for block in filing.pages[int(page) - 1].blocks)


def test_filings_differ_in_their_words_and_looks():
    paragraphs = [{block.text for block in _texts(filing) if block.kind == "paragraph"} for filing in LONG]

    assert len({filing.style for filing in LONG}) > 25
    assert max(len(one & other) / len(one) for one in paragraphs for other in paragraphs if one is not other) < 0.3


def test_a_filing_says_whose_sentences_it_has_where_segments_are_not_told():
    for filing in LONG:
        assert filing.lines("does not give quarterly amounts by segment")
        assert filing.lines("no measure of profit is given by segment")


def test_each_filing_leaves_a_cell_blank():
    for filing in LONG:
        operating = next(table for table in filing.tables if table.key == "operating")
        assert filing.blanks == operating.blanks
        assert len(filing.blanks) == 1
        assert not filing.blanks & cells_by_address(filing.tables).keys()


def test_the_catalog_tells_what_the_cover_tells():
    filing = LONG[3]
    structure = filing.structure

    assert filing.catalog() == {
        "id": "d1",
        "title": f"{structure.company} {structure.years[-1]} Form 10-K",
        "company": structure.company,
        "form": "10-K",
        "period": f"fiscal year ended {structure.year_end}, {structure.years[-1]}",
        "pages": len(filing.pages),
    }


def test_the_same_structure_has_the_same_filing():
    assert plan_filing(draw_structure(5), 2) == plan_filing(draw_structure(5), 2)


def test_a_level_that_is_not_there_is_refused():
    with pytest.raises(TaskError, match="levels 1 and 2, not 3"):
        plan_filing(draw_structure(0), 3)
