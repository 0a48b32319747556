"""What a file of settings may say: its keys, and of what kind their values are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from workgym.tasks.errors import TaskError
from workgym.tasks.naming import unknown_name

__all__ = [
    "AMOUNT",
    "COUNT",
    "IDS",
    "LEVELS",
    "NAME",
    "NUMBER",
    "SECONDS",
    "TABLE",
    "TEXT",
    "Rule",
    "checked",
]

Rule = tuple[str, Callable[[Any], bool]]
"""(what a value is, in words; whether this one is)."""


def _is_whole(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _is_list(value: object, fits: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and bool(value) and all(map(fits, value))


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _is_amount(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf")


TEXT: Final[Rule] = ("a text", lambda value: isinstance(value, str))
NAME: Final[Rule] = ("a text that is not empty", _is_name)
TABLE: Final[Rule] = ("a table", lambda value: isinstance(value, dict))
COUNT: Final[Rule] = ("a whole number > 0", lambda value: _is_whole(value, 1))
NUMBER: Final[Rule] = ("a whole number >= 0", lambda value: _is_whole(value, 0))
SECONDS: Final[Rule] = ("a number of seconds >= 0", _is_amount)
AMOUNT: Final[Rule] = ("a number >= 0", _is_amount)
LEVELS: Final[Rule] = ("a list of levels such as [1, 2]", lambda value: _is_list(value, lambda x: _is_whole(x, 1)))
IDS: Final[Rule] = ("a list of task ids", lambda value: _is_list(value, _is_name))


def checked(where: str, content: object, keys: Mapping[str, Rule], needed: Sequence[str] = ()) -> Mapping[str, Any]:
    """A table of a file, every key of it known and every value of its kind.

    Args:
        where: names the table in errors.
        content: of the table.
        keys: that it may have, each with what its value must be.
        needed: those that it must have.

    Raises:
        TaskError: it is no table, a key is unknown or missing, or its value makes no sense.
    """
    if not isinstance(content, dict):
        raise TaskError(f"{where} must be a table, not {content!r}")
    for key, value in content.items():
        if key not in keys:
            raise TaskError(f"{where}: {unknown_name('key', key, keys)}")
        kind, fits = keys[key]
        if not fits(value):
            raise TaskError(f"{where}: {key} must be {kind}, not {value!r}")
    for key in needed:
        if key not in content:
            raise TaskError(f"{where}: {key} is missing; it is {keys[key][0]}")
    return content
