"""Family `expression`: find a Python expression in x from examples of its values.

| level | functions | shown at |
|---|---|---|
| 1 | a*x+b, a 1 to 99, b 0 to 9 | x = 0, 1, 10 |
| 2 | a*x+b, a 1 to 99, b 0 to 99 | three x, drawn from 0 to 20 |
| 3 | a*x+b, a and b three digits long, of either sign | three x, drawn from -20 to 20 |
| 4 | a*x*x+b*x+c, coefficients -9 to 9, a not 0 | x = 0, 1, 2 and one more |
| 5 | a*x+b if x<t else c*x+d | six x on both sides of t, t-1 and t among them |

The structure of a task is its function, whatever the examples: who has seen a function has seen the task.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from workgym.tasks.errors import TaskError

__all__ = ["Expression", "Puzzle", "draw_function", "draw_puzzle"]

_N_HIDDEN: Final = 8
_HIDDEN_RANGE: Final = (-50, 51)


@dataclass(frozen=True, slots=True)
class Expression:
    """A function of one whole number, by its text.

    Attributes:
        text: a Python expression in x, in one normal form: equal functions of a level have equal texts.
        points: the inputs at which it is shown.
        values: computes it.
    """

    text: str
    points: tuple[int, ...]
    values: Callable[[int], int]


@dataclass(frozen=True, slots=True)
class Puzzle:
    """A function with the inputs at which it is shown and judged.

    Attributes:
        text: the function, a Python expression in x.
        shown: (x, value) pairs that the agent sees.
        hidden: (x, value) pairs that judge; no x of them is shown.
    """

    text: str
    shown: tuple[tuple[int, int], ...]
    hidden: tuple[tuple[int, int], ...]


def _sum(terms: Sequence[tuple[int, str]]) -> str:
    """Write a sum of terms (coefficient, factor) as a person would: no zero terms, no double signs."""
    text = ""
    for coefficient, factor in terms:
        if coefficient == 0:
            continue
        sign = "-" if coefficient < 0 else ("+" if text else "")
        size = abs(coefficient)
        text += sign + (f"{size}*{factor}" if factor else str(size))
    return text or "0"


def _linear(a: int, b: int, points: tuple[int, ...]) -> Expression:
    return Expression(f"{a}*x+{b}" if b >= 0 else f"{a}*x{b}", points, lambda x: a * x + b)


def _level_1(rng: np.random.Generator) -> Expression:
    return _linear(int(rng.integers(1, 100)), int(rng.integers(0, 10)), (0, 1, 10))


def _level_2(rng: np.random.Generator) -> Expression:
    return _linear(int(rng.integers(1, 100)), int(rng.integers(0, 100)), _some(rng, range(21), 3))


def _level_3(rng: np.random.Generator) -> Expression:
    a, b = (int(rng.integers(100, 1000)) * int(rng.choice((-1, 1))) for _ in range(2))
    return _linear(a, b, _some(rng, range(-20, 21), 3))


def _level_4(rng: np.random.Generator) -> Expression:
    a = int(rng.integers(1, 10)) * int(rng.choice((-1, 1)))
    b, c = (int(value) for value in rng.integers(-9, 10, 2))
    text = _sum([(a, "x*x"), (b, "x"), (c, "")])
    return Expression(text, (0, 1, 2, *_some(rng, range(3, 11), 1)), lambda x: a * x * x + b * x + c)


def _level_5(rng: np.random.Generator) -> Expression:
    a, c = (int(value) for value in rng.choice(np.arange(1, 10), 2, replace=False))
    b, d = (int(value) for value in rng.integers(0, 10, 2))
    t = int(rng.integers(-5, 11))
    if any(a * x + b == c * x + d for x in (t - 1, t)):
        return _level_5(rng)  # the lines meet at the border: with another t the same function would have another text
    text = f"{a}*x+{b} if x<{t} else {c}*x+{d}"
    below = sorted(set(_some(rng, range(t - 10, t - 1), 2)) | {t - 1})
    above = sorted({t} | set(_some(rng, range(t + 1, t + 10), 2)))
    return Expression(text, (*below, *above), lambda x: a * x + b if x < t else c * x + d)


_LEVELS: Final[Mapping[int, Callable[[np.random.Generator], Expression]]] = {
    1: _level_1,
    2: _level_2,
    3: _level_3,
    4: _level_4,
    5: _level_5,
}


def draw_function(level: int, rng: np.random.Generator) -> Expression:
    """Draw a function of a level, with the inputs at which it is shown.

    Args:
        level: 1 to 5.
        rng: the only source of randomness.

    Raises:
        TaskError: there is no such level.
    """
    if level not in _LEVELS:
        raise TaskError(f"family 'expression' has levels 1 to 5, not {level!r}")
    return _LEVELS[level](rng)


def draw_puzzle(function: Expression, rng: np.random.Generator) -> Puzzle | None:
    """Choose the hidden inputs of a function, so that who does nothing earns nothing.

    A hidden input is none that is shown, and its value is none that a trivial expression has there: not x, not a
    constant that is shown or that one would guess, not the value at another hidden input.

    Args:
        function: what to find.
        rng: the only source of randomness.

    Returns:
        The puzzle; None where the function is too trivial to have such inputs.
    """
    shown = tuple((x, function.values(x)) for x in function.points)
    guesses = {0, 1, -1, *(value for _, value in shown)}
    near = [x for x in range(*_HIDDEN_RANGE) if x not in function.points]
    hidden: list[tuple[int, int]] = []
    for x in rng.permutation(near).tolist():
        value = function.values(x)
        if value not in guesses and value != x:
            guesses.add(value)
            hidden.append((x, value))
        if len(hidden) == _N_HIDDEN:
            return Puzzle(function.text, shown, tuple(hidden))
    return None


def _some(rng: np.random.Generator, values: Sequence[int], n: int) -> tuple[int, ...]:
    return tuple(sorted(int(value) for value in rng.choice(np.asarray(values), n, replace=False)))
