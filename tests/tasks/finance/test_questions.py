from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest

from workgym.tasks.errors import TaskError
from workgym.tasks.finance.expression import read_expression
from workgym.tasks.finance.ledger import draw_ledger
from workgym.tasks.finance.questions import distractors, draw_question, gold_of, work_out
from workgym.tasks.finance.statements import cells_by_address, lay_out
from workgym.tasks.finance.structure import draw_structure
from workgym.tasks.finance.terms import Fact


def _ledger(seed):
    return draw_ledger(draw_structure(seed), 5)


def _asked(level, companies=14, each=8):
    return [
        (draw_question(ledger.structure, ledger, seed, level), ledger)
        for ledger in map(_ledger, range(companies))
        for seed in range(each)
    ]


LEVELS = {level: _asked(level) for level in (1, 2)}


def _tables(question, ledger):
    """The tables that show an operand each."""
    return [
        {table.key for table in lay_out(ledger.structure) for cell in table.cells.values() if cell.fact == fact}
        for fact in question.operands
    ]


def test_the_first_level_asks_of_one_statement_with_one_or_two_operands():
    for question, ledger in LEVELS[1]:
        assert len(question.operands) in (1, 2)
        assert all("income" in tables for tables in _tables(question, ledger))


def test_the_second_level_asks_of_three_statements():
    tables = Counter(name for question, ledger in LEVELS[2] for names in _tables(question, ledger) for name in names)

    assert min(tables[name] for name in ("income", "balance", "cash")) > 8


def test_both_families_and_every_form_are_asked():
    forms = Counter((question.family, question.form) for question, _ in LEVELS[2])

    assert {family for family, _ in forms} == {"lookup", "derive"}
    assert len(forms) == 15


def test_the_gold_is_the_program_over_what_the_filing_shows():
    ledger = _ledger(2)
    question = next(
        question
        for question in (draw_question(ledger.structure, ledger, seed, 2) for seed in range(60))
        if question.form == "growth"
    )
    new, old = (
        next(cell.value(ledger) for cell in cells_by_address(lay_out(ledger.structure)).values() if cell.fact == fact)
        for fact in question.operands
    )

    assert gold_of(question, ledger) == new / old - 1


def test_no_common_mistake_gives_the_answer():
    close = [
        (question.text, label)
        for level in (1, 2)
        for question, ledger in LEVELS[level]
        for label, value in distractors(question, ledger)
        if abs(value - gold_of(question, ledger)) <= question.half_unit
    ]

    assert close == []


def test_mistakes_are_labeled():
    labels = {label for question, ledger in LEVELS[2] for label, _ in distractors(question, ledger)}

    assert labels == {"wrong_period", "wrong_base", "sign", *(f"scale_10^{power}" for power in (2, -2, 3, -3))}


def test_a_condition_is_true_of_the_amounts_that_are_asked_about():
    branched = [(question, ledger) for question, ledger in LEVELS[2] if question.condition]

    assert branched
    for question, ledger in branched:
        assert read_expression(question.condition).value([ledger[fact] for fact in question.operands]) is True


def test_the_same_seeds_ask_the_same_question():
    assert [question for question, _ in LEVELS[2][:8]] == [
        draw_question(_ledger(0).structure, _ledger(0), seed, 2) for seed in range(8)
    ]


def test_texts_name_the_company_and_leave_nothing_open():
    for question, ledger in [*LEVELS[1], *LEVELS[2]]:
        assert ledger.structure.company in question.text
        assert not set("{}()") & set(question.text) or "(ends of" in question.text
        assert " ," not in question.text
        assert question.text.endswith(("?", "negative."))


def test_half_a_unit_is_of_the_asked_decimals():
    question = next(question for question, _ in LEVELS[2] if question.unit == "percent")

    assert question.half_unit == Fraction(5, 10_000)


def test_a_level_that_is_not_there_is_refused():
    with pytest.raises(TaskError, match="levels 1 and 2, not 3"):
        draw_question(_ledger(0).structure, _ledger(0), 0, 3)


def test_an_operand_that_the_filing_does_not_show_has_no_gold():
    question, ledger = LEVELS[1][0]
    hidden = type(question)(
        "lookup", "lookup", "", "c1", (Fact("disposed_gross", "2020"),), "currency", question.scale, 0
    )

    with pytest.raises(TaskError, match="does not show disposed_gross@2020"):
        gold_of(hidden, ledger)


def test_a_program_that_compares_gives_no_number():
    with pytest.raises(TaskError, match="compares"):
        work_out("c1 > c2", [Fraction(1), Fraction(2)])
