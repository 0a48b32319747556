"""The rows of each table of a filing: what stands below what, and how its sign is shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from workgym.tasks.finance.lines import OPERATING

__all__ = ["ROWS", "TITLES", "RowPlan"]


class RowPlan(NamedTuple):
    """A row before labels and periods.

    Attributes:
        line: the line of the books; "*" at its end stands for several rows; "" for a row of text alone.
        sign: -1 where the table shows an amount with the sign turned: money spent, in a list of money received.
        text: the words of a row of text, or of a line that goes by other words here.
        depth: how far it is indented.
        total: it is the sum of rows above it.
        lag: 1 where the balance of the year before is shown.
    """

    line: str
    sign: int = 1
    text: str = ""
    depth: int = 1
    total: bool = False
    lag: int = 0


def _heading(text: str, depth: int = 0) -> RowPlan:
    return RowPlan("", text=text, depth=depth)


def _total(line: str, depth: int = 0) -> RowPlan:
    return RowPlan(line, depth=depth, total=True)


TITLES: Final[Mapping[str, str]] = {
    "income": "Consolidated Statements of Operations",
    "balance": "Consolidated Balance Sheets",
    "cash": "Consolidated Statements of Cash Flows",
    "segments": "Revenue by Segment",
    "property": "Property, Plant and Equipment",
    "debt": "Debt and Maturities",
    "taxes": "Income Taxes",
    "quarters": "Quarterly Financial Data (Unaudited)",
    "operating": "Selected Operating Data",
}
"""Table -> its title."""

ROWS: Final[Mapping[str, tuple[RowPlan, ...]]] = {
    "income": (
        RowPlan("revenue", depth=0),
        RowPlan("cost_of_revenue", depth=0),
        _total("gross_profit"),
        _heading("Operating expenses:"),
        RowPlan("research_development"),
        RowPlan("selling_general"),
        RowPlan("amortization"),
        RowPlan("restructuring"),
        _total("operating_expenses", depth=1),
        _total("operating_income"),
        RowPlan("interest_income", depth=0),
        RowPlan("interest_expense", -1, depth=0),
        RowPlan("other_income", depth=0),
        _total("pretax_income"),
        RowPlan("income_tax", depth=0),
        _total("net_income"),
        _heading("Per share:"),
        RowPlan("basic_eps"),
        RowPlan("diluted_eps"),
        _heading("Shares used in the computation:"),
        RowPlan("basic_shares"),
        RowPlan("diluted_shares"),
    ),
    "balance": (
        _heading("Assets"),
        _heading("Current assets:"),
        RowPlan("cash"),
        RowPlan("investments"),
        RowPlan("receivables"),
        RowPlan("inventories"),
        RowPlan("other_current_assets"),
        _total("current_assets", depth=1),
        RowPlan("ppe", depth=0),
        RowPlan("goodwill", depth=0),
        RowPlan("intangibles", depth=0),
        RowPlan("other_assets", depth=0),
        _total("total_assets"),
        _heading("Liabilities and shareholders' equity"),
        _heading("Current liabilities:"),
        RowPlan("payables"),
        RowPlan("accrued"),
        RowPlan("deferred_revenue"),
        RowPlan("current_debt"),
        _total("current_liabilities", depth=1),
        RowPlan("long_term_debt", depth=0),
        RowPlan("deferred_tax_liability", depth=0),
        RowPlan("other_liabilities", depth=0),
        _total("total_liabilities"),
        _heading("Shareholders' equity:"),
        RowPlan("paid_in_capital"),
        RowPlan("retained_earnings"),
        RowPlan("treasury_stock", -1),
        RowPlan("other_comprehensive_income"),
        _total("total_equity", depth=1),
        _total("liabilities_and_equity"),
    ),
    "cash": (
        RowPlan("cash", text="Cash and equivalents, beginning of year", depth=0, lag=1),
        _heading("Operating activities:"),
        RowPlan("net_income"),
        RowPlan("depreciation_amortization"),
        RowPlan("stock_compensation"),
        RowPlan("deferred_tax"),
        _heading("Changes in operating assets and liabilities:", depth=1),
        RowPlan("increase_in_receivables", -1, depth=2),
        RowPlan("increase_in_inventories", -1, depth=2),
        RowPlan("increase_in_other_assets", -1, depth=2),
        RowPlan("increase_in_payables", depth=2),
        RowPlan("increase_in_accrued", depth=2),
        RowPlan("increase_in_deferred_revenue", depth=2),
        RowPlan("increase_in_other_liabilities", depth=2),
        _total("operating_cash", depth=1),
        _heading("Investing activities:"),
        RowPlan("capital_expenditure", -1),
        RowPlan("disposals"),
        RowPlan("acquisitions", -1),
        RowPlan("investment_purchases", -1),
        RowPlan("investment_sales"),
        _total("investing_cash", depth=1),
        _heading("Financing activities:"),
        RowPlan("debt_issued"),
        RowPlan("debt_repaid", -1),
        RowPlan("stock_issued"),
        RowPlan("dividends", -1),
        RowPlan("buybacks", -1),
        _total("financing_cash", depth=1),
        _total("net_change_in_cash"),
        RowPlan("cash", text="Cash and equivalents, end of year", depth=0, total=True),
    ),
    "segments": (RowPlan("segment_revenue.*", depth=0), _total("revenue")),
    "property": (
        RowPlan("ppe_gross", depth=0),
        RowPlan("accumulated_depreciation", -1, depth=0),
        _total("ppe"),
        RowPlan("depreciation", depth=0),
    ),
    "debt": (
        RowPlan("debt_due.*", depth=0),
        RowPlan("debt_due_later", depth=0),
        _total("total_debt"),
        RowPlan("current_debt", -1, depth=0),
        _total("long_term_debt"),
    ),
    "taxes": (
        RowPlan("current_federal_tax"),
        RowPlan("current_state_tax"),
        RowPlan("current_foreign_tax"),
        RowPlan("deferred_tax"),
        _total("income_tax"),
        _heading("Reconciliation:"),
        RowPlan("tax_at_statutory_rate"),
        RowPlan("state_tax_effect"),
        RowPlan("foreign_rate_effect"),
        RowPlan("research_credits", -1),
        RowPlan("other_tax_effects"),
        _total("income_tax"),
        RowPlan("effective_tax_rate", depth=0),
    ),
    "quarters": (
        RowPlan("revenue", depth=0),
        RowPlan("gross_profit", depth=0),
        RowPlan("operating_income", depth=0),
        RowPlan("net_income", depth=0),
    ),
    "operating": tuple(RowPlan(line, depth=0) for line in OPERATING),
}
"""Table -> its rows, those included that only some companies have."""
