"""Whether the arithmetic that an agent shows is the arithmetic that was asked for.

Any right answer can be hit by chance: with a filing's worth of numbers most questions have some wrong sum that comes
out right. So the books are drawn again, several times, with other amounts behind the same cells, and the expression
must give what the gold program gives, exactly, every time. No list of right operands is needed: whatever the identities
of the books make equal is right.

    shown = Derivation("(c1 - c2) / c2", (cells["d1:t2!r2c2"], cells["d1:t2!r2c3"]), Fraction("0.125"))
    derivation_holds(shown, question, ledger)
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from workgym.envs.verify import Check
from workgym.tasks.errors import ActionError, TaskError
from workgym.tasks.finance.expression import Expression, read_expression
from workgym.tasks.finance.ledger import Ledger, draw_ledger
from workgym.tasks.finance.questions import Question, work_out
from workgym.tasks.finance.statements import Cell
from workgym.tasks.finance.structure import Structure
from workgym.tasks.finance.terms import Fact

__all__ = ["REDRAWS", "REDRAWS_OF_A_BRANCH", "Derivation", "dead_cells", "derivation_holds"]

REDRAWS: Final = 3
REDRAWS_OF_A_BRANCH: Final = 12
"""Where a question has a condition: what was highest in one year often takes others to their highest with it."""
_MOST_TRIES: Final = 200
"""Of drawing books again until a condition holds; what is asked about holds in about every third."""
_NAME: Final = "derivation_holds"
_NO_FACT: Final = "shows no amount of the filing"
_PROBES: Final = tuple(
    (Fraction(start), Fraction(stride))
    for start, stride in ((1_009, 7), (-15_013 * 10**9, 3 * 10**9), (11 * 10**12, 900_001))
)
"""Where an expression is tried for dead operands: a start and a stride, small, large and negative."""


@dataclass(frozen=True, slots=True)
class Derivation:
    """What an agent submitted of how it came to its answer.

    Attributes:
        expression: over c1, c2, ...: the cited cells in their order.
        cells: the cited cells; None for one that shows no fact, such as one that was planted.
        value: the submitted answer in base units (dollars; 0.125 for 12.5%).
    """

    expression: str
    cells: tuple[Cell | None, ...]
    value: Fraction


def derivation_holds(shown: Derivation, question: Question, ledger: Ledger) -> Check:
    """Judge a derivation: 1 if it gives the submitted answer, and the asked quantity in all redrawn books; else 0.

    Cells count in base units with the sign that they show: a cell "(1,234)" of a table in millions is -1,234,000,000.
    The expression may give base units, or the number as it is asked for (12.5 for 12.5%, 1,234 for millions).

    Args:
        shown: what was submitted.
        question: what was asked.
        ledger: the books of the filing.

    Returns:
        A check whose detail says what was wrong and gives nothing of the gold away. Its labels: "refused" (no
        expression of the language, or no constant-free one), "no_fact", "dead_operand", "other_value" (not what was
        submitted), "other_program" (right here at most, and wrong of other amounts).
    """
    try:
        expression = read_expression(shown.expression)
        used = _used(expression, shown.cells)
        facts = {number: (cell.fact, cell.sign) for number, cell in used.items()}
        value = _number(expression, {number: cell.value(ledger) for number, cell in used.items()})
        if dead := dead_cells(expression, facts):
            named = ", ".join(f"c{number}" for number in dead)
            return Check(
                _NAME, 0.0, f"nothing depends on {named}: an expression names only cells that it needs", "dead_operand"
            )
    except TaskError as error:
        return Check(_NAME, 0.0, str(error), "no_fact")
    except ActionError as error:
        return Check(_NAME, 0.0, str(error), "refused")
    units = [unit for unit in (Fraction(1), question.scale) if abs(value * unit - shown.value) <= question.half_unit]
    if not units:
        return Check(_NAME, 0.0, "the expression over the cited cells does not give the submitted value", "other_value")
    redrawn = list(_redrawn(question, ledger, facts))
    if _passes_over(expression, used, redrawn):
        return Check(_NAME, 0.0, "an argument of min or max is never the one that is chosen", "dead_operand")
    if not _agrees(expression, used, question, units, redrawn):
        detail = (
            "the expression gives another quantity than the one asked for: with other amounts in its cells they differ"
        )
        return Check(_NAME, 0.0, detail, "other_program")
    return Check(_NAME, 1.0, "the expression gives the asked quantity, here and with other amounts in the same cells")


def dead_cells(expression: Expression, facts: dict[int, tuple[Fact, int]]) -> list[int]:
    """Cells that could hold any amount without the expression giving another value: `c1 * 0`, `c2 - c2`.

    Cells that show the same fact change together, so that two displays of one fact cannot cancel each other unseen.

    Args:
        expression: what was read.
        facts: number of a cell -> the fact it shows, and the sign that it shows it with.

    Returns:
        The cells of the first fact that nothing depends on; none where every cell is needed.
    """
    groups = sorted({fact for fact, _ in facts.values()})
    probes = [{fact: start + stride * place for place, fact in enumerate(groups)} for start, stride in _PROBES]
    usual = [_probe(expression, facts, amounts) for amounts in probes]
    for fact in groups:
        moves = (
            _probe(expression, facts, {**amounts, fact: moved}) != value
            for amounts, value in zip(probes, usual, strict=True)
            for moved in (-2 * amounts[fact] + 5, 1000 * amounts[fact])
        )
        if not any(moves):  # most facts are found alive by the first one
            return sorted(number for number, (shown, _) in facts.items() if shown == fact)
    return []


def _probe(
    expression: Expression, facts: dict[int, tuple[Fact, int]], amounts: dict[Fact, Fraction]
) -> Fraction | bool | None:
    """The value of an expression where the facts have these amounts; None where it has none."""
    cells = [Fraction(0)] * max(facts)
    for number, (fact, sign) in facts.items():
        cells[number - 1] = sign * amounts[fact]
    try:
        return expression.value(cells)
    except ActionError:
        return None


def _used(expression: Expression, cells: Sequence[Cell | None]) -> dict[int, Cell]:
    """The cells that stand in the expression, by their numbers; others that are cited have no part in it."""
    if beyond := [number for number in sorted(expression.cells) if number > len(cells)]:
        raise ActionError(f"the expression names c{beyond[0]}, but {len(cells)} cells are cited: c1 is the first one")
    used: dict[int, Cell] = {}
    for number in sorted(expression.cells):
        cell = cells[number - 1]
        if cell is None:
            raise TaskError(f"c{number} {_NO_FACT}")
        used[number] = cell
    return used


def _number(expression: Expression, amounts: Mapping[int, Fraction]) -> Fraction:
    """The value of an expression over the cells that stand in it."""
    if expression.compares:
        raise ActionError("the expression compares, which gives true or false; the question asks for a number")
    return Fraction(expression.value([amounts.get(number, Fraction(0)) for number in range(1, max(amounts) + 1)]))


def _agrees(
    expression: Expression,
    used: Mapping[int, Cell],
    question: Question,
    units: Sequence[Fraction],
    ledgers: Sequence[Ledger],
) -> bool:
    """Whether an expression equals the gold program in all ledgers, in one and the same unit."""
    try:
        values = [_number(expression, {number: cell.exact(one) for number, cell in used.items()}) for one in ledgers]
    except ActionError:
        return False  # what cannot be worked out of other amounts is no program for them
    asked = [work_out(question.program, [one[fact] for fact in question.operands]) for one in ledgers]
    return any(all(value * unit == gold for value, gold in zip(values, asked, strict=True)) for unit in units)


def _passes_over(expression: Expression, used: Mapping[int, Cell], ledgers: Sequence[Ledger]) -> bool:
    """Whether `min` or `max` hides an argument that decides nothing: max(c1, 1234), max(c1, c2) of a larger c1."""
    rows = []
    for one in ledgers:
        row = [Fraction(0)] * max(used)
        for number, cell in used.items():
            row[number - 1] = cell.exact(one)
        rows.append(row)
    try:
        return expression.passes_over(rows)
    except ActionError:
        return False  # what cannot be worked out is refused by `_agrees`


def _redrawn(question: Question, ledger: Ledger, facts: dict[int, tuple[Fact, int]]) -> Iterator[Ledger]:
    """Other books of the same company, in which the question has the same branch."""
    used = (*question.operands, *(fact for fact, _ in facts.values()))
    with_quarters = any("Q" in fact.period for fact in used)
    condition = read_expression(question.condition) if question.condition else None
    redraws = REDRAWS if condition is None else REDRAWS_OF_A_BRANCH
    found = 0
    for seed in range(_MOST_TRIES):
        other = _draw_again(ledger.structure, seed, with_quarters)
        if condition is None or condition.value([other[fact] for fact in question.operands]) is True:
            yield other
            found += 1
        if found == redraws:
            return
    raise TaskError(
        f"{_MOST_TRIES} redrawn books of structure {ledger.structure.seed} hold {found} in which "
        f"{question.condition!r} is true, of {redraws}: ask another question"
    )


@functools.lru_cache(maxsize=128)
def _draw_again(structure: Structure, seed: int, with_quarters: bool) -> Ledger:
    """Kept for a while, since many attempts at one task are judged."""
    return draw_ledger(structure, seed, generic=True, with_quarters=with_quarters)
