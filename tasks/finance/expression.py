"""The arithmetic that an answer rests on: a small language over cited cells, with exact values.

    comparison := sum [("<" | "<=" | ">" | ">=" | "==" | "!=") sum]
    sum        := product (("+" | "-") product)*
    product    := signed (("*" | "/") signed)*
    signed     := ("-" | "+") signed | power
    power      := atom ["**" ["-"] whole number]
    atom       := number | cell | name "(" sum ("," sum)* ")" | "(" sum ")"
    cell       := "c1", "c2", ...: the cited cells in their order
    name       := "sum" | "mean" | "min" | "max" | "abs"

Nothing is ever run as Python: the text is cut into tokens of ASCII and read by recursive descent, and every step is
bounded before it is taken. Values are fractions; a comparison gives a bool. What is refused is an `ActionError` that
depends on the text alone, so that an agent may be shown it.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from workgym.tasks.errors import ActionError
from workgym.tasks.naming import unknown_name

__all__ = ["MOST_CELLS", "MOST_CHARACTERS", "MOST_DEPTH", "MOST_EXPONENT", "Expression", "read_expression"]

MOST_CHARACTERS: Final = 400
MOST_DEPTH: Final = 20
"""Of parentheses, calls and signs within each other."""
MOST_EXPONENT: Final = 4
MOST_CELLS: Final = 32
"""Different ones in an expression."""
_MOST_DIGITS: Final = 30
_MOST_BITS: Final = 1024
"""Of a numerator or denominator: far more than any sum of money, and little enough to be done with in microseconds."""

_FUNCTIONS: Final = ("sum", "mean", "min", "max", "abs")
_COMPARISONS: Final[Mapping[str, Callable[[Fraction, Fraction], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_TOKEN: Final = re.compile(
    r"[ \t]*(?:(?P<number>[0-9]+(?:\.[0-9]*)?|\.[0-9]+)|(?P<word>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<sign>\*\*|<=|>=|==|!=|[-+*/(),<>]))"
)
_CELL: Final = re.compile(r"c([1-9][0-9]{0,2})")


@dataclass(frozen=True, slots=True)
class _Node:
    """A number, a cell or an operation. `-` and `/` have one part: what is taken away or divided by."""

    kind: str
    parts: tuple[_Node, ...] = ()
    number: Fraction = Fraction(0)
    index: int = 0


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression that was read.

    Attributes:
        text: as it was written.
        cells: the numbers of the cells that stand in it, from 1.
        compares: it gives true or false instead of a number.
    """

    text: str
    cells: frozenset[int]
    compares: bool
    _root: _Node

    def value(self, cells: Sequence[Fraction]) -> Fraction | bool:
        """Work it out, exactly.

        Args:
            cells: the values of c1, c2, ... in base units (dollars, shares; 0.125 for 12.5%).

        Raises:
            ActionError: it names a cell that is not there, divides by zero, or grows beyond what is ever needed.
        """
        if beyond := sorted(number for number in self.cells if number > len(cells)):
            raise ActionError(
                f"the expression names c{beyond[0]}, but {len(cells)} cells are cited: c1 is the first one"
            )
        if self.compares:
            left, right = (_value(part, cells) for part in self._root.parts)
            return _COMPARISONS[self._root.kind](left, right)
        return _value(self._root, cells)

    def passes_over(self, rows: Sequence[Sequence[Fraction]]) -> bool:
        """Whether an argument of a `min` or `max` is chosen in none of these rows of cells: it has no part in them.

        Raises:
            ActionError: as `value`.
        """
        return any(
            all(_value(part, row) != _value(node, row) for row in rows)
            for node in _choices(self._root)
            for part in node.parts
        )


def _choices(node: _Node) -> Iterator[_Node]:
    """Every `min` and `max` in a node."""
    if node.kind in ("min", "max"):
        yield node
    for part in node.parts:
        yield from _choices(part)


def read_expression(text: str) -> Expression:
    """Read an expression over cited cells.

    Raises:
        ActionError: the text is too long or too deep, holds anything but this language, or names no cell.
    """
    if len(text) > MOST_CHARACTERS:
        raise ActionError(f"an expression has {MOST_CHARACTERS} characters at most; this one has {len(text)}")
    reader = _Reader(_tokens(text))
    root = reader.comparison()
    if not reader.cells:
        raise ActionError(f"{text.strip()!r} is a constant: an answer is worked out from cited cells, c1 to cn")
    if len(reader.cells) > MOST_CELLS:
        raise ActionError(f"an expression names {MOST_CELLS} cells at most; this one names {len(reader.cells)}")
    return Expression(text, frozenset(reader.cells), root.kind in _COMPARISONS, root)


def _tokens(text: str) -> list[tuple[str, str]]:
    """Kind and text of each token; the last one is ("end", "")."""
    tokens: list[tuple[str, str]] = []
    place = 0
    body = text.rstrip(" \t\n")
    while place < len(body):
        match = _TOKEN.match(body, place)
        if match is None:
            raise ActionError(_unreadable(body[place:].lstrip(" \t")[:1]))
        tokens.append((str(match.lastgroup), match[str(match.lastgroup)]))
        place = match.end()
    return [*tokens, ("end", "")]


def _unreadable(character: str) -> str:
    hint = {"^": " Powers are written **.", "%": " Write 0.05 or 5/100 for 5%.", "$": " Amounts have no unit here."}
    return (
        f"an expression cannot hold {character!a}.{hint.get(character, '')} It is made of c1 to cn, "
        f"plain numbers, + - * / ** ( ) , comparisons and {', '.join(_FUNCTIONS)}"
    )


