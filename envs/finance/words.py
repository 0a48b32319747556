"""Answers that are no amounts: years, dates, yes or no, one of several choices, texts."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from typing import Final

from workgym.envs.finance.answers import Refusal, shown
from workgym.envs.finance.characters import fold_text, plain_text

__all__ = ["read_bool", "read_choice", "read_date", "read_text", "read_year"]

_MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
_MONTH_NUMBERS: Final = {
    name: number
    for number, month in enumerate(_MONTHS, start=1)
    for name in (month, month[:3], f"{month[:3]}.", *(("sept", "sept.") if month == "september" else ()))
}
_YEAR: Final = re.compile(r"(?:fy ?|fiscal (?:year )?)?(?P<year>[12][0-9]{3})")
_DATES: Final = (
    re.compile(r"(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})"),
    re.compile(r"(?P<month>[a-z]+\.?) (?P<day>[0-9]{1,2}), ?(?P<year>[0-9]{4})"),
    re.compile(r"(?P<day>[0-9]{1,2}) (?P<month>[a-z]+\.?) (?P<year>[0-9]{4})"),
)
_BOOLS: Final = {"yes": True, "true": True, "no": False, "false": False}


def read_year(text: str) -> int | Refusal:
    """`2024`, `FY2024` or `fiscal 2024`."""
    plain = plain_text(text)
    if isinstance(plain, Refusal):
        return plain
    found = _YEAR.fullmatch(plain)
    return int(found["year"]) if found else Refusal("form", f"{shown(text)} is no year: write it as 2024 or FY2024")


def read_date(text: str) -> datetime.date | Refusal:
    """`2024-09-28`, `September 28, 2024` or `28 September 2024`; months may be short.

    `09/28/2024` is refused: half of the world reads it otherwise.
    """
    plain = plain_text(text)
    if isinstance(plain, Refusal):
        return plain
    refusal = Refusal("form", f"{shown(text)} is no day of the calendar: write it as 2024-09-28 or September 28, 2024")
    found = next((match for pattern in _DATES if (match := pattern.fullmatch(plain))), None)
    if found is None:
        return refusal
    month = int(found["month"]) if found["month"].isdecimal() else _MONTH_NUMBERS.get(found["month"], 0)
    try:
        return datetime.date(int(found["year"]), month, int(found["day"]))
    except ValueError:  # no such day, or no such month
        return refusal


def read_bool(text: str) -> bool | Refusal:
    """`yes`, `no`, `true` or `false`, in any case."""
    plain = plain_text(text)
    if isinstance(plain, Refusal):
        return plain
    return _BOOLS.get(plain, Refusal("form", f"{shown(text)} is neither yes nor no: write one of both"))


def read_choice(text: str, choices: Mapping[str, tuple[str, ...]]) -> str | Refusal:
    """One of the choices that the spec names, or another way to write it that the spec names."""
    folded = fold_text(text)
    if isinstance(folded, Refusal):
        return folded
    for choice, aliases in choices.items():
        if any(folded == fold_text(name) for name in (choice, *aliases)):
            return choice
    return Refusal("choice", f"{shown(text)} is none of the choices: {', '.join(choices)}")


def read_text(text: str) -> str | Refusal:
    """A text on one line, as it stands."""
    folded = fold_text(text)
    return folded if isinstance(folded, Refusal) else text.strip()
