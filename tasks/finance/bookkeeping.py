"""Keeps a company's books for a year: what it sells, owns, owes and pays, so that every sheet balances.

Each function below is one page of the books. They are written down, not solved for: every balance of the end of a year
is the balance of its beginning and what happened, and new debt is taken up where cash would run short, so that cash is
never negative. Amounts are whole numbers of the structure's scale.
"""

from __future__ import annotations

from typing import Final

from workgym.tasks.finance.books import MATURITIES, Books

__all__ = ["keep_year", "tell_debt", "tell_working_capital"]

_INCOME_TOTALS: Final = ("gross_profit", "operating_expenses", "operating_income")
_STATUTORY_PERCENT: Final = 21


def keep_year(books: Books) -> Books:
    """The books of the next year."""
    after = Books(books.structure, books.draw, books.now, {}, books.margins)
    _earn(after)
    _pay_taxes(after)
    tell_working_capital(after)
    _operate(after)
    _invest(after)
    _finance(after)
    _balance(after)
    return after


def _earn(books: Books) -> None:
    """From the revenue of the segments to the income before taxes."""
    draw, now, before = books.draw, books.now, books.before
    climate = draw.between(0.9, 1.15)
    for number in range(1, len(books.structure.segments) + 1):
        line = f"segment_revenue.{number}"
        now[line] = draw.part(before[line], climate - 0.06, climate + 0.06)
    books.total("revenue")
    revenue = now["revenue"]
    books.write(
        cost_of_revenue=round(revenue * books.like("cost")),
        research_development=round(revenue * books.like("research")),
        selling_general=round(revenue * books.like("overhead")),
        amortization=draw.part(before.get("intangibles", 0), 0.08, 0.2),
        restructuring=draw.some(revenue, 0.002, 0.03, dash=0.5),
        interest_income=draw.part(before["cash"] + before.get("investments", 0), 0.005, 0.045),
        interest_expense=draw.part(before["current_debt"] + before["long_term_debt"], 0.02, 0.07),
        other_income=draw.some(revenue, -0.006, 0.006, dash=0.15),
    )
    for line in (*_INCOME_TOTALS, "pretax_income"):
        books.total(line)
    if not now["pretax_income"]:  # a rate of tax needs something to be taxed
        now["other_income"] += 1
        books.total("pretax_income")


def _pay_taxes(books: Books) -> None:
    """What is owed, to whom, and why it is not 21 percent."""
    draw, now = books.draw, books.now
    pretax = now["pretax_income"]
    tax = round(pretax * books.like("tax")) if pretax > 0 else draw.part(pretax, 0.01, 0.15)
    state, foreign = draw.part(tax, 0.05, 0.15), draw.part(tax, 0.1, 0.35)
    deferred = max(draw.part(abs(tax), -0.15, 0.2), 1 - books.before["deferred_tax_liability"])
    statutory = _rounded(pretax * _STATUTORY_PERCENT, 100)
    effects = (draw.part(pretax, 0.01, 0.04), draw.part(pretax, -0.04, 0.01), draw.part(abs(pretax), 0.004, 0.02))
    if not books.has("research_credits"):
        effects = (*effects[:2], 0)
    books.write(
        income_tax=tax,
        current_federal_tax=tax - state - foreign - deferred,
        current_state_tax=state,
        current_foreign_tax=foreign,
        deferred_tax=deferred,
        tax_at_statutory_rate=statutory,
        state_tax_effect=effects[0],
        foreign_rate_effect=effects[1],
        research_credits=effects[2],
        other_tax_effects=tax - statutory - effects[0] - effects[1] + effects[2],
    )
    books.total("net_income")
    basic = draw.part(books.before["basic_shares"], 0.96, 1.02) + 1
    more = draw.part(basic, 0.004, 0.03)
    # Nobody's loss for a share grows smaller by counting shares that might be.
    books.write(basic_shares=basic, diluted_shares=basic + (more if now["net_income"] > 0 or draw.generic else 0))


def tell_working_capital(books: Books) -> None:
    """What is owed by customers and to suppliers at the end of the year, and by how much that grew."""
    draw, now = books.draw, books.now
    revenue, cost = now["revenue"], now["cost_of_revenue"]
    books.write(
        receivables=round(revenue * books.like("receivables")),
        inventories=round(cost * books.like("inventories")),
        other_current_assets=draw.part(revenue, 0.01, 0.04),
        other_assets=draw.part(revenue, 0.02, 0.08),
        payables=round(cost * books.like("payables")),
        accrued=round(revenue * books.like("accrued")),
        deferred_revenue=round(revenue * books.like("subscriptions")),
        other_liabilities=draw.part(revenue, 0.02, 0.07),
    )
    if books.before:
        grown = {line: now[line] - books.before[line] for line in now if line in books.before}
        other = grown["other_current_assets"] + grown["other_assets"]
        names = ("receivables", "inventories", "payables", "accrued", "deferred_revenue", "other_liabilities")
        books.write(**{f"increase_in_{name}": grown.get(name, 0) for name in names}, increase_in_other_assets=other)


