"""An amount as people in finance write it: a numeral with one sign, a currency before it, a scale and a unit behind it.

The declared unit and scale rule: a mark in the text has to say the same, or nothing. So 12.5 and 12.5% are one answer
where percent was declared, and 12.5% is none where a ratio was.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from workgym.envs.finance.answers import Amount, Refusal, shown
from workgym.envs.finance.characters import plain_text
from workgym.envs.finance.marks import CURRENCY_SIGNS, SCALE_WORDS, UNIT_WORDS
from workgym.envs.finance.numerals import NUMERAL, read_numeral
from workgym.tasks.finance.units import SCALES, takes_scale

__all__ = ["read_amount"]

_SIGN: Final = "[+△-] ?"
_CURRENCY: Final = "|".join(re.escape(sign) for sign in sorted(CURRENCY_SIGNS, key=len, reverse=True))
_AMOUNT: Final = re.compile(
    rf"(?P<outer_sign>{_SIGN})?(?:(?P<currency>{_CURRENCY}) ?)?(?P<inner_sign>{_SIGN})?"
    rf"(?P<open>\( ?)?(?:(?P<inner_currency>{_CURRENCY}) ?)?{NUMERAL}(?P<trailing_sign>-)?"
    r"(?P<inner_marks>[^0-9()+△-]*?)(?P<close> ?\))?(?P<marks>[^0-9()+△-]*)"
)
_FORM: Final = "write one number, as in 1,234.5 or -12.5% or (0.09) or $1.2 million, and nothing around it"


@dataclass(frozen=True, slots=True)
class _Marks:
    """What stands beside the number."""

    sign: str = ""
    scale: str = ""
    unit: str = ""
    per_share: bool = False


def read_amount(text: str, unit: str, scale: str) -> Amount | Refusal:
    """Read one amount.

    Args:
        text: as it was submitted.
        unit: the declared unit, a name of `tasks.finance.units`.
        scale: the declared scale.

    Returns:
        The amount, or why the text is not one amount in this unit and scale. Never an exception, whatever the text.
    """
    plain = plain_text(text)
    if isinstance(plain, Refusal):
        return plain
    if not any("0" <= character <= "9" for character in plain):
        return Refusal("form", f"{shown(text)} holds no number: {_FORM}")
    found = _AMOUNT.fullmatch(plain)
    if found is None:
        return Refusal("form", f"{shown(text)} is not one number: {_FORM}")
    negative = _is_negative(found, text)
    if isinstance(negative, Refusal):
        return negative
    marks = _read_marks(found, text)
    if isinstance(marks, Refusal):
        return marks
    refusal = _clash(marks, unit, scale, text)
    if refusal is not None:
        return refusal
    numeral = read_numeral(found)
    if isinstance(numeral, Refusal):
        return numeral
    size = SCALES[scale]
    return Amount(numeral.value * (-size if negative else size), unit, numeral.step * size)


def _is_negative(found: re.Match[str], text: str) -> bool | Refusal:
    """Whether the amount is below zero: one sign says so, and two of them are refused."""
    if bool(found["open"]) != bool(found["close"]):
        return Refusal("sign", f"{shown(text)} has one parenthesis without the other")
    given = [found["outer_sign"], found["inner_sign"], found["open"], found["trailing_sign"]]
    signs = [sign.strip() for sign in given if sign]
    if len(signs) > 1:
        return Refusal("sign", f"{shown(text)} has more than one sign: write one minus or one pair of parentheses")
    if found["trailing_sign"] and found["marks"]:
        return Refusal("sign", f"{shown(text)} has a sign in its middle: write the minus first")
    return bool(signs) and signs != ["+"]


def _read_marks(found: re.Match[str], text: str) -> _Marks | Refusal:
    """The currency before the number; the scale, the unit and `per share` behind it."""
    if (found["currency"] and found["inner_currency"]) or (found["inner_marks"] and found["marks"]):
        return Refusal("unit", f"{shown(text)} says a unit or scale twice: say it once")
    words = (found["inner_marks"] or found["marks"]).removeprefix(" ")
    rest = words.removesuffix("/share").removesuffix(" ") if words.endswith("/share") else words
    if rest == "per share" or rest.endswith(" per share"):
        rest = rest.removesuffix("per share").removesuffix(" ")
    per_share = rest != words
    scale, _, unit = rest.partition(" ") if rest not in UNIT_WORDS else ("", "", rest)
    if (scale and scale not in SCALE_WORDS) or (unit and unit not in UNIT_WORDS):
        return Refusal("form", f"{shown(text)}: no unit reads {shown(words)}; {_FORM}")
    sign = found["currency"] or found["inner_currency"] or ""
    if sign and unit and (sign.isalpha() or not unit.isalpha()):
        return Refusal("unit", f"{shown(text)} says its unit twice: say it once")
    return _Marks(sign, SCALE_WORDS[scale] if scale else "", unit, per_share)


def _clash(marks: _Marks, unit: str, scale: str, text: str) -> Refusal | None:
    """What the text says against the declared unit and scale."""
    measured = unit.removesuffix("/share")
    currency_fits = not marks.sign or measured in CURRENCY_SIGNS[marks.sign]
    unit_fits = not marks.unit or measured in UNIT_WORDS[marks.unit]
    if not currency_fits or not unit_fits or (marks.per_share and measured == unit):
        return Refusal("unit", f"{shown(text)} was declared in {unit!r} and says another unit: both have to agree")
    if marks.scale and not takes_scale(unit):
        return Refusal("scale", f"{shown(text)}: an amount in {unit!r} takes no scale")
    if marks.scale and marks.scale != scale:
        return Refusal("scale", f"{shown(text)} was declared in {scale!r} and says {marks.scale!r}: both have to agree")
    return None
