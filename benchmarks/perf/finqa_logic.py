"""How FinQA's own evaluator judges a program, written from the description of its behavior: the peer of our verdicts.

A program is "subtract(482, 75), divide(#0, 75)". It is right by execution where its result is the gold's, and by
program where sympy finds it to be the gold program with the gold's numbers as symbols.

Source: FinQA, Chen et al. 2021, https://arxiv.org/abs/2109.00122
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

__all__ = ["equal_programs", "execute", "tokens_of"]

_TABLE_STEPS: Final = ("table_max", "table_min", "table_sum", "table_average")
_SIGNS: Final = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "exp": "**", "greater": ">"}

_Table = Sequence[Sequence[str]]
_Step = tuple[str, str, str]


class _Invalid(Exception):
    pass


def tokens_of(program: str) -> list[str]:
    """Split a program into tokens: four a step, as `add(`, `1`, `2`, `)`."""
    tokens = []
    for part in program.split(", "):
        token = ""
        for character in part:
            if character == ")" and token:
                tokens.append(token)
                token = ""
            token += character
            if character in "()":
                tokens.append(token)
                token = ""
        if token:
            tokens.append(token)
    return tokens


def execute(tokens: Sequence[str], table: _Table) -> float | str | None:
    """Work a program out.

    Args:
        tokens: of the program.
        table: rows of cells, the label first.

    Returns:
        A number, rounded to 5 decimals; "yes" or "no"; None where the program is invalid.
    """
    try:
        results: list[float | str] = []
        for step in _steps(tokens):
            results.append(_do(step, results, table))
        last = results[-1]
        return last if isinstance(last, str) else round(last, 5)
    except (_Invalid, ArithmeticError, ValueError, IndexError, TypeError):
        return None


def equal_programs(gold: Sequence[str], given: Sequence[str]) -> bool:
    """Whether two programs are one to sympy, with the gold's arguments as symbols."""
    from sympy import simplify  # type: ignore[import-untyped]

    symbols: dict[str, str] = {}
    try:
        for step in _steps(gold):
            for argument in _arguments(step):
                symbols.setdefault(argument, f"a{len(symbols)}")
        wanted, written = _written(_steps(gold), symbols), _written(_steps(given), symbols)
    except (_Invalid, KeyError, IndexError, ValueError):
        return False
    return bool(simplify(wanted, evaluate=False) == simplify(written, evaluate=False))


def _steps(tokens: Sequence[str]) -> list[_Step]:
    if not tokens or len(tokens) % 4:
        raise _Invalid
    steps = []
    for at in range(0, len(tokens), 4):
        name, first, second, end = tokens[at : at + 4]
        if name[-1:] != "(" or end != ")" or name[:-1] not in (*_SIGNS, *_TABLE_STEPS):
            raise _Invalid
        steps.append((name[:-1], first.strip(), second.strip()))
    return steps


def _do(step: _Step, results: Sequence[float | str], table: _Table) -> float | str:
    name, first, second = step
    if name in _TABLE_STEPS:
        return _do_row(name, first, table)
    a, b = (_value(argument, results) for argument in (first, second))
    match name:
        case "add":
            return a + b
        case "subtract":
            return a - b
        case "multiply":
            return a * b
        case "divide":
            return a / b
        case "exp":
            return float(a**b)
    return "yes" if a > b else "no"


def _do_row(name: str, label: str, table: _Table) -> float:
    rows = {row[0]: row[1:] for row in table}  # the last row of a label
    if "#" in label or label not in rows:
        raise _Invalid
    numbers = [_number(cell.replace("$", "").strip().split("(")[0].strip()) for cell in rows[label]]
    if name == "table_max":
        return max(numbers)
    if name == "table_min":
        return min(numbers)
    return sum(numbers) / (len(numbers) if name == "table_average" else 1)


def _value(argument: str, results: Sequence[float | str]) -> float:
    if argument.startswith("#"):
        value = results[int(argument[1:])]
        if isinstance(value, str):
            raise _Invalid
        return value
    return _number(argument)


def _number(text: str) -> float:
    text = text.replace(",", "")
    if "%" in text:
        return float(text.replace("%", "")) / 100
    if text.startswith("const_"):
        return -1.0 if text == "const_m1" else float(text.removeprefix("const_"))
    return float(text)


def _arguments(step: _Step) -> list[str]:
    """What of a step gets a symbol: its numbers, or a step over a table as a whole."""
    name, first, second = step
    if name in _TABLE_STEPS:
        return [f"{name} {first}"]
    return [argument for argument in (first, second) if not argument.startswith("#")]


def _written(steps: Sequence[_Step], symbols: dict[str, str]) -> str:
    """The last step in symbols, with those that it refers to written out."""
    written: list[str] = []
    for step in steps:
        name, first, second = step
        if name in _TABLE_STEPS:
            written.append(symbols[f"{name} {first}"])
            continue
        a, b = (written[int(one[1:])] if one.startswith("#") else symbols[one] for one in (first, second))
        written.append(f"( {a} {_SIGNS[name]} {b} )")
    return written[-1]