def _operate(books: Books) -> None:
    books.write(
        depreciation=books.draw.part(books.before["ppe_gross"], 0.05, 0.11),
        stock_compensation=books.draw.part(books.now["revenue"], 0.005, 0.05),
    )
    # An old machine is written off to nothing, and not below.
    books.now["depreciation"] = min(books.now["depreciation"], books.before["ppe"])
    books.total("depreciation_amortization")
    books.total("operating_cash")


def _invest(books: Books) -> None:
    """What was bought and sold that lasts."""
    draw, now, before = books.draw, books.now, books.before
    revenue = now["revenue"]
    spent = draw.part(revenue, 0.03, 0.1)
    scrapped = draw.some(before["accumulated_depreciation"], 0.03, 0.15, dash=0.4) if books.has("disposals") else 0
    proceeds = draw.part(min(scrapped, before["ppe"] - now["depreciation"] + spent), 0.1, 0.5)
    bought = (
        (draw.some(revenue, 0.01, 0.1, dash=0.5), draw.part(revenue, 0.005, 0.04)) if books.has("goodwill") else (0, 0)
    )
    if not bought[0]:
        bought = (0, 0)
    held = before.get("investments", 0)
    purchases, sales, gain = draw.part(revenue, 0.01, 0.2), draw.part(held, 0.1, 0.7), draw.part(held, -0.02, 0.02)
    books.write(
        capital_expenditure=spent,
        disposals=proceeds,
        disposed_gross=scrapped + proceeds,
        disposed_depreciation=scrapped,
        ppe_gross=before["ppe_gross"] + spent - scrapped - proceeds,
        accumulated_depreciation=before["accumulated_depreciation"] + now["depreciation"] - scrapped,
        ppe=before["ppe"] + spent - now["depreciation"] - proceeds,
        acquisitions=sum(bought),
        goodwill_acquired=bought[0],
        intangibles_acquired=bought[1],
        goodwill=before.get("goodwill", 0) + bought[0],
        intangibles=before.get("intangibles", 0) + bought[1] - now.get("amortization", 0),
        investment_purchases=purchases,
        investment_sales=sales,
        unrealized_gain=gain,
        investments=held + purchases - sales + gain,
        deferred_tax_liability=before["deferred_tax_liability"] + now["deferred_tax"],
    )
    books.total("investing_cash")


def _finance(books: Books) -> None:
    """Debt that falls due is paid; new debt is taken up where cash would otherwise run short."""
    draw, now, before = books.draw, books.now, books.before
    revenue = now["revenue"]
    books.write(
        debt_repaid=before["current_debt"],
        stock_issued=draw.some(revenue, 0.001, 0.02, dash=0.2),
        dividends=draw.part(max(now["net_income"], revenue // 100), 0.1, 0.5),
        buybacks=draw.some(revenue, 0.005, 0.06, dash=0.25),
    )
    spent = now["debt_repaid"] + now.get("dividends", 0) + now.get("buybacks", 0) - now.get("stock_issued", 0)
    left = before["cash"] + now["operating_cash"] + now["investing_cash"] - spent
    wanted = draw.part(revenue, 0.03, 0.15)
    now["debt_issued"] = max(draw.some(revenue, 0.01, 0.06, dash=0.4), wanted - left)
    books.total("financing_cash")
    books.total("net_change_in_cash")
    now["cash"] = before["cash"] + now["net_change_in_cash"]
    due = [before[line] for line in MATURITIES]
    moved = draw.part(before["debt_due_later"], 0.15, 0.3)
    new = [draw.part(now["debt_issued"], 0.03, 0.15) for _ in MATURITIES]
    for line, old, fresh in zip(MATURITIES, [*due[1:], moved], new, strict=True):
        now[line] = old + fresh
    now["debt_due_later"] = before["debt_due_later"] - moved + now["debt_issued"] - sum(new)
    tell_debt(books)


def tell_debt(books: Books) -> None:
    """Write the sums of the debt: all of it, what is due within a year, what is due later."""
    now = books.now
    total = sum(now[line] for line in (*MATURITIES, "debt_due_later"))
    books.write(total_debt=total, current_debt=now["debt_due.1"], long_term_debt=total - now["debt_due.1"])


def _balance(books: Books) -> None:
    now, before = books.now, books.before
    books.write(
        paid_in_capital=before["paid_in_capital"] + now.get("stock_compensation", 0) + now.get("stock_issued", 0),
        retained_earnings=before["retained_earnings"] + now["net_income"] - now.get("dividends", 0),
        treasury_stock=before.get("treasury_stock", 0) + now.get("buybacks", 0),
        other_comprehensive_income=before.get("other_comprehensive_income", 0) + now.get("unrealized_gain", 0),
    )
    for line in ("current_assets", "total_assets", "current_liabilities", "total_liabilities"):
        books.total(line)
    books.total("total_equity")
    books.total("liabilities_and_equity")


def _rounded(numerator: int, denominator: int) -> int:
    """The nearest whole number, halves away from 0, as on paper."""
    size = (2 * abs(numerator) + denominator) // (2 * denominator)
    return size if numerator >= 0 else -size
