"""Where an attack meets a backend, watched from outside."""

from __future__ import annotations

import contextlib
import os
import select
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena import words
from limits import accepted

from workgym.envs.sandbox.spec import ExecResult, PythonCode, SandboxSpec

__all__ = ["LONG_S", "NAMES", "SPEC", "Outcome", "Ring", "inhabitants", "program"]

NAMES = ("local-root", "local-unprivileged", "bwrap", "docker")
SPEC = SandboxSpec(memory_mb=64, cpu_s=0.5, n_processes=16, n_open_files=32, disk_mb=4, n_inodes=64, output_kb=16)
LONG_S = 20.0
_PROGRAMS = Path(__file__).parent / "programs"
_GONE_S = 1.0


def program(number: int) -> str:
    """The source of an attack."""
    files = [next(_PROGRAMS.glob(f"{n:02}_*.py")) for n in sorted({0, number})]
    return "\n\n".join(file.read_text(encoding="utf-8") for file in files)


@dataclass(frozen=True)
class Outcome:
    """What became of an attack."""

    backend: str
    number: int
    result: ExecResult

    @property
    def status(self) -> str:
        """How it ended."""
        return self.result.status

    @property
    def home(self) -> str:
        """The PID namespace that it ran in."""
        first, _, _ = self.result.stderr.partition(b"\n")
        return first.decode().removeprefix("home ")

    def assert_held(self) -> None:
        """No wall was free, but for what the backend is known not to stop."""
        assert words(self.result.stdout, "free") == accepted(self.backend, self.number), self.result


class Ring:
    """A pool of one backend, and what a harmless program is like there.

    Args:
        backend: one of the four names.
        pool: an open pool, here or in another process.
    """

    def __init__(self, backend: str, pool: Any) -> None:
        self.backend, self.pool = backend, pool
        self.n_resident = 0  # processes of a lease that belong to the backend
        self._usual_s = self._usual_cpu_s = LONG_S
        with pool.lease() as box:
            for _ in range(3):
                result = self._run_quietly(box)
                self._usual_s = min(self._usual_s, result.wall_s)
                self._usual_cpu_s = min(self._usual_cpu_s, result.cpu_s)
            self.n_resident = len(inhabitants(Outcome(backend, 0, result).home))
        began = time.monotonic()
        with pool.lease() as box:
            self._run_quietly(box)
        self._has_cheap_leases = time.monotonic() - began < 0.3  # else the next attack's own lease must do

    @property
    def moment_s(self) -> float:
        """A short time, in which a program comes to its point even where the machine is busy."""
        return 0.3 + 20 * self._usual_s

    def attack(
        self,
        number: int,
        *,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        timeout_s: float = LONG_S,
        channel: bool = False,
        box: Any = None,
    ) -> Outcome:
        """Let an attack loose. Nothing of it may be left a second later, and the next runs must be as ever."""
        with contextlib.nullcontext(box) if box else self.pool.lease() as box:
            began = time.monotonic()
            result = box.exec(PythonCode(program(number)), stdin=stdin, timeout_s=timeout_s, env=env, channel=channel)
            took_s = time.monotonic() - began
            outcome = Outcome(self.backend, number, result)
            self.assert_gone(outcome.home, self.n_resident)
            self.assert_as_ever(box)
        if self._has_cheap_leases:
            with self.pool.lease() as other:
                self.assert_as_ever(other)
        assert took_s < timeout_s + 5, result
        return outcome

    def assert_as_ever(self, box: Any) -> None:
        """A harmless program runs, in normal time: the better of two, since the machine is not ours alone."""
        runs = [self._run_quietly(box) for _ in range(2)]
        assert min(run.cpu_s for run in runs) < 5 * self._usual_cpu_s + 0.05, runs
        assert min(run.wall_s for run in runs) < 5 * self._usual_s + 10.0, runs

    def assert_gone(self, home: str, n_resident: int = 0) -> None:
        """Within a second no process of a PID namespace is left but those that belong to the backend."""
        assert home.startswith("pid:["), home
        deadline = time.monotonic() + _GONE_S
        while len(alive := inhabitants(home)) > n_resident:
            assert time.monotonic() < deadline, f"still alive in {home}: {alive}"
            _wait_for_one(alive, deadline)

    def _run_quietly(self, box: Any) -> ExecResult:
        result: ExecResult = box.exec(PythonCode(program(0) + "\nsay('as', 'ever')"), timeout_s=LONG_S)
        assert (result.status, result.stdout) == ("ok", b"as: ever\n"), result
        return result


def inhabitants(home: str) -> list[int]:
    """The processes of this machine that live in a PID namespace."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):  # not ours to see, or gone
            if os.readlink(f"/proc/{pid}/ns/pid") == home:
                found.append(int(pid))
    return found


def _wait_for_one(pids: list[int], deadline: float) -> None:
    with contextlib.suppress(ProcessLookupError):
        handle = os.pidfd_open(pids[-1])
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        poll.poll(max(0.0, deadline - time.monotonic()) * 1000)
        os.close(handle)
