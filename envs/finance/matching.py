"""Whether an answer is the gold, and what is wrong with it if it is not.

Everything is exact: fractions, no binary floats. A number is right when it lies within half a unit of its last asked
place, inclusive, after an exact conversion into the asked unit and scale. A wrong one is labelled by the first of
these that holds: another unit family; the gold with the other sign; 10^k times the gold; a distractor that the task
names; the gold, rounded otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from workgym.envs.finance.answers import Amount, Answer, Refusal, Value
from workgym.envs.finance.characters import fold_text
from workgym.envs.finance.value import read_answer
from workgym.tasks.errors import TaskError
from workgym.tasks.finance.answer import AnswerSpec, Gold, GoldValue
from workgym.tasks.finance.units import SCALES, factor

__all__ = ["Graded", "Match", "grade", "in_asked_unit", "match"]

_MAX_POWER = 12


@dataclass(frozen=True, slots=True)
class Match:
    """What a comparison found.

    Attributes:
        right: the answer is the gold.
        label: "" if it is; else the kind of mistake, one that `tasks.finance.answer.is_label` knows.
    """

    right: bool
    label: str = ""


@dataclass(frozen=True, slots=True)
class Graded:
    """What became of a submission.

    Attributes:
        outcome: `accept`, `wrong` (it was read, and is not the gold) or `refuse` (it was not read).
        label: of a wrong one, the kind of mistake; of a refused one, the cause.
        text: of a refused one, the words for the agent.
    """

    outcome: str
    label: str = ""
    text: str = ""


def grade(submission: Mapping[str, Any] | str, spec: AnswerSpec, gold: Gold) -> Graded:
    """Read a submission and compare it with the gold; a refusal is decided before the gold is looked at."""
    answer = read_answer(submission, spec)
    if isinstance(answer, Refusal):
        return Graded("refuse", answer.reason, answer.text)
    found = match(answer, spec, gold)
    return Graded("accept" if found.right else "wrong", found.label)


def match(answer: Answer, spec: AnswerSpec, gold: Gold) -> Match:
    """Compare a typed answer with the gold.

    Raises:
        TaskError: the gold is not of the type that the spec asks for.
    """
    if spec.length is not None:
        return _match_list(answer, spec, gold)
    if isinstance(answer.value, tuple) or isinstance(gold.value, tuple):
        raise TaskError(f"gold {gold.value!r}: a list where the spec asks for one value")
    if isinstance(answer.value, Amount):
        return _match_number(answer.value, _fraction(gold.value), answer.direction, spec, gold)
    wanted = _key(gold.value, gold)
    given = _key(answer.value, gold)
    if given == wanted:
        return Match(True)
    return Match(False, next((label for label, value in gold.distractors if given == _key(value, gold)), "other"))


def _match_number(amount: Amount, wanted: Fraction, direction: str, spec: AnswerSpec, gold: Gold) -> Match:
    given = in_asked_unit(amount, spec)
    if given is None:
        return Match(False, "unit")
    if spec.sign == "magnitude" and (wanted < 0 or (wanted and not gold.direction)):
        raise TaskError(f"gold {gold.value!r} of a magnitude: it is not negative, and it has a direction")
    right_way = direction == gold.direction or wanted == 0
    if abs(given - wanted) <= spec.half_unit:
        return Match(True) if right_way else Match(False, "sign")
    return Match(False, _mistake(given, _step(amount, spec), wanted, spec, gold) if right_way else "other")


def _mistake(given: Fraction, step: Fraction, wanted: Fraction, spec: AnswerSpec, gold: Gold) -> str:
    """The label of a number that is not the gold."""
    if given * wanted < 0:
        return "sign" if abs(given + wanted) <= spec.half_unit else _named(given, spec, gold) or "other"
    power = _power_of_ten(given, wanted, spec)
    if power:
        return f"scale_10^{power}"
    named = _named(given, spec, gold)
    if named:
        return named
    return "rounding" if _is_rounded(given, step, wanted, spec) else "other"


def _named(given: Fraction, spec: AnswerSpec, gold: Gold) -> str:
    """The label of the distractor that was hit, or ""."""
    near = (label for label, value in gold.distractors if abs(given - _fraction(value)) <= spec.half_unit)
    return next(near, "")


def _power_of_ten(given: Fraction, wanted: Fraction, spec: AnswerSpec) -> int:
    """The k for which the answer is 10^k times the gold, as exactly as was asked for; 0 where there is none."""
    if not wanted:
        return 0
    room = min(spec.half_unit, abs(wanted) / 20)  # half a unit is much of a gold of one digit
    powers = sorted((k for k in range(-_MAX_POWER, _MAX_POWER + 1) if k), key=abs)
    return next((k for k in powers if abs(given / Fraction(10) ** k - wanted) <= room), 0)


def _is_rounded(given: Fraction, step: Fraction, wanted: Fraction, spec: AnswerSpec) -> bool:
    """Whether it is the gold but for the last place: one unit off, or rounded to fewer places than were asked for."""
    off = abs(given - wanted)
    if spec.kind == "count":
        return given.denominator != 1 and off < 1
    return off <= 2 * spec.half_unit or (off < step and off <= abs(wanted) / 4)


def _match_list(answer: Answer, spec: AnswerSpec, gold: Gold) -> Match:
    """Each value once, in any order unless it counts: sorted, since all have the same room for rounding."""
    if not isinstance(answer.value, tuple) or not isinstance(gold.value, tuple):
        raise TaskError(f"gold {gold.value!r}: one value where the spec asks for a list")
    if len(answer.value) != len(gold.value):
        return Match(False, "other")
    if not spec.is_numeric:
        return _same([_key(item, gold) for item in answer.value], [_key(item, gold) for item in gold.value], spec)
    amounts = [item for item in answer.value if isinstance(item, Amount)]
    given = [asked for amount in amounts if (asked := in_asked_unit(amount, spec)) is not None]
    if len(given) < len(answer.value):
        return Match(False, "unit")
    wanted = [_fraction(item) for item in gold.value]
    pairs = zip(given, wanted, strict=True) if spec.ordered else zip(sorted(given), sorted(wanted), strict=True)
    right = all(abs(one - other) <= spec.half_unit for one, other in pairs)
    return Match(right, "" if right else "other")


def _same(given: list[str], wanted: list[str], spec: AnswerSpec) -> Match:
    right = given == wanted if spec.ordered else sorted(given) == sorted(wanted)
    return Match(right, "" if right else "other")


def in_asked_unit(amount: Amount, spec: AnswerSpec) -> Fraction | None:
    """The amount in the asked unit and scale; None where its unit is of another family."""
    by = factor(amount.unit, spec.unit)
    return None if by is None else amount.value * by / SCALES[spec.scale]


def _step(amount: Amount, spec: AnswerSpec) -> Fraction:
    """What one in the last written place is worth in the asked unit and scale."""
    return amount.step * (factor(amount.unit, spec.unit) or 1) / SCALES[spec.scale]


def _fraction(value: GoldValue) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, (int, Fraction)):
        raise TaskError(f"gold {value!r} is no number: give it as a Fraction")
    return Fraction(value)


def _key(value: Value | GoldValue, gold: Gold) -> str:
    """What two equal values that are no amounts have in common."""
    if not isinstance(value, str):
        return str(value)
    for name, aliases in gold.aliases.items():
        if any(fold_text(value) == fold_text(other) for other in (name, *aliases)):
            return str(fold_text(name))
    return str(fold_text(value))
