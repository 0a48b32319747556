"""The hidden side of a task: the books behind its filing, and what was asked of them.

In `Task.hidden` it stands as JSON types: seeds, the program with its operands, the gold with what mistakes would give;
or the reason why there is no answer, with what shows it. From these a judge makes a `Case` again.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from workgym.tasks.errors import ActionError, TaskError
from workgym.tasks.finance.answer import AnswerSpec, Gold
from workgym.tasks.finance.expression import read_expression
from workgym.tasks.finance.filing import Filing, plan_filing
from workgym.tasks.finance.ledger import Ledger, draw_ledger
from workgym.tasks.finance.questions import Question, distractors, gold_of
from workgym.tasks.finance.statements import Cell, cells_by_address
from workgym.tasks.finance.structure import Structure, draw_structure
from workgym.tasks.finance.terms import Fact
from workgym.tasks.finance.units import SCALES
from workgym.tasks.task import Task

__all__ = ["Case", "Reported", "case_of", "gold_for", "hide_gap", "hide_question", "report", "spec_for", "spec_of"]

_UNITS: Final = {"currency": "USD", "currency/share": "USD/share"}
_MOST_DECIMALS: Final = 12
_SCALES: Final = {size: name for name, size in SCALES.items()}


@dataclass(frozen=True, slots=True)
class Reported:
    """A company's filing with its books.

    Attributes:
        level: decides, with the seeds, what the filing shows.
        filing: everything of it but amounts.
        ledger: the amounts.
        cells: address -> cell, of those that show an amount.
    """

    level: int
    filing: Filing
    ledger: Ledger
    cells: Mapping[str, Cell]

    @property
    def structure(self) -> Structure:
        """The company."""
        return self.ledger.structure

    def to_hidden(self) -> dict[str, Any]:
        """What `case_of` makes it from again."""
        return {
            "level": self.level,
            "structure_seed": self.structure.seed,
            "value_seed": self.ledger.value_seed,
            "blanks": sorted(map(str, self.structure.blanks)),
        }


@dataclass(frozen=True, slots=True)
class Case:
    """What decides a task.

    Attributes:
        reported: the filing and its books.
        question: what was asked; None where there is no answer.
        gold: the answer; None where there is none.
        reason: why there is no answer; "" where there is one.
        witnesses: addresses of cells and lines of which each shows that there is none.
    """

    reported: Reported
    question: Question | None = None
    gold: Gold | None = None
    reason: str = ""
    witnesses: frozenset[str] = frozenset()


@functools.lru_cache(maxsize=64)
def report(structure_seed: int, value_seed: int, level: int, blanks: frozenset[Fact] | None = None) -> Reported:
    """Make a filing and its books; kept for a while, since many episodes of one task are judged.

    Args:
        structure_seed: decides the company and the layout.
        value_seed: decides the amounts.
        level: decides what the filing shows.
        blanks: facts whose cells are left blank; None for those of the structure, for every large filing has some.
    """
    structure = draw_structure(structure_seed).at_level(level)
    if blanks is not None:
        structure = replace(structure, blanks=blanks)
    filing = plan_filing(structure, level)
    return Reported(level, filing, draw_ledger(structure, value_seed), cells_by_address(filing.tables))


def spec_for(question: Question) -> AnswerSpec:
    """In which type the answer of a question is wanted."""
    unit = _UNITS.get(question.unit, question.unit)
    n_operands = len(read_expression(question.program).cells)
    return AnswerSpec(
        kind="count" if unit == "count" else "number",
        unit=unit,
        scale=_SCALES[int(question.scale)] if question.unit in ("currency", "shares") else "units",
        decimals=question.decimals,
        citation_budget=2 * n_operands + 2,
    )


def gold_for(question: Question, ledger: Ledger) -> Gold:
    """The answer of a question and what mistakes would give, in the unit and scale that are asked for.

    Raises:
        ActionError: its program divides by zero.
        TaskError: the filing does not show an operand.
    """
    mistakes = tuple((label, value / question.scale) for label, value in distractors(question, ledger))
    return Gold(gold_of(question, ledger) / question.scale, distractors=mistakes)


def hide_question(reported: Reported, question: Question) -> dict[str, Any]:
    """The hidden part of a task that has an answer."""
    return {
        **reported.to_hidden(),
        "question": {
            "family": question.family,
            "form": question.form,
            "program": question.program,
            "operands": [str(fact) for fact in question.operands],
            "unit": question.unit,
            "scale": str(question.scale),
            "decimals": question.decimals,
            "condition": question.condition,
        },
        "gold": gold_for(question, reported.ledger).to_hidden(),
    }


def hide_gap(reported: Reported, reason: str, witnesses: frozenset[str]) -> dict[str, Any]:
    """The hidden part of a task that has no answer."""
    return {**reported.to_hidden(), "reason": reason, "witnesses": sorted(witnesses)}


def spec_of(task: Task) -> AnswerSpec:
    """The type in which the answer of a task is wanted.

    Raises:
        TaskError: its public part has none that can be read.
    """
    try:
        return AnswerSpec.from_public(task.public["answer"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise TaskError(f"the public part of task {task.id!r} holds no type of answer: {error!r}") from error


def case_of(task: Task) -> Case:
    """Make the hidden side of a task again.

    Raises:
        TaskError: its hidden part is not that of a finance task, or its parts do not go together.
    """
    hidden = task.hidden
    spec = spec_of(task)
    try:
        blanks = frozenset(map(_fact, hidden["blanks"]))
        reported = report(hidden["structure_seed"], hidden["value_seed"], hidden["level"], blanks)
        if "question" not in hidden:
            return Case(reported, reason=hidden["reason"], witnesses=frozenset(hidden["witnesses"]))
        question = _question(task.prompt, hidden["question"])
        gold = Gold.from_hidden(hidden["gold"], spec)
        worked_out = gold_of(question, reported.ledger) / question.scale
    except (KeyError, TypeError, AttributeError, ValueError, ArithmeticError, ActionError) as error:
        raise TaskError(f"the hidden part of task {task.id!r} is not that of a finance task: {error!r}") from error
    if worked_out != gold.value:
        raise TaskError(
            f"the gold of task {task.id!r} is {gold.value}, and its program gives {worked_out} of the books of its "
            "seeds: it was made by another version, or changed"
        )
    return Case(reported, question, gold)


def _fact(written: str) -> Fact:
    line, _, period = written.partition("@")
    return Fact(line, period)


def _question(text: str, hidden: Mapping[str, Any]) -> Question:
    decimals, condition = hidden["decimals"], hidden["condition"]
    if type(decimals) is not int or not 0 <= decimals <= _MOST_DECIMALS:
        raise ValueError(f"decimals {decimals!r} are not from 0 to {_MOST_DECIMALS}")
    if condition != "":
        read_expression(condition)
    return Question(
        hidden["family"],
        hidden["form"],
        text,
        hidden["program"],
        tuple(map(_fact, hidden["operands"])),
        hidden["unit"],
        Fraction(hidden["scale"]),
        decimals,
        condition,
    )
