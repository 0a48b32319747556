"""Answers to a misspelled name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["unknown_name"]


def unknown_name(noun: str, name: object, known: Iterable[str]) -> str:
    """Say that a name is unknown, which one was probably meant, and which there are.

    Args:
        noun: what is named, in the singular ("level", "family", "recipe").
        name: what was given.
        known: the names that exist.

    Returns:
        One line, for the message of an error.
    """
    names = list(known)
    close = difflib.get_close_matches(str(name), names, n=1, cutoff=0.5)
    guess = f"Did you mean {close[0]!r}? " if close else ""
    return f"unknown {noun} {name!r}. {guess}Known: {', '.join(names) or 'none'}."
