"""The units and scales in which financial answers are asked and given, and what converts into what.

A unit is a currency (`"USD"`, by its ISO 4217 code), an amount a share (`"USD/share"`), or one of `PLAIN_UNITS`.
Conversion is exact: factors are fractions, and a percentage is never taken for percentage points.
"""

from __future__ import annotations

from fractions import Fraction
from types import MappingProxyType
from typing import Final

from workgym.tasks.errors import TaskError
from workgym.tasks.naming import unknown_name

__all__ = ["CURRENCIES", "PLAIN_UNITS", "SCALES", "check_scale", "check_unit", "factor", "is_unit", "takes_scale"]

CURRENCIES: Final = (
    *("USD", "EUR", "GBP", "JPY", "CNY", "CAD", "AUD", "NZD", "HKD", "SGD", "CHF", "SEK", "NOK", "DKK", "INR", "KRW"),
    *("TWD", "BRL", "MXN", "ZAR", "PLN", "CZK", "HUF", "ILS", "TRY", "THB"),
)
PLAIN_UNITS: Final = ("shares", "percent", "percentage_points", "bps", "ratio", "multiple", "count", "days")
SCALES: Final = MappingProxyType(
    {"units": 1, "thousands": 10**3, "millions": 10**6, "billions": 10**9, "trillions": 10**12}
)

_PER_SHARE: Final = "/share"

# What a unit measures, and its size there. Basis points measure both a share of a whole and a difference of two shares.
_SIZES: Final = MappingProxyType(
    {
        "share of a whole": {
            "ratio": Fraction(1),
            "multiple": Fraction(1),
            "percent": Fraction(1, 100),
            "bps": Fraction(1, 10_000),
        },
        "difference in points": {"percentage_points": Fraction(1, 100), "bps": Fraction(1, 10_000)},
    }
)


def is_unit(name: str) -> bool:
    """Whether this is the name of a unit: `"USD"`, `"USD/share"`, `"percent"`."""
    return name in PLAIN_UNITS or name.removesuffix(_PER_SHARE) in CURRENCIES


def takes_scale(unit: str) -> bool:
    """Whether amounts of the unit are given in thousands or millions; amounts a share, rates and days are not."""
    return unit in CURRENCIES or unit in ("shares", "count")


def check_unit(unit: str) -> None:
    """Refuse what is no unit.

    Raises:
        TaskError: no unit has this name.
    """
    if not is_unit(unit):
        raise TaskError(unknown_name("unit", unit, (*PLAIN_UNITS, *CURRENCIES, *(f"{c}/share" for c in CURRENCIES))))


def check_scale(scale: str, unit: str) -> None:
    """Refuse what is no scale, and a scale on a unit that takes none.

    Raises:
        TaskError: no scale has this name, or the unit takes none.
    """
    if scale not in SCALES:
        raise TaskError(unknown_name("scale", scale, SCALES))
    if scale != "units" and not takes_scale(unit):
        raise TaskError(f"scale {scale!r} does not go with {unit!r}: only currencies, shares and counts take a scale")


def factor(given: str, asked: str) -> Fraction | None:
    """What turns an amount in the unit `given` into the unit `asked`; None where nothing does."""
    if given == asked:
        return Fraction(1)
    for sizes in _SIZES.values():
        if given in sizes and asked in sizes:
            return sizes[given] / sizes[asked]
    return None
