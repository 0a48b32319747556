"""The words and symbols that stand beside a number, and which unit or scale each may mean."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from workgym.tasks.finance.units import CURRENCIES, PLAIN_UNITS, SCALES

__all__ = ["CURRENCY_SIGNS", "SCALE_WORDS", "UNIT_WORDS", "scale_named", "unit_named"]

_DOLLARS: Final = frozenset(("USD", "CAD", "AUD", "NZD", "HKD", "SGD", "TWD"))

# Before a number: signs of currencies, in lower case. `$` is any dollar, `¥` yen or yuan.
CURRENCY_SIGNS: Final = MappingProxyType(
    {code.lower(): frozenset((code,)) for code in CURRENCIES}
    | {"$": _DOLLARS, "€": frozenset(("EUR",)), "£": frozenset(("GBP",)), "¥": frozenset(("JPY", "CNY"))}
    | {"₩": frozenset(("KRW",)), "₹": frozenset(("INR",)), "us$": frozenset(("USD",)), "c$": frozenset(("CAD",))}
    | {"ca$": frozenset(("CAD",)), "a$": frozenset(("AUD",)), "hk$": frozenset(("HKD",)), "nz$": frozenset(("NZD",))}
    | {"nt$": frozenset(("TWD",)), "s$": frozenset(("SGD",)), "r$": frozenset(("BRL",)), "rmb": frozenset(("CNY",))}
)

# After a number. A `$` is not written there, which leaves `$5$` unread.
UNIT_WORDS: Final = MappingProxyType(
    {
        **{code.lower(): frozenset((code,)) for code in CURRENCIES},
        **dict.fromkeys(("dollars", "dollar"), _DOLLARS),
        **dict.fromkeys(("euros", "euro", "€"), frozenset(("EUR",))),
        **dict.fromkeys(("yen",), frozenset(("JPY",))),
        **dict.fromkeys(("yuan",), frozenset(("CNY",))),
        **dict.fromkeys(("%", "percent", "per cent", "pct"), frozenset(("percent",))),
        **dict.fromkeys(("pp", "ppt", "percentage points", "percentage point"), frozenset(("percentage_points",))),
        **dict.fromkeys(("bps", "bp", "basis points", "basis point"), frozenset(("bps",))),
        **dict.fromkeys(("x", "×", "times"), frozenset(("multiple",))),  # noqa: RUF001
        **dict.fromkeys(("shares", "share"), frozenset(("shares",))),
        **dict.fromkeys(("days", "day"), frozenset(("days",))),
    }
)

SCALE_WORDS: Final = MappingProxyType(
    {
        **dict.fromkeys(("thousand", "thousands", "k"), "thousands"),
        **dict.fromkeys(("million", "millions", "mn", "mm", "m"), "millions"),
        **dict.fromkeys(("billion", "billions", "bn", "b"), "billions"),
        **dict.fromkeys(("trillion", "trillions", "tn", "t"), "trillions"),
    }
)

_UNIT_NAMES: Final = MappingProxyType(
    {
        **{unit: unit for unit in PLAIN_UNITS},
        **{code.lower(): code for code in CURRENCIES},
        **{f"{code.lower()}/share": f"{code}/share" for code in CURRENCIES},
        **{word: next(iter(units)) for word, units in UNIT_WORDS.items() if len(units) == 1},
        "points": "percentage_points",
    }
)
_SCALE_NAMES: Final = MappingProxyType({**SCALE_WORDS, **{scale: scale for scale in SCALES}, "unit": "units"})


def unit_named(field: str) -> str | None:
    """The unit that the field `unit` of a submission names, by its name or by a word that means no other; or None."""
    return _UNIT_NAMES.get(field.strip().lower())


def scale_named(field: str) -> str | None:
    """The scale that the field `scale` of a submission names; None if none."""
    return _SCALE_NAMES.get(field.strip().lower())
