from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import pytest

from workgym.tasks.errors import TaskError
from workgym.tasks.finance.filing import plan_filing
from workgym.tasks.finance.identities import linear_identities
from workgym.tasks.finance.ledger import draw_ledger
from workgym.tasks.finance.questions import gold_of, is_fit
from workgym.tasks.finance.render.html import render_html
from workgym.tasks.finance.statements import cells_by_address
from workgym.tasks.finance.structure import draw_structure
from workgym.tasks.finance.unanswerable import draw_pair

REASONS = {"not_reported", "outside_period", "unknown_entity", "not_determinable"}


class _Asked:
    """A pair with the filing that each of the two is asked of."""

    def __init__(self, structure_seed, seed):
        self.structure = draw_structure(structure_seed)
        self.ledger = draw_ledger(self.structure, 1)
        self.pair = draw_pair(self.structure, self.ledger, seed)
        self.gap, self.twin = self.pair.gap, self.pair.twin
        self.filing = plan_filing(replace(self.structure, blanks=self.gap.blanks), 2)
        self.twin_filing = plan_filing(self.structure, 2)

    def html(self, filing):
        return render_html(filing, self.ledger).decode("ascii").splitlines()


ASKED = [_Asked(seed, number) for seed in range(24) for number in range(3)]


def _of(reason):
    return [asked for asked in ASKED if asked.gap.reason == reason]


def _changed(one, other):
    return [pair for pair in zip(one, other, strict=True) if pair[0] != pair[1]]


def test_every_reason_is_given_and_often():
    reasons = Counter(asked.gap.reason for asked in ASKED)

    assert reasons.keys() == REASONS
    assert min(reasons.values()) > len(ASKED) / 10


def test_every_twin_has_an_answer_that_no_common_mistake_gives():
    for asked in ASKED:
        assert is_fit(asked.twin, asked.ledger)
        assert gold_of(asked.twin, asked.ledger) is not None
        assert asked.twin.family == "lookup"


def test_twins_differ_in_one_line():
    for asked in ASKED:
        in_filing = _changed(asked.html(asked.filing), asked.html(asked.twin_filing))
        in_question = asked.gap.text != asked.twin.text
        assert len(in_filing) + in_question == 1, asked.gap


def test_witnesses_stand_in_the_filing():
    for asked in ASKED:
        headings = {address for table in asked.filing.tables for address in table.heading_addresses}
        lines = {
            f"d1:p{page.number}!l{number}" for page in asked.filing.pages for number in range(1, len(page.blocks) + 1)
        }
        assert asked.gap.witnesses
        assert asked.gap.witnesses <= headings | lines | asked.filing.blanks


def test_what_is_not_reported_has_one_blank_cell_and_nothing_else_tells_it():
    for asked in _of("not_reported"):
        fact = asked.twin.operands[0]
        (cell,) = asked.gap.witnesses
        assert asked.gap.text == asked.twin.text
        assert {cell} == asked.filing.blanks
        assert fact in asked.gap.blanks
        assert fact not in {shown.fact for shown in cells_by_address(asked.filing.tables).values()}
        assert fact not in {term for identity in linear_identities(asked.structure) for _, term in identity.terms}


def test_filings_with_and_without_an_answer_have_as_many_blanks():
    for asked in ASKED:
        assert len(asked.filing.blanks) == len(asked.twin_filing.blanks) == 1


def test_a_filing_without_blanks_gets_one_for_what_is_not_reported():
    structure = replace(draw_structure(0), blanks=frozenset())
    ledger = draw_ledger(structure, 1)
    gaps = [draw_pair(structure, ledger, seed).gap for seed in range(20)]

    assert {len(gap.blanks) for gap in gaps if gap.reason == "not_reported"} == {1}
    assert {len(gap.blanks) for gap in gaps if gap.reason != "not_reported"} == {0}


def test_a_year_outside_the_period_is_shown_nowhere_and_the_headings_of_its_line_tell():
    for asked in _of("outside_period"):
        line = asked.twin.operands[0].line
        (year,) = set(re.findall(r"\b20\d\d\b", asked.gap.text))
        assert year in (asked.structure.opening, str(int(asked.structure.years[-1]) + 1))
        for table in asked.filing.tables:
            shows = any(cell.fact.line == line for cell in table.cells.values())
            cited = set(table.heading_addresses) & asked.gap.witnesses
            assert bool(cited) == (shows and table.key != "quarters")
            assert not any(cell.fact == (line, year) for cell in table.cells.values())


def test_an_unknown_company_is_named_nowhere_and_lines_that_name_the_right_one_tell():
    for asked in _of("unknown_entity"):
        company = asked.structure.company
        assert company not in asked.gap.text
        asked_about = re.search(r" ([A-Z]\S+ [A-Z]\S+ [A-Z]\S+ (?:Inc|Cor|Hol|Com))", asked.gap.text)[1]
        assert not asked.filing.lines(asked_about)
        assert asked.gap.witnesses == frozenset(asked.filing.lines(company))
        assert asked_about.split()[0] == company.split()[0]


def test_what_cannot_be_determined_is_said_in_a_sentence():
    for asked in _of("not_determinable"):
        sentences = {"quarter of": "quarterly amounts by segment", "operating income": "measure of profit"}
        (sentence,) = [sentence for words, sentence in sentences.items() if words in asked.gap.text]
        assert asked.gap.witnesses == frozenset(asked.filing.lines(sentence))
        assert asked.twin.operands[0].line.startswith("segment_revenue.")


def test_texts_read_like_those_of_other_questions():
    for asked in ASKED:
        assert asked.gap.text.endswith("?")
        assert not set("{}()") & set(asked.gap.text)


def test_the_same_seeds_give_the_same_pair():
    asked = ASKED[5]

    assert draw_pair(asked.structure, asked.ledger, 2) == asked.pair
    assert draw_pair(asked.structure, asked.ledger, 3) != asked.pair


def test_the_first_level_has_no_such_questions():
    structure = draw_structure(0).at_level(1)

    with pytest.raises(TaskError, match="filings of level 2"):
        draw_pair(structure, draw_ledger(structure, 0), 0)
