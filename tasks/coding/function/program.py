"""A function to write: its steps, its edge rule, its words and its code."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from workgym.tasks.coding.function.inputs import EMPTY
from workgym.tasks.coding.function.operation import Kind, Operation, Step, compute, name_of

__all__ = ["KINDS", "Guard", "Program", "Raised", "draw_guard", "draw_steps"]

KINDS: Final[Mapping[Kind, str]] = {
    "number": "a positive integer",
    "numbers": "a list of integers",
    "text": "a string",
    "words": "a list of strings",
    "table": "a dictionary from strings to integers",
}
"""What a value of each kind is called in a prompt."""

_ITEMS: Final[Mapping[Kind, str]] = {"numbers": "numbers", "text": "characters", "words": "words", "table": "entries"}

_INSTEAD: Final[Mapping[Kind, tuple[Any, ...]]] = {
    "number": (0, -1, 100, 999),
    "numbers": ([], [0], [-1]),
    "text": ("", "none", "empty", "?"),
    "words": ([], ["none"]),
    "table": ({}, {"none": 0}),
}
"""What an edge rule may give, by the kind of the result."""


@dataclass(frozen=True, slots=True)
class Raised:
    """Stands for a value where a function raises.

    Attributes:
        name: of the class of the exception.
    """

    name: str


_EXCEPTIONS: Final = tuple(Raised(name) for name in ("ValueError", "TypeError", "KeyError", "IndexError"))


@dataclass(frozen=True, slots=True)
class Guard:
    """An edge rule: for some arguments the function does something else.

    Attributes:
        condition: when, in words, with `{x}` for the argument.
        code: when, as a Python expression.
        instead: the value that is given, or what is raised.
        triggers: arguments to which it applies.
    """

    condition: str
    code: str
    instead: Any
    triggers: tuple[Any, ...]

    def applies(self, argument: Any) -> bool:
        """Whether it applies to an argument."""
        return bool(compute(self.code)(argument))


@dataclass(frozen=True, slots=True)
class Program:
    """A function, whatever it is called.

    Attributes:
        steps: what it does, in order.
        guard: its edge rule, before all steps; None if it has none.
    """

    steps: tuple[Step, ...]
    guard: Guard | None = None

    @property
    def first(self) -> Operation:
        """The operation that reads the argument."""
        return self.steps[0].operation

    def run(self, argument: Any, *, skip: int = -1) -> Any:
        """Its value.

        Args:
            argument: of the kind that the first step takes.
            skip: number of a step to leave out.

        Returns:
            The value, or a `Raised` where the guard says so.

        Raises:
            ValueError, IndexError: it is not defined there.
        """
        if self.guard is not None and self.guard.applies(argument):
            return self.guard.instead
        for number, step in enumerate(self.steps):
            if number != skip:
                argument = step.run(argument)
        return argument

    def identity(self) -> list[Any]:
        """What makes it the same function as another, of JSON types."""
        guard = self.guard
        rule = [] if guard is None else [guard.code, repr(guard.instead)]
        return [[[step.operation.name, step.total, step.params] for step in self.steps], rule]

    def describe(self, argument: str, variants: Sequence[int]) -> tuple[str, str]:
        """Say what it does.

        Args:
            argument: name of the argument.
            variants: which text of each step.

        Returns:
            The steps, as orders in one sentence without its stop; and the edge rule, a sentence or "".
        """
        steps = [step.text(variant) for step, variant in zip(self.steps, variants, strict=True)]
        return ", then ".join(steps), self.rule(argument)

    def rule(self, argument: str) -> str:
        """Say its edge rule; "" if there is none."""
        guard = self.guard
        if guard is None:
            return ""
        instead = guard.instead
        does = f"raise {instead.name}" if isinstance(instead, Raised) else f"return {json.dumps(instead)}"
        return f"If {guard.condition.replace('{x}', f'`{argument}`')}, {does}."

    def write(self, name: str, argument: str) -> str:
        """Its Python source.

        Args:
            name: of the function.
            argument: name of its argument.
        """
        lines = self._rule_lines(argument)
        current = argument
        for number, step in enumerate(self.steps):
            operation = step.operation
            own = argument if operation.gives == self.first.takes else name_of(operation.gives)
            last = number == len(self.steps) - 1
            if "\n" in step.code:
                if current == "out":
                    current = argument if operation.takes == self.first.takes else name_of(operation.takes)
                    lines.append(f"{current} = out")
                lines += step.code.replace("{x}", current).split("\n")
                if last and lines[-1].startswith("out = "):
                    lines[-1] = lines[-1].replace("out = ", "return ", 1)
                elif last:
                    lines.append("return out")
                current = "out"
            else:
                value = step.code.replace("{x}", current)
                lines.append(f"return {value}" if last else f"{own} = {value}")
                current = own
        return "\n    ".join([f"def {name}({argument}):", *lines]) + "\n"

    def _rule_lines(self, argument: str) -> list[str]:
        guard = self.guard
        if guard is None:
            return []
        instead = guard.instead
        does = f"raise {instead.name}" if isinstance(instead, Raised) else f"return {json.dumps(instead)}"
        return [f"if {guard.code.replace('{x}', argument)}:", f"    {does}"]


def draw_steps(sequence: Sequence[Operation], rng: np.random.Generator, *, total: bool) -> tuple[Step, ...]:
    """Draw the parameters of each operation.

    Args:
        sequence: the operations.
        rng: the only source of randomness.
        total: take the form that says what happens where the plain one fails.
    """
    steps = []
    for operation in sequence:
        letters = Step(operation, (), total).letters
        drawn = {
            letter: values[int(rng.integers(len(values)))]
            for letter, values in operation.params.items()
            if letter in letters
        }
        steps.append(Step(operation, tuple(drawn.items()), total and bool(operation.edge)))
    return tuple(steps)


def draw_guard(program: Program, example: Any, rng: np.random.Generator, *, raises: bool = False) -> Guard | None:
    """Draw an edge rule that makes a difference.

    Args:
        program: without a rule.
        example: an argument to which the rule does not apply.
        rng: the only source of randomness.
        raises: the rule is about an exception.

    Returns:
        None where what was drawn makes none.
    """
    takes = program.first.takes
    condition, code, triggers = _draw_condition(takes, example, rng, broken=raises and bool(rng.random() < 0.5))
    choices = _EXCEPTIONS if raises else _INSTEAD[program.steps[-1].operation.gives]
    instead = choices[int(rng.integers(len(choices)))]
    guard = Guard(condition, code, instead, triggers)
    if guard.applies(example) or not any(_differs(program, trigger, instead) for trigger in triggers):
        return None
    return guard


def _draw_condition(
    takes: Kind, example: Any, rng: np.random.Generator, *, broken: bool
) -> tuple[str, str, tuple[Any, ...]]:
    """When a rule applies, in words and in code, and arguments to which it does.

    The arguments are beginnings of the example, which are too short; or where `broken`, the example with an item that
    does not belong there.
    """
    if takes == "number":
        k = int(rng.integers(3, 13))
        return f"{{x}} is less than {k}", f"{{x}} < {k}", (k - 1, k // 2)
    if broken and takes != "table":
        place = int(rng.integers(len(example) + 1))
        if takes == "text":
            return "{x} contains a digit", "any(c.isdigit() for c in {x})", (f"{example[:place]}7{example[place:]}",)
        item = int(rng.integers(21, 60)) if takes == "numbers" else ""
        said = json.dumps(item)
        return f"{{x}} contains {said}", f"{said} in {{x}}", ([*example[:place], item, *example[place:]],)
    if rng.random() < 0.5:
        return "{x} is empty", "not {x}", (EMPTY[takes],)
    k = int(rng.integers(2, 4))
    triggers = tuple(_beginning(example, length) for length in range(k - 1, -1, -1))
    return f"{{x}} has fewer than {k} {_ITEMS[takes]}", f"len({{x}}) < {k}", triggers


def _differs(program: Program, argument: Any, instead: Any) -> bool:
    try:
        return bool(program.run(argument) != instead)
    except (ValueError, IndexError):
        return True


def _beginning(value: Any, length: int) -> Any:
    return dict(list(value.items())[:length]) if isinstance(value, dict) else value[:length]
