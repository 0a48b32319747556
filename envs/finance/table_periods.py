"""Which fiscal year or quarter words name: in the heading of a column, in the label of a row, above a table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

__all__ = [
    "Named",
    "column_period",
    "ends_of_years",
    "is_opening",
    "is_period_heading",
    "latest_year",
    "named",
    "period_before",
    "row_period",
]

_MOST: Final = 120  # characters of words that are a period and nothing else
_MONTH: Final = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec)[a-z]*\.?"
_YEAR: Final = r"(?:19|20)[0-9]{2}"
_DATE: Final = (
    rf"(?:{_MONTH} ?[0-9]{{1,2}} ?,? ?{_YEAR}|[0-9]{{1,2}}\.? {_MONTH},? {_YEAR}"
    rf"|[0-9]{{1,2}}/[0-9]{{1,2}}/(?:{_YEAR}|[0-9]{{2}}))"
)

_YEARS: Final = re.compile(rf"(?<![0-9,.$€£/])({_YEAR})(?![0-9%]|,[0-9]|\.[0-9]|/[0-9])")
_SLASHED: Final = re.compile(rf"[0-9]{{1,2}}/[0-9]{{1,2}}/({_YEAR})")
_SHORT: Final = re.compile(
    r"(?:\bfy ?'?|\bfiscal '|[1-4]q ?'?|\bq[1-4] ?'?|[0-9]{1,2}/[0-9]{1,2}/"
    rf"|{_MONTH}(?:-| '))([0-9]{{2}})(?![0-9,])"
)
# The year that a filer names and the date on which it ended: the period is the year named.
_FISCAL: Final = re.compile(
    rf"(?:\bfiscal(?: year)?|\bfy) ?({_YEAR}),? ?\(?(?:which |that )?(?:ended|ending|ends)(?: on)?:? {_DATE}"
)
_ORDINALS: Final = dict(
    zip(("first", "second", "third", "fourth", "1st", "2nd", "3rd", "4th"), "12341234", strict=True)
)
_ORDINAL: Final = "|".join(_ORDINALS)
_QUARTER: Final = re.compile(rf"\b(?:q([1-4])|([1-4])q)(?![a-z])|\b({_ORDINAL})(?:[ -]fiscal)?[ -](?:quarter|qtr)")
_BARE_QUARTER: Final = re.compile(rf"(?:q?([1-4])q?|({_ORDINAL}))\.?")
_WHOLE_YEAR: Final = re.compile(r"(?:full |total |fiscal |the )*year|annual|total|full[- ]year")

# A period and nothing else: words that lead to a date, and the date.
_LEADING: Final = (
    r"as of|as at|at|for|the|in|during|fiscal|years?|months?|weeks?|quarters?|three|six|nine|twelve|[0-9]{2}"
    r"|ended|ending|end of|fy|period|balances?|first|second|third|fourth|and|q[1-4]|,|-"
)
_SECTION: Final = re.compile(rf"(?:(?:{_LEADING}) ?)*(?:{_DATE}|{_MONTH} {_YEAR}|{_YEAR})(?: ?[(:][a-z :()]*)?")
_BALANCE: Final = (
    r"balances?|outstanding|unvested|non-?vested|beginning|ending|exercisable|vested|carrying|net|total|as of|as at|at"
    r"|end|fair value|accrual|reserve|liability|cash"
)
_BALANCE_AT: Final = re.compile(rf"(?:{_BALANCE}).*?({_DATE})")
_NO_BALANCE: Final = re.compile(r"\b(?:due|matur\w+|expir\w+|through|until|payable|callable|issued)\b")
_FIRST_OF_YEAR: Final = re.compile(r"\bjan(?:\.|uary)? 1 ?,")
# Words of a balance at the beginning of a period, which is the one at the end of the period before.
_OPENING: Final = re.compile(
    r"\b(?:beginning|start) of (?:the )?(?:(?:fiscal|financial|current|reporting) )?(?:years?|periods?|quarters?)\b"
    r"|^(?:beginning|opening)(?:$|:| (?!of |in )(?:[a-z&-]+,? ){0,5}?(?:balances?|amount|accrual|allowance|cash|equity"
    r"|inventory|liability|reserves?|shares|stores|value)\b)"
    r"|\b(?:beginning|opening) balances?$|\bbalances?\b.*\b(?:beginning|brought forward)$"
    rf"|(?:\b(?:at|as of)(?: the)?|,|balances?) {_MONTH} 1,?$"
)
_NO_OPENING: Final = re.compile(r"\b(?:since|from|changes?|due|matur\w+|expir\w+|through|until|payable|effective)\b")
_ENDED: Final = re.compile(rf"(?:fiscal year|year|quarterly period|quarter|period)s? ?(?:ended|ending):? ?({_DATE})")
_CHANGE: Final = re.compile(r"\b(?:change|variance|increase|decrease|vs\.?|versus|compared)\b")


class Named(NamedTuple):
    """What words name: a quarter "1" to "4", "Y" for a whole year beside quarters, or ""; and years."""

    quarter: str
    years: tuple[str, ...]


def named(words: str, *, bare: bool = False) -> Named:
    """The quarter and the distinct years that words name, in order.

    Args:
        words: of a heading or a line.
        bare: "First" alone is a quarter, and "Year" the year, as in headings of columns.
    """
    text = words.lower().replace("’", "'")  # noqa: RUF001
    years = _FISCAL.findall(text) if "f" in text else []
    years = years or [*_YEARS.findall(text), *_SLASHED.findall(text)]
    if not years:
        years = [("20" if int(short) < 70 else "19") + short for short in _SHORT.findall(text)]
    found = _QUARTER.search(text)
    if found is None and bare:
        found = _BARE_QUARTER.fullmatch(text.strip())
    quarter = ""
    if found is not None:
        name = next(group for group in found.groups() if group)
        quarter = _ORDINALS.get(name, name)
    elif bare and _WHOLE_YEAR.fullmatch(text.strip()):
        quarter = "Y"
    return Named(quarter, tuple(dict.fromkeys(years)))


def is_period_heading(words: str) -> bool:
    """Whether words are a period and nothing else: "2024", "September 28, 2024", "As of December 31, 2023:"."""
    return len(words) <= _MOST and bool(_SECTION.fullmatch(words.lower().strip()))


def column_period(headings: Sequence[str], year: str) -> tuple[str, bool]:
    """The period of a column.

    Args:
        headings: those above the column, the lowest first.
        year: of the quarters, where no heading tells it; or "".

    Returns:
        "2024", "2024Q3" or "", and whether the headings say that the column has none, as one of changes.
    """
    fiscal = _FISCAL.findall(" ".join(headings[::-1]).lower())
    if len(fiscal) == 1:
        return fiscal[0], False
    quarter = ""
    for number, heading in enumerate(headings):
        here = named(heading, bare=True)
        quarter = quarter or (here.quarter if here.quarter != "Y" or not number else "")
        if len(here.years) == 1:
            return _written(quarter, here.years[0]), False
        if len(here.years) > 1 or (_CHANGE.search(heading.lower()) and not here.years):
            return "", True
    if quarter and quarter != "Y":
        return _written(quarter, year) if year else "", False
    return "", False


def _written(quarter: str, year: str) -> str:
    return f"{year}Q{quarter}" if quarter in ("1", "2", "3", "4") else year


def row_period(label: str) -> str:
    """The year that the label of a row names as that of its amounts: "2023:", "Balance at May 24, 2022"; or "".

    What stands at January 1 is the balance of the year before.
    """
    text = label.lower().strip()
    if is_period_heading(text):
        years = named(text).years[-1:]
    else:
        balance = _BALANCE_AT.match(text)
        if balance is None or _NO_BALANCE.search(text):
            return ""
        years = named(balance[1]).years[:1]
    if years and _FIRST_OF_YEAR.search(text):
        return period_before(years[0])
    return years[0] if years else ""


def is_opening(words: str) -> bool:
    """Whether words name a balance at the beginning of a period: "Cash, beginning of year", "Opening balance"."""
    text = words[:_MOST].lower().strip(" :")
    return bool(_OPENING.search(text)) and not _NO_OPENING.search(text)


def period_before(period: str) -> str:
    """The year before a year, the quarter before a quarter; of "" ""."""
    if not period:
        return ""
    year, _, quarter = period.partition("Q")
    before = str(int(year) - 1)
    if not quarter:
        return before
    return f"{before}Q4" if quarter == "1" else f"{year}Q{int(quarter) - 1}"


def latest_year(lines: Iterable[str], latest: str) -> str:
    """The latest year named in the nearest line that names any; none after `latest` ("": all), nor long before it."""
    for line in lines:
        years = [year for year in named(line).years if not latest or int(latest) - 2 <= int(year) <= int(latest)]
        if years:
            return max(years)
    return ""


def ends_of_years(lines: Iterable[str]) -> str:
    """The year that a document reports on, from its cover: "For the fiscal year ended September 28, 2024"; or ""."""
    for line in lines:
        found = _ENDED.search(" ".join(line.lower().split()))
        if found is not None:
            return named(found[1]).years[0]
    return ""
