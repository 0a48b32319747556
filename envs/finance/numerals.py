"""The numeral itself: digits, groups of three, a point, an exponent. Exact, and small whatever is written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from workgym.envs.finance.answers import Refusal, shown

__all__ = ["MAX_DIGITS", "NUMERAL", "Numeral", "read_numeral"]

MAX_DIGITS: Final = 64

# Groups have one separator throughout: a comma, a space or an apostrophe; `1,234'567` and `0,123` are none.
_WHOLE: Final = r"(?P<whole>[1-9][0-9]{0,2}(?P<separator>[, '])[0-9]{3}(?:(?P=separator)[0-9]{3})*|[0-9]+)"
NUMERAL: Final = (
    rf"(?:{_WHOLE}(?:\.(?P<part>[0-9]*))?|\.(?P<bare_part>[0-9]+))"  # 12.5, 12. and .5
    r"(?:e(?P<exponent>[+-]?[0-9]+))?"
)


@dataclass(frozen=True, slots=True)
class Numeral:
    """An unsigned number.

    Attributes:
        value: exact.
        step: what one in its last written place is worth: 1/10 for 12.5.
    """

    value: Fraction
    step: Fraction


def read_numeral(found: re.Match[str]) -> Numeral | Refusal:
    """The number that a match of a pattern with `NUMERAL` in it holds.

    Written out it has at most `MAX_DIGITS` digits, which bounds time and memory: `1e999999999` is refused unbuilt.
    """
    whole = re.sub("[, ']", "", found["whole"] or "")
    part = found["part"] or found["bare_part"] or ""
    exponent = found["exponent"] or "0"
    if len(whole) + len(part) > MAX_DIGITS or len(exponent) > 4 or _n_digits(whole, part, int(exponent)) > MAX_DIGITS:
        return Refusal("size", f"{shown(found[0])} has too many digits: at most {MAX_DIGITS} when written out")
    place = int(exponent) - len(part)
    step = Fraction(10) ** place
    return Numeral(int(whole + part) * step, step)


def _n_digits(whole: str, part: str, exponent: int) -> int:
    """How many digits the number has when it is written out without an exponent."""
    return max(len(whole) + exponent, 1) + max(len(part) - exponent, 0)
