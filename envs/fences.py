"""Code in fences: how a language model sets code apart from what it says about it."""

from __future__ import annotations

import textwrap
from typing import Final

from workgym.tasks.errors import ActionError

__all__ = ["fenced_blocks"]

_LEAST: Final = 3
_PYTHON: Final = ("", "py", "python", "python3")


def fenced_blocks(text: str) -> list[str]:
    """The blocks of Python in a text, between a line that starts with three backticks or more and one of only these.

    Args:
        text: as a model wrote it.

    Returns:
        What is between the fences, in order, without the indentation that all its lines share; a block without an end
        is none, and a block labelled as something else than Python is not among them.

    Raises:
        ActionError: there are blocks, and all of them are labelled as something else.
    """
    blocks: list[str] = []
    foreign: list[str] = []
    block: list[str] | None = None
    label, n_ticks = "", 0
    for line in text.split("\n"):
        word = line.strip()
        info = word.lstrip("`")
        n_here = len(word) - len(info)
        if block is not None and n_here >= n_ticks and not info:
            if label in _PYTHON:
                blocks.append(_dedented(block))
            else:
                foreign.append(label)
            block = None
        elif block is not None:
            block.append(line)
        elif n_here >= _LEAST and "`" not in info:
            block, n_ticks = [], n_here
            label = (info.split() or [""])[0].lower()
    if foreign and not blocks:
        raise ActionError(f"a block labelled {foreign[0][:40]!r} is no Python; label it python, or not at all")
    return blocks


def _dedented(lines: list[str]) -> str:
    """As it would stand at the left margin: a block in a list is indented as a whole."""
    text = "\n".join(lines)
    return textwrap.dedent(text) if text.lstrip("\n")[:1] in (" ", "\t") else text
