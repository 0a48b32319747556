"""Calls a function that is not trusted, in a sandbox of its own, and says what it gave.

The parent asks and compares; the function's process sees arguments and nothing of what is wanted.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from workgym.envs.coding.callee import SOLUTION, SolutionEnded, answer_of, load_solution, parse_line
from workgym.envs.coding.codec import CodecError, decode, encode
from workgym.envs.coding.lines import Child, running
from workgym.envs.coding.show import printable
from workgym.envs.sandbox.protocol import SandboxPool

__all__ = ["ANSWERS_KB", "CallReport", "Raised", "call_function"]

ANSWERS_KB: Final = 256
"""Room for the answers of calls whose right answers are short: what is longer costs the reader time, and is wrong."""

_SLACK_S: Final = 0.1
"""The kernel counts a process's CPU time a little apart from us."""


@dataclass(frozen=True, slots=True)
class Raised:
    """Stands for a value where the function raised, or gave none that can be read.

    Attributes:
        name: of the class of the exception, as its process said.
        text: what it said of itself, one line; the solution's own words.
    """

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class CallReport:
    """What a function gave.

    Attributes:
        answers: one for each call that was answered, in order: a builtin value, an `Opaque` or a `Raised`.
        label: "" if each call was answered in time; else "syntax", "error" (it does not load), "missing" (no such
            function), "timeout", "oom", "output", "crash" or "silent".
        detail: words for the label, the solution's own among them.
        cpu_s: CPU seconds of its process.
        printed: what it printed, where that was asked for; its own words.
    """

    answers: tuple[Any, ...]
    label: str = ""
    detail: str = ""
    cpu_s: float = 0.0
    printed: str = ""


def call_function(
    pool: SandboxPool,
    source: str,
    entry_point: str,
    calls: Sequence[Sequence[Any]],
    *,
    cpu_s: float = 2.0,
    timeout_s: float = 20.0,
    answers_kb: int = ANSWERS_KB,
    prints: bool = False,
) -> CallReport:
    """Load a function and call it, again and again, in one process.

    Args:
        pool: sandboxes with `WARM_MODULES` and room as `SPLIT_SANDBOX`.
        source: Python that defines the function; whatever it does, there is a report.
        entry_point: name of the function.
        calls: arguments of each call.
        cpu_s: CPU seconds for loading and for all calls.
        timeout_s: wall-clock seconds for which the process is waited for; many times `cpu_s`, so that the CPU limit
            decides unless the function sleeps.
        answers_kb: length of all answers together, beyond which no more is read: the label is then "output".
        prints: report what it prints, and end it where that is more than the pool's `output_kb`.

    Returns:
        What it gave.

    Raises:
        SandboxError: infrastructure failed.
    """
    deadline = time.monotonic() + 2 * timeout_s
    children: list[Child] = []
    answers: list[Any] = []
    try:
        with running(pool, SOLUTION, children, timeout_s) as callee:
            load_solution(callee, source, entry_point, deadline, cpu_s=math.ceil(cpu_s), prints=prints)
            most_bytes = callee.n_bytes + 1024 * answers_kb
            for arguments in calls:
                callee.send(encode((tuple(arguments), {}), strict=True).encode())
                answers.append(_read(answer_of(callee, deadline, most_bytes)))
            if prints:
                callee.finish()  # it writes an unfinished line at its end
        label, detail = "", ""
    except SolutionEnded as end:
        label, detail = end.label, end.detail
    result = children[0].finish()
    spent_s, printed = result.cpu_s, result.stdout.decode(errors="replace")
    if (not label and spent_s > cpu_s) or (label in ("crash", "oom") and spent_s > cpu_s - _SLACK_S):
        label, detail = "timeout", "out of CPU time"
    elif not label and any(type(answer) is Raised and answer.name == "MemoryError" for answer in answers):
        label, detail = "oom", "out of memory"
    return CallReport(tuple(answers), label, detail, spent_s, printed)


def _read(line: bytes) -> Any:
    """One answer; whoever wrote it is not trusted."""
    reply = parse_line(line)
    if isinstance(reply, dict) and isinstance(reply.get("value"), str):
        try:
            return decode(reply["value"])
        except CodecError:
            return Raised("", "its answer is malformed")
    match reply:
        case {"raised": [str(name), str(text)]}:
            return Raised(printable(name), printable(text))
    return Raised("", "its answer is malformed")
