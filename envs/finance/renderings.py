"""Other values in the same surface forms: how somebody writes an amount rightly, wrongly, or so that it cannot be read.

These writers know nothing of the reader: they work on the digits of a `Decimal`, and only `workgym.tasks` stands
below both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from typing import Any, Final

from workgym.tasks.finance.answer import AnswerSpec
from workgym.tasks.finance.units import SCALES, takes_scale

__all__ = ["Rendering", "hidden_amount", "refused_forms", "right_forms", "wrong_forms"]

_EXACT: Final = Context(prec=60)
_SCALE_MARKS: Final = {"thousands": "k", "millions": "mn", "billions": "bn", "trillions": "trillion"}
_UNIT_MARKS: Final = {
    "percent": "%",
    "percentage_points": " pp",
    "bps": " bps",
    "multiple": "x",
    "shares": " shares",
    "days": " days",
}
_SYMBOLS: Final = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "CAD": "C$"}
_POWERS: Final = {"ratio": 0, "multiple": 0, "percent": 2, "bps": 4}  # what a share of a whole is multiplied with: 10^k
_FOREIGN: Final = {"GBP": "EUR", "percent": "percentage_points", "percentage_points": "percent", "ratio": "days"}
_REFUSED: Final = (  # with `·` between them, as in the tables
    "{0} or {1}·{0}; {1}·{0} to {1}·between {0} and {1}·about {0}·~{0}·\u2248 {0}·>{0}·{0}?·{0} ({1})·={0}·**{0}**"
    "·`{0}`·'{0}'·\\boxed{{{0}}}·<b>{0}</b>·Answer: {0}·{0}*·{0} (unaudited)"
    "·--{0}·+-{0}·(({0}))·({0}·{0})·({0})-·{0}\u200b"
    '·{0}\n{1}·{0}_{1}·{0} apples·{0} hundred·{0}\u00b2·{{"value": {0}}}·a decrease of {0}·{0} DR·{0}+0·{0}%%·{0}.5.5'
    "·{0},5·N/A {0}·$5 {0}$·0x{0}"
)


@dataclass(frozen=True, slots=True)
class Rendering:
    """One submission.

    Attributes:
        submission: its fields.
        label: of a wrong one, the kind of mistake; else "".
    """

    submission: dict[str, Any]
    label: str = ""


def hidden_amount(value: Decimal) -> dict[str, Any]:
    """The gold of an amount, in the form of `Gold.to_hidden`."""
    return {"value": f"{value:f}"}


def right_forms(spec: AnswerSpec, value: Decimal) -> Iterator[Rendering]:
    """Ways to write the value, in the asked unit and scale, and in others that mean the same."""
    grouped = _signed("{0:,f}", value)
    yield from (Rendering({"value": text}) for text in dict.fromkeys((f"{value:f}", grouped, _in_mark(spec, grouped))))
    yield Rendering({"value": _signed("{0:,f}", value).replace(",", "\u202f")})
    yield Rendering({"value": f"{value:f}" + ("0" if "." in f"{value:f}" else ".00")})
    yield Rendering({"value": f"{value:e}"})
    if value < 0:
        size = -value
        yield Rendering({"value": f"({size:,f})"})
        yield Rendering({"value": f"\u2212{_in_mark(spec, f'{size:,f}')}"})
        yield Rendering({"value": f"{size:,f}-"})
        yield Rendering({"value": f"({_in_mark(spec, f'{size:f}')})"})
    if takes_scale(spec.unit) and spec.kind != "count":
        yield from _other_scales(spec, value)
    for unit, power in _POWERS.items():
        if spec.unit in _POWERS and spec.unit != "bps" and unit != spec.unit:
            other = value.scaleb(power - _POWERS[spec.unit], _EXACT)
            yield Rendering({"value": _in_mark(replace(spec, unit=unit), f"{other:f}"), "unit": unit})


def _other_scales(spec: AnswerSpec, value: Decimal) -> Iterator[Rendering]:
    for scale, size in SCALES.items():
        amount = _EXACT.divide(value * SCALES[spec.scale], Decimal(size))
        text = f"{amount:,f}"
        yield Rendering({"value": text, "scale": scale})
        if scale in _SCALE_MARKS:
            yield Rendering({"value": f"{text} {_SCALE_MARKS[scale]}", "scale": scale})


def wrong_forms(spec: AnswerSpec, value: Decimal) -> Iterator[Rendering]:
    """Ways to be wrong by sign, by scale, by unit and by the last place."""
    mark = _in_mark(spec, "{0}")
    if value:
        yield Rendering({"value": mark.format(f"{-value:f}")}, "sign")
        yield from (
            Rendering({"value": mark.format(f"{value.scaleb(power, _EXACT):,f}")}, f"scale_10^{power}")
            for power in (-3, -1, 3, 6)
        )
    if takes_scale(spec.unit) and value:
        other = "millions" if spec.scale == "thousands" else "thousands"
        power = len(str(SCALES[other])) - len(str(SCALES[spec.scale]))
        yield Rendering({"value": f"{value:f}", "scale": other}, f"scale_10^{power}")
    near = Decimal("0.4") if spec.kind == "count" else Decimal(1).scaleb(-spec.decimals)
    yield Rendering({"value": mark.format(f"{value + near:f}")}, "rounding")
    yield Rendering({"value": mark.format(f"{value - near * Decimal('0.6'):f}")}, "rounding")
    yield Rendering({"value": f"{value:f}", "unit": _FOREIGN.get(spec.unit, "GBP")}, "unit")


def refused_forms(spec: AnswerSpec, value: Decimal, start: int, n_forms: int) -> Iterator[Rendering]:
    """Texts around the value that are not one value; which of them, `start` says, so that all of them come in turn."""
    forms = _REFUSED.split("·")
    text, other = _in_mark(spec, f"{abs(value):f}"), f"{abs(value) + 1:f}"
    for number in range(start, start + n_forms):
        yield Rendering({"value": forms[number % len(forms)].format(text, other)})


def _signed(form: str, value: Decimal) -> str:
    return ("-" if value < 0 else "") + form.format(abs(value))


def _in_mark(spec: AnswerSpec, text: str) -> str:
    """The text with the mark of its unit: before it for a currency, behind it for the others."""
    symbol = _SYMBOLS.get(spec.unit.removesuffix("/share"))
    if symbol is None:
        return text + _UNIT_MARKS.get(spec.unit, "")
    sign = "-" if text.startswith("-") else ""
    return f"{sign}{symbol}{text.removeprefix('-')}"
