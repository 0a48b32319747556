"""Code in fences: how a language model sets code apart from what it says about it."""

from __future__ import annotations

__all__ = ["fenced_blocks"]

_FENCE = "```"


def fenced_blocks(text: str) -> list[str]:
    """The blocks of a text between a line that starts with three backticks and the next line of only these.

    Args:
        text: as a model wrote it.

    Returns:
        What is between the fences, in order; a block without an end is none.
    """
    blocks: list[str] = []
    block: list[str] | None = None
    for line in text.split("\n"):
        word = line.strip()
        if block is None:
            block = [] if word.startswith(_FENCE) else None
        elif word == _FENCE:
            blocks.append("\n".join(block))
            block = None
        else:
            block.append(line)
    return blocks
