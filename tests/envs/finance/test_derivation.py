from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from workgym.envs.finance.derivation import Derivation, derivation_holds
from workgym.tasks.errors import TaskError
from workgym.tasks.finance.case import case_of
from workgym.tasks.finance.expression import read_expression
from workgym.tasks.finance.ledger import draw_ledger
from workgym.tasks.finance.questions import Question, gold_of
from workgym.tasks.finance.source import FinanceTasks
from workgym.tasks.finance.statements import Cell, cells_by_address, lay_out
from workgym.tasks.finance.structure import draw_structure
from workgym.tasks.finance.terms import Fact

# A company in millions that does everything that a company may do, so that every line is there.
LEDGER = draw_ledger(
    next(one for one in map(draw_structure, range(2000)) if len(one.does) == 11 and one.scale == 1_000_000), 1
)
LAST = LEDGER.structure.years[-1]
BEFORE = LEDGER.structure.years[-2]
CELLS = cells_by_address(lay_out(LEDGER.structure))
PERCENT, MILLIONS = Fraction(1, 100), Fraction(1_000_000)


def _cells(*lines):
    """A cell that shows each line; "line@before" means the year before, "table:line" a cell of that table."""
    tables = {table.key: table.cells.values() for table in lay_out(LEDGER.structure)}
    found = []
    for text in lines:
        table, _, line = text.rpartition(":")
        fact = Fact(line.removesuffix("@before"), BEFORE if line.endswith("@before") else LAST)
        found.append(next(cell for cell in tables.get(table, CELLS.values()) if cell.fact == fact))
    return tuple(found)


def _question(program, *facts, scale=MILLIONS, decimals=0, condition=""):
    return Question("derive", "asked", "", program, facts, "currency", scale, decimals, condition)


MARGIN = _question("c1 / c2", Fact("gross_profit", LAST), Fact("revenue", LAST), scale=PERCENT, decimals=1)
FREE_CASH = _question("c1 - c2", Fact("operating_cash", LAST), Fact("capital_expenditure", LAST))
LOOKUP = _question("c1", Fact("total_assets", LAST))


def _judge(question, expression, *lines, value=None, cells=None):
    stated = gold_of(question, LEDGER) if value is None else value
    return derivation_holds(Derivation(expression, cells or _cells(*lines), stated), question, LEDGER)


@pytest.mark.parametrize(
    ("question", "expression", "lines"),
    [
        (MARGIN, "c1 / c2", ("gross_profit", "revenue")),
        (MARGIN, "100 * c1 / c2", ("gross_profit", "revenue")),
        (MARGIN, "(c2 - c1) / c2", ("cost_of_revenue", "revenue")),
        (MARGIN, "1 - c1 / c2", ("cost_of_revenue", "segments:revenue")),
        (MARGIN, "1 / (c2 / c1)", ("gross_profit", "revenue")),
        (FREE_CASH, "c1 + c2", ("operating_cash", "capital_expenditure")),  # shown in parentheses
        (FREE_CASH, "c1 - abs(c2)", ("operating_cash", "capital_expenditure")),
        (FREE_CASH, "sum(c1, c2)", ("operating_cash", "capital_expenditure")),
        (FREE_CASH, "(c1 + c2) / 1000000", ("operating_cash", "capital_expenditure")),
        (LOOKUP, "c1", ("total_assets",)),
        (LOOKUP, "c1 + c2", ("total_liabilities", "total_equity")),
        (LOOKUP, "c1", ("liabilities_and_equity",)),
        (LOOKUP, "mean(c1, c2)", ("total_assets", "liabilities_and_equity")),
    ],
)
def test_every_program_that_gives_the_asked_quantity_holds(question, expression, lines):
    assert _judge(question, expression, *lines).score == 1


def test_a_value_that_was_rounded_as_asked_holds():
    gold = gold_of(MARGIN, LEDGER)
    rounded = Fraction(round(gold * 1000), 1000)

    assert _judge(MARGIN, "c1 / c2", "gross_profit", "revenue", value=rounded).score == 1


def test_a_program_that_hits_by_chance_does_not_hold():
    gold = gold_of(MARGIN, LEDGER)
    hit = gold / (LEDGER[Fact("cash", LAST)] / LEDGER[Fact("goodwill", LAST)])

    check = _judge(MARGIN, f"c1 / c2 * {float(hit):.9f}", "cash", "goodwill")

    assert (check.score, check.label) == (0, "other_program")


