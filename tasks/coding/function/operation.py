"""One step of a function, as data: what it does in words, the Python that does it, and what may vary about it."""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Final, Literal

__all__ = ["Kind", "Operation", "Param", "Step", "compute", "fill", "name_of", "operation"]

Kind = Literal["number", "numbers", "text", "words", "table"]
"""What a step takes and gives: an int, a list of ints, a str, a list of str, a dict from str to int."""

Param = int | str

_NAMES: Final[Mapping[Kind, str]] = {
    "number": "number",
    "numbers": "nums",
    "text": "text",
    "words": "words",
    "table": "table",
}
_TOKEN: Final = re.compile(r"\{([a-z])\}")
_THE_1: Final = re.compile(r"\b(first|last) 1 (number|word|character)s\b")
_PLURAL_OF_1: Final = re.compile(r"\b1 (number|word|character)s\b")
"""What is left of a plural in a text where the parameter is 1."""


@dataclass(frozen=True, slots=True, eq=False)
class Operation:
    """A kind of step.

    In texts and code `{x}` stands for the value so far, another letter in braces for a parameter; in texts `{2k}` is
    twice `{k}`.

    Attributes:
        name: as it stands in keys of splits; a change of it moves tasks between the splits.
        role: what it does to a value: "map" (each item by itself), "filter", "order", "slice", "dedupe", "state" (an
            item depends on those before it), "each" (each item gives one of another kind), "fold" (all items give one
            value), "count" (a fold that asks a question of each item), "make" (anything else). Two steps that could
            trade places without a difference are told by it.
        takes, gives: kinds of value.
        code: an expression; or statements that leave the result in `out`, several lines.
        texts: what to do, as an order without a stop; the last is kept for the test split.
        params: letter -> values that it may have.
        edge: (text, code) that say what the result is where `code` alone would fail; () where it never does.
        inputs: name of the generator of inputs that show what it does; "" for the usual one of its kind.
        slow: the same expression in quadratic time, where there is an obvious one.
    """

    name: str
    role: str
    takes: Kind
    gives: Kind
    code: str
    texts: tuple[str, ...]
    params: Mapping[str, tuple[Param, ...]] = field(default_factory=dict)
    edge: tuple[str, str] | tuple[()] = ()
    inputs: str = ""
    slow: str = ""


def operation(
    name: str,
    role: str,
    kinds: tuple[Kind, Kind],
    code: str,
    *texts: str,
    edge: tuple[str, str] | tuple[()] = (),
    inputs: str = "",
    slow: str = "",
    **params: Iterable[Param],
) -> Operation:
    """An `Operation` as one writes it down in a table: parameters by keyword."""
    values = {letter: tuple(choices) for letter, choices in params.items()}
    return Operation(name, role, *kinds, code, texts, values, edge, inputs, slow)


@dataclass(frozen=True)
class Step:
    """An operation with its parameters.

    Attributes:
        operation: the kind of step.
        params: letter -> value, of all letters that the code uses, in order.
        total: says what it does where the plain form fails.
    """

    operation: Operation
    params: tuple[tuple[str, Param], ...]
    total: bool = False

    @property
    def code(self) -> str:
        """The code of this form, parameters filled in; `{x}` still stands for the value so far."""
        operation = self.operation
        return fill(operation.edge[1] if self.total and operation.edge else operation.code, dict(self.params))

    @property
    def letters(self) -> set[str]:
        """Parameters that this form has."""
        operation = self.operation
        code = operation.edge[1] if self.total and operation.edge else operation.code
        return set(_TOKEN.findall(code)) - {"x"}

    def text(self, variant: int) -> str:
        """What to do, as an order."""
        operation = self.operation
        words = operation.texts[variant]
        if self.total and operation.edge:
            words += f" ({operation.edge[0]})"
        params = dict(self.params)
        if "k" in params:
            words = words.replace("{2k}", str(2 * int(params["k"])))
        return _PLURAL_OF_1.sub(r"1 \1", _THE_1.sub(r"\1 \2", fill(words, params)))

    @cached_property
    def run(self) -> Callable[[Any], Any]:
        """Does it. Our own code, never an agent's."""
        return compute(self.code)


@lru_cache(maxsize=4096)
def compute(code: str) -> Callable[[Any], Any]:
    """Make a function of code in which `{x}` stands for its argument: an expression, or lines that set `out`."""
    lines = code.replace("{x}", "value").split("\n")
    if len(lines) == 1:
        lines = [f"out = {lines[0]}"]
    namespace: dict[str, Any] = {"bisect": bisect}
    exec("def step(value):\n    " + "\n    ".join([*lines, "return out"]), namespace)
    step: Callable[[Any], Any] = namespace["step"]
    return step


def fill(text: str, params: Mapping[str, Param]) -> str:
    """Set parameters into a text or into code: numbers as they are, texts in double quotes."""
    for letter, value in params.items():
        text = text.replace("{" + letter + "}", f'"{value}"' if isinstance(value, str) else str(value))
    return text


def name_of(kind: Kind) -> str:
    """What a value of this kind is called in reference code."""
    return _NAMES[kind]
