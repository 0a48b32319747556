"""The books of one year of a company, and the random amounts that they are kept with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from workgym.tasks.finance.lines import TOTALS
from workgym.tasks.finance.structure import Structure
from workgym.tasks.finance.terms import read_terms

__all__ = ["MATURITIES", "Books", "Draw", "work_out_total"]

MATURITIES: Final = tuple(f"debt_due.{number}" for number in range(1, 6))
"""What of the debt falls due in each of the next five years."""


class Draw:
    """Random amounts.

    Args:
        key: the seeds that decide them.
        generic: nothing is 0 that may be, losses are usual, no two lines agree by chance, so that programs differ.
    """

    def __init__(self, key: list[int], *, generic: bool) -> None:
        self.generic: Final = generic
        self._numbers = _numbers(np.random.default_rng(key))

    def between(self, low: float, high: float) -> float:
        """A number between two."""
        return low + (high - low) * next(self._numbers)

    def part(self, whole: int, low: float, high: float) -> int:
        """A share of an amount, in whole units: from `low` to `high` times it."""
        return round(whole * self.between(low, high))

    def some(self, whole: int, low: float, high: float, dash: float) -> int:
        """A share of an amount, or in `dash` of the cases nothing."""
        part = self.part(whole, low, high)
        return part if self.between(0, 1) >= dash or self.generic else 0


def _numbers(rng: np.random.Generator) -> Iterator[float]:
    while True:
        yield from rng.random(256).tolist()


@dataclass
class Books:
    """The books of one year, line by line, and what they are kept with.

    Attributes:
        structure: says which lines there are.
        draw: where amounts come from.
        before: the year before; empty in the opening year.
        now: this year, as far as it is written.
        margins: shares of revenue that a company keeps to over the years.
    """

    structure: Structure
    draw: Draw
    before: dict[str, int] = field(default_factory=dict)
    now: dict[str, int] = field(default_factory=dict)
    margins: dict[str, float] = field(default_factory=dict)

    def total(self, line: str) -> None:
        """Write a total."""
        self.now[line] = work_out_total(line, self.now, self.structure.lines)

    def like(self, key: str) -> float:
        """A share that a company keeps to, with the drift of a year."""
        return self.margins[key] * self.draw.between(0.94, 1.06)

    def write(self, **amounts: int) -> None:
        """Write those of the amounts whose lines the company has."""
        self.now.update({line: amount for line, amount in amounts.items() if line in self.structure.lines})

    def has(self, line: str) -> bool:
        """Whether the company has a line."""
        return line in self.structure.lines


def work_out_total(line: str, amounts: Mapping[str, int], lines: frozenset[str]) -> int:
    """The sum that a line of `TOTALS` is."""
    return sum(sign * amounts[part] for sign, part, _ in read_terms(TOTALS[line], lines))