@pytest.mark.parametrize(
    ("expression", "label"),
    [
        ("{gold}", "refused"),
        ("c1*0 + {gold}", "dead_operand"),
        ("c1/c1 * {gold}", "dead_operand"),
        ("c1**0 * {gold}", "dead_operand"),
        ("c1 - c1 + {gold}", "dead_operand"),
        ("c2 + c1 - c1", "dead_operand"),
        ("c2 + c3 - c4", "dead_operand"),  # two displays of one fact
        ("max(c1, 99999999999999999999)", "dead_operand"),
        ("min(max(c1, {gold}), {gold})", "dead_operand"),
        ("c1", "other_value"),
        ("9**9**9 + c1", "refused"),
        ("c1 > c2", "refused"),
        ("c2 / (c1 - c1)", "refused"),
        ("c9 + c2", "refused"),
        ("c5 + c2", "no_fact"),
        ("import os", "refused"),
    ],
)
def test_attacks_are_refused_with_a_label(expression, label):
    cells = (*_cells("cash", "total_assets", "income:revenue", "segments:revenue"), None)

    check = _judge(LOOKUP, expression.format(gold=int(gold_of(LOOKUP, LEDGER))), cells=cells)

    assert (check.score, check.label) == (0, label)


def test_the_positive_control_of_the_attacks_holds():
    cells = (*_cells("cash", "total_assets", "income:revenue", "segments:revenue"), None)

    assert _judge(LOOKUP, "c2", cells=cells).score == 1


def test_a_constant_that_only_matters_here_does_not_hold():
    gold = int(gold_of(LOOKUP, LEDGER))

    assert _judge(LOOKUP, f"max(c1, {gold})", "cash").label == "dead_operand"
    assert _judge(LOOKUP, f"c1 + {gold - int(LEDGER[Fact('cash', LAST)])}", "cash").label == "other_program"


@pytest.mark.parametrize(
    ("expression", "lines"),
    [
        ("c1 / c2", ("gross_profit@before", "revenue@before")),
        ("c1 / c2", ("operating_income", "revenue")),
        ("c1 / c2", ("revenue", "gross_profit")),
        ("c1 / c2", ("gross_profit", "revenue@before")),
        ("-c1 / c2", ("gross_profit", "revenue")),
        ("1000 * c1 / c2", ("gross_profit", "revenue")),
    ],
)
def test_the_right_arithmetic_of_another_year_line_base_sign_or_scale_does_not_hold(expression, lines):
    own = read_expression(expression).value([cell.value(LEDGER) for cell in _cells(*lines)])

    assert _judge(MARGIN, expression, *lines).label == "other_value"
    assert _judge(MARGIN, expression, *lines, value=own).label == "other_program"


def test_a_mistaken_submission_is_told_from_a_mistaken_program():
    check = _judge(MARGIN, "c1 / c2", "gross_profit", "revenue", value=gold_of(MARGIN, LEDGER) + PERCENT)

    assert check.label == "other_value"


@pytest.mark.xdist_group("alone")
@pytest.mark.parametrize(
    "expression",
    [
        "+".join(f"c{number}" for number in range(1, 33)),
        "*".join(f"c{number}" for number in range(1, 20)),
        "max(" + ",".join(f"c{number}" for number in range(1, 33)) + ")",
        "+".join(f"1/c{number}" for number in range(1, 33)),
        "+".join(f"(c{number}-c{number})" for number in range(1, 33)),
        "+".join(f"c{number}" for number in range(1, 99)),
    ],
)
def test_an_expression_of_many_cells_is_judged_within_ten_milliseconds(expression):
    cells = tuple(CELLS.values())[:98]
    _judge(LOOKUP, "c1", cells=cells)  # what is kept for a while is not what is measured
    took = []
    for _ in range(3):  # the best of three: other work on the machine is no fault of ours
        begun = time.process_time()
        assert _judge(LOOKUP, expression, cells=cells).score == 0
        took.append(time.process_time() - begun)

    assert min(took) < 0.01


