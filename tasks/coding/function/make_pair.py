"""Makes the tasks of level 5: two functions, of which one builds a data structure that the other answers from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final

import numpy as np

from workgym.tasks.coding.function.cases import Case, Choice, choose_cases, is_normal
from workgym.tasks.coding.function.inputs import draw_input, draw_large, draw_word
from workgym.tasks.coding.function.make import ARGUMENT_NAMES, LARGE, Exercise
from workgym.tasks.coding.function.of_pairs import QUERIES, Query
from workgym.tasks.coding.function.operation import Kind, Operation, compute, fill
from workgym.tasks.coding.function.program import KINDS, Program, draw_steps
from workgym.tasks.coding.function.sequence import OPERATIONS, is_plain, key_of, may_follow
from workgym.tasks.source import split_of

__all__ = ["draw_pair", "large_pair_args"]

_N_TRIES: Final = 2
_N_CHANGES: Final = 3
_N_QUESTIONS: Final = 10_000
_NAMES: Final = (("build", "query"), ("prepare", "ask"), ("index", "lookup"), ("load", "find"))
_ROLES: Final = ("map", "filter", "slice", "dedupe", "state", "order")
_SHORT: Final = ("first", "last", "records", "first-words", "last-words", "longer-than-all", "starting")
"""Steps after which so few items are left that every answer is fast."""

_FRAMES: Final = (
    "Write two Python functions. `{build}({argument})` takes {kind}, changes it like this: {steps}; and returns a data "
    "structure of your choice. `{ask}(data, {q})` takes that and returns {question}.",
    "Define `{build}({argument})` and `{ask}(data, {q})` in Python. The first gets {kind} ({steps}) and returns any "
    "data structure; the second gets this structure and returns {question}.",
    "Two functions in Python share a data structure that you choose: `{build}({argument})` makes it of {kind} after "
    "this: {steps}. `{ask}(data, {q})` answers from it: {question}.",
)
"""Around the words of both; the last is kept for the test split."""

_FAST: Final = "10,000 questions about 100,000 items must take less than 2 seconds."


def draw_pair(rng: np.random.Generator, split: str) -> Exercise:
    """Draw two functions that belong to a split.

    Args:
        rng: the only source of randomness.
        split: "train", "validation" or "test".
    """
    while True:
        query, sequence = _draw_parts(rng, split)
        for _ in range(_N_TRIES):
            steps = draw_steps((*sequence, query.builder), rng, total=True)
            program = Program(steps)
            choice = _choose(program, query, rng)
            if choice is not None:
                return _worded(program, query, choice, rng, split)


def large_pair_args(large: dict[str, Any]) -> tuple[Any, ...]:
    """Make the large input of a pair again: very many items, and many questions about them.

    Args:
        large: as an `Exercise` has it.
    """
    rng = np.random.default_rng(large["seed"])
    items = draw_large(large["kind"], LARGE, rng)
    return items, [_question(large["asks"], items, rng) for _ in range(_N_QUESTIONS)]


def _draw_parts(rng: np.random.Generator, split: str) -> tuple[Query, tuple[Operation, ...]]:
    """The question, and the steps that come before it."""
    while True:
        query = QUERIES[int(rng.integers(len(QUERIES)))]
        changes = _changes(query.builder.takes)
        sequence = [changes[int(rng.integers(len(changes)))]]
        while len(sequence) < _N_CHANGES:
            after = [step for step in changes if may_follow(step, sequence[-1]) and step not in sequence]
            if not after:
                break
            sequence.append(after[int(rng.integers(len(after)))])
        fits = len(sequence) == _N_CHANGES and sum(step.role == "order" for step in sequence) < 2 and is_plain(sequence)
        if fits and split_of(f"{key_of(sequence)}|{query.name}") == split:
            return query, tuple(sequence)


@cache
def _changes(kind: Kind) -> tuple[Operation, ...]:
    """Steps that may come before the data structure is built."""
    return tuple(
        step
        for step in OPERATIONS
        if step.takes == step.gives == kind and step.role in _ROLES and step.name not in _SHORT
    )


def _choose(program: Program, query: Query, rng: np.random.Generator) -> Choice | None:
    answer = compute(query.code.replace("{x}", "value[0]").replace("{q}", "value[1]"))

    def draw() -> tuple[Any, Any]:
        items = draw_input(query.builder, rng)
        return items, _question(query.asks, _changed(program, items), rng)

    choice = choose_cases(draw, lambda items, question: _value(program, answer, items, question), 8)
    if choice is None:
        return None

    def same(other: Program, skip: int, cases: tuple[Case, ...] = (*choice.shown, *choice.paid)) -> bool:
        return all(_value(other, answer, case.args[0], case.args[1], skip) == case.value for case in cases)

    def changes(number: int) -> bool:
        return not same(program, number, choice.shown) and not same(program, number, choice.paid)

    return choice if is_normal(program, same, changes) else None


def _changed(program: Program, items: Any) -> Any:
    """The list on which a question bears; as it was where the steps leave nothing."""
    return Program(program.steps[:-1]).run(items) or items


def _value(program: Program, answer: Callable[[Any], Any], items: Any, question: Any, skip: int = -1) -> Any:
    return answer((program.run(items, skip=skip), question))


def _question(asks: str, items: Sequence[Any], rng: np.random.Generator) -> Any:
    """Something to ask about a list."""
    if asks == "position":
        return int(rng.integers(1, len(items) + 2))
    if asks == "remainder":
        return int(rng.integers(8))
    item = items[int(rng.integers(len(items)))]
    if asks == "number":
        return item + int(rng.integers(-1, 2))
    word = item if rng.random() < 0.7 else draw_word(rng)
    return word[:1] if asks == "letter" else word


def _worded(program: Program, query: Query, choice: Choice, rng: np.random.Generator, split: str) -> Exercise:
    """Give them names and words; some words are kept for the test split."""
    kept = 0 if split == "test" else 1
    takes = program.first.takes
    build, ask = _NAMES[int(rng.integers(len(_NAMES)))]
    argument = ARGUMENT_NAMES[takes][int(rng.integers(len(ARGUMENT_NAMES[takes])))]
    change = Program(program.steps[:-1])
    variants = [int(rng.integers(len(step.operation.texts) - kept)) for step in change.steps]
    frame = _FRAMES[int(rng.integers(len(_FRAMES) - kept))]
    question = query.texts[int(rng.integers(len(query.texts) - kept))]
    prompt = frame.format(
        build=build,
        ask=ask,
        argument=argument,
        q="q",
        kind=KINDS[takes],
        steps=change.describe(argument, variants)[0],
        question=fill(question.replace("{q}", "q"), dict(program.steps[-1].params)),
    )
    answer = query.code.replace("{x}", "data").replace("{q}", "q")
    source = f"{program.write(build, argument)}\n\ndef {ask}(data, q):\n    return {answer}\n"
    return Exercise(
        prompt=f"{prompt} {_FAST}",
        entry_point=ask,
        reference=f"import bisect\n\n\n{source}" if "bisect." in source else source,
        identity=[program.identity(), query.name],
        shown=choice.shown,
        hidden=tuple(_listed(case) for case in (*choice.paid, *choice.rest)),
        large={"kind": takes, "seed": int(rng.integers(2**32)), "asks": query.asks},
        n_parts=2 + len(program.steps) + 2,
        builder=build,
    )


def _listed(case: Case) -> Case:
    """A case of one question as one of a list of questions: so are both functions called where they are judged."""
    items, question = case.args
    return Case((items, [question]), [case.value], case.paid)
