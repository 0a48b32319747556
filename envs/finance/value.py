"""The reader of answers: what an agent submitted, as JSON, becomes a typed value or a refusal in words.

`read_answer(submission, spec)` knows the submission and the public spec and nothing else, so a refusal cannot tell
anything of the gold. Of a submission it reads the fields `value`, `unit`, `scale` and `direction`; what else there is
(expression, citations) is for other readers. A field that is left out, null or "" means what the spec asks for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

from workgym.envs.finance.amounts import read_amount
from workgym.envs.finance.answers import Amount, Answer, Refusal, Value, shown
from workgym.envs.finance.marks import scale_named, unit_named
from workgym.envs.finance.words import read_bool, read_choice, read_date, read_text, read_year
from workgym.tasks.errors import ActionError
from workgym.tasks.finance.answer import DIRECTIONS, AnswerSpec
from workgym.tasks.finance.units import SCALES, takes_scale

__all__ = ["MAX_ITEMS", "MAX_SUBMISSION_CHARS", "parse_submission", "read_answer"]

MAX_ITEMS: Final = 100
MAX_SUBMISSION_CHARS: Final = 100_000

_MAX_INT_BITS: Final = 256  # more than 64 digits have


def read_answer(submission: Mapping[str, Any] | str, spec: AnswerSpec) -> Answer | Refusal:
    """Read a submission.

    Args:
        submission: the arguments of `submit`, or their JSON text. Numbers may be int, Decimal or float; a float stands
            for its shortest decimal.
        spec: the type that the answer is wanted in.

    Returns:
        The typed answer, or why there is none. No submission raises an exception, or takes time or memory beyond its
        own length.
    """
    fields = parse_submission(submission) if isinstance(submission, str) else submission
    if isinstance(fields, Refusal):
        return fields
    if "value" not in fields:
        return Refusal("empty", "the submission has no value")
    direction = _read_direction(fields.get("direction"), spec)
    if isinstance(direction, Refusal):
        return direction
    read_one = _reader(fields, spec)
    if isinstance(read_one, Refusal):
        return read_one
    value = fields["value"]
    if spec.length is not None:
        return _read_list(value, read_one)
    read = read_one(value)
    if isinstance(read, Refusal):
        return read
    if spec.sign == "magnitude" and isinstance(read, Amount) and read.value < 0:
        return Refusal("sign", f"{shown(str(value))} is negative: a magnitude is wanted, and the direction beside it")
    return Answer(read, direction)


def parse_submission(text: str) -> dict[str, Any] | Refusal:
    """Read the JSON text of a submission: one object, every number exact, no name twice."""
    if len(text) > MAX_SUBMISSION_CHARS:
        return Refusal("size", f"the submission has {len(text)} characters; at most {MAX_SUBMISSION_CHARS} are read")
    try:
        parsed = json.loads(
            text, parse_float=_Written, parse_int=_Written, parse_constant=_Written, object_pairs_hook=_without_repeats
        )
    except (ValueError, RecursionError, ActionError) as error:
        reason = "several" if isinstance(error, ActionError) else "form"
        return Refusal(reason, f"the submission is no JSON object that is read: {shown(str(error))}")
    return parsed if isinstance(parsed, dict) else Refusal("type", "the submission is no JSON object")


class _Written(str):
    """A JSON number as it was written, not yet built: `1e999999999` stays eleven characters."""

    __slots__ = ()


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ActionError("a name stands in it more than once")
    return fields


def _reader(fields: Mapping[str, Any], spec: AnswerSpec) -> Callable[[Any], Value | Refusal] | Refusal:
    """What reads one value, once the declared unit and scale are known."""
    declared = [_declared(fields.get(name), name) for name in ("unit", "scale")]
    for part in declared:
        if isinstance(part, Refusal):
            return part
    unit_field, scale_field = (str(part) for part in declared)
    if not spec.is_numeric:
        if unit_field or scale_field:
            return Refusal("unit", f"an answer of kind {spec.kind!r} has no unit and no scale: leave them out")
        return lambda value: _read_word(value, spec)
    unit = unit_named(unit_field) if unit_field else spec.unit
    scale = scale_named(scale_field) if scale_field else spec.scale
    if unit is None:
        return Refusal("unit", f"the unit {shown(unit_field)} is not known: leave it out for {spec.unit!r}")
    if scale is None:
        return Refusal("scale", f"the scale {shown(scale_field)} is not known. Known: {', '.join(SCALES)}")
    if not takes_scale(unit):
        if scale_field and scale != "units":
            return Refusal("scale", f"an amount in {unit!r} takes no scale: leave it out")
        scale = "units"
    return lambda value: _read_number(value, unit, scale)


def _declared(field: Any, name: str) -> str | Refusal:
    """A field of the submission that is a word or left out."""
    if field is None:
        return ""
    if not isinstance(field, str) or isinstance(field, _Written):
        return Refusal("type", f"the field {name!r} is a JSON {_json_type(field)}; it has to be a word or left out")
    return field.strip()


def _read_direction(field: Any, spec: AnswerSpec) -> str | Refusal:
    direction = _declared(field, "direction")
    if isinstance(direction, Refusal):
        return direction
    if spec.sign == "magnitude":
        if direction.lower() in DIRECTIONS:
            return direction.lower()
        return Refusal("direction", f"the direction is {shown(direction)}; it has to be increase or decrease")
    if direction:
        return Refusal("direction", "this answer carries its own sign: leave the direction out")
    return ""


def _number_text(value: Any) -> str | Refusal:
    """The text of a value that has to be a number."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return (
            int.__repr__(value) if value.bit_length() <= _MAX_INT_BITS else Refusal("size", "the number is too large")
        )
    if isinstance(value, float):
        return float.__repr__(value)
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, (list, tuple)):
        return Refusal("several", f"the value is a list of {len(value)}; one value is wanted")
    return Refusal("type", f"the value is a JSON {_json_type(value)}; a number is wanted")


