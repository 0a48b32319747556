"""The books of an invented company: amounts for every line and period, drawn so that all identities hold.

    ledger = draw_ledger(draw_structure(7), value_seed=3)
    ledger[Fact("net_income", "2021")]

Amounts are exact and in base units: dollars, shares, dollars a share, 0.21 for 21 percent. Amounts of money are whole
numbers of the structure's scale, so a statement that is shown at that scale adds up to the last digit; shown coarser it
is rounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from workgym.tasks.errors import TaskError
from workgym.tasks.finance.bookkeeping import keep_year
from workgym.tasks.finance.books import Books, Draw, work_out_total
from workgym.tasks.finance.lines import OPERATING, unit_of
from workgym.tasks.finance.opening import open_books
from workgym.tasks.finance.operating import count_operations
from workgym.tasks.finance.structure import Structure
from workgym.tasks.finance.terms import Fact, quarters_of

__all__ = ["QUARTERLY", "Ledger", "draw_ledger"]

_SPLIT_LINES: Final = (
    *("cost_of_revenue", "research_development", "selling_general", "amortization", "restructuring"),
    *("interest_income", "interest_expense", "other_income", "income_tax"),
)
_QUARTER_TOTALS: Final = (
    *("revenue", "gross_profit", "operating_expenses", "operating_income", "pretax_income", "net_income"),
)
_SHARES: Final = ("basic_shares", "diluted_shares")
_COUNTS: Final = tuple(line for line in OPERATING if unit_of(line) == "count")
_RATIOS: Final = (
    ("basic_eps", "net_income", "basic_shares"),
    ("diluted_eps", "net_income", "diluted_shares"),
    ("effective_tax_rate", "income_tax", "pretax_income"),
)
QUARTERLY: Final = (*_SPLIT_LINES, *_QUARTER_TOTALS)
"""The lines that are also kept by quarter, beside the revenue of each segment."""


@dataclass(frozen=True, slots=True)
class Ledger:
    """Every amount of a company's books.

    Attributes:
        structure: the company.
        value_seed: what the amounts were drawn from.
        amounts: fact -> amount in base units. Of the opening year there are balances alone.
    """

    structure: Structure
    value_seed: int
    amounts: Mapping[Fact, int | Fraction]

    def __getitem__(self, fact: Fact) -> Fraction:
        """The amount of a fact.

        Raises:
            TaskError: the books do not hold it.
        """
        try:
            return Fraction(self.amounts[fact])
        except KeyError:
            years = self.structure.years
            raise TaskError(
                f"the books of {self.structure.company} have no {fact}: they hold {len(self.structure.lines)} lines, "
                f"balances from {self.structure.opening} and flows from {years[0]} to {years[-1]}"
            ) from None


def draw_ledger(structure: Structure, value_seed: int, *, generic: bool = False, with_quarters: bool = True) -> Ledger:
    """Draw the amounts of a company.

    Args:
        structure: the company; its lines and periods are the same for every value seed.
        value_seed: decides the amounts, at least 0.
        generic: draw amounts that tell programs apart, not amounts that look real: they are large, losses are as usual
            as profits, nothing is 0 that may be, and no two facts are equal unless an identity says so. For
            `derivation_holds`, never for a filing.
        with_quarters: also keep books by quarter; without them the amounts of the years are the same, and sooner there.
    """
    draw = Draw([structure.seed, value_seed, int(generic)], generic=generic)
    books = [open_books(structure, draw)]
    amounts: dict[Fact, int | Fraction] = {}
    _enter(amounts, _balances(books[0]), structure.opening, structure)
    for year in structure.years:
        books.append(keep_year(books[-1]))
        _enter(amounts, books[-1].now, year, structure)
        _enter_ratios(amounts, year)
    for year, entries in count_operations(structure, value_seed, books[1:], generic=generic).items():
        _enter(amounts, entries, year, structure)
    if with_quarters:  # last, so that nothing else depends on whether they are kept
        for year, kept in zip(structure.years, books[1:], strict=True):
            for quarter, entries in zip(quarters_of(year), _quarters(kept), strict=True):
                _enter(amounts, entries, quarter, structure)
    return Ledger(structure, value_seed, amounts)


def _balances(books: Books) -> dict[str, int]:
    """What stands in the books of the opening year, without the flows that its balances were sized by."""
    flows = ("revenue", "cost_of_revenue", "basic_shares")
    return {
        line: amount
        for line, amount in books.now.items()
        if line not in flows and not line.startswith("segment_revenue.")
    }


def _enter(amounts: dict[Fact, int | Fraction], entries: Mapping[str, int], period: str, structure: Structure) -> None:
    scales = dict.fromkeys(_COUNTS, 1) | dict.fromkeys(_SHARES, structure.shares_scale)
    for line, amount in entries.items():
        amounts[Fact(line, period)] = amount * scales.get(line, structure.scale)


def _enter_ratios(amounts: dict[Fact, int | Fraction], year: str) -> None:
    for ratio, above, below in _RATIOS:
        amounts[Fact(ratio, year)] = Fraction(amounts[Fact(above, year)]) / amounts[Fact(below, year)]


def _quarters(books: Books) -> list[dict[str, int]]:
    """The flows of the year, spread over its quarters; the last one has what is left."""
    quarters: list[dict[str, int]] = [{}, {}, {}, {}]
    lines = [line for line in books.now if line in _SPLIT_LINES or line.startswith("segment_revenue.")]
    seasons = [books.draw.between(0.21, 0.28) for _ in quarters[:3]]
    for line in lines:
        whole = left = books.now[line]
        for quarter, season in zip(quarters[:3], seasons, strict=True):
            quarter[line] = books.draw.part(whole, season * 0.98, season * 1.02)
            left -= quarter[line]
        quarters[3][line] = left
    for quarter in quarters:
        for line in _QUARTER_TOTALS:
            quarter[line] = work_out_total(line, quarter, books.structure.lines)
    return quarters
