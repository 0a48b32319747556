"""What stays when a company's amounts are drawn again: its name, lines, years and scale, and the layout of its filing.

A task has two seeds. The structure seed decides everything in this file, and through `statements` every address of a
cell; the value seed decides the amounts alone (`ledger.draw_ledger`). So a question can be asked again of other amounts
without anything being rendered: its cells are the same facts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

import numpy as np

from workgym.tasks.finance.lines import LABELS, OPERATING, OPTIONAL
from workgym.tasks.finance.terms import Fact

__all__ = ["Structure", "draw_structure", "look_alike", "structure_split"]

_Choice = TypeVar("_Choice")

_BEGINNINGS: Final = (
    "Alder",
    "Brant",
    "Corvin",
    "Dunmore",
    "Ebberly",
    "Farrow",
    "Galt",
    "Harlan",
    "Ilford",
    "Juniper",
    "Kestrel",
)
_TEST_BEGINNINGS: Final = ("Quarry", "Rivenhall", "Selwyn", "Tamarack", "Umber", "Vantry")
_MIDDLES: Final = ("Ridge", "Water", "Point", "Field", "Harbor", "Mill", "Stone", "Gate")
_TRADES: Final = ("Systems", "Industries", "Foods", "Devices", "Logistics", "Materials", "Instruments", "Brands")
_FORMS: Final = ("Inc.", "Corporation", "Holdings, Inc.", "Company")
_SEGMENTS: Final = (
    ("Americas", "Europe", "Asia Pacific", "Rest of world"),
    ("Products", "Services", "Licensing", "Rentals"),
    ("Consumer", "Commercial", "Government", "Wholesale"),
    ("Retail", "Online", "Franchise", "Corporate"),
)
_TEST_SEGMENTS: Final = (("North", "South", "East", "West"), ("Hardware", "Software", "Support", "Training"))

_STATEMENTS: Final = (("income", "balance", "cash"), ("balance", "income", "cash"), ("income", "cash", "balance"))
_TEST_STATEMENTS: Final = (("cash", "balance", "income"), ("balance", "cash", "income"))
_NOTES: Final = ("segments", "property", "debt", "taxes", "quarters")
_YEAR_ENDS: Final = ("December 31", "September 30", "June 30", "March 31")

_ALWAYS: Final = frozenset(LABELS) - {line for lines in OPTIONAL.values() for line in lines}


@dataclass(frozen=True, slots=True)
class Structure:
    """A company and its filing without amounts.

    Attributes:
        seed: decides all other fields; modulo 10 it decides the split.
        company: its name.
        years: the fiscal years that are reported, in order.
        year_end: the day a fiscal year ends: "December 31".
        scale: the amounts of the statements are whole thousands (1,000) or millions (1,000,000) of dollars.
        shares_scale: the same for numbers of shares.
        segments: their names; segment i has the line "segment_revenue.i", i from 1.
        does: what the company does of `OPTIONAL`.
        lines: the lines of its books.
        labels: line -> the name that it goes by in this filing.
        newest_first: the columns of a table begin with the last year.
        tables: the tables of the filing in order: three statements, then the notes.
        blanks: facts whose cells are left blank: what they would show is not reported.
    """

    seed: int
    company: str
    years: tuple[str, ...]
    year_end: str
    scale: int
    shares_scale: int
    segments: tuple[str, ...]
    does: frozenset[str]
    lines: frozenset[str]
    labels: Mapping[str, str] = field(hash=False)
    newest_first: bool
    tables: tuple[str, ...]
    blanks: frozenset[Fact] = frozenset()

    def at_level(self, level: int) -> Structure:
        """The company with the tables that its filing shows at a level: at level 1 the income statement alone."""
        return replace(self, tables=("income",)) if level == 1 else self

    @property
    def opening(self) -> str:
        """The year before the first one: of it there are balances alone."""
        return str(int(self.years[0]) - 1)

    def label(self, line: str) -> str:
        """The name of a line in this filing."""
        return self.labels[line]


def structure_split(seed: int) -> str:
    """The split of a structure seed: its last digit is 0 to 7 in "train", 8 in "validation" and 9 in "test"."""
    return "train" if seed % 10 < 8 else "validation" if seed % 10 == 8 else "test"


def draw_structure(seed: int, n_years: int = 3) -> Structure:
    """Draw a company and the layout of its filing.

    Names of companies and segments, labels and orders of statements that "test" has stand in no other split.

    Args:
        seed: the structure seed, at least 0.
        n_years: how many fiscal years are reported, 2 to 10.

    Raises:
        ValueError: there is no such seed or number of years.
    """
    if seed < 0 or not 2 <= n_years <= 10:
        raise ValueError(f"a structure has a seed of at least 0 and 2 to 10 years, not seed {seed} and {n_years} years")
    rng = np.random.default_rng([seed, n_years])
    test = structure_split(seed) == "test"
    does = frozenset(name for name in OPTIONAL if rng.random() < 0.7)
    names = _pick(rng, _TEST_SEGMENTS if test else _SEGMENTS)
    segments = tuple(names[: int(rng.integers(2, 5))])
    lines = _ALWAYS | {line for name in does for line in OPTIONAL[name]}
    lines |= {"debt_due.1", "debt_due.2", "debt_due.3", "debt_due.4", "debt_due.5"}
    lines |= {f"segment_revenue.{number}" for number in range(1, len(segments) + 1)}
    first = int(rng.integers(2012, 2025 - n_years))
    years = tuple(str(first + number) for number in range(n_years))
    scale = _pick(rng, (1_000, 1_000_000))
    structure = Structure(
        seed=seed,
        company=_company(rng, test),
        years=years,
        year_end=_pick(rng, _YEAR_ENDS),
        scale=scale,
        shares_scale=_pick(rng, (1_000, scale)),
        segments=segments,
        does=does,
        lines=lines,
        labels=_labels(rng, segments, lines, test),
        newest_first=bool(rng.random() < 0.75),
        tables=(*_pick(rng, _TEST_STATEMENTS if test else _STATEMENTS), *map(str, rng.permutation(_NOTES))),
    )
    return _with_operating_data(structure, np.random.default_rng([seed, n_years, 1]), test)


def _with_operating_data(structure: Structure, rng: np.random.Generator, test: bool) -> Structure:
    """Add a table of what is counted beside the books, one cell of which is blank."""
    counted = [line for line in OPERATING if line != "order_backlog"]
    lines = ["order_backlog", *map(str, rng.permutation(counted)[: int(rng.integers(3, len(counted) + 1))])]
    place = int(rng.integers(3, len(structure.tables) + 1))
    return replace(
        structure,
        lines=structure.lines.union(lines),
        labels={**structure.labels, **{line: _name(rng, OPERATING[line], test) for line in sorted(lines)}},
        tables=(*structure.tables[:place], "operating", *structure.tables[place:]),
        blanks=frozenset({Fact(_pick(rng, lines), _pick(rng, structure.years))}),
    )


def look_alike(company: str, rng: np.random.Generator) -> str:
    """The name of another company that differs from this one in one word.

    Args:
        company: the name that was drawn for a structure.
        rng: decides the other one.
    """
    beginning, middle, trade, *form = company.split(" ")
    if rng.random() < 0.5:
        middle = _pick(rng, [other for other in _MIDDLES if other != middle])
    else:
        trade = _pick(rng, [other for other in _TRADES if other != trade])
    return " ".join((beginning, middle, trade, *form))


def _company(rng: np.random.Generator, test: bool) -> str:
    beginning = _pick(rng, _TEST_BEGINNINGS if test else _BEGINNINGS)
    return f"{beginning} {_pick(rng, _MIDDLES)} {_pick(rng, _TRADES)} {_pick(rng, _FORMS)}"


def _labels(rng: np.random.Generator, segments: Sequence[str], lines: frozenset[str], test: bool) -> Mapping[str, str]:
    labels = {line: _name(rng, names, test) for line, names in LABELS.items() if line in lines}
    labels |= {f"segment_revenue.{number}": name for number, name in enumerate(segments, 1)}
    return labels


def _name(rng: np.random.Generator, names: Sequence[str], test: bool) -> str:
    return names[-1] if test else _pick(rng, names[:-1])


def _pick(rng: np.random.Generator, choices: Sequence[_Choice]) -> _Choice:
    return choices[int(rng.integers(len(choices)))]
