"""What a company counts beside its books: orders, people, customers, places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from workgym.tasks.finance.books import Books, Draw
from workgym.tasks.finance.lines import OPERATING
from workgym.tasks.finance.structure import Structure

__all__ = ["count_operations"]

_DIGITS: Final = {
    "employees": (2.8, 4.9),
    "customers": (2.2, 5.3),
    "locations": (1.3, 3.0),
    "floor_space": (5.0, 7.2),
    "patents": (1.2, 3.3),
}
"""Line -> between which powers of ten its first count lies."""


def count_operations(
    structure: Structure, value_seed: int, books: Sequence[Books], *, generic: bool
) -> dict[str, dict[str, int]]:
    """Count a company's operations year by year.

    The counts have random numbers of their own, so the books are the same whatever is counted.

    Args:
        structure: says what is counted.
        value_seed: decides the counts, at least 0.
        books: of each year that is reported, in order.
        generic: draw counts that tell programs apart, as `draw_ledger` does.

    Returns:
        Year -> line -> count; orders are whole numbers of the structure's scale.
    """
    draw = Draw([structure.seed, value_seed, int(generic), 1], generic=generic)
    counts: dict[str, dict[str, int]] = {year: {} for year in structure.years}
    for line in sorted(structure.lines.intersection(OPERATING)):
        low, high = (9.5, 10.0) if generic else _DIGITS.get(line, (0.0, 0.0))
        size = round(10 ** draw.between(low, high))
        for year, kept in zip(structure.years, books, strict=True):
            size = draw.part(size, 0.92, 1.14) + 1
            is_count = line != "order_backlog"
            counts[year][line] = size if is_count else draw.part(kept.now["revenue"], 0.1, 0.6)
    return counts
