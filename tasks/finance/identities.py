"""What must be true of the books of any company: totals, rolls from year to year, sheets that tie to each other.

They are written apart from the bookkeeping, which is checked against them, and they say which programs are equal: two
sums of facts are the same program exactly if the identities make them so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from workgym.tasks.finance.ledger import QUARTERLY, Ledger
from workgym.tasks.finance.lines import TOTALS
from workgym.tasks.finance.structure import Structure
from workgym.tasks.finance.terms import Fact, read_terms

__all__ = ["IDENTITIES", "Identity", "broken_identities", "linear_identities"]

IDENTITIES: Final = (
    *(f"{total} = {parts}" for total, parts in TOTALS.items()),
    # The sheets tie.
    "total_assets = liabilities_and_equity",
    "cash = cash[-1] + net_change_in_cash",
    # Balances roll.
    "retained_earnings = retained_earnings[-1] + net_income - dividends",
    "paid_in_capital = paid_in_capital[-1] + stock_compensation + stock_issued",
    "treasury_stock = treasury_stock[-1] + buybacks",
    "other_comprehensive_income = other_comprehensive_income[-1] + unrealized_gain",
    "ppe = ppe_gross - accumulated_depreciation",
    "ppe = ppe[-1] + capital_expenditure - depreciation - disposals",
    "ppe_gross = ppe_gross[-1] + capital_expenditure - disposed_gross",
    "disposals = disposed_gross - disposed_depreciation",
    "goodwill = goodwill[-1] + goodwill_acquired",
    "intangibles = intangibles[-1] + intangibles_acquired - amortization",
    "acquisitions = goodwill_acquired + intangibles_acquired",
    "investments = investments[-1] + investment_purchases - investment_sales + unrealized_gain",
    "deferred_tax_liability = deferred_tax_liability[-1] + deferred_tax",
    # Debt, its maturities and its roll.
    "total_debt = current_debt + long_term_debt",
    "total_debt = debt_due.* + debt_due_later",
    "current_debt = debt_due.1",
    "total_debt = total_debt[-1] + debt_issued - debt_repaid",
    "debt_repaid = current_debt[-1]",
    # Taxes, told twice.
    "income_tax = current_federal_tax + current_state_tax + current_foreign_tax + deferred_tax",
    "income_tax = tax_at_statutory_rate + state_tax_effect + foreign_rate_effect - research_credits"
    " + other_tax_effects",
    # What the cash flow says of the balance sheet.
    "increase_in_receivables = receivables - receivables[-1]",
    "increase_in_inventories = inventories - inventories[-1]",
    "increase_in_other_assets = other_current_assets + other_assets - other_current_assets[-1] - other_assets[-1]",
    "increase_in_payables = payables - payables[-1]",
    "increase_in_accrued = accrued - accrued[-1]",
    "increase_in_deferred_revenue = deferred_revenue - deferred_revenue[-1]",
    "increase_in_other_liabilities = other_liabilities - other_liabilities[-1]",
)
"""Sums that are equal in every year. A line that a company does not have counts as 0."""

_OF_BALANCES: Final = frozenset(
    {
        *("current_assets", "total_assets", "current_liabilities", "total_liabilities", "total_equity"),
        *("liabilities_and_equity", "ppe", "total_debt", "current_debt"),
    }
)
"""The lines whose identities hold in the opening year too, where they look at no year before it."""

_NEVER_NEGATIVE: Final = (
    *(
        "cash",
        "investments",
        "receivables",
        "inventories",
        "ppe",
        "accumulated_depreciation",
        "goodwill",
        "intangibles",
    ),
    *(
        "payables",
        "total_assets",
        "total_debt",
        "debt_due_later",
        "long_term_debt",
        "deferred_tax_liability",
        "debt_issued",
    ),
    *("capital_expenditure", "disposals", "acquisitions", "dividends", "buybacks", "depreciation", "revenue"),
)
_STATUTORY_RATE: Final = Fraction(21, 100)


@dataclass(frozen=True, slots=True)
class Identity:
    """One identity in one period: the signed facts add up to 0.

    Attributes:
        name: as it is written in `IDENTITIES`.
        period: the year or quarter.
        terms: (1 or -1, fact).
    """

    name: str
    period: str
    terms: tuple[tuple[int, Fact], ...]


def linear_identities(structure: Structure) -> Iterator[Identity]:
    """Every sum that is equal to another in the books of a company: of years, of quarters, of quarters and years."""
    for text in IDENTITIES:
        left, _, right = text.partition(" = ")
        opening = (structure.opening,) if left in _OF_BALANCES and "[-1]" not in text else ()
        for year in (*opening, *structure.years):
            yield from _identity(structure, text, left, right, year)
    for total in set(QUARTERLY) & set(TOTALS):
        for quarter in (f"{year}Q{number}" for year in structure.years for number in (1, 2, 3, 4)):
            yield from _identity(structure, f"{total} = {TOTALS[total]}", total, TOTALS[total], quarter)
    for line in sorted(structure.lines):
        if line in QUARTERLY or line.startswith("segment_revenue."):
            for year in structure.years:
                parts = tuple((-1, Fact(line, f"{year}Q{number}")) for number in (1, 2, 3, 4))
                yield Identity(f"{line} = its four quarters", year, ((1, Fact(line, year)), *parts))


def _identity(structure: Structure, text: str, left: str, right: str, period: str) -> Iterator[Identity]:
    lines = structure.lines
    terms = [(term.sign, term.fact(period)) for term in read_terms(left, lines)]
    terms += [(-term.sign, term.fact(period)) for term in read_terms(right, lines)]
    if terms:
        yield Identity(text, period, tuple(terms))


def broken_identities(ledger: Ledger) -> list[str]:
    """Name what is not true of a company's books, with its period; empty where everything ties.

    Beside the sums: earnings per share, the effective and the statutory rate of tax, and that nobody
    has less than nothing of cash and the like.
    """
    amounts = ledger.amounts
    broken = [
        f"{identity.period}: {identity.name}"
        for identity in linear_identities(ledger.structure)
        if sum(sign * amounts[fact] for sign, fact in identity.terms)
    ]
    for year in ledger.structure.years:
        of = {fact.line: Fraction(amount) for fact, amount in amounts.items() if fact.period == year}
        half = Fraction(ledger.structure.scale, 2)
        holds = {
            "basic_eps = net_income / basic_shares": of["basic_eps"] * of["basic_shares"] == of["net_income"],
            "diluted_eps = net_income / diluted_shares": of["diluted_eps"] * of["diluted_shares"] == of["net_income"],
            "effective_tax_rate = income_tax / pretax_income": of["effective_tax_rate"] * of["pretax_income"]
            == of["income_tax"],
            "tax_at_statutory_rate = 21% of pretax_income, rounded": abs(
                of["tax_at_statutory_rate"] - _STATUTORY_RATE * of["pretax_income"]
            )
            <= half,
            **{f"{line} >= 0": of.get(line, 0) >= 0 for line in _NEVER_NEGATIVE},
            "basic_shares <= diluted_shares": 0 < of["basic_shares"] <= of["diluted_shares"],
        }
        broken += [f"{year}: {name}" for name, true in holds.items() if not true]
    return broken