def test_the_detail_gives_nothing_of_the_gold_away():
    gold = gold_of(LOOKUP, LEDGER)
    details = [
        _judge(LOOKUP, expression, "cash", "goodwill", value=value).detail
        for expression in ("c1", "c1 + c2", "c1 * 0 + c2", "c1 / (c2 - c2)")
        for value in (gold, gold + 1, LEDGER[Fact("cash", LAST)])
    ]

    assert not any(str(int(gold // 1_000_000)) in detail.replace(",", "") for detail in details)


def test_a_refused_expression_is_told_the_same_whatever_the_gold():
    texts = ("1234", "c1 ** c2", "__import__('os')", "c1 / (c2 - c2)")

    assert [_judge(LOOKUP, text, "cash", "goodwill") for text in texts] == [
        _judge(FREE_CASH, text, "cash", "goodwill") for text in texts
    ]


def test_the_branch_of_a_question_is_kept_in_every_redraw():
    years = LEDGER.structure.years
    highest = max(years, key=lambda year: LEDGER[Fact("revenue", year)])
    others = [Fact("revenue", year) for year in years if year != highest]
    facts = (Fact("net_income", highest), Fact("revenue", highest), *others)
    peak = _question("c1", *facts, condition="c2 > max(c3, c4)")
    never = replace(peak, condition="c2 > c2 + 1")
    cell = next(cell for cell in CELLS.values() if cell.fact == facts[0])

    assert _judge(peak, "c1", cells=(cell,)).score == 1
    with pytest.raises(TaskError, match="ask another question"):
        _judge(never, "c1", cells=(cell,))


def test_what_is_only_often_highest_in_the_same_year_does_not_hold():
    ledger, facts = next(_peaks_together())
    peak = _question("c1", *facts, condition="c2 > max(c3, c4)")
    shown = {cell.fact: cell for cell in cells_by_address(lay_out(ledger.structure)).values()}
    cells = tuple(shown[Fact("net_income", year)] for year in ledger.structure.years)
    own = shown[facts[0]]

    highest = derivation_holds(Derivation("max(c1, c2, c3)", cells, own.value(ledger)), peak, ledger)
    right = derivation_holds(Derivation("c1", (own,), own.value(ledger)), peak, ledger)

    assert (highest.label, right.score) == ("other_program", 1)


def _peaks_together():
    """Books whose net income is highest in the year of the highest revenue, with the facts of the question about it."""
    years = LEDGER.structure.years
    for ledger in (draw_ledger(LEDGER.structure, seed) for seed in range(100)):
        income, revenue = ([ledger[Fact(line, year)] for year in years] for line in ("net_income", "revenue"))
        place = revenue.index(max(revenue))
        if income[place] == max(income):
            others = [Fact("revenue", year) for year in years if year != years[place]]
            yield ledger, (Fact("net_income", years[place]), Fact("revenue", years[place]), *others)


def test_the_size_of_a_profit_is_not_a_profit_or_loss():
    income = _question("c1", Fact("net_income", LAST))

    assert LEDGER[Fact("net_income", LAST)] > 0
    assert _judge(income, "c1", "net_income").score == 1
    assert _judge(income, "abs(c1)", "net_income").label == "other_program"


def test_quarters_add_up_to_the_year_in_redraws_too():
    revenue = _question("c1", Fact("revenue", LAST))
    quarters = [next(c for c in CELLS.values() if c.fact == Fact("revenue", f"{LAST}Q{n}")) for n in (1, 2, 3, 4)]

    assert _judge(revenue, "sum(c1, c2, c3, c4)", cells=tuple(quarters)).score == 1
    assert _judge(revenue, "c1 * 4", cells=tuple(quarters), value=4 * LEDGER[quarters[0].fact]).score == 0


def test_a_cell_that_does_not_stand_in_the_expression_has_no_part_in_it():
    quarter = next(cell for cell in CELLS.values() if cell.fact == Fact("revenue", f"{LAST}Q2"))

    assert _judge(LOOKUP, "c2", cells=(quarter, *_cells("total_assets"), None)).score == 1


def test_a_derivation_is_judged_the_same_every_time():
    shown = Derivation("c1 / c2", _cells("gross_profit", "revenue"), gold_of(MARGIN, LEDGER))

    assert len({derivation_holds(shown, MARGIN, LEDGER) for _ in range(5)}) == 1


def test_a_cell_that_shows_another_sign_counts_as_it_is_shown():
    cell = _cells("capital_expenditure")[0]
    turned = Cell(cell.address, cell.fact, 1, cell.unit, cell.scale, cell.decimals)
    spent = _question("c1", Fact("capital_expenditure", LAST))

    assert _judge(spent, "-c1", cells=(cell,)).score == 1
    assert _judge(spent, "c1", cells=(turned,)).score == 1
    assert _judge(spent, "c1", cells=(cell,)).score == 0


@pytest.mark.parametrize("function", ["max", "min"])
def test_an_argument_that_is_never_chosen_is_dead(function: str) -> None:
    """max(revenue, cost) is revenue in all books, and max(c1, 1234) is c1: what is beside it has no part in it."""
    case = case_of(FinanceTasks("lookup").sample(1, np.random.default_rng(5)))
    assert case.question is not None
    ledger, gold = case.reported.ledger, gold_of(case.question, case.reported.ledger)
    first = next(cell for cell in case.reported.cells.values() if cell.fact == case.question.operands[0])
    for other in case.reported.cells.values():
        if other.fact != first.fact:
            shown = Derivation(f"{function}(c1, c2)", (first, other), gold)
            assert derivation_holds(shown, case.question, ledger).score == 0
    assert derivation_holds(Derivation("max(c1, 1234)", (first,), gold), case.question, ledger).score == 0
