"""The forms of questions: which lines they ask about, with which program, in which words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from workgym.tasks.finance.layouts import ROWS
from workgym.tasks.finance.lines import OPERATING
from workgym.tasks.finance.structure import Structure

__all__ = ["FORMS", "Form"]


@dataclass(frozen=True, slots=True)
class Form:
    """A form of questions.

    Attributes:
        name: "growth".
        level: the level from which on it is asked.
        text: the words, with {company}, {year}, {before}, {scale}, {line0}, {line1}.
        program: an expression over the operands.
        lines: the combinations of lines that it may be asked about; "segment_revenue.*" stands for each segment.
        operands: for each, the index of its line and how many years it lies back.
        unit: of the answer; "" for that of the first line.
        decimals: how many are asked for, where the unit does not say so.
        branches: the year is that of the highest second line.
        wrong: label -> the program that a mistake of this name would follow.
    """

    name: str
    level: int
    text: str
    program: str
    lines: tuple[tuple[str, ...], ...]
    operands: tuple[tuple[int, int], ...]
    unit: str = ""
    decimals: int = 0
    branches: bool = False
    wrong: Mapping[str, str] = field(default_factory=dict)

    @property
    def family(self) -> str:
        """The family of its questions: "lookup" where one cell is the answer, "derive" where arithmetic is."""
        return "lookup" if self.program == "c1" else "derive"

    def lines_in(self, structure: Structure) -> list[tuple[str, ...]]:
        """The combinations of lines that a company has."""
        segments = sorted(line for line in structure.lines if line.startswith("segment_revenue."))
        spread = [
            tuple(segment if line == "segment_revenue.*" else line for line in lines)
            for lines in self.lines
            for segment in (segments if "segment_revenue.*" in lines else segments[:1])
        ]
        return [lines for lines in spread if structure.lines.issuperset(lines)]


# Only lines that are shown with the sign of the books, and whose names say what they are outside of their table.
_INCOME: Final = tuple(
    plan.line for plan in ROWS["income"] if plan.line and plan.sign > 0 and plan.line != "other_income"
)
_BALANCE: Final = tuple(
    plan.line
    for plan in ROWS["balance"]
    if plan.line and plan.sign > 0 and plan.line not in ("current_debt", "liabilities_and_equity")
)
_CASH: Final = ("operating_cash", "investing_cash", "financing_cash", "debt_issued", "depreciation_amortization")
_GROWING: Final = (
    "revenue",
    "cost_of_revenue",
    "gross_profit",
    "selling_general",
    "research_development",
    "net_income",
)

FORMS: Final = (
    Form(
        "lookup",
        1,
        "What was {line0} of {company} in fiscal {year}, {scale}?",
        "c1",
        tuple((line,) for line in _INCOME),
        ((0, 0),),
    ),
    Form(
        "balance",
        2,
        "What was {line0} of {company} at the end of fiscal {year}, {scale}?",
        "c1",
        tuple((line,) for line in _BALANCE),
        ((0, 0),),
    ),
    Form(
        "cash_flow",
        2,
        "What does {company}'s statement of cash flows report as {line0} for fiscal {year}, {scale}?",
        "c1",
        tuple((line,) for line in _CASH),
        ((0, 0),),
    ),
    Form(
        "segment",
        2,
        "What was {line0} of {company} in fiscal {year}, {scale}?",
        "c1",
        (("segment_revenue.*",),),
        ((0, 0),),
    ),
    Form(
        "operating",
        2,
        "What does {company} report as {line0} in its selected operating data for fiscal {year}, {scale}?",
        "c1",
        tuple((line,) for line in OPERATING),
        ((0, 0),),
    ),
    Form(
        "difference",
        1,
        "By how much did {line0} of {company} change from fiscal {before} to {year}, {scale}? A decrease is negative.",
        "c1 - c2",
        tuple((line,) for line in _GROWING),
        ((0, 0), (0, 1)),
    ),
    Form(
        "sum",
        1,
        "What were {line0} and {line1} of {company} together in fiscal {year}, {scale}?",
        "c1 + c2",
        (
            ("research_development", "selling_general"),
            ("cost_of_revenue", "selling_general"),
            ("restructuring", "selling_general"),
        ),
        ((0, 0), (1, 0)),
    ),
    Form(
        "margin",
        1,
        "What was {line0} of {company} in fiscal {year} as a percentage of {line1}?",
        "c1 / c2",
        tuple(
            (line, "revenue")
            for line in ("gross_profit", "operating_income", "net_income", "research_development", "selling_general")
        ),
        ((0, 0), (1, 0)),
        unit="percent",
        decimals=1,
        wrong={"wrong_base": "c2 / c1"},
    ),
    Form(
        "growth",
        2,
        "By what percentage did {line0} of {company} change from fiscal {before} to {year}? A decrease is negative.",
        "(c1 - c2) / c2",
        (*((line,) for line in _GROWING), ("segment_revenue.*",), ("operating_cash",), ("total_assets",)),
        ((0, 0), (0, 1)),
        unit="percent",
        decimals=1,
        wrong={"wrong_base": "(c1 - c2) / c1"},
    ),
    Form(
        "share",
        2,
        "What was {line0} of {company} in fiscal {year} as a percentage of {line1}?",
        "c1 / c2",
        (("segment_revenue.*", "revenue"), ("operating_cash", "revenue"), ("current_assets", "total_assets")),
        ((0, 0), (1, 0)),
        unit="percent",
        decimals=1,
        wrong={"wrong_base": "c2 / c1"},
    ),
    Form(
        "current_ratio",
        2,
        "How many times {line1} was {line0} of {company} at the end of fiscal {year}?",
        "c1 / c2",
        (("current_assets", "current_liabilities"),),
        ((0, 0), (1, 0)),
        unit="multiple",
        decimals=2,
        wrong={"wrong_base": "c2 / c1"},
    ),
    Form(
        "average",
        2,
        "What was the average of {line0} of {company} at the ends of fiscal {before} and {year}, {scale}?",
        "mean(c1, c2)",
        (("receivables",), ("total_assets",), ("inventories",), ("total_equity",)),
        ((0, 0), (0, 1)),
        decimals=1,
        wrong={"wrong_base": "c1"},
    ),
    Form(
        "free_cash",
        2,
        "What was free cash flow of {company} in fiscal {year}, {scale}: {line0} less {line1}?",
        "c1 - c2",
        (("operating_cash", "capital_expenditure"),),
        ((0, 0), (1, 0)),
        wrong={"sign": "c1 + c2"},
    ),
    Form(
        "turnover",
        2,
        "How many times average {line1} (ends of {before} and {year}) was {line0} of {company} in fiscal {year}?",
        "c1 / mean(c2, c3)",
        (("revenue", "total_assets"), ("cost_of_revenue", "inventories")),
        ((0, 0), (1, 0), (1, 1)),
        unit="multiple",
        decimals=2,
        wrong={"wrong_base": "c1 / c2"},
    ),
    Form(
        "peak",
        2,
        "What was {line0} of {company} in the fiscal year in which {line1} was highest, {scale}?",
        "c1",
        (("net_income", "revenue"), ("operating_income", "selling_general"), ("gross_profit", "operating_expenses")),
        ((0, 0), (1, 0)),
        branches=True,
    ),
)
