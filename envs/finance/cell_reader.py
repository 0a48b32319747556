"""What a cell of a document says: an amount with the sign it shows, nothing, words, or something that cannot be read.

    read_cell("$(1,234)(1)")    # an amount: -1234, in "$", its footnote mark left out

Documents write more freely than answers may be written (`amounts`): dashes are zeros, footnote marks are glued to
numbers, a minus may trail. What looks like a number and is none, as `1,23` or `NaN`, is "unreadable" and never 0.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from workgym.envs.finance.document import CellKind
from workgym.envs.finance.marks import CURRENCY_SIGNS, SCALE_WORDS
from workgym.envs.finance.numerals import MAX_DIGITS
from workgym.tasks.finance.units import SCALES

__all__ = ["CellContent", "plain_cell", "read_cell", "seen_text"]

_LONGEST: Final = 200  # characters of an amount with all that stands beside it
_DASHES: Final = "‐‑‒–—―−﹣－"  # noqa: RUF001
_SPACES: Final = (
    "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000\t\r\n\f"
)
_UNSEEN: Final = "\u00ad\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\ufeff"
_NO_UNSEEN: Final = str.maketrans(dict.fromkeys(_UNSEEN))
_PLAIN: Final = str.maketrans(
    {
        **dict.fromkeys(_DASHES, "-"),
        **dict.fromkeys(_SPACES, " "),
        **dict.fromkeys(_UNSEEN, None),
        **{chr(0xFEE0 + code): chr(code) for code in range(0x21, 0x7F) if code != ord("-")},
        "￥": "¥",
    }
)

_CURRENCY: Final = "|".join(re.escape(sign) for sign in sorted(CURRENCY_SIGNS, key=len, reverse=True))
_MARK: Final = r"(?:\((?:[0-9]{1,2}|[a-z]{1,2}|\*+)\)|\[(?:[0-9]{1,2}|[a-z])\]|[*†‡§#^¹²³⁴⁵⁶⁷⁸⁹⁰])"
_WORDS_OF_SCALE: Final = "|".join(sorted((word for word in SCALE_WORDS if len(word) > 1), key=len, reverse=True))
_US: Final = r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]*)?|\.[0-9]+"
_EUROPEAN: Final = r"[0-9]{1,3}(?:(?P<mark>[. '])[0-9]{3})(?:(?P=mark)[0-9]{3})*(?:,[0-9]+)?|[0-9]+(?:,[0-9]*)?|,[0-9]+"


def _amount(numeral: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?P<lead>(?:[-+△▲(\[ ]|{_CURRENCY})*)(?P<digits>{numeral})"
        rf"(?:{_MARK}(?= ?[)%]))*"  # a raised mark may stand before the mark of percent
        r" ?(?P<percent>%)? ?(?P<close>[)\]])? ?(?P<behind>%|percent|pts?|pp|bps|x|×)?"  # noqa: RUF001
        rf" ?(?P<minus>-)? ?(?:(?P<scale>{_WORDS_OF_SCALE})\b)? ?(?P<late>[)\]])? ?(?P<side>cr|dr)?\.?"
        rf"(?P<marks>(?: ?,? ?{_MARK})*)",
        re.IGNORECASE,
    )


_AMOUNT: Final = _amount(_US)
_EUROPEAN_AMOUNT: Final = _amount(_EUROPEAN)
# How most amounts are written; what this does not match is looked at more closely.
_USUAL: Final = re.compile(
    r"(?P<currency>\$)? ?(?P<open>\()?(?P<digits>(?:[1-9][0-9]{0,2}(?:,[0-9]{3})*|0)(?:\.(?P<decimals>[0-9]+))?)"
    r"(?P<close>\))?"
)
_ZERO: Final = re.compile(rf"\(? ?(?:{_CURRENCY})? ?\(? ?(?:-{{1,3}}|-0-) ?%? ?\)? ?%?|nil", re.IGNORECASE)
_BLANK: Final = re.compile(
    rf"(?:{_CURRENCY}|%|\(|\)|\) ?%|\*+|(?:n ?/ ?a|n\.? ?a\.?|n\.? ?m\.?f?\.?|n ?/ ?m|not applicable|not meaningful"
    rf"|not reported|not available)(?: ?{_MARK})*)?",
    re.IGNORECASE,
)
_DIGIT: Final = re.compile("[0-9]")
_BROKEN: Final = re.compile(
    r"[\ufffd\x00-\x08\x0e-\x1f]|\(cid:|^[-+]?s?nan$|^[-+]?inf(?:inity)?$|^∞$|^#+$|#(?:ref|div/0|value|name|num|n/a)[!?]?"
    r"|^(?:/(?:zero|one|two|three|four|five|six|seven|eight|nine|comma|period)) ?",
    re.IGNORECASE,
)
_LOOKS_LIKE_DIGITS: Final = re.compile(r"[-+△▲()\[\]., '$€£¥%_0-9]+")
_MARKS: Final = re.compile(rf"(?: ?{_MARK})+$", re.IGNORECASE)
# Dates, codes, ranges and the numbers of lists are words.
_DATE_OR_CODE: Final = re.compile(
    r"[0-9]+(?:[-/][0-9]+)+|0[0-9]+|[0-9]{1,3}\.(?:[0-9]+\.)+[0-9]{1,2}|[0-9]{1,3}\."
    r"|[$€£]?[0-9][0-9,.]*%? ?- ?[$€£]?[0-9][0-9,.]*%?|(?:(?:19|20)[0-9]{2} )?[A-Za-z$€£¥.]{0,4} ?'000s?"
)
_UNITS_BEHIND: Final = {"%": "percent", "percent": "percent", "x": "multiple", "×": "multiple", "bps": "bps"}  # noqa: RUF001


@dataclass(frozen=True, slots=True)
class CellContent:
    """What the text of a cell says.

    Attributes:
        kind: "amount", "blank", "words" or "unreadable".
        value: of an amount, its digits with the sign that is shown; else None.
        decimals: how many digits stand behind the point.
        unit: "percent", "percentage_points", "bps" or "multiple" where a mark behind the digits says so; else "".
        currency: the sign before the digits, in lower case, "$" or "us$"; else "".
        scale: what a word behind the digits multiplies by: 1000000 in "$1.2 million"; else 1.
        bare: it is written as digits alone, as a year is.
    """

    kind: CellKind
    value: Decimal | None = None
    decimals: int = 0
    unit: str = ""
    currency: str = ""
    scale: Decimal = Decimal(1)
    bare: bool = False


_WORDS: Final = CellContent("words")
_NOTHING: Final = CellContent("blank")
_UNREADABLE: Final = CellContent("unreadable")


def seen_text(text: str) -> str:
    """The text without characters that nobody sees: spaces of no width, soft hyphens, marks of direction."""
    return text if text.isascii() else text.translate(_NO_UNSEEN)


def plain_cell(text: str) -> str:
    """The text with one kind of dash, of space and of digit, unseen characters left out, and no space around it."""
    return " ".join(text.translate(_PLAIN).split())


def read_cell(text: str, *, european: bool = False, negative_side: str = "") -> CellContent:
    """Read a cell.

    Args:
        text: as it stands, with what stands in cells next door and belongs to it: "$", ")" and "%".
        european: numbers are written 1.234.567,89.
        negative_side: "CR" or "DR" where the document says that amounts of this side are negative; "": neither is.

    Returns:
        What it says. Never an exception, whatever the text.
    """
    plain = plain_cell(text)
    usual = _USUAL.fullmatch(plain) if len(plain) < MAX_DIGITS and not european else None
    if usual is not None and bool(usual["open"]) == bool(usual["close"]):
        return _usual_amount(usual)
    if len(plain) <= _LONGEST and _BLANK.fullmatch(plain):
        return _NOTHING
    if _BROKEN.search(plain):
        return _UNREADABLE
    if _is_dash(plain, text):
        currency = re.search(_CURRENCY, plain, re.IGNORECASE)
        unit = "percent" if "%" in plain else ""
        return CellContent("amount", Decimal(0), unit=unit, currency=currency[0].lower() if currency else "")
    if not _DIGIT.search(plain):
        return _WORDS
    if len(plain) > _LONGEST:
        return _without_amount(plain)
    found = (_EUROPEAN_AMOUNT if european else _AMOUNT).fullmatch(plain)
    if found is None or re.match("0[0-9]", found["digits"]) or re.fullmatch(r"[0-9]{1,3}\.", plain):
        return _without_amount(plain)
    return _with_amount(found, european, negative_side)


def _usual_amount(found: re.Match[str]) -> CellContent:
    currency, opened, written, decimals, _ = found.groups()
    value = Decimal(written.replace(",", ""))
    return CellContent(
        "amount",
        -value if opened and value else value,
        decimals=len(decimals or ""),
        currency=currency or "",
        bare=written.isdigit() and not opened and not currency,
    )


def _is_dash(plain: str, text: str) -> bool:
    """Whether a dash stands for 0; a long one may have footnote marks, while `-(5)` has two signs."""
    if len(plain) > _LONGEST:
        return False
    return bool(_ZERO.fullmatch(_MARKS.sub("", plain) if "—" in text or "–" in text else plain))  # noqa: RUF001


def _without_amount(plain: str) -> CellContent:
    """A text with digits that is no amount: words, unless there is nothing in it but the characters of numbers."""
    without_currency = re.sub(_CURRENCY, "", plain, flags=re.IGNORECASE)
    if _LOOKS_LIKE_DIGITS.fullmatch(without_currency) and not _DATE_OR_CODE.fullmatch(plain):
        return _UNREADABLE
    return _WORDS


def _with_amount(found: re.Match[str], european: bool, negative_side: str) -> CellContent:
    lead = re.sub(_CURRENCY, "", found["lead"], flags=re.IGNORECASE)
    signs = lead.replace(" ", "").replace("[", "(") + (found["minus"] or "")
    closed = bool(found["close"]) + bool(found["late"])
    if len(signs) > 1 or closed > 1 or (closed and "(" not in signs) or len(found["digits"]) > MAX_DIGITS:
        return _UNREADABLE
    currency = re.search(_CURRENCY, found["lead"], re.IGNORECASE)
    side = (found["side"] or "").upper()
    negative = (bool(signs) and signs != "+") or (bool(side) and side == negative_side.upper())
    digits = re.sub("[ .']", "", found["digits"]).replace(",", ".") if european else found["digits"].replace(",", "")
    behind = (found["behind"] or found["percent"] or "").lower()
    value = Decimal(digits or "0")
    return CellContent(
        "amount",
        -value if negative and value else value,
        decimals=len(digits.partition(".")[2]),
        unit=_UNITS_BEHIND.get(behind, "percentage_points" if behind else ""),
        currency=currency[0].lower() if currency else "",
        scale=Decimal(SCALES[SCALE_WORDS[found["scale"].lower()]] if found["scale"] else 1),
        bare=found["digits"].isdigit() and not signs and not currency and not behind and not found["scale"],
    )
