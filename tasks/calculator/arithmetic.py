"""Sums of five levels, and the way to work them out.

| level | form | numbers | operations |
|---|---|---|---|
| 1 | a+b | one digit | 1 |
| 2 | a+b-c | two digits | 2 |
| 3 | a+b-c | three digits | 2 |
| 4 | four numbers, added and subtracted | three digits | 3 |
| 5 | five numbers, with parentheses and a product | four digits | 4 |
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from workgym.tasks.errors import TaskError
from workgym.tasks.naming import unknown_name

__all__ = ["MOST_DIGITS", "Operation", "draw_sum", "read_operation", "work_out"]

MOST_DIGITS: Final = 30
"""Of a number that the calculator reads; no sum of any level comes near it."""

_FORMS: Final[Mapping[int, tuple[Sequence[str], int]]] = {
    1: (("a+b",), 1),
    2: (("a+b-c",), 2),
    3: (("a+b-c",), 3),
    4: (("a+b-c-d", "a+b-c+d", "a+b+c-d"), 3),
    5: (("(a+b)*c-(d-e)", "c-(a+b)*(d-e)", "(c-(a+b))*d+e"), 4),
}
"""Level -> the forms a sum may have, and how many digits its numbers have."""

# A minus belongs to its number where no number can stand before it: 3--4 is 3 minus -4.
_NUMBER: Final = rf"(?:(?<![0-9)])-)?[0-9]{{1,{MOST_DIGITS}}}"
_PRODUCT: Final = re.compile(rf"({_NUMBER})(\*)({_NUMBER})")
_SUM: Final = re.compile(rf"({_NUMBER})([+-])({_NUMBER})")
_OPERATION: Final = re.compile(rf"({_NUMBER})\s*([+*-])\s*({_NUMBER})")
_INNERMOST: Final = re.compile(r"\(([^()]*)\)")


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation on two whole numbers: all that the calculator can do.

    Attributes:
        left, right: the numbers.
        sign: "+", "-" or "*".
    """

    left: int
    sign: str
    right: int

    @property
    def value(self) -> int:
        """What comes out."""
        match self.sign:
            case "+":
                return self.left + self.right
            case "-":
                return self.left - self.right
            case _:
                return self.left * self.right

    @property
    def text(self) -> str:
        """As a person types it: "12+34"."""
        return f"{self.left}{self.sign}{self.right}"


def read_operation(text: str) -> Operation | None:
    """Read one operation on two whole numbers; None where the text is anything else.

    Args:
        text: "12+34"; white space around numbers does no harm.
    """
    match = _OPERATION.fullmatch(text.strip())
    return Operation(int(match[1]), match[2], int(match[3])) if match else None


def work_out(text: str) -> list[Operation]:
    """Work out a sum as one does on paper: parentheses first, then products, then from left to right.

    Args:
        text: whole numbers, + - * and parentheses, without white space.

    Returns:
        The operations in order; the value of the last one is the value of the sum.

    Raises:
        TaskError: the text is no such sum, or holds no operation.
    """
    operations: list[Operation] = []
    rest = text
    while not re.fullmatch(r"-?[0-9]+", rest):
        group = _INNERMOST.search(rest)
        part, begin, end = (group[1], group.start(), group.end()) if group else (rest, 0, len(rest))
        found = _PRODUCT.search(part) or _SUM.search(part)
        if found:  # write its value in its place, and leave the rest for the next round
            operations.append(Operation(int(found[1]), found[2], int(found[3])))
            start = begin + (1 if group else 0)
            rest = f"{rest[: start + found.start()]}{operations[-1].value}{rest[start + found.end() :]}"
        elif group and re.fullmatch(r"-?[0-9]+", part):  # parentheses around a number have done their work
            rest = rest[:begin] + part + rest[end:]
        else:
            raise TaskError(f"{text!r} is no sum of whole numbers with + - * and parentheses")
    if not operations:
        raise TaskError(f"{text!r} is a number and no sum: there is nothing to work out")
    return operations


def draw_sum(level: int, rng: np.random.Generator) -> str:
    """Draw a sum of a level.

    In every form a and b are added to each other; the smaller comes first, so that no sum is another one turned round.
    The value is not 0 and no number of the sum: who repeats what is shown is never right.

    Args:
        level: 1 to 5.
        rng: the only source of randomness.

    Raises:
        TaskError: there is no such level.
    """
    if level not in _FORMS:
        raise TaskError(unknown_name("level", level, map(str, _FORMS)))
    forms, n_digits = _FORMS[level]
    while True:
        numbers = [int(number) for number in rng.integers(10 ** (n_digits - 1), 10**n_digits, 5)]
        numbers[:2] = sorted(numbers[:2])
        text = forms[int(rng.integers(len(forms)))]
        for letter, number in zip("abcde", numbers, strict=True):
            text = text.replace(letter, str(number))
        if work_out(text)[-1].value not in (0, *numbers):
            return text