def _read_number(value: Any, unit: str, scale: str) -> Value | Refusal:
    text = _number_text(value)
    return text if isinstance(text, Refusal) else read_amount(text, unit, scale)


def _read_word(value: Any, spec: AnswerSpec) -> Value | Refusal:
    """A value that is no amount."""
    if spec.kind == "bool" and isinstance(value, bool):
        return value
    if spec.kind == "year":
        text = _number_text(value)
        return text if isinstance(text, Refusal) else read_year(text)
    if isinstance(value, (list, tuple)):
        return Refusal("several", f"the value is a list of {len(value)}; one value is wanted")
    if not isinstance(value, str) or isinstance(value, _Written):
        return Refusal("type", f"the value is a JSON {_json_type(value)}; a {spec.kind} is wanted, as a string")
    if spec.kind == "choice":
        return read_choice(value, spec.choices)
    return {"bool": read_bool, "date": read_date, "text": read_text}[spec.kind](value)


def _read_list(value: Any, read_one: Callable[[Any], Value | Refusal]) -> Answer | Refusal:
    """Every item has to be readable; whether there are as many as asked for is a matter of right and wrong."""
    if not isinstance(value, (list, tuple)):
        return Refusal("type", f"the value is a JSON {_json_type(value)}; a list is wanted, as a JSON array")
    if len(value) > MAX_ITEMS:
        return Refusal("several", f"the list has {len(value)} values; at most {MAX_ITEMS} are read")
    items = []
    for number, item in enumerate(value, start=1):
        read = read_one(item)
        if isinstance(read, Refusal):
            return Refusal(read.reason, f"value {number} of the list: {read.text}")
        items.append(read)
    return Answer(tuple(items))


def _json_type(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, (_Written, int, float, Decimal)):
        return "number"
    return "string" if isinstance(value, str) else "object" if isinstance(value, Mapping) else type(value).__name__
