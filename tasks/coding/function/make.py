"""Makes the tasks of family `function`: a function is drawn, tried, shown at a few inputs and judged at others."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from workgym.tasks.coding.function.inputs import draw_input
from workgym.tasks.coding.function.operation import Kind, Operation
from workgym.tasks.coding.function.program import KINDS, Program, Raised, draw_guard, draw_steps
from workgym.tasks.coding.function.sequence import draw_sequence

__all__ = ["Case", "Exercise", "draw_exercise", "show_call"]

_N_PUBLIC: Final = 3
_N_PAID: Final = (5, 8)
_N_INPUTS: Final = 32
_N_FIRST_INPUTS: Final = 12
"""After which a function that gave next to nothing is given up."""

_N_UNPAID: Final = 3
_MAX_SHOWN_CHARS: Final = 90
_N_TRIES: Final = 12

_CONSTANTS: Final[tuple[Any, ...]] = (None, 0, 1, -1, "", [], {}, True, False)
_TRIVIAL: Final = frozenset(json.dumps(value) for value in _CONSTANTS)
"""Values that a function gives which does nothing."""

_FUNCTION_NAMES: Final = ("solve", "compute", "process", "transform", "convert", "apply", "run", "work", "answer")
_ARGUMENT_NAMES: Final[dict[Kind, tuple[str, ...]]] = {
    "number": ("number", "value", "num"),
    "numbers": ("nums", "numbers", "values"),
    "text": ("text", "line", "string"),
    "words": ("words", "names", "items"),
    "table": ("table", "counts", "scores"),
}
_FRAMES: Final = (
    "Write a Python function `{call}`. `{argument}` is {kind}. {Steps}. Return the result.",
    "Define `{call}` in Python, where `{argument}` is {kind}: {steps}, and return the result.",
    "In Python, `{call}` takes {kind} and returns what this gives: {steps}.",
)
"""Around the steps; the last is kept for the test split."""


@dataclass(frozen=True, slots=True)
class Case:
    """An input at which a function is shown or judged.

    Attributes:
        args: the arguments.
        value: what it gives there; a `Raised` where it raises.
        paid: no function that does nothing has this value there, so it earns reward.
    """

    args: tuple[Any, ...]
    value: Any
    paid: bool = False

    def as_json(self) -> dict[str, Any]:
        """As a task holds it."""
        wanted = {"raises": self.value.name} if isinstance(self.value, Raised) else {"value": self.value}
        return {"args": list(self.args), **wanted, "paid": self.paid}


@dataclass(frozen=True, slots=True)
class Exercise:
    """A function to write, with its words and its inputs.

    Attributes:
        prompt: what to write, in words, without examples.
        entry_point: name of the function.
        reference: Python that is right.
        identity: what makes the function the same as another, of JSON types.
        shown: cases that the agent sees.
        hidden: cases that judge; no input of them is shown.
    """

    prompt: str
    entry_point: str
    reference: str
    identity: list[Any]
    shown: tuple[Case, ...]
    hidden: tuple[Case, ...]


def draw_exercise(level: int, rng: np.random.Generator, split: str) -> Exercise:
    """Draw a function of a level, of those that belong to a split.

    Args:
        level: 1 to 4.
        rng: the only source of randomness.
        split: "train", "validation" or "test".
    """
    while True:
        sequence = draw_sequence(level, rng, split)
        for _ in range(_N_TRIES):
            program = _drawn(sequence, level, rng)
            cases = _cases(program, level, rng) if program is not None else None
            if program is not None and cases is not None:
                return _worded(program, *cases, rng, split)


def show_call(entry_point: str, args: Iterable[Any]) -> str:
    """A call as Python, in one line."""
    return f"{entry_point}({', '.join(json.dumps(value) for value in args)})"


def _drawn(sequence: Sequence[Operation], level: int, rng: np.random.Generator) -> Program | None:
    """A function of these operations, from level 2 on with an edge rule, unless one of its steps states one."""
    program = Program(draw_steps(sequence, rng, total=level > 1))
    if level == 1 or any(step.total for step in program.steps):
        return program
    guard = draw_guard(program, draw_input(program.first, rng), rng)
    return Program(program.steps, guard) if guard is not None else None


def _cases(program: Program, level: int, rng: np.random.Generator) -> tuple[list[Case], list[Case]] | None:
    """Choose cases to show and cases to judge by; None where the function is too trivial or has a step too many."""
    known = set(_TRIVIAL)
    asked: set[str] = set()
    shown: list[Case] = []
    paid: list[Case] = []
    rest: list[Case] = []
    for number in range(_N_INPUTS):
        if len(shown) == _N_PUBLIC and len(paid) == _N_PAID[1]:
            break
        if number == _N_FIRST_INPUTS and len(shown) + len(paid) < _N_PUBLIC:
            return None
        argument = draw_input(program.first, rng)
        question = json.dumps(argument)
        value = None if question in asked else _value(program, argument)
        asked.add(question)
        if value is None:
            continue
        answer = json.dumps(value)
        if answer in known or answer == question:
            rest.append(Case((argument,), value))
        elif len(shown) < _N_PUBLIC and len(answer) + len(question) <= _MAX_SHOWN_CHARS:
            shown.append(Case((argument,), value))
            known.add(answer)
        elif len(paid) < _N_PAID[1]:
            paid.append(Case((argument,), value, paid=True))
            known.add(answer)
    if len(shown) < _N_PUBLIC or len(paid) < _N_PAID[0] or not _is_normal(program, [*shown, *paid]):
        return None
    edges = [] if program.guard is None else [Case((x,), program.guard.instead) for x in program.guard.triggers]
    return shown, [*paid, *edges, *(rest[:_N_UNPAID] if level > 1 else [])]


def _value(program: Program, argument: Any) -> Any:
    """What a function gives; None where it is not defined."""
    try:
        return program.run(argument)
    except (ValueError, IndexError):
        return None


def _is_normal(program: Program, cases: Sequence[Case]) -> bool:
    """Whether each step makes a difference, and no two neighbors stand in the wrong one of two equal orders."""
    steps = program.steps
    for number, step in enumerate(steps):
        operation = step.operation
        if len(steps) > 1 and operation.takes == operation.gives and _same(program, cases, skip=number):
            return False
        after = steps[number + 1] if number + 1 < len(steps) else None
        if after is None or not operation.takes == operation.gives == after.operation.takes == after.operation.gives:
            continue
        swapped = Program((*steps[:number], after, step, *steps[number + 2 :]), program.guard)
        if after.operation.name < operation.name and _same(swapped, cases):
            return False
    return True


def _same(program: Program, cases: Sequence[Case], skip: int = -1) -> bool:
    try:
        return all(program.run(case.args[0], skip=skip) == case.value for case in cases)
    except (ValueError, IndexError):
        return False


def _worded(program: Program, shown: list[Case], hidden: list[Case], rng: np.random.Generator, split: str) -> Exercise:
    """Give it names and words; some words are kept for the test split."""
    kept = 0 if split == "test" else 1
    takes = program.first.takes
    name = _FUNCTION_NAMES[int(rng.integers(len(_FUNCTION_NAMES)))]
    argument = _ARGUMENT_NAMES[takes][int(rng.integers(len(_ARGUMENT_NAMES[takes])))]
    variants = [int(rng.integers(len(step.operation.texts) - kept)) for step in program.steps]
    frame = _FRAMES[int(rng.integers(len(_FRAMES) - kept))]
    steps, rule = program.describe(argument, variants)
    prompt = frame.format(
        call=f"{name}({argument})",
        argument=argument,
        kind=KINDS[takes],
        steps=steps,
        Steps=steps[0].upper() + steps[1:],
    )
    return Exercise(
        f"{prompt} {rule}".rstrip(),
        name,
        program.write(name, argument),
        program.identity(),
        tuple(shown),
        tuple(hidden),
    )
