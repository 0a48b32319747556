"""What an agent wrote, safe to look at: characters that would be obeyed or cannot be seen are shown as escapes."""

from __future__ import annotations

import unicodedata
from typing import Final

__all__ = ["is_odd", "readable"]

_HIDDEN: Final = ("Cc", "Cf", "Cs", "Co", "Cn")


def is_odd(char: str) -> bool:
    """Whether a character is obeyed rather than shown, or has no shape: controls, formats, lone surrogates."""
    return char not in "\n\t" and unicodedata.category(char) in _HIDDEN


def readable(text: str) -> str:
    """Show what a terminal would obey or cannot print: control characters, format characters, lone surrogates."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char.encode("unicode_escape").decode() if is_odd(char) else char for char in text)
