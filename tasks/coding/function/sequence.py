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

from workgym.tasks.coding.function.inputs import LARGE_KINDS
from workgym.tasks.coding.function.of_numbers import NUMBER_OPERATIONS
from workgym.tasks.coding.function.of_texts import TEXT_OPERATIONS
from workgym.tasks.coding.function.operation import Operation
from workgym.tasks.source import split_of

__all__ = ["OPERATIONS", "draw_sequence", "is_plain", "key_of", "may_follow"]

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

_RISING: Final = frozenset(
    ("running-max", "running-min", "running-kinds", "running-count", "running-letters", "records", "letter-positions",
     "sorted-values", "divisors", "countdown", "multiples-of", "ascending", "descending")
)  # fmt: skip
"""What they give is in order already."""

_ORDERLY: Final = frozenset(["window-max", "running-max", "running-min", "records", "largest", "smallest"])
"""What is the same as something simpler, where the numbers are in order."""

_BARRED: Final = (
    ("add multiply subtract-from remainder divide cap lift power swap-value multiples not-multiples without",
     "running-count"),
    ("remainder", "by-remainder by-distance"),
    ("cap lift digits base-digits lengths letter-in-each", "by-distance"),
    ("unique kinds", "unique kinds records most-common largest smallest span"),
    ("records running-max running-min", "unique kinds most-common smallest largest span"),
    ("running-max running-min", "above below multiples not-multiples without"),
    ("running-letters", "differences first last drop-first drop-last every"),
    ("first-words last-words drop-words", "running-letters"),
    ("longer-than-all", "lengths word-lengths word-counts"),
    ("running-sum differences", "sum differences"),
    ("power", "sum power-sum"),
    ("ascending descending by-distance by-remainder", "cancel-pairs"),
    ("ascending descending", "window-sum"),
    ("letter-positions", "most-common smallest"),
    ("join-numbers", "split-at split-words letters"),
    ("drop-letters", "chunks"),
    ("multiples-of", "window-sum chunk-sums differences running-sum"),
    ("running-kinds", "above below without multiples not-multiples"),
    ("first last", "most-common longest-run window-sum window-max chunk-sums"),
    ("largest smallest", "modulo"),
    ("multiples-of", "sum span first last drop-first drop-last every weighted-sum"),
    ("digits", "sum"),
    ("lengths letter-in-each", "sum running-sum"),
    ("letter-in-each", "multiples not-multiples remainder by-remainder divide"),
    ("running-letters", "span running-sum"),
    ("sorted-values", "sum weighted-sum"),
    ("word-lengths letter-counts word-counts", "value-total"),
    ("zero-fill", "first-letters drop-letters last-letters every-letter split-at split-words letters"),
    ("chunks", "longest initials longer-than-all total-letters"),
    ("split-at split-words", "join-words"),
    ("letters", "by-length by-last-letter shorten longest longer shorter total-letters lengths initials "
     "longer-than-all running-letters count-longer word-lengths"),
    ("longest top-key initials first-letters last-letters", "chunks split-words"),
    ("initials", "letters letter-counts"),
    ("pad-left pad-right", "reverse-text letter-kinds sort-letters letter-counts"),
    ("stretch repeat-text", "letter-counts letter-kinds every-letter"),
    ("stretch", "first-letters drop-letters last-letters"),
    ("zero-fill", "squeeze"),
    ("above below", "without"),
    ("lengths", "without not-multiples"),
    ("pad-right", "drop-letters"),
    ("longer-than-all", "total-letters"),
    ("swap-value", "smallest"),
    ("squeeze", "remove-letter"),
    ("longer shorter", "lengths word-lengths running-letters total-letters"),
    ("by-length", "longer-than-all"),
    ("unique-words", "longer-than-all word-lengths"),
    ("append prepend repeat-words shorten", "total-letters running-letters longest word-lengths"),
    ("raise-values scale-values entries-above entries-below", "sorted-values"),
    ("above without", "records"),
    ("shorten", "longer-than-all by-last-letter by-length"),
    ("join-neighbors", "letter-in-each lengths count-longer count-containing initials"),
    ("first last", "reverse rotate"),
    ("letter-positions running-letters divisors countdown multiples-of above below multiples not-multiples without",
     "kinds"),
    ("lengths letter-in-each letter-positions running-letters countdown divisors", "count-above"),
    ("letter-positions", "count-multiples above below multiples not-multiples"),
    ("letters", "containing starting count-containing join-neighbors"),
    ("containing", "letter-in-each"),
    ("countdown", "every above drop-last differences count-multiples chunk-sums bounded-sum"),
    ("divisors", "drop-first drop-last without"),
    ("chunk-sums", "sum"),
    ("descending", "differences"),
    ("upper stretch remove-letter reverse-text sort-letters first-letters drop-letters last-letters every-letter "
     "squeeze replace-letter repeat-text", "letters"),
)  # fmt: skip
"""Names of steps, and of those that do not follow them: one of the two could go, or one other step does both."""

_NEVER: Final = frozenset(
    (after, step) for names, barred in _BARRED for after in names.split() for step in barred.split()
)

_KEEPS_ORDER: Final = frozenset(
    ("add", "multiply", "divide", "cap", "lift", "subtract-from", "cancel-pairs", "window-sum", "chunk-sums")
)  # fmt: skip
"""What is in order stays so, beside filters and slices, or nearly always."""

_WITHIN_ORDER: Final = _ORDERLY | {"most-common", "longest-run", "unique"}
"""What is something simpler, where the numbers have been put in order some steps before."""

_WHATEVER_SIZE: Final = frozenset(["kinds", "running-kinds", "running-count", "longest-run", "power-sum"])
"""What hardly depends on a map some steps before, or would with other parameters do without it; so do counts."""

_TURNED: Final = {"reverse", "reverse-words", "reverse-text", "rotate"}
"""A turned list is cut or summed up as the list itself, from the other end."""


def may_follow(step: Operation, after: Operation) -> bool:
    """Whether a step may stand right after another."""
    if after.gives != step.takes or step is after or (after.name, step.name) in _NEVER:
        return False
    if step.takes == "number" and step.role == "make":
        return False  # its work grows with the number, which is small where it is the argument alone
    if after.name in _RISING and (step.role == "order" or step.name in _ORDERLY):
        return False
    if after.takes != after.gives:
        return True
    if step.role in _NOT_AFTER.get(after.role, ()):
        return False
    if after.name in _TURNED:
        return step.role not in ("slice", "state")
    return not (after.role == step.role == "filter") or after.name < step.name


def is_plain(sequence: Sequence[Operation]) -> bool:
    """Whether no step is made idle, or could be spared, by one that stands several steps before it."""
    ordered = mapped = False
    for step in sequence:
        if ordered and (step.role == "order" or step.name in _WITHIN_ORDER):
            return False
        if mapped and (step.role == "count" or step.name in _WHATEVER_SIZE):
            return False
        stays = step.takes == step.gives
        ordered = step.name in _RISING or (
            ordered and stays and (step.role in ("filter", "slice") or step.name in _KEEPS_ORDER)
        )
        mapped = stays and (mapped or step.role == "map")
    return True


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
    """Whether a sequence is as a level wants it: at most one step sorts, and from level 3 on one keeps a state.

    At level 4 the function also gets an input of many items, so it takes a kind that can have them.
    """
    if sum(step.role == "order" for step in sequence) > 1 or not is_plain(sequence):
        return False
    if level == 4:
        return sequence[0].takes in LARGE_KINDS and any(step.slow for step in sequence)
    return level < 3 or any(step.role == "state" for step in sequence)
