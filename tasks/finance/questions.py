"""Questions about a filing, with the program that answers them.

The program is an expression of the language of `expression` over the operands, in their order: c1 is the first one. It
is asked of the amounts as the filing shows them for the gold, and of other amounts for the derivation
(`workgym.envs.finance.derivation`).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

import numpy as np

from workgym.tasks.errors import TaskError
from workgym.tasks.finance.expression import read_expression
from workgym.tasks.finance.forms import FORMS, Form
from workgym.tasks.finance.ledger import Ledger
from workgym.tasks.finance.lines import unit_of
from workgym.tasks.finance.statements import Cell, cells_by_address, displayed, lay_out
from workgym.tasks.finance.structure import Structure
from workgym.tasks.finance.terms import Fact

__all__ = ["Question", "distractors", "draw_question", "gold_of", "is_fit", "pose", "work_out"]

_MOST_DRAWS: Final = 500
_ASIDE: Final = re.compile(r" \([^)]*\)")
"""What stands in a label for the sign that an amount may have: "Net income (loss)"."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question and what decides it.

    Attributes:
        family: "lookup" or "derive".
        form: which form it is of: "growth", "margin", ...
        text: the words.
        program: an expression over the operands.
        operands: the facts c1, c2, ... of the program and the condition.
        unit: "currency", "currency/share", "shares", "percent", "multiple" or "count".
        scale: what one unit of the asked digits stands for: 1,000,000 for millions, 1/100 for a percentage.
        decimals: how many are asked for.
        condition: a comparison of operands that is true of the amounts asked about and without which the program would
            be another one ("the year of the highest ..."); "" where there is none.
        wrong: label -> a program that a mistake of this name would follow.
    """

    family: str
    form: str
    text: str
    program: str
    operands: tuple[Fact, ...]
    unit: str
    scale: Fraction
    decimals: int
    condition: str = ""
    wrong: Mapping[str, str] = field(default_factory=dict)

    @property
    def half_unit(self) -> Fraction:
        """Half a unit of the last decimal that is asked for, in base units: what a right answer may be off by."""
        return self.scale * Fraction(1, 2 * 10**self.decimals)


def work_out(program: str, operands: Sequence[Fraction]) -> Fraction:
    """Work out a program that gives a number.

    Raises:
        ActionError: it cannot be worked out.
        TaskError: it gives true or false.
    """
    value = read_expression(program).value(operands)
    if isinstance(value, bool):
        raise TaskError(f"the program {program!r} compares; a question of this kind is answered by a number")
    return value


def gold_of(question: Question, ledger: Ledger) -> Fraction:
    """The answer, exactly, in base units: the program over the operands as the filing shows them.

    Raises:
        ActionError: it divides by zero.
        TaskError: the filing does not show an operand.
    """
    shown = _shown(ledger.structure)
    return work_out(question.program, [_reading(fact, shown, ledger) for fact in question.operands])


def distractors(question: Question, ledger: Ledger) -> list[tuple[str, Fraction]]:
    """What common mistakes would give, in base units, each with its label; a year that is not shown is left out.

    Raises:
        ActionError: a mistake, or the program, divides by zero.
        TaskError: the filing does not show an operand.
    """
    return _distractors(question, gold_of(question, ledger), _shown(ledger.structure), ledger)


def draw_question(
    structure: Structure, ledger: Ledger, seed: int, level: int, families: Sequence[str] = ("lookup", "derive")
) -> Question:
    """Draw a question whose answer no common mistake gives.

    Args:
        structure: the company.
        ledger: its amounts.
        seed: decides the question, at least 0.
        level: 1 (one statement, one or two operands) or 2 (three statements, up to three operands).
        families: of which it may be.

    Raises:
        TaskError: there is no such level yet, or no question of this filing is fit to be asked.
    """
    forms = [form for form in FORMS if form.level <= level and form.family in families and form.lines_in(structure)]
    if level not in (1, 2) or not forms:
        raise TaskError(f"there are questions of levels 1 and 2, not {level!r}, of lookup and derive, not {families!r}")
    rng = np.random.default_rng([structure.seed, ledger.value_seed, seed, level])
    for _ in range(_MOST_DRAWS):
        question = _ask(forms[int(rng.integers(len(forms)))], structure, ledger, rng)
        if is_fit(question, ledger):
            return question
    raise TaskError(f"no question of level {level} is fit to be asked of structure {structure.seed}; take another seed")


def is_fit(question: Question, ledger: Ledger) -> bool:
    """Whether the filing shows what is asked about, and neither a mistake nor another display of it decides the answer.

    Args:
        question: of the company of the ledger.
        ledger: its amounts; its structure says what the filing shows.
    """
    shown = _shown(ledger.structure)
    return all(fact in shown for fact in question.operands) and _is_fit(question, shown, ledger)


def pose(form: Form, structure: Structure, lines: Sequence[str], year: str) -> Question:
    """Ask a form of some lines in a year, whether or not the filing shows them.

    Args:
        form: one that does not choose the year itself (`Form.branches`).
        structure: the company.
        lines: one of the combinations of lines that the form may be asked about.
        year: the fiscal year.
    """
    operands = tuple(Fact(lines[index], str(int(year) - lag)) for index, lag in form.operands)
    return _worded(form, structure, lines, year, operands, "")


def _ask(form: Form, structure: Structure, ledger: Ledger, rng: np.random.Generator) -> Question:
    """A question of a form, of some year."""
    choices = form.lines_in(structure)
    lines = choices[int(rng.integers(len(choices)))]
    years = structure.years
    year = years[int(rng.integers(len(years)))]
    if not form.branches:
        return pose(form, structure, lines, year)
    year = max(years, key=lambda one: ledger[Fact(lines[1], one)])  # the one in which the second line is highest
    others = [Fact(lines[1], other) for other in years if other != year]
    condition = f"c2 > max({', '.join(f'c{number}' for number in range(3, 3 + len(others)))})"
    return _worded(form, structure, lines, year, (Fact(lines[0], year), Fact(lines[1], year), *others), condition)


def _worded(
    form: Form, structure: Structure, lines: Sequence[str], year: str, operands: tuple[Fact, ...], condition: str
) -> Question:
    unit = form.unit or unit_of(lines[0])
    scale, decimals = _asked(unit, structure, form.decimals)
    names = {f"line{index}": _name(line, structure) for index, line in enumerate(lines)}
    before = str(int(year) - 1)
    text = form.text.format(
        company=structure.company, year=year, before=before, scale=_scale_words(unit, scale), **names
    )
    return Question(
        form.family,
        form.name,
        text,
        form.program,
        operands,
        unit,
        scale,
        decimals,
        condition,
        form.wrong,
    )


def _asked(unit: str, structure: Structure, decimals: int) -> tuple[Fraction, int]:
    match unit:
        case "currency":
            return Fraction(structure.scale), decimals
        case "shares":
            return Fraction(structure.shares_scale), decimals
        case "count":
            return Fraction(1), 0
        case "percent":
            return Fraction(1, 100), max(decimals, 1)
        case _:
            return Fraction(1), max(decimals, 2)


def _scale_words(unit: str, scale: Fraction) -> str:
    words = {1_000: "thousands", 1_000_000: "millions"}.get(int(scale), "units")
    return {
        "currency": f"in {words} of dollars",
        "shares": f"in {words}",
        "currency/share": "in dollars",
        "count": "as a whole number",
    }.get(unit, "")


def _name(line: str, structure: Structure) -> str:
    """A line in the middle of a sentence."""
    label = structure.label(line)
    if line.startswith("segment_revenue."):
        return f"revenue of the segment {label}"
    plain = _ASIDE.sub("", label).removesuffix(", net")
    return plain[:1].lower() + plain[1:]


@functools.lru_cache(maxsize=32)
def _shown(structure: Structure) -> Mapping[Fact, tuple[Cell, ...]]:
    """Fact -> the cells that show it; kept for a while, since a filing is asked about more than once."""
    shown: dict[Fact, tuple[Cell, ...]] = {}
    for cell in cells_by_address(lay_out(structure)).values():
        shown[cell.fact] = (*shown.get(cell.fact, ()), cell)
    return shown


def _reading(fact: Fact, shown: Mapping[Fact, Sequence[Cell]], ledger: Ledger) -> Fraction:
    """A fact as the filing shows it, with the sign of the books."""
    if fact not in shown:
        raise TaskError(f"the filing of {ledger.structure.company} does not show {fact}")
    cell = shown[fact][0]
    return cell.sign * cell.value(ledger)


def _is_fit(question: Question, shown: Mapping[Fact, Sequence[Cell]], ledger: Ledger) -> bool:
    """Whether the answer can be worked out, and neither a mistake nor another display of a fact decides about it."""
    operands = [_reading(fact, shown, ledger) for fact in question.operands]
    if question.condition and read_expression(question.condition).value(operands) is not True:
        return False  # a tie
    if question.family == "derive" and not all(operands):
        return False
    if question.form in ("growth", "margin", "share", "turnover") and operands[1] <= 0:
        return False  # a percentage of a loss means nothing
    gold = work_out(question.program, operands)
    for number, fact in enumerate(question.operands):
        for cell in shown[fact]:
            other = [*operands[:number], cell.sign * cell.value(ledger), *operands[number + 1 :]]
            if displayed(work_out(question.program, other), question.scale, question.decimals) != displayed(
                gold, question.scale, question.decimals
            ):
                return False
    mistakes = _distractors(question, gold, shown, ledger)
    return all(abs(mistake - gold) > question.half_unit for _, mistake in mistakes)


def _distractors(
    question: Question, gold: Fraction, shown: Mapping[Fact, Sequence[Cell]], ledger: Ledger
) -> list[tuple[str, Fraction]]:
    operands = [_reading(fact, shown, ledger) for fact in question.operands]
    found = [(label, work_out(program, operands)) for label, program in question.wrong.items()]
    for years in (-1, 1):
        moved = [fact._replace(period=str(int(fact.period) + years)) for fact in question.operands]
        if all(fact in shown for fact in moved):
            found.append(
                ("wrong_period", work_out(question.program, [_reading(fact, shown, ledger) for fact in moved]))
            )
    if gold:
        found.append(("sign", -gold))
        powers = (2, -2) if question.unit in ("percent", "multiple") else (3, -3)
        found += [(f"scale_10^{power}", gold * Fraction(10) ** power) for power in powers]
    return found
