"""Blind players: what can be had without reading the question, the filing or either. Each stays below a stated bound.

    python -m workgym.envs.finance.controls --tasks 500

The bounds are shares of tasks that succeed. A control knows nothing that an agent does not: it looks at the prompt and
at what the tools show.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from workgym.envs.domain import ScriptedPlayer
from workgym.envs.env import WorkEnv
from workgym.envs.finance.document import Document, Table, TableCell
from workgym.envs.finance.policies import call
from workgym.envs.finance.session import documents_of
from workgym.envs.playing import chance
from workgym.tasks.finance.wording import REASONS

__all__ = ["CONTROLS", "Control", "Outcome", "measure"]

_YEAR: Final = re.compile(r"(?:19|20)[0-9]{2}")
_UNIT_SCALES: Final = {"thousands": 3, "millions": 6}


@dataclass(frozen=True, slots=True)
class Control:
    """A blind player and the share of tasks at which it may succeed.

    Attributes:
        play: the player.
        bounds: level -> share.
    """

    play: ScriptedPlayer
    bounds: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a control came to.

    Attributes:
        name: of the control.
        level: of the tasks.
        n_tasks: how many there were.
        success: share that succeeded.
        reward: mean.
        bound: what the share may be.
    """

    name: str
    level: int
    n_tasks: int
    success: float
    reward: float
    bound: float


def closed_book(observation: str, info: Mapping[str, Any], env: WorkEnv) -> str:
    """Answer from the question alone: a number of a likely size."""
    rng = chance(env, 0, b"closed")
    spec = env.task.public["answer"]
    size = 10 ** rng.uniform(1, 5) if spec.get("unit") in ("USD", "shares", "count") else rng.uniform(0, 100)
    return call("submit", value=f"{size:.{spec.get('decimals', 0)}f}", expression="", citations=[])


def copy_a_cell(observation: str, info: Mapping[str, Any], env: WorkEnv) -> str:
    """Open some table, and submit some cell of it with the cell as evidence."""
    rng = chance(env, 0, b"copy")
    tables = _with_amounts(_document(env))
    table = tables[int(rng.integers(len(tables)))]
    return _after_reading(info, [table], lambda: _submit_cells(env, [_any(_amounts(table), rng)], "c1"))


def first_table(observation: str, info: Mapping[str, Any], env: WorkEnv) -> str:
    """Open the first table with amounts, and submit some cell of the year that the question names."""
    rng = chance(env, 0, b"first")
    table = _with_amounts(_document(env))[0]
    years = set(_YEAR.findall(env.task.prompt))
    cells = [cell for cell in _amounts(table) if cell.period in years] or _amounts(table)
    return _after_reading(info, [table], lambda: _submit_cells(env, [_any(cells, rng)], "c1"))


def random_program(observation: str, info: Mapping[str, Any], env: WorkEnv) -> str:
    """Open some table, and submit what some program gives over two of its cells."""
    rng = chance(env, 0, b"program")
    tables = _with_amounts(_document(env))
    table = tables[int(rng.integers(len(tables)))]
    cells = [_any(_amounts(table), rng), _any(_amounts(table), rng)]
    program = _any(("c1 - c2", "c1 + c2", "c1 / c2", "(c1 - c2) / c2", "mean(c1, c2)"), rng)
    return _after_reading(info, [table], lambda: _submit_cells(env, cells, program))


def cite_all(observation: str, info: Mapping[str, Any], env: WorkEnv) -> str:
    """Open the first table with amounts, and submit some cell of it while citing all."""
    table = _with_amounts(_document(env))[0]
    cells = _amounts(table)
    first = int(chance(env, 0, b"all").integers(len(cells)))
    ordered = [cells[first], *cells[:first], *cells[first + 1 :]]
    return _after_reading(info, [table], lambda: _submit_cells(env, ordered, "c1"))


def always_give_up(observation: str, info: Mapping[str, Any], env: WorkEnv) -> str:
    """Give up at once, citing the first line of the first page."""
    return call("give_up", reason="not_reported", citations=[{"cell": "d1:p1!l1", "quote": "Form 10-K"}])


def read_and_give_up(observation: str, info: Mapping[str, Any], env: WorkEnv) -> str:
    """Open the table in which something is blank, and give up because of it; else because of the first heading."""
    document = _document(env)
    blanks = [cell for table in document.tables.values() for cell in table.cells.values() if cell.kind == "blank"]
    tables = [table for table in document.tables.values() if any(cell.address in table.cells for cell in blanks[:1])]
    tables = tables or _with_amounts(document)[:1]
    cited = blanks[:1] or list(tables[0].cells.values())[:1]
    reason = "not_reported" if blanks else "outside_period"
    citations = [{"cell": cell.address, "quote": cell.text} for cell in cited]
    return _after_reading(info, tables, lambda: call("give_up", reason=reason, citations=citations))