class _Reader:
    """Reads tokens into nodes, one method for each line of the grammar."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.cells: set[int] = set()
        self._tokens = tokens
        self._place = 0
        self._depth = 0

    def comparison(self) -> _Node:
        left = self._sum()
        if (sign := self._taken(*_COMPARISONS)) is not None:
            left = _Node(sign, (left, self._sum()))
        if self._next != ("end", ""):
            raise ActionError(f"the expression should end before {self._next[1]!r}{self._hint()}")
        return left

    def _sum(self) -> _Node:
        parts = [self._product()]
        while (sign := self._taken("+", "-")) is not None:
            part = self._product()
            parts.append(part if sign == "+" else _Node("-", (part,)))
        return parts[0] if len(parts) == 1 else _Node("+", tuple(parts))

    def _product(self) -> _Node:
        parts = [self._signed()]
        while (sign := self._taken("*", "/")) is not None:
            part = self._signed()
            parts.append(part if sign == "*" else _Node("/", (part,)))
        return parts[0] if len(parts) == 1 else _Node("*", tuple(parts))

    def _signed(self) -> _Node:
        sign = self._taken("-", "+")
        if sign is None:
            return self._power()
        self._deeper()
        part = self._signed()
        self._depth -= 1
        return part if sign == "+" else _Node("-", (part,))

    def _power(self) -> _Node:
        base = self._atom()
        if self._taken("**") is None:
            return base
        minus = self._taken("-")
        kind, text = self._next
        if kind != "number" or not text.isdigit() or len(text) > 1 or int(text) > MOST_EXPONENT:
            raise ActionError(
                f"an exponent is a whole number from -{MOST_EXPONENT} to {MOST_EXPONENT}, not {text[:40]!r}"
            )
        self._place += 1
        power = _Node("**", (base,), index=int(text))
        return power if minus is None else _Node("/", (power,))

    def _atom(self) -> _Node:
        kind, text = self._next
        self._place += 1
        if kind == "number":
            if len(text) > _MOST_DIGITS:
                raise ActionError(f"a number has {_MOST_DIGITS} digits at most; {text[:8]}... has {len(text)}")
            return _Node("number", number=Fraction(text.removesuffix(".")))
        if kind == "word":
            return self._named(text)
        if text != "(":
            raise ActionError(f"a number, a cell or '(' should stand where {text or 'the expression ends'!r} stands")
        self._deeper()
        inner = self._sum()
        self._close()
        return inner

    def _named(self, text: str) -> _Node:
        if match := _CELL.fullmatch(text):
            self.cells.add(int(match[1]))
            return _Node("cell", index=int(match[1]))
        if text not in _FUNCTIONS:
            raise ActionError(unknown_name("name in an expression", text[:40], ["c1 to cn", *_FUNCTIONS]))
        if self._taken("(") is None:
            raise ActionError(f"{text} is a function: write {text}(c1, c2)")
        self._deeper()
        parts = [self._sum()]
        while self._taken(",") is not None:
            parts.append(self._sum())
        self._close()
        if text == "abs" and len(parts) != 1:
            raise ActionError(f"abs takes one value, not {len(parts)}")
        return _Node(text, tuple(parts))

    @property
    def _next(self) -> tuple[str, str]:
        return self._tokens[self._place]

    def _taken(self, *signs: str) -> str | None:
        kind, text = self._next
        if kind != "sign" or text not in signs:
            return None
        self._place += 1
        return text

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > MOST_DEPTH:
            raise ActionError(f"an expression is nested {MOST_DEPTH} deep at most")

    def _close(self) -> None:
        if self._taken(")") is None:
            raise ActionError(f"')' is missing before {self._next[1] or 'the end'!r}{self._hint()}")
        self._depth -= 1

    def _hint(self) -> str:
        """What was probably meant by a token that cannot stand here."""
        sign = self._next[1]
        if sign == ",":
            return ": numbers have no thousands separators, and commas stand between the values of a function"
        if sign in _COMPARISONS:
            return ": a comparison stands alone, as the whole expression"
        return ": one exponent at a time" if sign == "**" else ""


def _value(node: _Node, cells: Sequence[Fraction]) -> Fraction:
    """Work out a node; every product and power is known to be small enough before it is taken."""
    if node.kind == "cell":
        return cells[node.index - 1]
    if node.kind == "number":
        return node.number
    parts = [_value(part, cells) for part in node.parts]
    match node.kind:
        case "-":
            return -parts[0]
        case "/":
            if not parts[0]:
                raise ActionError("the expression divides by zero")
            return 1 / parts[0]
        case "*":
            return _product(parts)
        case "**":
            return _product([parts[0]] * node.index)
        case "+" | "sum":
            return _total(parts)
        case "mean":
            return _total(parts) / len(parts)
        case "min":
            return min(parts)
        case "max":
            return max(parts)
        case _:
            return abs(parts[0])


def _total(parts: Sequence[Fraction]) -> Fraction:
    total = parts[0]
    for part in parts[1:]:
        total = _bounded(total + part)
    return total


def _product(parts: Sequence[Fraction]) -> Fraction:
    product = Fraction(1)
    for part in parts:
        product = _bounded(product * part)
    return product


def _bounded(value: Fraction) -> Fraction:
    """Pass a value on that is of bounded size; made of two bounded ones, it cost little even where it is not."""
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > _MOST_BITS:
        raise ActionError(f"a value on the way has more than {_MOST_BITS} bits: the expression is oversized")
    return value
