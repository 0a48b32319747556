"""How a measure is taken, ours and a peer's in turn, and the line that it is printed as."""

from __future__ import annotations

import importlib
import importlib.util
import statistics
import time
from collections.abc import Callable
from typing import Any

__all__ = ["Line", "Skip", "cpu_of", "in_turn", "ms", "peer", "ratio", "value"]

Line = dict[str, Any]


class Skip(Exception):
    """A measure cannot be taken here; says why."""


def peer(name: str) -> Any:
    """Load what we are compared with.

    Raises:
        Skip: it is not installed.
    """
    if importlib.util.find_spec(name) is None:
        raise Skip(f"{name} is not installed: pip install {name.replace('_', '-')}")
    return importlib.import_module(name)


def cpu_of(do: Callable[[], object]) -> float:
    """CPU seconds of this process."""
    began = time.process_time()
    do()
    return time.process_time() - began


def in_turn(n_rounds: int, ours: Callable[[], object], theirs: Callable[[], object]) -> tuple[float, float]:
    """Medians of the CPU seconds of both."""
    costs = [(cpu_of(ours), cpu_of(theirs)) for _ in range(n_rounds)]
    mine, other = (statistics.median(cost) for cost in zip(*costs, strict=True))
    return mine, other


def ratio(name: str, ours_s: float, theirs_s: float, goal: float | None) -> Line:
    """A line that says how many times more CPU the other takes."""
    line = {"name": f"finance_{name}", "ratio": round(theirs_s / ours_s, 2), "goal": goal, "better": "higher"}
    return line | {"ours_ms": ms(ours_s), "theirs_ms": ms(theirs_s)}


def value(name: str, number: float, unit: str, goal: float) -> Line:
    """A line of a value that should be small."""
    return {"name": f"finance_{name}", "ratio": round(number, 3), "unit": unit, "goal": goal, "better": "lower"}


def ms(seconds: float) -> float:
    """Milliseconds, to be printed."""
    return round(seconds * 1e3, 3)
