"""A child process with which the parent exchanges lines, and an account of the time that it takes."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from workgym.envs.sandbox.protocol import Process, SandboxPool
from workgym.envs.sandbox.spec import ExecResult, PythonCode

__all__ = ["Child", "running"]

_GRACE_S: Final = 2.0


class Child:
    """A process with which lines are exchanged until a deadline.

    Args:
        process: that runs.
        patience_s: seconds for which it is waited for, over all its lines.

    Attributes:
        waited_s: seconds for which it was waited for.
        n_bytes: length of all its lines.
    """

    def __init__(self, process: Process, patience_s: float) -> None:
        self._process = process
        self._patience_s = patience_s
        self.waited_s = 0.0
        self.n_bytes = 0
        self._result: ExecResult | None = None

    def send(self, line: bytes) -> None:
        """Send a line; one that cannot be delivered shows when the answer is missing."""
        try:
            self._process.send(line + b"\n")
        except BrokenPipeError:
            return

    def receive(self, deadline: float) -> bytes | None:
        """The next line; None if the process has ended, or the deadline or our patience has."""
        began = time.monotonic()
        line = self._process.receive(max(0.0, min(deadline - began, self._patience_s - self.waited_s)))
        self.waited_s += time.monotonic() - began
        self.n_bytes += len(line or b"")
        return line

    def is_late(self, deadline: float) -> bool:
        """Whether the deadline or our patience has passed."""
        return self.waited_s >= self._patience_s or time.monotonic() >= deadline

    def finish(self) -> ExecResult:
        """Close its stdin, let it end, and say what became of it."""
        if self._result is None:
            self._result = self._process.wait(_GRACE_S)
        return self._result

    def kill(self) -> ExecResult:
        """Kill it unless it has ended by itself, and say what became of it."""
        if self._result is None:
            self._process.kill()
        return self.finish()


@contextmanager
def running(
    pool: SandboxPool, driver: PythonCode, children: list[Child], patience_s: float = math.inf
) -> Iterator[Child]:
    """A child in a sandbox of its own, noted in `children`; it is dead when the `with` ends."""
    with pool.lease() as box:
        child = Child(box.start(driver, channel=True), patience_s)
        children.append(child)
        try:
            yield child
        finally:
            child.kill()
