"""Configuration of a recipe: one frozen dataclass, overridden by a TOML file and by `key=value`, and checked."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Final, TypeVar

from workgym.tasks.naming import unknown_name
from workgym.tasks.task import LEVELS

__all__ = ["check_levels", "check_ranges", "config_text", "make_config", "read_config"]

Config = TypeVar("Config")

_MOST: Final = 1_000_000
_RANGES: Final[Mapping[str, tuple[int, int]]] = {"seed": (0, 2**32 - 1), "n_threads": (1, 256)}
"""Of fields that every recipe has."""


def make_config(
    kind: type[Config], *, file: Path | None = None, overrides: Sequence[str] = (), **values: Any
) -> Config:
    """Make a configuration from its defaults, then a TOML file, then `key=value` texts, then values by name.

    Args:
        kind: a frozen dataclass whose fields are numbers, booleans, texts and tuples of whole numbers, each with a
            default.
        file: TOML with a flat table of fields.
        overrides: texts such as "seed=3".
        values: further fields.

    Raises:
        ValueError: a key is unknown (the nearest one is named), a value is of another type or an empty list, or the
            file is no TOML.
    """
    merged: dict[str, Any] = {}
    if file is not None:
        merged |= _read_toml(file)
    for text in overrides:
        key, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"{text!r} is no key=value")
        merged[key.strip()] = _parse(value.strip())
    for key, value in merged.items():
        if value == []:  # the same as leaving it out, which is not what somebody meant who wrote it
            raise ValueError(f"setting {key} is an empty list: name at least one whole number, or leave it out")
    return _build(kind, merged | values)


def config_text(config: object) -> str:
    """A configuration as JSON, one field a line."""
    return json.dumps(asdict(config), indent=1) + "\n"  # type: ignore[call-overload]


def read_config(kind: type[Config], path: Path) -> Config:
    """Read what `config_text` wrote.

    Raises:
        ValueError: the file is not there, is no JSON, or holds other fields.
    """
    try:
        values = json.loads(path.read_text())
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"cannot read the configuration {path}: {error}") from error
    if not isinstance(values, dict):
        raise ValueError(f"the configuration {path} is no object")
    return _build(kind, values)


def check_ranges(config: object, **ranges: tuple[int, int]) -> None:
    """Check the numbers of a configuration.

    Args:
        config: a frozen dataclass. Its whole numbers lie between 1 and a million, `seed` and `n_threads` in ranges of
            their own, its other numbers in [0, 1].
        ranges: least and most of whole numbers with another range, by name.

    Raises:
        ValueError: one does not.
    """
    for field in fields(config):  # type: ignore[arg-type]
        value = getattr(config, field.name)
        least, most = {**_RANGES, **ranges}.get(field.name, (1, _MOST))
        if type(field.default) is int and not least <= value <= most:
            raise ValueError(f"setting {field.name} must be from {least} to {most}, not {value}")
        if type(field.default) is float and not 0 <= value <= 1:
            raise ValueError(f"setting {field.name} must be in [0, 1], not {value}")


def check_levels(levels: Sequence[int]) -> None:
    """Check the levels that are learned.

    Raises:
        ValueError: there is none, one does not exist, or one is named twice.
    """
    for level in levels:
        if level not in LEVELS:
            raise ValueError(unknown_name("level", level, map(str, LEVELS)))
    if not levels or len(set(levels)) < len(levels):
        raise ValueError(f"setting levels needs at least one level, and none twice: {list(levels)}")


def _read_toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text())
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"cannot read the configuration {file}: {error}") from error


def _parse(text: str) -> Any:
    """A value as TOML has it; a bare word is a text."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _build(kind: type[Config], values: Mapping[str, Any]) -> Config:
    known = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]
    checked = {}
    for key, value in values.items():
        if key not in known:
            raise ValueError(unknown_name("setting", key, known))
        checked[key] = _fit(key, value, type(known[key].default))
    return kind(**checked)


def _fit(key: str, value: Any, wanted: type) -> Any:
    if wanted is float and type(value) is int:
        return float(value)
    if wanted is tuple:
        if not isinstance(value, list | tuple) or any(type(item) is not int for item in value):
            raise ValueError(f"setting {key} must be a list of whole numbers such as [1, 2], not {value!r}")
        return tuple(value)
    if type(value) is not wanted:
        raise ValueError(f"setting {key} must be of type {wanted.__name__}, not {type(value).__name__} ({value!r})")
    return value
