"""Values as people and agents read them: one printable line, built no further than it is shown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, Final

from workgym.envs.coding.codec import Opaque

__all__ = ["printable", "show"]

_MAX_BITS: Final = 2000
"""Of an integer that is written out: Python refuses from 640 digits on where it is told to, and is slow beyond."""

_PIECE_CHARS: Final = 400
"""Of a text or of bytes, of which one piece is made; longer than what anyone shows."""

_BRACKETS: Final[dict[type, tuple[str, str]]] = {
    list: ("[", "]"),
    tuple: ("(", ")"),
    set: ("{", "}"),
    frozenset: ("frozenset({", "})"),
    dict: ("{", "}"),
}


def show(value: object, max_chars: int = 60) -> str:
    """Write a value that `decode` made, as `repr` has it where that is short.

    The text is cut while it is built, so that the cost is bounded by `max_chars` and never by the value.

    Args:
        value: made of what `decode` makes; an object of any other type is shown by the name of its type.
        max_chars: after which the text is cut and "..." set; at most 400.

    Returns:
        One line of printable characters.
    """
    text = ""
    for piece in _pieces(value):
        text += piece
        if len(text) > max_chars:
            return text[:max_chars] + "..."
    return text


def printable(text: str, max_chars: int = 200) -> str:
    """Words that an untrusted process chose, as one line: white space becomes a blank, what does not print a "?"."""
    line = " ".join(text[:max_chars].split())
    return "".join(letter if letter.isprintable() else "?" for letter in line)


def _pieces(value: Any) -> Iterator[str]:
    kind = type(value)
    if kind is int and value.bit_length() > _MAX_BITS:
        digits = int(value.bit_length() * math.log10(2)) + 1
        yield f"<int of about {digits} digits, too large to show>"
    elif kind is str or kind is bytes:
        yield repr(value[:_PIECE_CHARS])
    elif kind in _BRACKETS and (value or kind not in (set, frozenset)):
        yield from _container(value, *_BRACKETS[kind])
    elif value is None or kind in (bool, int, float, complex, set, frozenset, Opaque):
        yield repr(value)
    else:
        yield f"<{printable(kind.__name__)}>"


def _container(value: Any, opening: str, closing: str) -> Iterator[str]:
    yield opening
    for number, item in enumerate(value.items() if type(value) is dict else value):
        if number:
            yield ", "
        yield from _entry(item) if type(value) is dict else _pieces(item)
    yield f",{closing}" if type(value) is tuple and len(value) == 1 else closing


def _entry(pair: Iterable[Any]) -> Iterator[str]:
    key, item = pair
    yield from _pieces(key)
    yield ": "
    yield from _pieces(item)
