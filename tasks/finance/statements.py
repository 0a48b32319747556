"""The tables of a filing: rows, columns, cells with addresses, and the text that stands in them.

    tables = lay_out(structure)
    cell = tables[0].cells["d1:t1!r2c2"]
    cell.text(ledger), cell.value(ledger)

A table is laid out from a structure alone, so its addresses are the same for all amounts. In an address, r1 is the row
with the headings of the columns and c1 the column with the labels; `$`, `)` and `%` have no columns of their own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from workgym.tasks.finance.layouts import ROWS, TITLES, RowPlan
from workgym.tasks.finance.ledger import Ledger
from workgym.tasks.finance.lines import unit_of
from workgym.tasks.finance.structure import Structure
from workgym.tasks.finance.terms import Fact, quarters_of

__all__ = ["Cell", "Row", "Statement", "cells_by_address", "displayed", "lay_out"]

_SCALE_WORDS: Final = {1: "units", 1_000: "thousands", 1_000_000: "millions", 1_000_000_000: "billions"}
_BALANCES: Final = ("balance", "property", "debt")


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell that shows an amount.

    Attributes:
        address: "d1:t2!r5c3".
        fact: what it shows.
        sign: -1 where it is shown with the sign turned.
        unit: "currency", "currency/share", "shares", "percent" or "count".
        scale: what one unit of its digits stands for: 1,000,000 in a table in millions, 1/100 for a percentage.
        decimals: how many are shown.
    """

    address: str
    fact: Fact
    sign: int
    unit: str
    scale: Fraction
    decimals: int

    def exact(self, ledger: Ledger) -> Fraction:
        """The amount behind the cell, with the sign it shows, in base units and not rounded."""
        return self.sign * ledger[self.fact]

    def value(self, ledger: Ledger) -> Fraction:
        """What a reader takes from the cell: with the sign it shows, in base units, rounded as it is."""
        return displayed(self.exact(ledger), self.scale, self.decimals)

    def text(self, ledger: Ledger) -> str:
        """What stands in the cell: "1,234", "(1,234)", "0.57", "21.4%", and a dash for 0."""
        shown = self.value(ledger) / self.scale
        if not shown:
            return "—"
        digits = f"{round(abs(shown) * 10**self.decimals):0{self.decimals + 1}d}"
        whole, part = digits[: len(digits) - self.decimals], digits[len(digits) - self.decimals :]
        number = f"{int(whole):,}" + (f".{part}" if part else "")
        number = number if shown > 0 else f"({number})"
        return f"{number}%" if self.unit == "percent" else number


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table.

    Attributes:
        label: its words.
        depth: how far it is indented.
        total: it is the sum of rows above it.
        cells: one for each column; empty in a row of text alone.
        path: the headings that it stands below, from the widest, and its label.
    """

    label: str
    depth: int
    total: bool
    cells: tuple[Cell, ...]
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """A table of a filing.

    Attributes:
        address: "d1:t2".
        key: which one: "income", "balance", "cash", "segments", ...
        title: "Consolidated Balance Sheets".
        caption: says the scale: "(In millions)".
        headings: of the columns, that of the labels left out.
        rows: below the headings.
        cells: address -> cell, of those that show an amount.
        blanks: the addresses of the others: what they would show is not reported.
    """

    address: str
    key: str
    title: str
    caption: str
    headings: tuple[str, ...]
    rows: tuple[Row, ...]
    cells: Mapping[str, Cell]
    blanks: frozenset[str]

    @property
    def heading_addresses(self) -> tuple[str, ...]:
        """The addresses of the headings, in their order."""
        return tuple(f"{self.address}!r1c{column}" for column in range(2, 2 + len(self.headings)))


def displayed(amount: Fraction, scale: Fraction | int, decimals: int) -> Fraction:
    """Round an amount as a table shows it: to so many decimals of a scale, halves away from 0.

    Args:
        amount: in base units.
        scale: what one unit of the digits stands for.
        decimals: how many digits stand behind the point.

    Returns:
        The amount that is shown, in base units again.
    """
    step = Fraction(scale) * Fraction(1, 10**decimals)
    steps = math.floor(abs(amount) / step + Fraction(1, 2))
    return step * (steps if amount >= 0 else -steps)


def lay_out(
    structure: Structure, document: str = "d1", scale: int | None = None, numbers: Mapping[str, int] | None = None
) -> tuple[Statement, ...]:
    """Lay out the tables of a filing, in their order.

    Args:
        structure: the company and its filing.
        document: the beginning of every address.
        scale: amounts of money are shown in these units; by default in those that they are whole numbers of. A coarser
            scale rounds, and sums may then be off in the last digit, as in real filings.
        numbers: table -> its number in the document, in which other tables may stand between them; by default they are
            numbered from 1.
    """
    shown = structure.scale if scale is None else scale
    places = numbers or {key: number for number, key in enumerate(structure.tables, 1)}
    return tuple(_table(structure, key, f"{document}:t{places[key]}", shown) for key in structure.tables)


def cells_by_address(tables: tuple[Statement, ...]) -> dict[str, Cell]:
    """All cells of a filing that show an amount: whatever else is cited shows nothing that counts."""
    return {address: cell for table in tables for address, cell in table.cells.items()}


def _table(structure: Structure, key: str, place: str, scale: int) -> Statement:
    periods = _periods(structure, key)
    rows: list[Row] = []
    above: list[tuple[int, str]] = []
    for number, (plan, label) in enumerate(_rows(structure, key, scale), 2):
        cells = tuple(
            _cell(structure, plan, period, f"{place}!r{number}c{column}", scale)
            for column, period in enumerate(periods if plan.line else (), 2)
        )
        above = [(depth, text) for depth, text in above if depth < plan.depth]
        rows.append(Row(label, plan.depth, plan.total, cells, (*(text for _, text in above), label)))
        if not cells:
            above.append((plan.depth, label))
    shown = [cell for row in rows for cell in row.cells]
    return Statement(
        address=place,
        key=key,
        title=TITLES[key],
        caption=_caption(structure, key, scale),
        headings=tuple(_heading(structure, key, period) for period in periods),
        rows=tuple(rows),
        cells={cell.address: cell for cell in shown if cell.fact not in structure.blanks},
        blanks=frozenset(cell.address for cell in shown if cell.fact in structure.blanks),
    )


def _periods(structure: Structure, key: str) -> tuple[str, ...]:
    """The columns of a table: two balances, all flows, the maturities of one year, the quarters of one year."""
    last = structure.years[-1]
    if key == "quarters":
        return (*quarters_of(last), last)
    shown = {"debt": 1, "balance": 2, "property": 2}.get(key, len(structure.years))
    years = structure.years[-shown:]
    return years[::-1] if structure.newest_first else years


def _rows(structure: Structure, key: str, scale: int) -> Iterator[tuple[RowPlan, str]]:
    """The rows that this company has, with their words."""
    for plan in ROWS[key]:
        if plan.line.endswith(".*"):
            stem = plan.line.removesuffix("*")
            for line in sorted(name for name in structure.lines if name.startswith(stem)):
                yield plan._replace(line=line), _several(structure, line)
        elif not plan.line:
            yield plan, plan.text
        elif plan.line in structure.lines:
            is_money = key == "operating" and unit_of(plan.line) == "currency"  # among counts: the label says so
            label = plan.text or structure.label(plan.line)
            yield plan, f"{label} (in {_words(scale)} of dollars)" if is_money else label


def _several(structure: Structure, line: str) -> str:
    """The label of one of several: a segment has a name, a maturity the year in which it falls due."""
    stem, _, number = line.partition(".")
    return structure.label(line) if stem == "segment_revenue" else str(int(structure.years[-1]) + int(number))


def _cell(structure: Structure, plan: RowPlan, period: str, address: str, scale: int) -> Cell:
    unit = unit_of(plan.line)
    shown, decimals = {
        "currency": (Fraction(scale), 0),
        "currency/share": (Fraction(1), 2),
        "shares": (Fraction(structure.shares_scale), 0),
        "percent": (Fraction(1, 100), 1),
        "count": (Fraction(1), 0),
    }[unit]
    fact = Fact(plan.line, str(int(period) - 1) if plan.lag else period)
    return Cell(address, fact, plan.sign, unit, shown, decimals)


def _heading(structure: Structure, key: str, period: str) -> str:
    if key == "quarters":
        return {"1": "First", "2": "Second", "3": "Third", "4": "Fourth"}[period[-1]] if "Q" in period else "Year"
    return f"{structure.year_end}, {period}" if key in _BALANCES else period


def _caption(structure: Structure, key: str, scale: int) -> str:
    words = f"In {_words(scale)}"
    if key == "operating":
        return ""  # its rows say it, each for itself
    if key == "quarters":
        return f"Fiscal year ended {structure.year_end}, {structure.years[-1]} ({words})"
    if key != "income":
        return f"({words})"
    if structure.shares_scale == scale:
        return f"({words}, except per-share amounts)"
    shares = _SCALE_WORDS[structure.shares_scale]
    return f"({words}, except shares, which are in {shares}, and per-share amounts)"


def _words(scale: int) -> str:
    return _SCALE_WORDS.get(scale, f"units of {scale:,}")
