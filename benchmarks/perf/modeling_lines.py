"""How the measures of the modeling domain are taken: CPU time of all processes that take part."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import resource
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from workgym.benchmarks.perf.lines import Line, Skip, ms
from workgym.envs.sandbox.census import descendants_of
from workgym.tasks.extras import install_command

__all__ = ["Cost", "Effort", "cost_of", "medians", "ratio", "require", "value"]

Cost = tuple[float, float]
"""CPU seconds and wall seconds."""


@dataclass(frozen=True)
class Effort:
    """How much is measured.

    Attributes:
        rounds: in each, ours and the other take their turn.
        runs: of what takes a few milliseconds, a round: clocks of processes that have ended tick slowly.
        points: to sample a volume with.
    """

    rounds: int
    runs: int
    points: int


def require(*names: str) -> None:
    """See that packages are installed.

    Raises:
        Skip: some are not.
    """
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    if missing:
        raise Skip(f"no {', '.join(missing)}: {install_command('modeling')}")


def _spent() -> float:
    """CPU seconds so far: of this process, of all below it, and of all that have ended and were waited for."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    ticks = 0
    for pid in descendants_of(os.getpid()):
        with contextlib.suppress(OSError):  # it has ended meanwhile, and is counted by who waited for it
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))
    return time.process_time() + ended.ru_utime + ended.ru_stime + ticks / os.sysconf("SC_CLK_TCK")


def cost_of(do: Callable[[], object], n: int = 1) -> Cost:
    """CPU seconds and wall seconds of one of so many runs."""
    spent, began = _spent(), time.perf_counter()
    for _ in range(n):
        do()
    wall_s = time.perf_counter() - began
    return (_spent() - spent) / n, wall_s / n


def medians(costs: Sequence[Cost]) -> Cost:
    """Of both clocks."""
    cpu_s, wall_s = (statistics.median(one) for one in zip(*costs, strict=True))
    return cpu_s, wall_s


def ratio(name: str, ours: Cost, theirs: Cost, goal: float) -> Line:
    """A line that says how many times more CPU the other takes."""
    line = {"name": f"modeling_{name}", "ratio": round(theirs[0] / ours[0], 2), "goal": goal, "better": "higher"}
    line |= {"ours_ms": ms(ours[0]), "theirs_ms": ms(theirs[0])}
    return line | {"ours_wall_ms": ms(ours[1]), "theirs_wall_ms": ms(theirs[1])}


def value(name: str, cpu_s: float, wall_s: float, goal: float | None) -> Line:
    """A line of what should be small."""
    line = {"name": f"modeling_{name}", "ratio": ms(cpu_s), "unit": "CPU-ms", "goal": goal, "better": "lower"}
    return line | {"wall_ms": ms(wall_s)}
