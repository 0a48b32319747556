"""Makes the tasks of family `function`: a function is drawn, tried, shown at a few inputs and judged at others."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from workgym.tasks.coding.function.cases import CONSTANTS, Case, Choice, choose_cases, is_normal
from workgym.tasks.coding.function.inputs import draw_input, draw_large
from workgym.tasks.coding.function.operation import Kind, Operation
from workgym.tasks.coding.function.program import KINDS, Program, draw_guard, draw_steps
from workgym.tasks.coding.function.sequence import draw_sequence

__all__ = ["ARGUMENT_NAMES", "LARGE", "Exercise", "draw_exercise", "large_args", "show_call"]

LARGE: Final = 100_000
"""Items of the input that refuses quadratic time."""

ARGUMENT_NAMES: Final[dict[Kind, tuple[str, ...]]] = {
    "number": ("number", "value", "num"),
    "numbers": ("nums", "numbers", "values"),
    "text": ("text", "line", "string"),
    "words": ("words", "names", "items"),
    "table": ("table", "counts", "scores"),
}
"""What an argument may be called."""

_N_TRIES: Final = {1: 12, 2: 12, 3: 12, 4: 2}
_N_PROBED: Final = 200
_LEAST_LEFT: Final = 0.4
"""Share of a large input that must reach the step which is slow if written without thought."""

_FUNCTION_NAMES: Final = ("solve", "compute", "process", "transform", "convert", "apply", "run", "work", "answer")
_FRAMES: Final = (
    "Write a Python function `{call}`. `{argument}` is {kind}. {Steps}. Return the result.",
    "Define `{call}` in Python, where `{argument}` is {kind}: {steps}, and return the result.",
    "In Python, `{call}` takes {kind} and returns what this gives: {steps}.",
)
"""Around the steps; the last is kept for the test split."""

_FAST: Final = "It must take less than 2 seconds for 100,000 items."


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
        large: what the large input is made from, of JSON types; empty if there is none.
        n_parts: things to get right: functions, steps, an edge rule, speed.
        builder: name of the function whose value is the first argument of the other; "" if there is one function.
    """

    prompt: str
    entry_point: str
    reference: str
    identity: list[Any]
    shown: tuple[Case, ...]
    hidden: tuple[Case, ...]
    large: dict[str, Any]
    n_parts: int
    builder: str = ""


def draw_exercise(level: int, rng: np.random.Generator, split: str) -> Exercise:
    """Draw a function of a level, of those that belong to a split.

    Args:
        level: 1 to 4.
        rng: the only source of randomness.
        split: "train", "validation" or "test".
    """
    while True:
        sequence = draw_sequence(level, rng, split)
        for _ in range(_N_TRIES[level]):
            program = _draw_program(sequence, level, rng)
            choice = _choose(program, level, rng) if program is not None else None
            if program is None or choice is None:
                continue
            large = {"kind": program.first.takes, "seed": int(rng.integers(2**32))} if level == 4 else {}
            if not large or _stays_large(program, large, choice):
                return _worded(program, choice, large, level, rng, split)


def show_call(entry_point: str, args: Iterable[Any]) -> str:
    """A call as Python, in one line."""
    return f"{entry_point}({', '.join(json.dumps(value) for value in args)})"


def large_args(large: dict[str, Any], n_items: int = LARGE) -> tuple[Any, ...]:
    """Make the large input of a function again.

    Args:
        large: as an `Exercise` has it.
        n_items: how many items it has.
    """
    return (draw_large(large["kind"], n_items, np.random.default_rng(large["seed"])),)


def _draw_program(sequence: Sequence[Operation], level: int, rng: np.random.Generator) -> Program | None:
    """A function of these operations, from level 2 on with an edge rule, unless one of its steps states one."""
    program = Program(draw_steps(sequence, rng, total=level > 1))
    if level == 1 or (level < 4 and any(step.total for step in program.steps)):
        return program
    guard = draw_guard(program, draw_input(program.first, rng), rng, raises=level == 4)
    return Program(program.steps, guard) if guard is not None else None


def _choose(program: Program, level: int, rng: np.random.Generator) -> Choice | None:
    patience = 12 if level < 4 else 8
    choice = choose_cases(lambda: (draw_input(program.first, rng),), lambda value: _value(program, value), patience)
    if choice is None:
        return None

    def same(other: Program, skip: int, cases: tuple[Case, ...] = (*choice.shown, *choice.paid)) -> bool:
        return all(_value(other, case.args[0], skip) == case.value for case in cases)

    def changes(number: int) -> bool:
        return not same(program, number, choice.shown) and not same(program, number, choice.paid)

    return choice if is_normal(program, same, changes) else None


def _value(program: Program, argument: Any, skip: int = -1) -> Any:
    """What a function gives; None where it is not defined."""
    try:
        return program.run(argument, skip=skip)
    except (ValueError, IndexError):
        return None


def _stays_large(program: Program, large: dict[str, Any], choice: Choice) -> bool:
    """Whether enough of a large input reaches the step that can be slow, and its value there is none that is known."""
    (value,) = large_args(large, _N_PROBED)
    if program.guard is not None and program.guard.applies(value):
        return False
    left = 0
    for step in program.steps:
        if step.operation.slow:
            left = max(left, len(value))
        try:
            value = step.run(value)
        except (ValueError, IndexError):
            return False
    known = (*CONSTANTS, *(case.value for case in choice.shown))
    return left >= _LEAST_LEFT * _N_PROBED and value not in known


def _worded(
    program: Program, choice: Choice, large: dict[str, Any], level: int, rng: np.random.Generator, split: str
) -> Exercise:
    """Give it names and words; some words are kept for the test split."""
    kept = 0 if split == "test" else 1
    takes = program.first.takes
    name = _FUNCTION_NAMES[int(rng.integers(len(_FUNCTION_NAMES)))]
    argument = ARGUMENT_NAMES[takes][int(rng.integers(len(ARGUMENT_NAMES[takes])))]
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
    guard = program.guard
    edges = () if guard is None else tuple(Case((value,), guard.instead) for value in guard.triggers)
    return Exercise(
        prompt=" ".join(filter(None, (prompt, rule, _FAST if large else ""))),
        entry_point=name,
        reference=program.write(name, argument),
        identity=program.identity(),
        shown=choice.shown,
        hidden=(*choice.paid, *edges, *(choice.rest if level > 1 else ())),
        large=large,
        n_parts=1 + len(program.steps) + (level > 1) + bool(large),
    )