def _blind(bound: float, above: float) -> dict[int, float]:
    return {1: bound, 2: above}


_GAPS: Final = {1: 0.0, 2: 0.16 / len(REASONS)}
"""Twice what chance gives of the 8 percent that have no answer: 500 tasks hold 40 of them, give or take six."""

CONTROLS: Final[Mapping[str, Control]] = {
    "closed-book": Control(closed_book, _blind(0.005, 0.005)),
    "copy-a-cell": Control(copy_a_cell, _blind(0.03, 0.01)),
    "first-table": Control(first_table, _blind(0.03, 0.01)),
    "random-program": Control(random_program, _blind(0.01, 0.01)),
    "cite-all": Control(cite_all, _blind(0.0, 0.0)),
    "always-give-up": Control(always_give_up, _GAPS),
    "read-and-give-up": Control(read_and_give_up, _GAPS),
}
"""Name -> control."""


def measure(name: str, level: int, n_tasks: int, make: Callable[..., WorkEnv]) -> Outcome:
    """Play a control on tasks of the test split.

    Args:
        name: of the control.
        level: of the tasks.
        n_tasks: how many, at least 1.
        make: makes the environment.

    Raises:
        KeyError: there is no such control.
    """
    control = CONTROLS[name]
    env = make(level=level, split="test")
    rewards, successes = [], 0
    try:
        for seed in range(n_tasks):
            observation, info = env.reset(seed=seed)
            terminated = truncated = False
            while not (terminated or truncated):
                action = control.play(observation, info, env)
                observation, reward, terminated, truncated, info = env.step(action)
            rewards.append(float(reward))
            successes += bool(info["is_success"])
    finally:
        env.close()
    return Outcome(name, level, n_tasks, successes / n_tasks, float(np.mean(rewards)), control.bounds[level])


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure all controls and print a table; returns 1 where one is above its bound."""
    from workgym.envs.finance.env import make

    parser = argparse.ArgumentParser(prog="python -m workgym.envs.finance.controls", description=__doc__)
    parser.add_argument("--tasks", type=int, default=500, help="tasks of each level")
    parser.add_argument("--levels", type=int, nargs="+", default=[1, 2])
    chosen = parser.parse_args(arguments)
    print("| control | level | tasks | success | bound | mean reward |\n|---|---|---|---|---|---|")
    above = 0
    for name in CONTROLS:
        for level in chosen.levels:
            found = measure(name, level, chosen.tasks, make)
            above += found.success > found.bound
            row = f"{found.success:.3f} | {found.bound:.3f} | {found.reward:.4f}"
            print(f"| {name} | {level} | {found.n_tasks} | {row} |", flush=True)
    return int(above > 0)


def _document(env: WorkEnv) -> Document:
    return documents_of(env.task)[0]


def _with_amounts(document: Document) -> list[Table]:
    return [table for table in document.tables.values() if _amounts(table)]


def _amounts(table: Table) -> list[TableCell]:
    return [cell for cell in table.cells.values() if cell.kind == "amount"]


def _any(choices: Sequence[Any], rng: np.random.Generator) -> Any:
    return choices[int(rng.integers(len(choices)))]


def _after_reading(info: Mapping[str, Any], tables: Sequence[Table], last: Callable[[], str]) -> str:
    """Read the tables, one a turn, then do the last thing."""
    turn = int(info["turn"])
    return call("get_table", doc="d1", table=tables[turn].address) if turn < len(tables) else last()


def _submit_cells(env: WorkEnv, cells: Sequence[TableCell], program: str) -> str:
    """Submit what a program gives over cells, as the answer spec asks for it."""
    spec = env.task.public["answer"]
    amounts = [float(cell.value or 0) * float(cell.scale) for cell in cells]
    value = _work_out(program, amounts)
    value /= 10 ** _UNIT_SCALES.get(spec.get("scale", ""), 0)
    value *= 100 if spec.get("unit") == "percent" and "/" in program else 1
    value *= 100 if spec.get("unit") == "percent" and program == "c1" and cells[0].unit == "percent" else 1
    citations = [{"cell": cell.address, "quote": cell.text} for cell in cells]
    return call("submit", value=f"{value:.{spec.get('decimals', 0)}f}", expression=program, citations=citations)


def _work_out(program: str, amounts: Sequence[float]) -> float:
    first, second = amounts[0], amounts[1] if len(amounts) > 1 else 1.0
    divisor = second or 1.0
    return {
        "c1": first,
        "c1 - c2": first - second,
        "c1 + c2": first + second,
        "c1 / c2": first / divisor,
        "(c1 - c2) / c2": (first - second) / divisor,
        "mean(c1, c2)": (first + second) / 2,
    }[program]


if __name__ == "__main__":
    raise SystemExit(main())
