"""Sentences of the notes to the statements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["CLOSING_NOTES", "CONTROLS", "NOTES", "NO_PROFIT_BY_SEGMENT", "NO_QUARTERS_BY_SEGMENT", "POLICIES"]

NO_QUARTERS_BY_SEGMENT: Final = "The Company does not give quarterly amounts by segment."
"""Says that the revenue of a segment in a quarter cannot be known."""

NO_PROFIT_BY_SEGMENT: Final = "Costs are not assigned to segments, and no measure of profit is given by segment."
"""Says that the profit of a segment cannot be known."""

POLICIES: Final = (
    "The consolidated financial statements [include|comprise] the accounts of {company} and its [wholly owned|"
    "majority-owned] subsidiaries.",
    "[Balances|Accounts] and transactions between [them|these companies] are [eliminated|removed].",
    "The fiscal year of the Company ends on {year_end}.",
    "The preparation of statements requires [estimates|judgments] that affect the amounts that are reported.",
    "Revenue is [recognized|recorded] when [control of goods passes|goods or services are delivered] to the customer, "
    "[net of returns and discounts|after discounts].",
    "Cash equivalents are [highly liquid|short-term] investments that [mature|fall due] within three months.",
    "Receivables are [stated|shown] net of an allowance for amounts that are [not expected to be|unlikely to be] "
    "collected.",
    "Inventories, where the Company [holds|has] them, are [carried|stated] at the lower of cost and net realizable "
    "value.",
    "Property, plant and equipment is [stated|carried] at cost and depreciated [evenly|on a straight line] over the "
    "[useful lives|lives] of the assets.",
    "Goodwill is not amortized; it is [tested|reviewed] for impairment [every year|at least once a year].",
    "Income taxes are [accounted for|recorded] by the [liability|asset and liability] method.",
    "[Earnings|Net income] per share, basic, [is|are] worked out with the average number of shares outstanding; "
    "diluted figures add shares that may be issued.",
    "[Research|Development] costs are [charged to income|expensed] as [they arise|incurred].",
    "[Advertising|Marketing] is [expensed|charged to income] as incurred.",
    "The accounts of foreign subsidiaries are [translated|converted] at year-end rates, their income at average rates.",
    "A dash in a table [means|stands for] zero; a cell that is left blank means that the amount is not reported.",
    "[Leases|Lease obligations] are [recorded|recognized] at the [present value|discounted amount] of their payments "
    "within other assets and liabilities.",
    "[Certain|Some] amounts of [earlier|prior] years have been [arranged|presented] to [agree|conform] with the "
    "presentation of fiscal {year}.",
)

NOTES: Final[Mapping[str, tuple[str, ...]]] = {
    "segments": (
        "The Company has the reportable segments {segments}, [which are managed apart|each with a manager of its own].",
        "The [chief executive officer|chief operating decision maker] [allocates resources|decides] on the basis of "
        "revenue by segment.",
        "[Revenue|Business] between segments is not material.",
        "Assets are [not reviewed|not tracked] by segment.",
    ),
    "property": (
        "[Land|Sites], buildings, machinery and equipment are [shown|given] below at cost.",
        "[Depreciation|The depreciation] of the year is [included in|part of] cost of revenue and operating expenses.",
        "[Repairs|Maintenance and repairs] are [expensed|charged to income] as [incurred|they arise].",
        "Assets that are [sold|retired] are [removed|taken out] with what has been depreciated of them.",
    ),
    "debt": (
        "Debt [consists of|comprises] [senior notes and bank loans|term loans and notes] that are [unsecured|not "
        "secured].",
        "The [table|schedule] below shows what of it falls due in each fiscal year.",
        "Interest is [paid|payable] [twice a year|each quarter] at [fixed and floating|agreed] rates.",
        "The [credit agreements|indentures] [contain|include] [customary|usual] covenants.",
    ),
    "taxes": (
        "The provision for income taxes and its [reconciliation|relation] to the statutory rate are shown below.",
        "The Company [files|submits] returns in the United States and in [several|a number of] foreign countries.",
        "[Unrecognized tax benefits|Uncertain tax positions] are not material.",
        "[Interest and penalties|Penalties] on taxes are [recorded|shown] within the provision.",
    ),
    "quarters": (
        "The [table|summary] below gives [unaudited|selected] data by quarter.",
        "[In the opinion of management|Management believes that] all [adjustments|entries] needed for a fair "
        "presentation [have been made|are included].",
        "[Results|Amounts] of a quarter are not [necessarily|always] [typical|an indication] of the year.",
    ),
    "operating": (
        "The [table|summary] below shows what management [counts|tracks] beside the financial statements.",
        "[These data|The data] are [not audited|unaudited] and do not [follow|derive] from the financial statements.",
        "[Counts|Figures] are taken at the end of the fiscal year unless the label says otherwise.",
        "A cell without an entry means that the number was not [collected|reported] for that year.",
    ),
}
"""Table of a note -> the sentences around it."""

CLOSING_NOTES: Final[Mapping[str, tuple[str, ...]]] = {
    "Commitments and Contingencies": (
        "The Company [leases|rents] [offices and vehicles|buildings and equipment] under agreements that [can be|are "
        "usually] renewed.",
        "[Purchase commitments|Commitments to buy materials] are made in the ordinary course and are not material.",
        "The Company is [party|subject] to [claims|proceedings] whose outcome, [in the opinion of|according to] "
        "management, will not be material.",
        "[Product warranties|Warranties] are [accrued|provided for] when [products|goods] are sold.",
    ),
    "Shareholders' Equity": (
        "The Company has one class of common stock; [no preferred stock|no other class] is outstanding.",
        "[Holders|Shareholders] have one vote for each share [that they hold|of common stock].",
        "The Board [may authorize|authorizes] [repurchases|dividends] [from time to time|when it sees fit].",
        "[Employees|Officers and employees] may be given [shares|stock awards] that vest over [several|some] years.",
    ),
    "Retirement Plans": (
        "The Company [sponsors|has] a [defined contribution|savings] plan for [most|eligible] employees.",
        "[Contributions|Payments] to it are [expensed|charged] as [they are made|incurred] and are not material.",
        "The Company has no defined benefit plans.",
    ),
    "Subsequent Events": (
        "[Management|The Company] has [reviewed|considered] events up to the date on which the statements were issued.",
        "[No events|None] were found that [would require|call for] [recognition|adjustment] or disclosure.",
    ),
}
"""Title of a note without a table -> its sentences."""

CONTROLS: Final = (
    "[Management|Our management] is responsible for [establishing and maintaining|keeping] adequate internal control "
    "over financial reporting.",
    "Our [chief executive officer and chief financial officer|officers] [concluded|have concluded] that our disclosure "
    "controls were effective on {year_end}, {year}.",
    "There were no changes in internal control during the last quarter of fiscal {year} that have materially affected "
    "it.",
    "[Any system|A system] of controls, however well [designed|run], can give only reasonable assurance.",
    "There were no disagreements with accountants [on accounting|on matters of accounting] or financial disclosure.",
)
