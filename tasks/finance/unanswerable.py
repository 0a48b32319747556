"""Questions that a filing does not answer, each with a twin that it does: they differ in one line.

    pair = draw_pair(structure, ledger, seed)
    pair.gap.text, pair.gap.reason      # "... in fiscal 2019?", "outside_period"
    pair.twin.text                      # "... in fiscal 2021?"

The line is one of the question, or, where an amount is not reported, one of the filing: the row of a table in which
another cell is blank.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from workgym.tasks.errors import TaskError
from workgym.tasks.finance.filing import plan_filing
from workgym.tasks.finance.forms import FORMS, Form
from workgym.tasks.finance.ledger import Ledger
from workgym.tasks.finance.lines import OPERATING
from workgym.tasks.finance.prose_notes import NO_PROFIT_BY_SEGMENT, NO_QUARTERS_BY_SEGMENT
from workgym.tasks.finance.questions import Question, is_fit, pose
from workgym.tasks.finance.structure import Structure, look_alike
from workgym.tasks.finance.terms import Fact

__all__ = ["Gap", "Pair", "draw_pair"]

_LEVEL: Final = 2
_MOST_DRAWS: Final = 100
_FORMS: Final[Mapping[str, Form]] = {form.name: form for form in FORMS}
_QUARTERS: Final = ("first", "second", "third", "fourth")
_FLOWS: Final = (
    *("revenue", "cost_of_revenue", "gross_profit", "selling_general", "research_development"),
    *("operating_income", "net_income", "operating_cash"),
)
"""Lines of which a year that is not shown cannot be worked out from one that is."""


@dataclass(frozen=True, slots=True)
class Gap:
    """A question that has no answer in the filing.

    Attributes:
        reason: "not_reported", "outside_period", "unknown_entity" or "not_determinable".
        text: the words.
        witnesses: addresses of cells and lines of which each shows the reason.
        blanks: facts whose cells are blank in the filing that this is asked of.
    """

    reason: str
    text: str
    witnesses: frozenset[str]
    blanks: frozenset[Fact]


@dataclass(frozen=True, slots=True)
class Pair:
    """A question without an answer and one with an answer.

    Attributes:
        gap: the one without.
        twin: the one with; it is asked of the filing of the structure as it was given.
    """

    gap: Gap
    twin: Question


def draw_pair(structure: Structure, ledger: Ledger, seed: int, document: str = "d1") -> Pair:
    """Draw a question without an answer, and its twin.

    Args:
        structure: the company, with all tables.
        ledger: its amounts.
        seed: decides the pair, at least 0.
        document: the beginning of every address.

    Raises:
        TaskError: the structure has not the tables of level 2, or no pair of it is fit to be asked.
    """
    if "operating" not in structure.tables:
        raise TaskError(f"questions without an answer are asked of filings of level 2, not of {structure.tables!r}")
    rng = np.random.default_rng([structure.seed, ledger.value_seed, seed, _LEVEL, 1])
    draw = _REASONS[int(rng.integers(len(_REASONS)))]
    for _ in range(_MOST_DRAWS):
        pair = draw(structure, document, rng)
        if is_fit(pair.twin, replace(ledger, structure=structure)):
            return pair
    raise TaskError(
        f"no question without an answer is fit to be asked of structure {structure.seed}; take another seed"
    )


def _not_reported(structure: Structure, document: str, rng: np.random.Generator) -> Pair:
    """The blank of a row stands in another of its cells than in the twin's filing, and that one is asked about."""
    blank = min(structure.blanks, default=None)
    line = blank.line if blank else _any(sorted(structure.lines.intersection(OPERATING)), rng)
    asked = Fact(line, _any([year for year in structure.years if Fact(line, year) != blank], rng))
    blanks = (structure.blanks - {blank} if blank else structure.blanks) | {asked}
    filing = plan_filing(replace(structure, blanks=blanks), _LEVEL, document)
    row = next(row for table in filing.tables for row in table.rows if row.cells and row.cells[0].fact.line == line)
    cell = next(cell.address for cell in row.cells if cell.fact == asked)
    twin = pose(_FORMS["operating"], structure, (line,), asked.period)
    return Pair(Gap("not_reported", twin.text, frozenset({cell}), blanks), twin)


def _outside_period(structure: Structure, document: str, rng: np.random.Generator) -> Pair:
    """The year before the first or after the last that is shown."""
    form, line = _any_line(structure, rng)
    years = (structure.opening, str(int(structure.years[-1]) + 1))
    text = pose(form, structure, (line,), _any(years, rng)).text
    filing = plan_filing(structure, _LEVEL, document)
    headings = frozenset(
        address
        for table in filing.tables
        if table.key != "quarters" and any(cell.fact.line == line for cell in table.cells.values())
        for address in table.heading_addresses
    )
    return Pair(Gap("outside_period", text, headings, structure.blanks), _shown(form, line, structure, rng))


def _unknown_entity(structure: Structure, document: str, rng: np.random.Generator) -> Pair:
    """A company whose name differs in a word."""
    form, line = _any_line(structure, rng)
    twin = _shown(form, line, structure, rng)
    text = twin.text.replace(structure.company, look_alike(structure.company, rng))
    witnesses = plan_filing(structure, _LEVEL, document).lines(structure.company)
    return Pair(Gap("unknown_entity", text, frozenset(witnesses), structure.blanks), twin)


def _not_determinable(structure: Structure, document: str, rng: np.random.Generator) -> Pair:
    """What the filing says that it does not give: quarters of a segment, or its profit."""
    segments = sorted(line for line in structure.lines if line.startswith("segment_revenue."))
    year = structure.years[-1]
    twin = pose(_FORMS["segment"], structure, (_any(segments, rng),), year)
    if rng.random() < 0.5:
        sentence = NO_QUARTERS_BY_SEGMENT
        text = twin.text.replace(f"in fiscal {year}", f"in the {_any(_QUARTERS, rng)} quarter of fiscal {year}")
    else:
        sentence = NO_PROFIT_BY_SEGMENT
        text = twin.text.replace("revenue of the segment", "operating income of the segment")
    witnesses = plan_filing(structure, _LEVEL, document).lines(sentence)
    return Pair(Gap("not_determinable", text, frozenset(witnesses), structure.blanks), twin)


_REASONS: Final[tuple[Callable[[Structure, str, np.random.Generator], Pair], ...]] = (
    _not_reported,
    _outside_period,
    _unknown_entity,
    _not_determinable,
)


def _any_line(structure: Structure, rng: np.random.Generator) -> tuple[Form, str]:
    """A line of which every year that is shown, or not, is known for itself; and how it is asked for."""
    line = _any([line for line in (*_FLOWS, *OPERATING) if line in structure.lines], rng)
    return _FORMS["operating" if line in OPERATING else "cash_flow" if line == "operating_cash" else "lookup"], line


def _shown(form: Form, line: str, structure: Structure, rng: np.random.Generator) -> Question:
    return pose(form, structure, (line,), _any(structure.years, rng))


def _any(choices: Sequence[str], rng: np.random.Generator) -> str:
    return choices[int(rng.integers(len(choices)))]
