"""What decides an evaluation, as it is kept in its folder: enough to go on with it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from workgym.agents.prices import Price, price_of
from workgym.benchmarks.file_rules import AMOUNT, COUNT, NAME, NUMBER, SECONDS, TABLE, TEXT, Rule, checked
from workgym.benchmarks.suite import Suite, suite_of
from workgym.tasks.errors import WorkgymError

__all__ = ["SETTINGS_FILE", "EvalSettings", "read_settings", "write_settings"]


def _is_price(value: object) -> bool:
    return value is None or isinstance(value, dict)


SETTINGS_FILE: Final = "eval.json"

_PLAIN: Final[Mapping[str, Rule]] = {
    "agent": NAME,
    "at_once": COUNT,
    "max_turn_tokens": COUNT,
    "temperature": AMOUNT,
    "base_url": TEXT,
    "tools": NAME,
    "retries": NUMBER,
    "timeout_s": SECONDS,
}
_KEYS: Final[Mapping[str, Rule]] = {**_PLAIN, "suite": TABLE, "price": ("a table or null", _is_price)}
"""What the file says: all of it, and nothing else."""


@dataclass(frozen=True, slots=True)
class EvalSettings:
    """An evaluation.

    Attributes:
        agent: who acts, as the command line names it.
        suite: what is asked.
        at_once: episodes that run at once.
        max_turn_tokens: tokens that one turn may have.
        temperature: of sampling.
        base_url: of the endpoint; "" where there is none, or the client's own.
        tools: "native" or "text", for an endpoint.
        retries: of a request that failed on the way.
        timeout_s: seconds that a request may take.
        price: of the agent's tokens; None where nobody knows. No key is ever kept.
    """

    agent: str
    suite: Suite
    at_once: int
    max_turn_tokens: int
    temperature: float
    base_url: str
    tools: str
    retries: int
    timeout_s: float
    price: Price | None

    @property
    def n_repeats(self) -> int:
        """Episodes of each task."""
        return self.suite.n_repeats

    def as_record(self) -> dict[str, Any]:
        """The settings as JSON types."""
        plain = {name: getattr(self, name) for name in _PLAIN}
        return plain | {"suite": self.suite.as_record(), "price": self.price.as_record() if self.price else None}


def write_settings(settings: EvalSettings, folder: Path) -> None:
    """Write them into an evaluation's folder, whole or not at all.

    Raises:
        OSError: the folder cannot be written.
    """
    half = folder / f".{SETTINGS_FILE}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        half.write_text(json.dumps(settings.as_record(), indent=2) + "\n", encoding="utf-8")
        os.replace(half, folder / SETTINGS_FILE)
    except OSError as error:
        raise type(error)(f"cannot write into {folder}: {error.strerror}. Name another folder with --out") from error


def read_settings(folder: Path) -> EvalSettings:
    """Read what `write_settings` wrote.

    Raises:
        ValueError: the folder holds no evaluation, or its settings are damaged.
    """
    path = folder / SETTINGS_FILE
    if not path.is_file():
        raise ValueError(f"{folder} holds no evaluation: there is no {SETTINGS_FILE}. `workgym eval` writes one")
    try:
        record = checked("the settings", json.loads(path.read_text(encoding="utf-8")), _KEYS, tuple(_KEYS))
        price = record["price"]
        return EvalSettings(
            **{name: record[name] for name in _PLAIN},
            suite=suite_of(record["suite"]),
            price=None if price is None else price_of("price", price),
        )
    except (ValueError, RecursionError, WorkgymError) as error:
        raise ValueError(f"{path} is damaged: {str(error).rstrip('.')}. Evaluate anew, in another folder") from error
