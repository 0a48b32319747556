"""Pairs of functions that share a data structure: one builds it, the other answers questions from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from workgym.tasks.coding.function.operation import Kind, Operation, Param

__all__ = ["QUERIES", "Asks", "Query"]

Asks = Literal["number", "position", "remainder", "word", "letter"]
"""What a question is: a number like those of the list, how many of them, a small number, a word, a letter."""


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """How the second function answers from what the first one built.

    Attributes:
        name: as it stands in keys of splits.
        builder: the last step of the first function: it turns the list into the data structure.
        asks: what a question is.
        code: an expression of `{x}`, the data structure, and `{q}`, the question.
        texts: what is answered, with `{q}` for the question; the last is kept for the test split.
    """

    name: str
    builder: Operation
    asks: Asks
    code: str
    texts: tuple[str, ...]


_FIRST_PLACES: Final = """out = {}
for i, ITEM in enumerate({x}):
    out.setdefault(ITEM, i)"""

_LAST_PLACES: Final = "{ITEM: i for i, ITEM in enumerate({x})}"

_PREFIX_SUMS: Final = """out = [0]
for n in {x}:
    out.append(out[-1] + n)"""

_PREFIX_KINDS: Final = """seen = set()
out = [0]
for n in {x}:
    seen.add(n)
    out.append(len(seen))"""

_SORTED_SUMS: Final = """nums = sorted({x})
sums = [0]
for n in nums:
    sums.append(sums[-1] + n)
out = (nums, sums)"""

_GROUP_SUMS: Final = """out = {}
for n in {x}:
    out[n % {k}] = out.get(n % {k}, 0) + n"""

_BY_KEY: Final = """out = {}
for w in {x}:
    out[KEY] = out.get(KEY, 0) + VALUE"""

_LEAST_BY_LETTER: Final = """out = {}
for w in {x}:
    out[w[:1]] = min(w, out.get(w[:1], w))"""


def _query(
    name: str,
    takes: Kind,
    asks: Asks,
    build: str,
    code: str,
    *texts: str,
    inputs: str = "long",
    k: Iterable[int] = (),
) -> Query:
    params: Mapping[str, tuple[Param, ...]] = {"k": tuple(k)} if k else {}
    return Query(name, Operation(name, "build", takes, "table", build, (), params, inputs=inputs), asks, code, texts)


QUERIES: Final[tuple[Query, ...]] = (
    _query("how-many-up-to", "numbers", "number", "sorted({x})", "bisect.bisect_right({x}, {q})",
           "how many of the numbers are at most `{q}`", "the count of numbers not above `{q}`",
           "how many numbers do not exceed `{q}`"),
    _query("how-many-above", "numbers", "number", "sorted({x})", "len({x}) - bisect.bisect_right({x}, {q})",
           "how many of the numbers are above `{q}`", "the count of numbers greater than `{q}`",
           "how many numbers exceed `{q}`"),
    _query("kinds-below", "numbers", "number", "sorted(set({x}))", "bisect.bisect_left({x}, {q})",
           "how many different numbers are below `{q}`", "the count of distinct numbers less than `{q}`",
           "how many different values lie under `{q}`"),
    _query("sum-up-to", "numbers", "number", _SORTED_SUMS, "{x}[1][bisect.bisect_right({x}[0], {q})]",
           "the sum of the numbers that are at most `{q}`", "the total of all numbers not above `{q}`",
           "what the numbers that do not exceed `{q}` add up to"),
    _query("next-above", "numbers", "number", "sorted({x})",
           "{x}[i] if (i := bisect.bisect_right({x}, {q})) < len({x}) else -99",
           "the smallest number above `{q}`, -99 if there is none", "the next larger number than `{q}`, or -99",
           "the least of the numbers that exceed `{q}`, -99 where none does"),
    _query("first-place", "numbers", "number", _FIRST_PLACES.replace("ITEM", "n"), "{x}.get({q}, -1)",
           "the position (from 0) of the first `{q}`, -1 if there is none", "at which index `{q}` first occurs, or -1",
           "the lowest index of `{q}`, -1 if it is not there"),
    _query("last-place", "numbers", "number", _LAST_PLACES.replace("ITEM", "n"), "{x}.get({q}, -1)",
           "the position (from 0) of the last `{q}`, -1 if there is none", "at which index `{q}` last occurs, or -1",
           "the highest index of `{q}`, -1 if it is not there"),
    _query("ranked", "numbers", "position", "sorted({x})", "{x}[{q}] if {q} < len({x}) else -99",
           "the number at position `{q}` (from 0) in ascending order, -99 if there are fewer",
           "the number that exactly `{q}` others precede when sorted, or -99",
           "element `{q}` of the sorted numbers, -99 past their end"),
    _query("sum-of-first", "numbers", "position", _PREFIX_SUMS, "{x}[min({q}, len({x}) - 1)]",
           "the sum of the first `{q}` numbers", "the total of the numbers before index `{q}`",
           "what the leading `{q}` numbers add up to"),
    _query("kinds-of-first", "numbers", "position", _PREFIX_KINDS, "{x}[min({q}, len({x}) - 1)]",
           "how many different numbers are among the first `{q}`",
           "the count of distinct numbers before index `{q}`",
           "how many different values the leading `{q}` numbers have"),

    _query("group-sum", "numbers", "remainder", _GROUP_SUMS, "{x}.get({q}, 0)",
           "the sum of the numbers n with n % {k} == `{q}`",
           "the total of the numbers whose remainder, by Python's % {k}, is `{q}`",
           "what all numbers n with n % {k} equal to `{q}` add up to", k=range(3, 9)),
    _query("next-word", "words", "word", "sorted({x})",
           '{x}[i] if (i := bisect.bisect_right({x}, {q})) < len({x}) else ""',
           "the alphabetically first word after `{q}`, an empty text if there is none",
           "the least word greater than `{q}`, or an empty text",
           "the word that sorts next after `{q}`, an empty text past the last"),
    _query("letters-by-initial", "words", "letter", _BY_KEY.replace("KEY", "w[:1]").replace("VALUE", "len(w)"),
           "{x}.get({q}, 0)", "the total length of the words that start with `{q}`",
           "how many characters the words with the first letter `{q}` have together",
           "what the lengths of the words beginning with `{q}` add up to", inputs="alike"),
    _query("least-by-initial", "words", "letter", _LEAST_BY_LETTER, '{x}.get({q}, "")',
           "the alphabetically first word that starts with `{q}`, an empty text if there is none",
           "the least word with the first letter `{q}`, or an empty text",
           "of the words beginning with `{q}` the one that sorts first, an empty text where none does"),
)  # fmt: skip
