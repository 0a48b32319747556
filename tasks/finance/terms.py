"""Facts of a ledger, and sums of them: "gross_profit", "cash[-1] + net_change_in_cash", "segment_revenue.*"."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import Final, NamedTuple

__all__ = ["Fact", "Term", "quarters_of", "read_terms", "year_of"]

_TERM: Final = re.compile(r"\s*(?P<sign>[+-])?\s*(?P<line>[a-z_]+(?:\.[0-9*]+)?)(?P<before>\[-1\])?\s*")


class Fact(NamedTuple):
    """One amount of a ledger.

    Attributes:
        line: a key of the chart of accounts: "revenue", "segment_revenue.2".
        period: a fiscal year, "2024", or one of its quarters, "2024Q3". A balance stands at the end of it.
    """

    line: str
    period: str

    def __str__(self) -> str:
        return f"{self.line}@{self.period}"


class Term(NamedTuple):
    """One signed line of a sum; `lag` is 1 where the balance of the year before is meant."""

    sign: int
    line: str
    lag: int

    def fact(self, period: str) -> Fact:
        """The fact that the term means in a period.

        Args:
            period: a year, or a quarter where the term has no lag.
        """
        return Fact(self.line, str(int(period) - self.lag) if self.lag else period)


def quarters_of(year: str) -> tuple[str, ...]:
    """The four quarters of a fiscal year."""
    return tuple(f"{year}Q{quarter}" for quarter in (1, 2, 3, 4))


def year_of(period: str) -> str:
    """The fiscal year that a period belongs to."""
    return period[:4]


def read_terms(text: str, lines: Iterable[str]) -> tuple[Term, ...]:
    """Read a sum of lines.

    Args:
        text: "gross_profit - operating_expenses"; ".*" stands for every line of that stem.
        lines: the lines that there are; a line that a company does not have is left out, for its amount is 0.
    """
    known = frozenset(lines)
    return _spread(text, known)


@functools.lru_cache(maxsize=4096)
def _spread(text: str, lines: frozenset[str]) -> tuple[Term, ...]:
    terms: list[Term] = []
    for sign, line, lag in _parsed(text):
        stem = line.removesuffix("*")
        names = sorted(name for name in lines if name.startswith(stem)) if line.endswith("*") else [line]
        terms += [Term(sign, name, lag) for name in names if name in lines]
    return tuple(terms)


@functools.lru_cache(maxsize=1024)
def _parsed(text: str) -> tuple[Term, ...]:
    terms: list[Term] = []
    place = 0
    while place < len(text):
        match = _TERM.match(text, place)
        if match is None or (terms and match["sign"] is None):
            raise ValueError(f"{text!r} is no sum of lines: it cannot be read from {text[place:]!r} on")
        terms.append(Term(-1 if match["sign"] == "-" else 1, match["line"], 1 if match["before"] else 0))
        place = match.end()
    return tuple(terms)
