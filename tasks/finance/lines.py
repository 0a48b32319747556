"""The chart of accounts: every line that a company's books may have, its unit, and the names it goes by.

Totals are named with the sums that they are. A line whose key ends in a number, "segment_revenue.2", is one of several.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["LABELS", "OPERATING", "OPTIONAL", "TOTALS", "unit_of"]

TOTALS: Final[Mapping[str, str]] = {
    "revenue": "segment_revenue.*",
    "gross_profit": "revenue - cost_of_revenue",
    "operating_expenses": "research_development + selling_general + amortization + restructuring",
    "operating_income": "gross_profit - operating_expenses",
    "pretax_income": "operating_income + interest_income - interest_expense + other_income",
    "net_income": "pretax_income - income_tax",
    "depreciation_amortization": "depreciation + amortization",
    "operating_cash": "net_income + depreciation_amortization + stock_compensation + deferred_tax"
    " - increase_in_receivables - increase_in_inventories - increase_in_other_assets + increase_in_payables"
    " + increase_in_accrued + increase_in_deferred_revenue + increase_in_other_liabilities",
    "investing_cash": "disposals - capital_expenditure - acquisitions - investment_purchases + investment_sales",
    "financing_cash": "debt_issued - debt_repaid + stock_issued - dividends - buybacks",
    "net_change_in_cash": "operating_cash + investing_cash + financing_cash",
    "current_assets": "cash + investments + receivables + inventories + other_current_assets",
    "total_assets": "current_assets + ppe + goodwill + intangibles + other_assets",
    "current_liabilities": "payables + accrued + deferred_revenue + current_debt",
    "total_liabilities": "current_liabilities + long_term_debt + deferred_tax_liability + other_liabilities",
    "total_equity": "paid_in_capital + retained_earnings - treasury_stock + other_comprehensive_income",
    "liabilities_and_equity": "total_liabilities + total_equity",
}
"""Total -> the lines that it is the sum of, in an order in which they can be worked out."""

OPTIONAL: Final[Mapping[str, tuple[str, ...]]] = {
    "research": ("research_development", "research_credits"),
    "inventories": ("inventories", "increase_in_inventories"),
    "restructuring": ("restructuring",),
    "deals": (
        *("goodwill", "intangibles", "amortization", "acquisitions"),
        *("goodwill_acquired", "intangibles_acquired"),
    ),
    "investments": (
        *("investments", "investment_purchases", "investment_sales", "unrealized_gain"),
        *("other_comprehensive_income", "interest_income"),
    ),
    "subscriptions": ("deferred_revenue", "increase_in_deferred_revenue"),
    "stock_pay": ("stock_compensation",),
    "dividends": ("dividends",),
    "buybacks": ("buybacks", "treasury_stock"),
    "stock_issued": ("stock_issued",),
    "disposals": ("disposals", "disposed_gross", "disposed_depreciation"),
}
"""What a company may do or not -> the lines that its books then have."""

LABELS: Final[Mapping[str, tuple[str, ...]]] = {
    "revenue": ("Revenue", "Net sales", "Total revenues", "Net revenue"),
    "cost_of_revenue": ("Cost of revenue", "Cost of sales", "Cost of goods and services sold", "Costs of revenues"),
    "gross_profit": ("Gross profit", "Gross margin"),
    "research_development": ("Research and development", "Product development", "Technology and development"),
    "selling_general": (
        "Selling, general and administrative",
        "Operating and administrative",
        "Marketing and overhead",
    ),
    "amortization": ("Amortization of acquired intangible assets", "Amortization of intangibles"),
    "restructuring": ("Restructuring charges", "Restructuring and other", "Severance and exit costs"),
    "operating_expenses": ("Total operating expenses", "Operating expenses, total"),
    "operating_income": ("Operating income (loss)", "Income (loss) from operations", "Operating profit (loss)"),
    "interest_income": ("Interest income", "Interest and dividend income", "Income from investments"),
    "interest_expense": ("Interest expense", "Interest on borrowings", "Financing costs"),
    "other_income": ("Other income (expense), net", "Other, net", "Other non-operating items, net"),
    "pretax_income": ("Income (loss) before income taxes", "Pretax income (loss)", "Earnings (loss) before taxes"),
    "income_tax": ("Provision for income taxes", "Income tax expense (benefit)", "Taxes on income"),
    "net_income": ("Net income (loss)", "Net earnings (loss)", "Profit (loss) for the year"),
    "basic_shares": ("Weighted-average shares, basic", "Basic shares outstanding", "Average shares: basic"),
    "diluted_shares": ("Weighted-average shares, diluted", "Diluted shares outstanding", "Average shares: diluted"),
    "basic_eps": ("Basic earnings (loss) per share", "Net income (loss) per share, basic", "Per share: basic"),
    "diluted_eps": ("Diluted earnings (loss) per share", "Net income (loss) per share, diluted", "Per share: diluted"),
    "cash": ("Cash and cash equivalents", "Cash and equivalents", "Cash and short-term deposits"),
    "investments": ("Marketable securities", "Short-term investments", "Trading and other securities"),
    "receivables": ("Accounts receivable, net", "Trade receivables, net", "Receivables from customers"),
    "inventories": ("Inventories", "Inventories, net", "Merchandise and materials"),
    "other_current_assets": ("Prepaid expenses and other current assets", "Other current assets", "Prepayments"),
    "current_assets": ("Total current assets", "Current assets, total"),
    "ppe": ("Property, plant and equipment, net", "Property and equipment, net", "Fixed assets, net"),
    "goodwill": ("Goodwill", "Goodwill, net of impairment"),
    "intangibles": ("Intangible assets, net", "Acquired intangible assets, net", "Other intangibles, net"),
    "other_assets": ("Other non-current assets", "Other assets", "Deposits and other assets"),
    "total_assets": ("Total assets", "Assets, total"),
    "payables": ("Accounts payable", "Trade accounts payable", "Due to suppliers"),
    "accrued": ("Accrued liabilities", "Accrued expenses and other", "Accruals and other payables"),
    "deferred_revenue": ("Deferred revenue", "Contract liabilities", "Unearned revenue"),
    "current_debt": ("Current portion of long-term debt", "Current maturities of debt", "Debt due within one year"),
    "current_liabilities": ("Total current liabilities", "Current liabilities, total"),
    "long_term_debt": ("Long-term debt", "Long-term debt, less current portion", "Notes due after one year"),
    "deferred_tax_liability": ("Deferred tax liabilities", "Deferred income taxes, net", "Deferred taxes payable"),
    "other_liabilities": ("Other non-current liabilities", "Other liabilities", "Other long-term obligations"),
    "total_liabilities": ("Total liabilities", "Liabilities, total"),
    "paid_in_capital": ("Common stock and paid-in capital", "Additional paid-in capital", "Contributed capital"),
    "retained_earnings": (
        "Retained earnings (accumulated deficit)",
        "Retained earnings (deficit)",
        "Earnings kept (deficit)",
    ),
    "treasury_stock": ("Treasury stock, at cost", "Common stock held in treasury", "Own shares, at cost"),
    "other_comprehensive_income": (
        "Accumulated other comprehensive income (loss)",
        "Other comprehensive income (loss), accumulated",
    ),
    "total_equity": ("Total shareholders' equity", "Total stockholders' equity", "Equity, total"),
    "liabilities_and_equity": ("Total liabilities and shareholders' equity", "Liabilities and equity, total"),
    "depreciation": ("Depreciation expense", "Depreciation for the year"),
    "depreciation_amortization": ("Depreciation and amortization", "Depreciation, amortization and other"),
    "stock_compensation": ("Stock-based compensation", "Share-based compensation", "Pay in stock"),
    "deferred_tax": ("Deferred income taxes", "Deferred income tax expense (benefit)", "Deferred taxes"),
    "increase_in_receivables": ("Accounts receivable", "Receivables", "Due from customers"),
    "increase_in_inventories": ("Inventories", "Inventory", "Stock on hand"),
    "increase_in_other_assets": ("Other current and non-current assets", "Prepaid expenses and other assets"),
    "increase_in_payables": ("Accounts payable", "Trade payables", "Suppliers"),
    "increase_in_accrued": ("Accrued liabilities", "Accrued expenses", "Accruals"),
    "increase_in_deferred_revenue": ("Deferred revenue", "Contract liabilities", "Unearned revenue"),
    "increase_in_other_liabilities": ("Other non-current liabilities", "Other liabilities"),
    "operating_cash": ("Net cash provided by operating activities", "Cash generated by operations"),
    "capital_expenditure": (
        "Purchases of property, plant and equipment",
        "Capital expenditures",
        "Additions to fixed assets",
    ),
    "disposals": ("Proceeds from sales of property and equipment", "Disposals of equipment"),
    "acquisitions": ("Acquisitions, net of cash acquired", "Payments for businesses acquired", "Businesses bought"),
    "investment_purchases": ("Purchases of marketable securities", "Purchases of investments", "Securities bought"),
    "investment_sales": ("Sales and maturities of securities", "Proceeds from investments", "Securities sold"),
    "investing_cash": ("Net cash used in investing activities", "Cash used for investment"),
    "debt_issued": ("Proceeds from issuance of debt", "Proceeds from borrowings", "Notes issued"),
    "debt_repaid": ("Repayments of debt", "Payments on borrowings", "Notes repaid"),
    "stock_issued": ("Proceeds from issuance of common stock", "Stock issued to employees", "Shares issued"),
    "dividends": ("Dividends paid", "Payments for dividends", "Cash distributed to shareholders"),
    "buybacks": ("Repurchases of common stock", "Purchases of treasury stock", "Own shares bought"),
    "financing_cash": ("Net cash used in financing activities", "Cash provided by (used in) financing"),
    "net_change_in_cash": ("Net increase (decrease) in cash", "Change in cash and cash equivalents"),
    "ppe_gross": ("Property, plant and equipment, gross", "Fixed assets at cost"),
    "accumulated_depreciation": ("Accumulated depreciation", "Depreciation to date"),
    "debt_due_later": ("Thereafter", "Later years"),
    "total_debt": ("Total debt", "Total principal"),
    "current_federal_tax": ("Current federal", "Federal, current"),
    "current_state_tax": ("Current state", "State, current"),
    "current_foreign_tax": ("Current foreign", "Foreign, current"),
    "tax_at_statutory_rate": ("Tax at the statutory rate of 21%", "Computed expected tax at 21%"),
    "state_tax_effect": ("State taxes, net of federal effect", "State income taxes, net"),
    "foreign_rate_effect": ("Earnings taxed at foreign rates", "Foreign rate differential"),
    "research_credits": ("Research and development credits", "Tax credits for research"),
    "other_tax_effects": ("Other", "Other, net"),
    "effective_tax_rate": ("Effective tax rate", "Effective rate of tax"),
}
"""Line -> its names; the last one stands in test filings alone, the others elsewhere."""

OPERATING: Final[Mapping[str, tuple[str, ...]]] = {
    "order_backlog": ("Order backlog", "Backlog of orders", "Unfilled orders"),
    "employees": ("Employees at year end", "Full-time employees", "Headcount"),
    "customers": ("Active customers", "Customers served", "Accounts served"),
    "locations": ("Locations in operation", "Operating sites", "Branches open"),
    "floor_space": ("Floor space (square feet)", "Owned and leased space (square feet)", "Area occupied (square feet)"),
    "patents": ("Patents in force", "Granted patents", "Patents held"),
}
"""What a company counts beside its books, with the names of each as in `LABELS`: no identity tells any of it."""


def unit_of(line: str) -> str:
    """The unit of a line: "currency", "currency/share", "shares", "percent" or "count"."""
    if line in OPERATING and line != "order_backlog":
        return "count"
    if line.endswith("_eps"):
        return "currency/share"
    if line.endswith("_shares"):
        return "shares"
    return "percent" if line == "effective_tax_rate" else "currency"
