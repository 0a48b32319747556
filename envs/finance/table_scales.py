"""What the digits of a table stand for: scales and units from captions, headings and labels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Final

from workgym.envs.finance.cell_reader import CellContent
from workgym.envs.finance.table_currencies import SIGN, currency_in_label, currency_meant, with_signs

__all__ = ["NO_PHRASE", "Phrase", "caption_of", "heading_scale", "measure", "read_phrase"]

_ONE: Final = Decimal(1)
_SIZES: Final = {
    "hundred": Decimal(100),
    **dict.fromkeys(("thousand", "000", "k"), Decimal(10**3)),
    **dict.fromkeys(("million", "m", "mn", "mm"), Decimal(10**6)),
    **dict.fromkeys(("billion", "bn"), Decimal(10**9)),
    "trillion": Decimal(10**12),
}
_MULTIPLE: Final = r"(hundred|thousand|million|billion|trillion)s?\b"
_MONEY: Final = re.compile(
    rf"\b(?:in|are|expressed|stated|presented)\s+"
    rf"(?:whole\s+|u\.?s\.?\s+|[${SIGN}]\s*(?:in\s+)?|dollars?\s+in\s+)*{_MULTIPLE}"
    rf"|(?:^|\(|[${SIGN},;]\s?){_MULTIPLE}(?!\s+shares)|(?:[${SIGN}(]|in )\s?'?(000)(?:'?s|,)?(?![0-9])|(000)'?s\b"
    rf"|[${SIGN}]\s?(mn?|mm|bn|k)\b(?!')"
)
_BESIDE_SIGN: Final = re.compile(
    rf"{SIGN} ?\(?(?:in )?'?(hundred|thousand|million|billion|trillion|mn?|mm|bn|k|000)s?\)?$"
    rf"|(hundred|thousand|million|billion|trillion)s of {SIGN}\)?$"
)
_SINGLE: Final = re.compile(
    rf"\b(?:in|are|expressed|stated|presented)\s+(?:whole\s+|u\.?s\.?\s+)*"
    rf"(?:[a-z]*\s?dollars?\b|{SIGN})(?=$|[,;.:)]|\s+(?:and|except|unless))"
)
_UNITS_OF: Final = re.compile(rf"\bin units of ([0-9]{{1,3}}(?:,[0-9]{{3}})*) (?:dollars|{SIGN})")
_PER_SHARE: Final = re.compile(
    r"\b(?:per|par)[- ](?:[a-z]+[- ]){0,3}?(?:shares?|units?|rsus?|ads|adss|value)\b"
    r"(?: (?:amounts?|data|information|figures|prices?))?"
)
_SHARES: Final = re.compile(
    r"\bshares?\b[^()]{0,45}?\bin (thousand|million|billion)s|\b(thousand|million|billion)s of shares"
)
_BARE_SHARES: Final = re.compile(r"\bshares?\b|\bshare (?:amounts|data|and)\b")
_CAPTION: Final = re.compile(r"\(([^()]*)\)")
_SAYS: Final = re.compile(
    r"amounts |dollars |\$ ?|in |all |u\.s\. |(?:expressed|stated|presented|figures) in "
    rf"|{SIGN}[^a-z0-9]*(?:(?:expressed )?in )?(?:hundreds|thousands?|millions?|billions?|trillions?|mn?|mm|bn|k|000s?)"
    r"(?=[^a-z]*$|[,;.:()]| except| unless)"
    rf"|(?:hundreds|thousands|millions|billions|trillions) of (?:{SIGN}|dollars)(?=$|[,;.:()]| except| unless)"
    r"|(?:for the |as of |at )*(?:fiscal )?(?:[a-z]+ )?(?:years?|quarters?|months|periods?) (?:ended|ending)\b"
)
_LONGEST: Final = 400  # characters of a label or a heading that are looked at
_PROSE: Final = 160  # characters: a longer line is a paragraph, and only what it has in parentheses is a caption

_PERCENT: Final = re.compile(
    r"^(?:effective|(?:weighted[- ])?average)\b[a-z -]* rates?(?: of [a-z]+)?$"
    r"|^(?:discount|(?:risk-free )?interest) rate$"
    r"|\(%\)|^%|% (?:change|of)|^percent|\bpercentage (?:of|change|rate)|as a percent|\(percent\)|(?<![0-9])%$"
)
_A_SHARE: Final = re.compile(
    r"\bper (?:[a-z]+[ -]){0,4}?(?:shares?|units?|rsus?|ads)\b|\bper[- ]share\b|\beps\b|\b(?:exercise|strike) prices?\b"
    r"|\bweighted[- ]average (?:grant|price|fair value)"
)
_NUMBER_OF_SHARES: Final = re.compile(
    r"\bshares (?:used|outstanding)|\bweighted[- ]average (?:number of )?(?:[a-z]+ ){0,3}(?:shares|units)"
    r"|\bnumber of (?:[a-z]+ ){0,4}(?:shares|units|rsus|stock units|options)|\bshares?: "
    r"|\b(?:basic|diluted)[a-z ]* shares"
    r"|\bin shares\)|\bshares\b.*\b(?:basic|diluted)\b|\baverage shares\b|\bshares? used\b|\bnumber of shares\b"
    r"|\bshares (?:repurchased|purchased|issued|authorized|granted)\b.*\(in|\btotal number of shares"
)
_HEADING_OF_RATES: Final = re.compile(r"(?:\brates?|\byields?)(?: ?\([a-z0-9]\))?$")
_HEADING_OF_SHARES: Final = re.compile(r"\b(?:shares|units|options|rsus)(?: \(in [a-z]+\))?$")
_COUNTS: Final = re.compile(r"shares (?:used|outstanding)|average (?:number of )?(?:[a-z]+ ){0,3}shares|number of")
# What is a number of shares only where the caption speaks of shares.
_SHARES_TOO: Final = re.compile(
    r"(?:common )?shares\b|denominator\b|(?:add: )?(?:dilutive )?effects? of dilut|common stock outstanding"
)
_COUNT: Final = re.compile(
    r"^(?:total )?number of |^(?:full-time |total )*employees\b|\bheadcount\b"
    r"|\(years\)|\(in years\)|\(days\)|\(in days\)"
)


@dataclass(frozen=True, slots=True)
class Phrase:
    """What a caption says.

    Attributes:
        money: what one unit of an amount of money stands for; None where it does not say.
        shares: the same for numbers of shares.
        currency: "USD", or "" where it names none.
    """

    money: Decimal | None = None
    shares: Decimal | None = None
    currency: str = ""


NO_PHRASE: Final = Phrase()


@lru_cache(maxsize=512)  # captions repeat in a document
def read_phrase(text: str) -> Phrase:
    """Read a caption: "(In millions, except shares, which are in thousands, and per-share amounts)"."""
    signed, currency = with_signs(text)
    plain = _PER_SHARE.sub(" ", _lower(signed))
    shares: Decimal | None = None
    found = _SHARES.search(plain)
    if found is not None:
        shares = _SIZES[found[1] or found[2]]
        plain = plain[: found.start()] + plain[found.end() :]
    units = _UNITS_OF.search(plain)
    money = Decimal(units[1].replace(",", "")) if units else None
    said, _, excepted = plain.partition("except")
    amount = _MONEY.search(said) if money is None else None
    if amount is not None:
        money = _SIZES[next(group for group in amount.groups() if group)]
    elif money is None and _SINGLE.search(said):
        money = _ONE
    if shares is None and money is not None and _BARE_SHARES.search(excepted):
        shares = _ONE
    if money is None:
        return Phrase(money, shares)
    return Phrase(money, shares, currency or ("GBP" if "of pounds" in plain else ""))


def _lower(text: str) -> str:
    return text.lower().replace("’", "'").replace("‘", "'")  # noqa: RUF001


def caption_of(line: str) -> str:
    """What of a line says a scale: a short line itself, of a paragraph what it has in parentheses; or ""."""
    if len(line) <= _PROSE and (line.startswith("(") or _SAYS.match(_lower(with_signs(line)[0]))):
        return line if _says_scale(line) else ""
    for group in _CAPTION.findall(line)[::-1]:
        if _says_scale(group):
            return f"({group})"
    return ""


def _says_scale(text: str) -> bool:
    phrase = read_phrase(text)
    return phrase.money is not None or phrase.shares is not None


def heading_scale(heading: str) -> Decimal | None:
    """The scale beside the name of a currency in a heading: 1000 of "2023 RMB'000"; None where there is none."""
    found = _BESIDE_SIGN.search(_lower(with_signs(heading)[0]))
    return _SIZES[next(group for group in found.groups() if group)] if found else None


def measure(
    content: CellContent, label: str, above: Sequence[str], heading: str, phrase: Phrase, currency: str
) -> tuple[Decimal, str]:
    """The scale and the unit of an amount.

    Args:
        content: of its cell.
        label: of its row.
        above: the headings that the row stands below, the innermost last.
        heading: of its column.
        phrase: what the caption of the table says, and the heading of the column before it.
        currency: of the table; "" where nothing tells it.
    """
    marked = {
        "percent": Decimal("0.01"),
        "percentage_points": Decimal("0.01"),
        "bps": Decimal("0.0001"),
        "multiple": _ONE,
    }
    if content.unit:
        return marked[content.unit], content.unit
    money = currency_meant(content.currency, currency_in_label(label) or phrase.currency or currency)
    if content.scale != 1:
        return content.scale, money
    kind, words = _kind(label, above, heading, phrase, bool(content.currency))
    own = _own_scale(words, label, heading)
    if kind == "percent":
        return marked["percent"], "percent"
    if kind == "share":
        return _ONE, f"{money or 'USD'}/share"
    if kind == "shares":
        return own or phrase.shares or phrase.money or _ONE, "shares"
    if kind == "count":
        return own or _ONE, ""
    return own or phrase.money or _ONE, money or ("USD" if own or phrase.money else "")


def _kind(label: str, above: Sequence[str], heading: str, phrase: Phrase, is_money: bool) -> tuple[str, str]:
    """What kind of amount this is, and the words that say so; the label of the row before all others."""
    for words in (label, heading, *reversed(above)):
        kind = _kind_named(words[:_LONGEST], words is heading, is_money, phrase.shares is not None)
        if kind:
            return kind, words
    return "money", ""


@lru_cache(maxsize=128)  # the words of a row and of a column are asked about for each of their cells
def _kind_named(words: str, is_heading: bool, is_money: bool, with_shares: bool) -> str:
    lower = words.lower()
    if not lower or "par value" in lower:
        return ""
    a_share = bool(_A_SHARE.search(lower))
    if is_money:
        return "share" if a_share else ""
    if _PERCENT.search(lower) or (is_heading and _HEADING_OF_RATES.search(lower)):
        return "percent"
    if _NUMBER_OF_SHARES.search(lower) and not (a_share and not _COUNTS.search(lower)):
        return "shares"
    if is_heading and _HEADING_OF_SHARES.search(lower):
        return "shares"
    if a_share:
        return "share"
    if with_shares and _SHARES_TOO.match(lower):
        return "shares"
    return "count" if _COUNT.search(lower) else ""


def _own_scale(words: str, label: str, heading: str) -> Decimal | None:
    """The scale that the label of the row or the heading of the column says itself."""
    for text in (words, label, heading):
        for group in _CAPTION.findall(text) if "(" in text else ():
            lower = group.lower()
            if "in shares" in lower or "in dollars" in lower:
                return _ONE
            phrase = read_phrase(group)
            if text is not label and phrase.money == _ONE and phrase.currency:
                continue  # "2023 (in RMB)" names the currency; the scale is that of the table
            if phrase.money is not None or phrase.shares is not None:
                return phrase.shares or phrase.money
    return None
