"""Inputs on which a function is shown and judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from workgym.tasks.coding.function.operation import Kind, Operation

__all__ = ["EMPTY", "LARGE_KINDS", "draw_input", "draw_large", "draw_word"]

EMPTY: Final[Mapping[Kind, Any]] = {"number": 0, "numbers": [], "text": "", "words": [], "table": {}}
"""The least value of each kind."""

LARGE_KINDS: Final[tuple[Kind, ...]] = ("numbers", "words", "text")
"""Kinds of which an input can have very many items."""

_WORDS: Final = (
    "apple", "bear", "bird", "bread", "cat", "cloud", "corn", "dog", "door", "east", "farm", "fern", "fish", "goat",
    "grass", "green", "hill", "horse", "ice", "iron", "juice", "king", "lamp", "leaf", "lion", "mill", "moon", "moss",
    "night", "oak", "onion", "otter", "pear", "pine", "plum", "rain", "rice", "river", "road", "rose", "salt", "sand",
    "sea", "silver", "snail", "stone", "storm", "sun", "table", "tea", "tiger", "tin", "toast", "tree", "wind", "wolf",
)  # fmt: skip
_Draw = Callable[[np.random.Generator], Any]


def _numbers(low: int, high: int, least: int, most: int) -> _Draw:
    return lambda rng: rng.integers(low, high, int(rng.integers(least, most + 1))).tolist()


def _words(n_words: int, least: int, most: int) -> _Draw:
    """Of a random part of the words: few of them make repetitions likely."""

    def draw(rng: np.random.Generator) -> list[str]:
        start = int(rng.integers(len(_WORDS)))
        picks = rng.integers(start, start + n_words, int(rng.integers(least, most + 1))).tolist()
        return [_WORDS[pick * 13 % len(_WORDS)] for pick in picks]

    return draw


def _pairs(rng: np.random.Generator) -> list[int]:
    runs = rng.integers(1, 4, int(rng.integers(2, 6))).tolist()
    return [value for run in runs for value in [int(rng.integers(1, 6))] * run]


def _runs(rng: np.random.Generator) -> str:
    letters = rng.integers(1, 4, int(rng.integers(3, 6))).tolist()
    return "".join("abcdehlmorst"[int(rng.integers(12))] * run for run in letters)


def _table(rng: np.random.Generator) -> dict[str, int]:
    words = dict.fromkeys(_words(len(_WORDS), 3, 5)(rng))
    return {word: int(rng.integers(1, 20)) for word in words}


_several: Final = _words(len(_WORDS), 3, 6)

_DRAWS: Final[Mapping[tuple[Kind, str], _Draw]] = {
    ("number", ""): lambda rng: int(rng.integers(5, 61)),
    ("number", "large"): lambda rng: int(rng.integers(50, 10_000)),
    ("numbers", ""): _numbers(-5, 21, 3, 7),
    ("numbers", "few"): _numbers(1, 8, 4, 9),
    ("numbers", "long"): _numbers(-5, 21, 5, 16),
    ("numbers", "pairs"): _pairs,
    ("text", ""): lambda rng: " ".join(_words(len(_WORDS), 1, 3)(rng)),
    ("text", "sentence"): lambda rng: " ".join(_words(len(_WORDS), 2, 6)(rng)),
    ("text", "rich"): lambda rng: " ".join(_words(len(_WORDS), 4, 9)(rng)),
    ("text", "runs"): _runs,
    ("words", ""): _several,
    ("words", "alike"): _words(6, 4, 8),
    ("words", "long"): _words(len(_WORDS), 5, 12),
    ("table", ""): _table,
}


def draw_input(operation: Operation, rng: np.random.Generator) -> Any:
    """Draw an input that shows what a function does.

    Args:
        operation: the first step of the function, which says what it needs.
        rng: the only source of randomness.

    Returns:
        A value of the kind that it takes.
    """
    return _DRAWS[operation.takes, operation.inputs](rng)


def draw_word(rng: np.random.Generator) -> str:
    """Draw a word like those of small inputs."""
    return _WORDS[int(rng.integers(len(_WORDS)))]


def draw_large(kind: Kind, n_items: int, rng: np.random.Generator) -> Any:
    """Draw an input of many items, none of which is among those of small inputs.

    Args:
        kind: one of `LARGE_KINDS`; the items of a text are its words.
        n_items: how many.
        rng: the only source of randomness.
    """
    if kind == "numbers":
        sizes = rng.integers(100, 1_000_000, n_items)
        return (sizes * rng.choice((-1, 1), n_items)).tolist()
    lengths = rng.integers(2, 10, n_items).tolist()
    letters = "".join(chr(97 + code) for code in rng.integers(0, 26, sum(lengths)).tolist())
    ends = np.cumsum(lengths).tolist()
    words = [letters[end - length : end] for length, end in zip(lengths, ends, strict=True)]
    return words if kind == "words" else " ".join(words)
