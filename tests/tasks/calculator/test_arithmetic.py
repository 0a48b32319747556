"""Sums: drawn by level, and worked out as on paper."""

from __future__ import annotations

import ast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from workgym.tasks.calculator.arithmetic import Operation, draw_sum, read_operation, work_out
from workgym.tasks.errors import TaskError
from workgym.tasks.task import LEVELS

NUMBERS = {1: (2, 1), 2: (3, 2), 3: (3, 3), 4: (4, 3), 5: (5, 4)}
"""Level -> how many numbers, and how many digits each has."""


def drawn(level: int, n: int = 200) -> list[str]:
    rng = np.random.default_rng(level)
    return [draw_sum(level, rng) for _ in range(n)]


def python_value(text: str) -> int:
    return int(eval(compile(ast.parse(text, mode="eval"), "<sum>", "eval")))


@pytest.mark.parametrize("level", LEVELS)
def test_a_level_has_the_numbers_and_operations_of_its_row(level: int) -> None:
    n_numbers, n_digits = NUMBERS[level]
    for text in drawn(level):
        numbers = [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)]
        assert len(numbers) == n_numbers
        assert {len(str(number)) for number in numbers} == {n_digits}
        assert len(work_out(text)) == n_numbers - 1 == {1: 1, 2: 2, 3: 2, 4: 3, 5: 4}[level]
        assert ("(" in text) == (level == 5)


@pytest.mark.parametrize("level", LEVELS)
def test_a_sum_has_the_value_that_python_gives_it(level: int) -> None:
    for text in drawn(level):
        assert work_out(text)[-1].value == python_value(text)


@pytest.mark.parametrize("level", LEVELS)
def test_what_is_shown_is_never_the_value(level: int) -> None:
    for text in drawn(level, 500):
        shown = {node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)}
        assert work_out(text)[-1].value not in shown | {0}


def test_no_sum_is_another_one_turned_round() -> None:
    for text in drawn(1, 1000):
        a, b = map(int, text.split("+"))
        assert a <= b


_WHOLE = some.integers(-99, 99)


@given(
    some.recursive(
        some.integers(0, 99).map(str),
        lambda inner: some.tuples(inner, some.sampled_from("+-*"), inner).map(lambda parts: f"({''.join(parts)})"),
        max_leaves=6,
    )
)
def test_any_sum_with_parentheses_is_worked_out_as_python_does(text: str) -> None:
    bare = text[1:-1] if text.startswith("(") else text
    if any(sign in bare for sign in "+-*"):
        assert work_out(bare)[-1].value == python_value(bare)


@given(_WHOLE, some.sampled_from("+-*"), _WHOLE)
def test_an_operation_is_read_as_it_is_written(left: int, sign: str, right: int) -> None:
    operation = Operation(left, sign, right)
    assert read_operation(operation.text) == operation
    assert read_operation(f" {left} {sign} {right} ") == operation
    assert operation.value == python_value(f"({left}){sign}({right})")


@pytest.mark.parametrize(
    "text",
    ["", "12", "12+", "+12", "12+34-5", "12/3", "12**3", "1.5+2", "1e3+1", "x+1", "(1+2)", "12+\u0663", "1_0+1",
     "9" * 31 + "+1", "1 2+3", "__import__('os')", "1+2\n3"],
)  # fmt: skip
def test_what_is_no_single_operation_is_not_read(text: str) -> None:
    assert read_operation(text) is None


@pytest.mark.parametrize("text", ["", "12", "-12", "1+", "(1+2", "1/2", "a+b", "()", "1 + 2", "2**3"])
def test_what_is_no_sum_is_refused(text: str) -> None:
    with pytest.raises(TaskError, match="is no sum|is a number and no sum"):
        work_out(text)


def test_a_level_that_does_not_exist_is_refused() -> None:
    with pytest.raises(TaskError, match="unknown level 6"):
        draw_sum(6, np.random.default_rng(0))
