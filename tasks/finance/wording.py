"""What an agent is told of the answer that is wanted, in words."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from workgym.tasks.finance.answer import AnswerSpec

__all__ = ["REASONS", "spec_in_words"]

REASONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "not_reported": "the filing has a place for the amount and leaves it blank",
        "outside_period": "the filing does not reach the year asked about",
        "unknown_entity": "the filing is of another company than the one asked about",
        "not_determinable": "the filing says itself that the amount cannot be taken from it",
    }
)
"""Reason to give up -> what it means."""

_KINDS: Final = {
    "year": "a fiscal year, such as 2024",
    "date": "a date, such as 2024-09-28",
    "bool": "yes or no",
    "text": "words, as the filing has them",
}
_UNITS: Final = {
    "percent": "percent (12.5 for 12.5%)",
    "percentage_points": "percentage points",
    "bps": "basis points",
    "ratio": "a ratio (0.125 for 12.5%)",
    "multiple": "times (5.2 for 5.2x)",
    "shares": "shares",
    "days": "days",
}


def spec_in_words(spec: AnswerSpec) -> str:
    """One line that says in which type the answer is wanted: kind, unit, scale, precision, sign and length."""
    what = _number(spec) if spec.is_numeric else _word(spec)
    if spec.length is not None:
        order = "in the order asked for" if spec.ordered else "in any order"
        return f"a JSON array of {spec.length} values, {order}, each {what}"
    return what


def _number(spec: AnswerSpec) -> str:
    places = "1 decimal" if spec.decimals == 1 else f"{spec.decimals} decimals"
    sign = "with its sign" if spec.sign == "signed" else "without a sign, and its direction beside it"
    if spec.kind == "count":
        scale = "" if spec.scale == "units" else f" in {spec.scale}"
        return f"a count{scale}"
    return f"a number in {_unit(spec)}, {places}, {sign}"


def _unit(spec: AnswerSpec) -> str:
    currency, per_share = spec.unit.removesuffix("/share"), spec.unit.endswith("/share")
    if per_share:
        return f"{currency} a share"
    name = _UNITS.get(spec.unit, currency)
    return name if spec.scale == "units" else f"{spec.scale} of {name}"


def _word(spec: AnswerSpec) -> str:
    return f"one of {', '.join(spec.choices)}" if spec.kind == "choice" else _KINDS[spec.kind]
