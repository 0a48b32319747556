"""What the digits of a table stand for: scales and units from captions, headings and labels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Final

from workgym.envs.finance.cell_reader import CellContent
from workgym.envs.finance.marks import CURRENCY_SIGNS

__all__ = ["NO_PHRASE", "Phrase", "caption_of", "currency_of", "measure", "read_phrase"]

_ONE: Final = Decimal(1)
_SIZES: Final = {
    **dict.fromkeys(("dollar", "euro", "yen"), _ONE),
    "hundred": Decimal(100),
    **dict.fromkeys(("thousand", "000"), Decimal(10**3)),
    "million": Decimal(10**6),
    "billion": Decimal(10**9),
    "trillion": Decimal(10**12),
}
_SIZE: Final = r"(dollar|euro|yen|hundred|thousand|million|billion|trillion)s?\b"
_MULTIPLE: Final = r"(hundred|thousand|million|billion|trillion)s?\b"
_MONEY: Final = re.compile(
    rf"\b(?:in|are|expressed|stated|presented)\s+"
    rf"(?:whole\s+|u\.?s\.?\s+|us ?\$\s*|\$\s*|€\s*|£\s*|¥\s*|dollars?\s+in\s+)*{_SIZE}"
    rf"|(?:^|\(|[$€£¥,;]\s?){_MULTIPLE}(?!\s+shares)|(?:\$|us\$|€|£|¥|\(|in )\s?(000)(?:'?s|,)?(?![0-9])|(000)'?s\b"
)
_UNITS_OF: Final = re.compile(r"\bin units of ([0-9]{1,3}(?:,[0-9]{3})*) (?:dollars|euros|yen)")
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
    r"amounts |dollars |\$ ?|in |all |u\.s\. "
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


def read_phrase(text: str) -> Phrase:
    """Read a caption: "(In millions, except shares, which are in thousands, and per-share amounts)"."""
    plain = _PER_SHARE.sub(" ", text.lower().replace("’", "'"))  # noqa: RUF001
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
    if shares is None and money is not None and _BARE_SHARES.search(excepted):
        shares = _ONE
    return Phrase(money, shares, _named_currency(plain) if money is not None else "")


def _named_currency(text: str) -> str:
    for word, code in (("€", "EUR"), ("euro", "EUR"), ("£", "GBP"), ("pounds", "GBP"), ("yen", "JPY"), ("¥", "JPY")):
        if word in text:
            return code
    return ""


def caption_of(line: str) -> str:
    """What of a line says a scale: a short line itself, of a paragraph what it has in parentheses; or ""."""
    if len(line) <= _PROSE and (line.startswith("(") or _SAYS.match(line.lower())):
        return line if _says_scale(line) else ""
    for group in _CAPTION.findall(line)[::-1]:
        if _says_scale(group):
            return f"({group})"
    return ""


def _says_scale(text: str) -> bool:
    phrase = read_phrase(text)
    return phrase.money is not None or phrase.shares is not None


def currency_of(signs: Iterable[str]) -> str:
    """The currency that signs before digits show: "USD" for "$"; "" where there are none."""
    for sign in signs:
        if sign:
            codes = CURRENCY_SIGNS[sign]
            return "USD" if "USD" in codes else "JPY" if "JPY" in codes else min(codes)
    return ""


def measure(
    content: CellContent, label: str, above: Sequence[str], heading: str, phrase: Phrase, currency: str
) -> tuple[Decimal, str]:
    """The scale and the unit of an amount.

    Args:
        content: of its cell.
        label: of its row.
        above: the headings that the row stands below, the innermost last.
        heading: of its column.
        phrase: what the caption of the table says.
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
    money = currency_of((content.currency,)) or phrase.currency or currency
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
            if phrase.money is not None or phrase.shares is not None:
                return phrase.shares or phrase.money
    return None
