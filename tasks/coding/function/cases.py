"""Inputs at which a function is shown and judged, chosen so that who does nothing earns nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from workgym.tasks.coding.function.operation import Operation, Step
from workgym.tasks.coding.function.program import Program, Raised
from workgym.tasks.coding.function.sequence import OPERATIONS

__all__ = ["CONSTANTS", "N_PAID", "N_PUBLIC", "Case", "Choice", "choose_cases", "is_normal"]

N_PUBLIC: Final = 3
"""Cases that are shown."""

N_PAID: Final = (5, 8)
"""Cases that earn reward, at least and at most."""

CONSTANTS: Final[tuple[Any, ...]] = (None, 0, 1, -1, "", [], {}, True, False)
"""Values that a function gives which does nothing."""

_BY_NAME: Final = {operation.name: operation for operation in OPERATIONS}

_RIVALS: Final = {
    "bounded-sum": ("running-sum",),
    "by-distance": ("ascending", "descending"),
    "by-remainder": ("ascending",),
    "descending": ("reverse",),
    "by-length": ("alphabetical",),
    "most-common": ("smallest", "largest"),
    "window-max": ("running-max",),
}
"""Names of steps, and of simpler ones that do the same where a parameter or the inputs are so."""

_TRIVIAL: Final = frozenset(repr(value) for value in CONSTANTS)
_N_INPUTS: Final = 32
_N_UNPAID: Final = 3
_MAX_SHOWN_CHARS: Final = 92


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
class Choice:
    """What was chosen.

    Attributes:
        shown: cases that the agent sees.
        paid: hidden cases that earn reward: their values differ from one another, from all that are shown, from what
            is asked, and from what does nothing.
        rest: other cases.
    """

    shown: tuple[Case, ...]
    paid: tuple[Case, ...]
    rest: tuple[Case, ...]


def choose_cases(
    draw: Callable[[], tuple[Any, ...]], value_of: Callable[..., Any], patience: int = 12
) -> Choice | None:
    """Choose cases of a function.

    Args:
        draw: draws arguments.
        value_of: what the function gives; None where it is not defined.
        patience: number of inputs after which a function that gave next to nothing is given up.

    Returns:
        None where the function is too trivial to have enough of them.
    """
    known = set(_TRIVIAL)
    asked: set[str] = set()
    shown: list[Case] = []
    paid: list[Case] = []
    rest: list[Case] = []
    for number in range(_N_INPUTS):
        if len(shown) == N_PUBLIC and len(paid) == N_PAID[1]:
            break
        if number == patience and len(shown) + len(paid) < N_PUBLIC:
            return None
        args = draw()
        question = repr([*args])
        value = None if question in asked else value_of(*args)
        asked.add(question)
        if value is None or isinstance(value, Raised):
            continue
        answer = repr(value)
        if answer in known or any(value == given for given in args):
            rest.append(Case(args, value))
        elif len(shown) < N_PUBLIC and len(answer) + len(question) <= _MAX_SHOWN_CHARS:
            shown.append(Case(args, value))
            known.add(answer)
        elif len(paid) < N_PAID[1]:
            paid.append(Case(args, value, paid=True))
            known.add(answer)
    if len(shown) < N_PUBLIC or len(paid) < N_PAID[0]:
        return None
    return Choice(tuple(shown), tuple(paid), tuple(rest[:_N_UNPAID]))


def is_normal(program: Program, same: Callable[[Program, int], bool], changes: Callable[[int], bool]) -> bool:
    """Whether each step makes a difference, none does what a simpler one would, and no two stand in the wrong order.

    Args:
        program: the function.
        same: whether a program, but for the step of a number (-1 for none), does the same on all cases.
        changes: whether the step of a number makes a difference both to what is shown and to what is paid.
    """
    steps = program.steps
    for number, step in enumerate(steps):
        operation = step.operation
        if len(steps) > 1 and operation.takes == operation.gives and not changes(number):
            return False
        for rival in _RIVALS.get(operation.name, ()):
            plain = Step(_BY_NAME[rival], step.params if _BY_NAME[rival].params else (), step.total)
            if same(Program((*steps[:number], plain, *steps[number + 1 :]), program.guard), -1):
                return False
        after = steps[number + 1 : number + 2]
        if not after or not _can_swap(operation.takes, operation.gives, after[0].operation):
            continue
        swapped = Program((*steps[:number], after[0], step, *steps[number + 2 :]), program.guard)
        if after[0].operation.name < operation.name and same(swapped, -1):
            return False
    return True


def _can_swap(takes: str, gives: str, after: Operation) -> bool:
    return takes == gives == after.takes == after.gives
