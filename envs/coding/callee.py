"""The process that holds a solution, seen from the parent: it is loaded, asked, and blamed for what it does.

Nothing that it says is believed: it sees arguments, and what it answers arrives as builtin values.
"""

from __future__ import annotations

import json
from typing import Any, Final

from workgym.envs.coding.lines import Child
from workgym.envs.coding.show import printable
from workgym.envs.coding.warm import WARM_MODULES
from workgym.envs.sandbox.spec import ExecResult, PythonCode, SandboxSpec
from workgym.tasks.errors import SandboxError

__all__ = [
    "ENDS", "MAX_ANSWERS_BYTES", "SOLUTION", "SPLIT_SANDBOX", "SolutionEnded", "answer_of", "load_solution",
    "parse_line",
]  # fmt: skip

SPLIT_SANDBOX: Final = SandboxSpec(warm_modules=WARM_MODULES, memory_mb=512, cpu_s=10.0, output_kb=16 * 1024)
"""What a solution, and what its tests, may use: room for the codec's largest message on the channel."""

SOLUTION: Final = PythonCode("import workgym_split_child\nworkgym_split_child.serve_solution()\n")
"""What runs in the solution's process."""

MAX_ANSWERS_BYTES: Final = 16 * 2**20
"""Length of all answers of one solution: each costs the reader time."""

ENDS: Final = {
    "ok": ("silent", "its process left without an answer"),
    "timeout_cpu": ("timeout", "out of CPU time"),
    "timeout_wall": ("timeout", "it stopped answering"),
    "oom": ("oom", "out of memory"),
    "output_limit": ("output", "too much output"),
}
"""Status of a process that ended -> label and words."""


class SolutionEnded(Exception):
    """The solution's process cannot answer any more.

    Attributes:
        label: the cause, to count by.
        detail: the cause, in words that give nothing hidden away.
    """

    def __init__(self, label: str, detail: str) -> None:
        super().__init__(label, detail)
        self.label = label
        self.detail = detail


def load_solution(
    callee: Child,
    source: str,
    entry_point: str,
    deadline: float,
    *,
    prompt: str = "",
    in_place: bool = False,
    cpu_s: int = 0,
    prints: bool = False,
) -> None:
    """Have a solution loaded.

    Args:
        callee: runs `SOLUTION`.
        source: Python that defines the entry point.
        entry_point: name of the function.
        deadline: moment of the monotonic clock, in seconds.
        prompt: Python that the solution may build on.
        in_place: answers carry the arguments as they are after the call.
        cpu_s: whole CPU seconds after which the kernel ends the process; 0 for the sandbox's own limit.
        prints: what it prints comes out on the process's stdout; else it goes nowhere.

    Raises:
        SolutionEnded: it does not load.
        SandboxError: its process did not come up.
    """
    request = {
        "source": source,
        "prompt": prompt,
        "entry_point": entry_point,
        "in_place": in_place,
        "cpu_s": cpu_s,
        "prints": prints,
    }
    callee.send(json.dumps(request).encode())
    if callee.receive(deadline) != b"{}":
        result = callee.kill()
        raise SandboxError(
            f"the solution's process ended ({result.status}, exit {result.exit_code}) before it was begun: "
            f"{result.stderr[-300:].decode(errors='replace')!r}. Is the pool opened with SPLIT_SANDBOX?"
        )
    answer = parse_line(answer_of(callee, deadline))
    if answer == {"loaded": True}:
        return
    failed = answer.get("failed") if isinstance(answer, dict) else None
    if failed in ("syntax", "error", "missing"):
        raise SolutionEnded(failed, printable(str(answer.get("text", ""))))
    raise SolutionEnded("crash", "the answer is malformed")


def answer_of(callee: Child, deadline: float, most_bytes: int = MAX_ANSWERS_BYTES) -> bytes:
    """The next line of the solution's process.

    Args:
        callee: runs `SOLUTION`.
        deadline: moment of the monotonic clock, in seconds.
        most_bytes: length of all its lines, beyond which none is read.

    Raises:
        SolutionEnded: there is none.
    """
    line = callee.receive(deadline)
    if callee.n_bytes > min(most_bytes, MAX_ANSWERS_BYTES):
        raise SolutionEnded("output", "its answers are too long in all")
    if line is not None:
        return line
    if callee.is_late(deadline):
        raise SolutionEnded("timeout", "it does not answer; it sleeps or waits for something")
    raise SolutionEnded(*_end(callee.finish()))


def _end(result: ExecResult) -> tuple[str, str]:
    if result.truncated_bytes:
        return ENDS["output_limit"]
    return ENDS.get(result.status, ("crash", f"its process ended with {result.status}"))


def parse_line(line: bytes) -> Any:
    """A line as JSON; None where it is none."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
