"""Scripted players of the finance domain: the oracle, ones that are half right, that do nothing, that guess."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from string import ascii_lowercase
from typing import Any, Final

import numpy as np

from workgym.envs.domain import ScriptedPlayer
from workgym.envs.env import WorkEnv
from workgym.envs.finance.brief import name_columns
from workgym.envs.finance.document import Document, TableCell, TableRow
from workgym.envs.finance.session import documents_of
from workgym.envs.playing import chance, check_rate, say
from workgym.tasks.finance.case import Case, case_of
from workgym.tasks.finance.expression import read_expression
from workgym.tasks.finance.questions import Question
from workgym.tasks.finance.statements import Cell, displayed
from workgym.tasks.task import Task

__all__ = [
    "PLAYERS", "call", "cells_for", "erring_oracle", "is_brief", "noop", "oracle", "random_guess", "steps",
    "value_alone", "write_number", "written_gold",
]  # fmt: skip

_CELL: Final = re.compile(r"c([1-9])")
_COLUMN: Final = re.compile(r"(?<=\b[a-z])[0-9]{4}[a-z]\b")
"""Of a cell, in the expressions of small models."""


def oracle(observation: str, info: Mapping[str, Any], env: WorkEnv) -> str:
    """Search, open the page, read the tables, reckon where there is something to reckon, and submit with evidence."""
    brief = is_brief(env.task)
    plan = _brief_steps(env) if brief else steps(env.task)
    turn = min(int(info["turn"]), len(plan) - 1)
    if brief and turn == len(plan) - 1 and observation.startswith("error: "):
        turn -= 1  # an action was spoiled: reckon again
    return plan[turn]


def noop(observation: str, info: Mapping[str, Any], env: WorkEnv) -> str:
    """Give up at once, without looking; where nobody can give up, submit 0."""
    return say(env, "submit", "0") if is_brief(env.task) else call("give_up", reason="not_reported", citations=[])


def random_guess(observation: str, info: Mapping[str, Any], env: WorkEnv) -> str:
    """Submit a number, the same for the same task, without looking at it."""
    number = str(chance(env, 0, b"guess").integers(1, 100_000))
    return say(env, "submit", number) if is_brief(env.task) else call("submit", value=number)


def value_alone(observation: str, info: Mapping[str, Any], env: WorkEnv) -> str:
    """Submit the right value without showing where it comes from; give up for the right reason without a witness."""
    case = case_of(env.task)
    if case.question is None:
        return call("give_up", reason=case.reason, citations=[])
    value = written_gold(case)
    return say(env, "submit", value) if is_brief(env.task) else call("submit", value=value)


def erring_oracle(rate: float, seed: int = 0) -> ScriptedPlayer:
    """An oracle that misreads at a share of its actions: a digit, or for small models a column.

    Args:
        rate: share of the actions that err, in [0, 1].
        seed: decides, with the task and the turn, where it errs.

    Raises:
        ValueError: the rate is outside [0, 1].
    """
    check_rate(rate)

    def play(observation: str, info: Mapping[str, Any], env: WorkEnv) -> str:
        action = oracle(observation, info, env)
        rng = chance(env, seed, bytes([int(info["turn"])]))
        if rng.random() >= rate:
            return action
        return _misread_column(action, env.task, rng) if is_brief(env.task) else _misread(action, rng)

    return play


def is_brief(task: Task) -> bool:
    """Whether the task is one for small models."""
    return "question" in task.public


def call(name: str, **arguments: Any) -> str:
    """A tool call in the text form."""
    return f"{name} {json.dumps(arguments)}"


def steps(task: Task) -> list[str]:
    """All actions of the oracle, in order."""
    case = case_of(task)
    if case.question is None:
        return _steps_to_give_up(task, case)
    cells = cells_for(case.question, case.reported.cells.values())
    tables = list(dict.fromkeys(cell.address.partition("!")[0] for cell in cells))
    actions = [_search(task)]
    actions.append(call("open_page", doc="d1", page=_document(task).tables[tables[0]].page))
    actions += [call("get_table", doc="d1", table=table) for table in tables]
    program = _over_cells(case.question, cells)
    if program != "c1":
        actions.append(f"python {_reckoning(program, cells, case)}")
    cited = [{"cell": cell.address, "quote": _read_cell(task, cell.address).text} for cell in cells]
    return [*actions, call("submit", value=written_gold(case), expression=program, citations=cited)]


def written_gold(case: Case) -> str:
    """The gold as a person would write it: with the decimals that are asked for.

    Raises:
        ValueError: there is no answer.
    """
    if case.question is None or case.gold is None or not isinstance(case.gold.value, int | Fraction):
        raise ValueError("the question has no answer that is a number")
    return write_number(Fraction(case.gold.value), case.question.decimals)


def write_number(value: Fraction, decimals: int) -> str:
    """A number with so many decimals, halves away from 0: "-1234.50"."""
    digits = f"{abs(displayed(value, 1, decimals)) * 10**decimals}".zfill(decimals + 1)
    whole = f"{digits[: len(digits) - decimals]}.{digits[len(digits) - decimals :]}".removesuffix(".")
    return f"-{whole}" if value < 0 and set(digits) != {"0"} else whole


def cells_for(question: Question, shown: Iterable[Cell]) -> list[Cell]:
    """A cell for each operand of the program, from as few tables as they can be taken from."""
    n_operands = max(read_expression(question.program).cells)
    by_fact: dict[object, list[Cell]] = {}
    for cell in shown:
        by_fact.setdefault(cell.fact, []).append(cell)
    chosen: list[Cell] = []
    for fact in question.operands[:n_operands]:
        tables = {cell.address.partition("!")[0] for cell in chosen}
        cells = by_fact[fact]
        chosen.append(next((cell for cell in cells if cell.address.partition("!")[0] in tables), cells[0]))
    return chosen


def _over_cells(question: Question, cells: Sequence[Cell]) -> str:
    """The program over cells as they show their amounts: a cost that stands in parentheses has its sign turned."""
    turned = {number for number, cell in enumerate(cells, 1) if cell.sign < 0}
    return _CELL.sub(lambda match: f"(-c{match[1]})" if int(match[1]) in turned else match[0], question.program)


def _reckoning(program: str, cells: Sequence[Cell], case: Case) -> str:
    """Python that works the program out of what the cells show."""
    amounts = [f"c{number} = {float(cell.value(case.reported.ledger))!r}" for number, cell in enumerate(cells, 1)]
    mean = ["mean = lambda *amounts: sum(amounts) / len(amounts)"] if "mean" in program else []
    return "\n".join([*amounts, *mean, f"print({program})"])


def _steps_to_give_up(task: Task, case: Case) -> list[str]:
    """Look at what shows that there is no answer, cite it, and give up."""
    witness = min(case.witnesses)
    place = witness.partition("!")[0]
    if ":t" in place:
        page = _document(task).tables[place].page
        look = [call("open_page", doc="d1", page=page), call("get_table", doc="d1", table=place)]
    else:
        look = [call("open_page", doc="d1", page=int(place.partition(":p")[2]))]
    cited = [{"cell": witness, "quote": _read_place(task, witness)}]
    return [_search(task), *look, call("give_up", reason=case.reason, citations=cited)]


def _brief_steps(env: WorkEnv) -> list[str]:
    """Read each row, reckon with what stands there, and submit."""
    task, case = env.task, case_of(env.task)
    if case.question is None:
        raise ValueError(f"task {task.id!r} has no answer")
    question, structure = case.question, case.reported.structure
    cells = cells_for(question, case.reported.cells.values())
    lines = list(dict.fromkeys(cell.fact.line for cell in cells))
    actions = [say(env, "get_rows", structure.label(line)) for line in lines]
    names = [f"{ascii_lowercase[lines.index(cell.fact.line)]}{_column_of(task, cell.address)}" for cell in cells]
    program = _CELL.sub(lambda match: names[int(match[1]) - 1], _over_cells(question, cells)).replace(" ", "")
    reckoning = f"round({program}*100,{question.decimals})" if question.unit == "percent" else program
    return [*actions, say(env, "python", reckoning), say(env, "submit", f"= {program}")]


def _search(task: Task) -> str:
    """Search for the words of the question: whether it has an answer is not known before something was read."""
    return call("search", query=task.prompt[:200])


def _document(task: Task) -> Document:
    return documents_of(task)[0]


def _read_cell(task: Task, address: str) -> TableCell:
    return _document(task).tables[address.partition("!")[0]].cells[address]


def _read_place(task: Task, address: str) -> str:
    """What stands in a cell, or in a line."""
    place, _, number = address.partition("!")
    if ":t" in place:
        return _read_cell(task, address).text
    return _document(task).pages[int(place.partition(":p")[2]) - 1].lines[int(number[1:]) - 1]


def _column_of(task: Task, address: str) -> str:
    """What a column of the statement goes by in a small model's expressions."""
    return next(name for name, cell in name_columns(_row_of(task, address)).items() if cell.address == address)


