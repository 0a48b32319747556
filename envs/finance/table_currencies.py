"""Which currency words name: in a caption, in the heading of a column, in the label of a row, by a sign at digits.

with_signs("in millions of New Taiwan Dollars")    # ("in millions of ¤", "TWD")
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from workgym.envs.finance.marks import CURRENCY_SIGNS
from workgym.tasks.finance.units import CURRENCIES

__all__ = ["SIGN", "currency_in_heading", "currency_in_label", "currency_meant", "currency_of", "with_signs"]

SIGN: Final = "¤"  # stands for the name of a currency in words that are looked at further

# Words in any case; codes in upper case alone, for "try" is a word. A `$` alone is any dollar and named by no one.
_NAMES: Final = {
    "USD": r"\bU\.?S\.? ?\$|\b(?:U\.?S\.?|United States) dollars?\b",
    "EUR": r"€|\beuros?\b(?![- ]?(?:notes?|bonds?|zone|area))",
    "GBP": r"£|\bpounds? sterling\b|\b(?:British|U\.?K\.?) pounds?(?: sterling)?\b|\bsterling\b",
    "CNY": r"\b(?:RMB|renminbi|(?:Chinese )?yuan)\b(?: ?¥)?|\bCN ?¥",
    "JPY": r"¥|￥|\b(?:Japanese )?yen\b",
    "CAD": r"\b(?:C|(?:CA|CAD|Cdn\.?) ?)\$|\bCanadian dollars?\b",
    "AUD": r"\b(?:A|(?:AU|AUD) ?)\$|\bAustralian dollars?\b",
    "NZD": r"\bNZ ?\$|\bNew Zealand dollars?\b",
    "HKD": r"\bHK ?\$|\bHong Kong dollars?\b",
    "SGD": r"\bS\$|\bSingapore dollars?\b",
    "TWD": r"\bNT ?\$|\b(?:New )?Taiwan dollars?\b",
    "CHF": r"\bSwiss francs?\b",
    "SEK": r"\bSwedish kron(?:a|or)\b",
    "NOK": r"\bNorwegian kroner?\b",
    "DKK": r"\bDanish kroner?\b",
    "INR": r"₹|\b(?:Indian )?rupees?\b",
    "KRW": r"₩|\b(?:South )?Korean won\b",
    "BRL": r"\bR\$|\b(?:Brazilian )?reais\b",
    "MXN": r"\bMexican pesos?\b",
    "ZAR": r"\bSouth African rand\b",
    "PLN": r"\bPolish zloty(?:ch|s)?\b",
    "CZK": r"\bCzech korunas?\b",
    "HUF": r"\bHungarian forints?\b",
    "ILS": r"₪|\b(?:new )?Israeli shekels?\b|\b(?-i:NIS)\b",
    "TRY": r"\bTurkish liras?\b",
    "THB": r"\bThai baht\b",
}
_NAMED: Final = re.compile("|".join(rf"(?P<{code}>(?i:{_NAMES[code]})|\b{code}\b)" for code in CURRENCIES))
# One of these is in every name; to look for them first is far faster.
_MAYBE: Final = re.compile(r"[€£¥￥₩₹₪]|[A-Za-z.] ?\$|[A-Z]{3}")
_STEMS: Final = (
    *(
        "dollar",
        "euro",
        "yen",
        "yuan",
        "renminbi",
        "rmb",
        "sterling",
        "pound",
        "franc",
        "kron",
        "rupee",
        "won",
        "reais",
    ),
    *("peso", "rand", "zloty", "koruna", "forint", "shekel", "lira", "baht"),
)
_SIZE_BESIDE: Final = r"(?:hundred|thousand|million|billion|trillion)s?|mn?|mm|bn|k|'000s?"
_AT_END: Final = re.compile(
    rf"(?:^|[\s(])(?:in )?(?:(?:{_SIZE_BESIDE}) (?:of )?)?{SIGN}(?: ?\(?(?:in )?(?:{_SIZE_BESIDE}))?\)?[*.,]?$",
    re.IGNORECASE,
)
_IN_LABEL: Final = re.compile(
    rf"\((?:in |expressed in )?(?:[a-z]+ of )?{SIGN}(?: per [a-z ]+|(?: in)? ?(?:{_SIZE_BESIDE}))?\)"
)


@lru_cache(maxsize=512)  # captions and headings repeat in a document
def with_signs(text: str) -> tuple[str, str]:
    """The text with `SIGN` for each name of a currency, and the first currency that it names; "" where none.

    A currency in which something is denominated is not that of the amounts.
    """
    if not _MAYBE.search(text):
        lower = text.lower()
        if not any(stem in lower for stem in _STEMS):
            return text, ""
    first = ""

    def sign(found: re.Match[str]) -> str:
        nonlocal first
        code = found.lastgroup or ""
        if text[found.end() :].startswith(("-denominated", " denominated")):
            return found[0]
        first = first or code
        return SIGN

    signed = _NAMED.sub(sign, text)
    return signed, "CNY" if first == "JPY" and "RMB" in text else first


@lru_cache(maxsize=256)  # tables of a document repeat their headings
def currency_in_heading(heading: str) -> str:
    """The currency that the heading of a column ends in: "December 31, 2023 RMB", "2023 (US$ millions)"; or ""."""
    signed, _ = with_signs(heading.replace("’", "'").replace("‘", "'"))  # noqa: RUF001
    if SIGN not in signed or not _AT_END.search(signed):
        return ""
    return [with_signs(found[0])[1] for found in _NAMED.finditer(heading)][-1]


@lru_cache(maxsize=256)
def currency_in_label(label: str) -> str:
    """The currency that the label of a row has in parentheses: "Basic earnings per share (in €)"; or ""."""
    if "(" not in label:
        return ""
    for group in re.findall(r"\([^()]*\)", label):
        signed, code = with_signs(group)
        if code and _IN_LABEL.fullmatch(signed.lower()):
            return code
    return ""


def currency_of(signs: Iterable[str]) -> str:
    """The currency that signs before digits show: "USD" for "$"; "" where there are none."""
    for sign in signs:
        if sign:
            codes = CURRENCY_SIGNS[sign]
            return "USD" if "USD" in codes else "JPY" if "JPY" in codes else min(codes)
    return ""


def currency_meant(sign: str, told: str) -> str:
    """The currency of a sign where words tell `told`: "$" is "CAD" in a table in Canadian dollars; "": no one knows."""
    if not sign:
        return told
    return told if told in CURRENCY_SIGNS[sign] else currency_of((sign,))
