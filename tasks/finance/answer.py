"""In which type an answer is wanted, and what it is.

`AnswerSpec` is public: it stands in `Task.public` and the agent reads it, so precision, unit, scale and sign are
declared and never inferred from how the gold happens to be written. `Gold` is hidden: it stands in `Task.hidden`, and
no reader of answers ever sees it.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, cast

from workgym.tasks.errors import TaskError
from workgym.tasks.finance.units import check_scale, check_unit
from workgym.tasks.naming import unknown_name

__all__ = ["DIRECTIONS", "KINDS", "LABELS", "AnswerSpec", "Gold", "GoldValue", "is_label"]

KINDS: Final = ("number", "count", "year", "date", "bool", "choice", "text")
SIGNS: Final = ("signed", "magnitude")
DIRECTIONS: Final = ("increase", "decrease")
LABELS: Final = (
    *("unit", "sign", "rounding", "wrong_period", "wrong_entity", "wrong_base", "superseded", "planted", "injected"),
    "other",
)

GoldValue = Fraction | datetime.date | int | bool | str
_SCALE_LABEL: Final = re.compile(r"scale_10\^-?[1-9][0-9]?")


def is_label(label: str) -> bool:
    """Whether a wrong answer can be labelled so: one of `LABELS`, or `scale_10^k` where it is 10^k times the gold."""
    return label in LABELS or _SCALE_LABEL.fullmatch(label) is not None


@dataclass(frozen=True, slots=True)
class AnswerSpec:
    """The type of an answer: what the agent is told of it.

    Attributes:
        kind: one of `KINDS`. A number is right within half a unit of its last asked place; the other kinds are equal to
            the gold or wrong.
        unit: of a number: a currency, `CODE/share`, or one of `PLAIN_UNITS`; `count` for a count; else "".
        scale: of a number: `units`, `thousands`, `millions`, `billions` or `trillions`.
        decimals: the asked places after the point, in the asked unit and scale; -3 asks for thousands of them.
        sign: `signed`, or `magnitude`: then the number is not negative, and `direction` says whether it rose or fell.
        length: None for one value; else the answer is a JSON array of so many values of this kind.
        ordered: whether the order of the array counts.
        citation_budget: how many cells may be cited before none of them counts.
        choices: of a choice: each choice -> other ways to write it.

    Raises:
        TaskError: the fields do not go together.
    """

    kind: str
    unit: str = ""
    scale: str = "units"
    decimals: int = 0
    sign: str = "signed"
    length: int | None = None
    ordered: bool = False
    citation_budget: int = 4
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise TaskError(unknown_name("kind of answer", self.kind, KINDS))
        if self.sign not in SIGNS:
            raise TaskError(unknown_name("sign of an answer", self.sign, SIGNS))
        for name in ("decimals", "citation_budget", "length"):
            number = getattr(self, name)
            if type(number) is not int and not (name == "length" and number is None):
                raise TaskError(f"{name} {number!r} of an answer is no whole number")
        if self.is_numeric:
            self._check_number()
        elif self.unit or self.scale != "units" or self.decimals or self.sign != "signed":
            raise TaskError(f"an answer of kind {self.kind!r} has no unit, scale, decimals or sign")
        if (self.kind == "choice") != bool(self.choices):
            raise TaskError(
                f"an answer of kind {self.kind!r} with choices {dict(self.choices)!r}: a choice has some, others none"
            )
        if self.length is not None and (self.length < 1 or self.sign == "magnitude"):
            raise TaskError(f"length {self.length!r}: a list has at least one value, and its values carry their signs")

    def _check_number(self) -> None:
        check_unit(self.unit)
        check_scale(self.scale, self.unit)
        if (self.kind == "count") != (self.unit == "count"):
            raise TaskError(
                f"an answer of kind {self.kind!r} in {self.unit!r}: counts, and only they, have the unit 'count'"
            )
        if not -12 <= self.decimals <= 12:
            raise TaskError(f"decimals {self.decimals!r} of an answer: between -12 and 12")

    @property
    def is_numeric(self) -> bool:
        """Whether the answer is an amount with a unit."""
        return self.kind in ("number", "count")

    @property
    def half_unit(self) -> Fraction:
        """How far a right answer may lie from the gold, in the asked unit and scale; 0 for a count."""
        return Fraction(0) if self.kind == "count" else Fraction(10) ** -self.decimals / 2

    def to_public(self) -> dict[str, Any]:
        """As JSON types, for `Task.public`: what differs from the default."""
        plain = asdict(self) | {"choices": {name: list(also) for name, also in self.choices.items()}}
        return {f.name: plain[f.name] for f in fields(self) if f.name == "kind" or plain[f.name] != _default(f.name)}

    @classmethod
    def from_public(cls, public: Mapping[str, Any]) -> AnswerSpec:
        """Read what `to_public` wrote.

        Raises:
            TaskError: a field is unknown, or the fields do not go together.
        """
        known = [f.name for f in fields(cls)]
        for name in public:
            if name not in known:
                raise TaskError(unknown_name("field of an answer spec", name, known))
        choices = {name: tuple(also) for name, also in public.get("choices", {}).items()}
        return cls(**{**public, "choices": choices})


def _default(name: str) -> Any:
    return asdict(AnswerSpec("text"))[name]


@dataclass(frozen=True, slots=True)
class Gold:
    """The right answer, and the wrong ones that have a name.

    Attributes:
        value: in the asked unit and scale, exact; a tuple where the spec has a length.
        direction: `increase` or `decrease` where the spec asks for a magnitude.
        aliases: of a text: the value -> other ways to write it.
        distractors: (label, value): answers that somebody gives who made this mistake, in the asked unit and scale.

    Raises:
        TaskError: a label or a direction is unknown.
    """

    value: GoldValue | tuple[GoldValue, ...]
    direction: str = ""
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    distractors: tuple[tuple[str, GoldValue], ...] = ()

    def __post_init__(self) -> None:
        if self.direction and self.direction not in DIRECTIONS:
            raise TaskError(unknown_name("direction", self.direction, DIRECTIONS))
        for label, _ in self.distractors:
            if not is_label(label):
                raise TaskError(unknown_name("label of a wrong answer", label, (*LABELS, "scale_10^k")))

    def to_hidden(self) -> dict[str, Any]:
        """As JSON types, for `Task.hidden`: fractions as "1/3", dates as "2024-09-28"."""
        value = [_plain(item) for item in self.value] if isinstance(self.value, tuple) else _plain(self.value)
        full = {
            "direction": self.direction,
            "aliases": {name: list(also) for name, also in self.aliases.items()},
            "distractors": [[label, _plain(value)] for label, value in self.distractors],
        }
        return {"value": value} | {name: content for name, content in full.items() if content}

    @classmethod
    def from_hidden(cls, hidden: Mapping[str, Any], spec: AnswerSpec) -> Gold:
        """Read what `to_hidden` wrote, or what a person wrote in its form.

        Raises:
            TaskError: a value is not of the kind that the spec asks for.
        """
        if "value" not in hidden:
            raise TaskError(f"gold {dict(hidden)!r} has no value")
        given = hidden["value"]
        if isinstance(given, list) != (spec.length is not None) or (
            isinstance(given, list) and len(given) != spec.length
        ):
            raise TaskError(f"gold {given!r} has not the length {spec.length!r} that its spec asks for")
        return cls(
            tuple(_typed(item, spec) for item in given) if isinstance(given, list) else _typed(given, spec),
            hidden.get("direction", ""),
            {name: tuple(also) for name, also in hidden.get("aliases", {}).items()},
            tuple((label, _typed(value, spec)) for label, value in hidden.get("distractors", [])),
        )


def _plain(value: GoldValue) -> Any:
    if isinstance(value, datetime.date):
        return value.isoformat()
    return str(value) if isinstance(value, Fraction) else value


def _typed(plain: Any, spec: AnswerSpec) -> GoldValue:
    try:
        if spec.is_numeric:
            return Fraction(plain) if isinstance(plain, (str, int, Decimal)) else Fraction(repr(plain))
        if spec.kind == "date":
            return datetime.date.fromisoformat(plain)
        wanted: type = {"year": int, "bool": bool}.get(spec.kind, str)
        if type(plain) is not wanted:
            raise TypeError(f"{type(plain).__name__} instead of {wanted.__name__}")
        if spec.kind == "choice" and plain not in spec.choices:
            raise ValueError(f"the choices are {', '.join(spec.choices)}")
    except (TypeError, ValueError) as error:
        raise TaskError(f"gold {plain!r} is no {spec.kind}: {error}") from None
    return cast("int | bool | str", plain)
