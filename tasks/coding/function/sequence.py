"""Which operations may follow one another, so that no two sequences are the same function.

Who is trained on a sequence must not meet it again under another name in the test split. So a sequence is drawn in one
normal form alone: steps that could trade places stand in a fixed order, and steps that one step could replace do not
meet. What these rules let through is caught where a function is tried on its inputs (`programs.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

import numpy as np

from workgym.tasks.coding.function.of_numbers import NUMBER_OPERATIONS
from workgym.tasks.coding.function.of_texts import TEXT_OPERATIONS
from workgym.tasks.coding.function.operation import Operation
from workgym.tasks.source import split_of

__all__ = ["OPERATIONS", "draw_sequence", "key_of", "may_follow"]

OPERATIONS: Final[tuple[Operation, ...]] = NUMBER_OPERATIONS + TEXT_OPERATIONS
"""All of them."""

_LENGTHS: Final = {1: (1,), 2: (2,), 3: (3,), 4: (4, 5)}

_NOT_AFTER: Final = {
    "map": {"map", "filter", "count", "each"},
    "filter": {"count"},
    "order": {"map", "filter", "order", "dedupe", "fold", "count", "each"},
    "slice": {"map", "slice", "each"},
    "dedupe": {"map", "filter", "dedupe"},
    "state": {"map", "state", "slice"},
}
"""Role of a step -> roles that the next step must not have, where both take the same kind of value."""

_NEVER: Final = {
    ("kinds", "unique"),
    ("longer", "lengths"),
    ("shorter", "lengths"),
    ("running-max", "unique"),
    ("running-min", "unique"),
    ("ascending", "records"),
    ("by-length", "longer-than-all"),
    ("unique", "kinds"),
    ("unique", "records"),
    ("unique-words", "longer-than-all"),
    ("running-sum", "differences"),
    ("unique-words", "word-lengths"),
}
"""Neighbors of which one could go, or that are another operation together."""

_TURNED: Final = {"reverse", "reverse-words", "reverse-text", "rotate"}
"""A turned list is cut or summed up as the list itself, from the other end."""


def may_follow(step: Operation, after: Operation) -> bool:
    """Whether a step may stand right after another."""
    if after.gives != step.takes or step is after or (after.name, step.name) in _NEVER:
        return False
    if step.takes == "number" and step.role == "make":
        return False  # its work grows with the number, which is small where it is the argument alone
    if after.takes != after.gives:
        return True
    if step.role in _NOT_AFTER.get(after.role, ()):
        return False
    if after.name in _TURNED:
        return step.role not in ("slice", "state")
    return not (after.role == step.role == "filter") or after.name < step.name


@cache
def _followers(after: Operation) -> tuple[Operation, ...]:
    return tuple(step for step in OPERATIONS if may_follow(step, after))


def key_of(sequence: Sequence[Operation]) -> str:
    """By which a sequence belongs to a split; parameters do not matter to it."""
    return ">".join(operation.name for operation in sequence)


def draw_sequence(level: int, rng: np.random.Generator, split: str) -> tuple[Operation, ...]:
    """Draw the operations of a function, in order, of those that belong to a split.

    Args:
        level: 1 to 4.
        rng: the only source of randomness.
        split: "train", "validation" or "test".
    """
    while True:
        sequence = _walk(int(rng.choice(_LENGTHS[level])), rng)
        if sequence and _fits(level, sequence) and split_of(key_of(sequence)) == split:
            return sequence


def _walk(length: int, rng: np.random.Generator) -> tuple[Operation, ...]:
    """As many steps, each after the other; none where it came to a dead end."""
    sequence = [OPERATIONS[int(rng.integers(len(OPERATIONS)))]]
    while len(sequence) < length:
        choices = [step for step in _followers(sequence[-1]) if step not in sequence]
        if not choices:
            return ()
        sequence.append(choices[int(rng.integers(len(choices)))])
    return tuple(sequence)


def _fits(level: int, sequence: Sequence[Operation]) -> bool:
    """Whether a sequence is as a level wants it: from level 3 on one step keeps a state, at most one sorts."""
    if sum(step.role == "order" for step in sequence) > 1:
        return False
    if level == 4:
        return any(step.slow for step in sequence)
    return level < 3 or any(step.role == "state" for step in sequence)