def _row_of(task: Task, address: str) -> TableRow:
    rows = _document(task).tables[address.partition("!")[0]].rows
    return next(row for row in rows if any(cell.address == address for cell in row.cells))


def _misread_column(text: str, task: Task, rng: np.random.Generator) -> str:
    """Take another column for one cell of an action."""
    read = list(_COLUMN.finditer(text))
    if not read:
        return text
    taken = read[int(rng.integers(len(read)))]
    shown = next(iter(case_of(task).reported.cells))
    others = [name for name in name_columns(_row_of(task, shown)) if name != taken[0]]
    return f"{text[: taken.start()]}{others[int(rng.integers(len(others)))]}{text[taken.end() :]}"


def _misread(text: str, rng: np.random.Generator) -> str:
    """Change one digit of an action."""
    digits = list(re.finditer(r"[0-9]", text))
    if not digits:
        return text
    place = digits[int(rng.integers(len(digits)))].start()
    return f"{text[:place]}{(int(text[place]) + int(rng.integers(1, 10))) % 10}{text[place + 1 :]}"


PLAYERS: Final[Mapping[str, ScriptedPlayer]] = {
    "oracle": oracle,
    "noop": noop,
    "random": random_guess,
    "half-right": erring_oracle(0.3),
    "value-alone": value_alone,
}
