"""Which characters an answer may be written with, and which of them mean the same.

A table, not a Unicode normalization: NFKC would turn `12²` into `122`, and what Python takes for digits reaches from
Arabic to Devanagari. What is not in the table is refused, so that nothing invisible stands in a number.
"""

from __future__ import annotations

import unicodedata
from typing import Final

from workgym.envs.finance.answers import Refusal, shown

__all__ = ["MAX_CHARS", "fold_text", "plain_text"]

MAX_CHARS: Final = 200

_SPACES: Final = "\u00a0\u2007\u2009\u202f"
_OUTER: Final = " \t\r\n\u3000" + _SPACES
_MINUS: Final = "\u2212\u2010\u2011\u2012\u2013\u2014\ufe63\uff0d"
_WIDE: Final = {0xFF00 + ord(plain) - 0x20: plain for plain in "0123456789.%(),+$"}  # of full width, as in East Asia
_ALIKE: Final = {"\uffe5": "¥", "\u2019": "'", "▲": "△"}
_SAME: Final = _WIDE | str.maketrans(_ALIKE | dict.fromkeys(_SPACES, " ") | dict.fromkeys(_MINUS, "-"))
_BEYOND_ASCII: Final = frozenset("€£¥₩₹×△")  # noqa: RUF001
_QUOTES: Final = str.maketrans({**dict.fromkeys("‘’‚‛", "'"), **dict.fromkeys("“”„‟", '"')})  # noqa: RUF001


def plain_text(text: str) -> str | Refusal:
    """The text in lower-case ASCII and a few symbols, with one kind of minus and of space, and no spaces around it.

    Returns:
        The text, or a refusal where a character is left that no answer is written with.
    """
    stripped = text.strip(_OUTER)
    if not stripped:
        return Refusal("empty", "the value is empty")
    if len(stripped) > MAX_CHARS:
        return Refusal("size", f"the value has {len(stripped)} characters; at most {MAX_CHARS} are read")
    same = stripped.translate(_SAME)
    for character in same:
        if not (" " <= character <= "~") and character not in _BEYOND_ASCII:
            return _strange(character, text)
    return same.lower()


def fold_text(text: str) -> str | Refusal:
    """The words of a text, to be compared: case, spaces around it and curly quotes do not matter."""
    stripped = text.strip(_OUTER)
    if not stripped:
        return Refusal("empty", "the value is empty")
    if len(stripped) > MAX_CHARS:
        return Refusal("size", f"the value has {len(stripped)} characters; at most {MAX_CHARS} are read")
    for character in stripped:
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
            return _strange(character, text)
    return stripped.translate(_QUOTES).translate(dict.fromkeys(map(ord, _SPACES), " ")).casefold()


def _strange(character: str, text: str) -> Refusal:
    return Refusal(
        "characters",
        f"{shown(text)} holds U+{ord(character):04X}: only plain characters on one line are read",
    )
