"""The balances that a company begins with."""

from __future__ import annotations

from workgym.tasks.finance.bookkeeping import tell_debt, tell_working_capital
from workgym.tasks.finance.books import MATURITIES, Books, Draw
from workgym.tasks.finance.structure import Structure

__all__ = ["open_books"]


def open_books(structure: Structure, draw: Draw) -> Books:
    """The balances at the end of the opening year, and the revenue that they go with."""
    books = Books(structure, draw)
    digits = draw.between(12.5, 13) if draw.generic else draw.between(3.3, 5.2) + (structure.scale == 1_000) * 1.2
    size = round(10**digits)
    books.margins = {
        "cost": draw.between(0.3, 1.0) if draw.generic else draw.between(0.4, 0.72),
        "overhead": draw.between(0.12, 0.3),
        "research": draw.between(0.02, 0.12),
        "tax": draw.between(0.15, 0.27),
        "receivables": draw.between(0.08, 0.16),
        "inventories": draw.between(0.08, 0.2),
        "payables": draw.between(0.06, 0.14),
        "accrued": draw.between(0.04, 0.1),
        "subscriptions": draw.between(0.03, 0.1),
    }
    for number in range(1, len(structure.segments) + 1):
        books.now[f"segment_revenue.{number}"] = draw.part(size, 0.15, 0.6)
    books.total("revenue")
    revenue = books.now["revenue"]
    books.write(cost_of_revenue=round(revenue * books.like("cost")), basic_shares=_first_shares(books, revenue))
    tell_working_capital(books)
    _open_assets(books, revenue)
    _open_debt(books, draw.part(revenue, 0.1, 0.5))
    _open_equity(books)
    return books


def _first_shares(books: Books, revenue: int) -> int:
    """So many shares that a usual year earns some dollars for each."""
    dollars = revenue * books.structure.scale * books.draw.between(0.05, 0.12)
    return round(dollars / books.draw.between(0.8, 9) / books.structure.shares_scale) + 1


def _open_assets(books: Books, revenue: int) -> None:
    draw = books.draw
    gross = draw.part(revenue, 0.3, 0.9)
    depreciated = draw.part(gross, 0.25, 0.6)
    books.write(
        cash=draw.part(revenue, 0.05, 0.25),
        investments=draw.part(revenue, 0.03, 0.3),
        ppe_gross=gross,
        accumulated_depreciation=depreciated,
        ppe=gross - depreciated,
        goodwill=draw.part(revenue, 0.05, 0.4),
        intangibles=draw.part(revenue, 0.03, 0.2),
        deferred_tax_liability=draw.part(revenue, 0.02, 0.06),
    )


def _open_debt(books: Books, debt: int) -> None:
    due = {line: books.draw.part(debt, 0.06, 0.16) for line in MATURITIES}
    books.now |= due
    books.now["debt_due_later"] = debt - sum(due.values())
    tell_debt(books)


def _open_equity(books: Books) -> None:
    """What the owners have is what is left; where that is little, they have paid in cash."""
    draw, now = books.draw, books.now
    books.total("current_assets")
    books.total("total_assets")
    books.total("current_liabilities")
    books.total("total_liabilities")
    wanted = draw.part(now["total_assets"], 0.25, 0.5)
    now["cash"] += max(0, wanted - now["total_assets"] + now["total_liabilities"])
    books.total("current_assets")
    books.total("total_assets")
    equity = now["total_assets"] - now["total_liabilities"]
    books.write(
        retained_earnings=draw.part(equity, -0.1, 0.6),
        treasury_stock=draw.part(equity, 0.02, 0.2),
        other_comprehensive_income=draw.part(equity, -0.02, 0.02),
    )
    now["paid_in_capital"] = (
        equity - now["retained_earnings"] + now.get("treasury_stock", 0) - now.get("other_comprehensive_income", 0)
    )
    books.total("total_equity")
    books.total("liabilities_and_equity")
