"""What a zygote says of a run that has ended, and what that means."""

from __future__ import annotations

import os
import signal
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from workgym.envs.sandbox.local.pipes import Outlet
from workgym.envs.sandbox.spec import ExecResult, Status

__all__ = ["NO_REFUSALS", "Refusals", "Report"]

# As local/zygote.py and local/child.py have them; both belong into the bare interpreter and are not imported here.
_FIELDS = struct.Struct("<iiddq")
_TOLD: dict[int, Status] = {137: "oom", 121: "disk_limit", 122: "processes_limit"}


@dataclass(frozen=True, slots=True)
class Refusals:
    """Limits that a run is known from outside to have met.

    Attributes:
        memory: a process of it was killed for want of memory; None where nobody counts that.
        disk: its workspace was full when it ended.
        processes: a fork or a thread was refused.
    """

    memory: bool | None = None
    disk: bool = False
    processes: bool = False

    @property
    def any(self) -> bool:
        """Whether it met one of them."""
        return bool(self.memory) or self.disk or self.processes


NO_REFUSALS = Refusals()


@dataclass(frozen=True, slots=True)
class Report:
    """The end of a run, as the kernel told its zygote.

    Attributes:
        wait_status: as `os.wait` gives it.
        n_killed: processes found alive when it was killed.
        cpu_s: CPU seconds of the first process and of those that were waited for.
        wall_s: seconds from its birth to its end.
        peak_kib: largest resident set of one process.
    """

    wait_status: int
    n_killed: int
    cpu_s: float
    wall_s: float
    peak_kib: int

    @classmethod
    def parse(cls, data: bytes) -> Report:
        """Read it from the zygote's message."""
        return cls(*_FIELDS.unpack(data))

    @classmethod
    def unborn(cls, wall_s: float) -> Report:
        """Of a program that could not begin, because others of its sandbox had used up what they share."""
        return cls(1 << 8, 0, 0.0, wall_s, 0)

    @property
    def code(self) -> int:
        """The exit code, negative for a signal."""
        return os.waitstatus_to_exitcode(self.wait_status)

    def status(
        self, reason: Status | None, cpu_s: float, limit_cpu_s: float, refused: Refusals, *, is_python: bool
    ) -> Status:
        """Say how it ended.

        Args:
            reason: why we killed it, if we did.
            cpu_s: all CPU seconds that were seen.
            limit_cpu_s: how many it had.
            refused: which limits it ran into.
            is_python: it was Python source, whose exit codes of uncaught errors are our own.
        """
        if cpu_s > limit_cpu_s and reason != "killed":
            return "timeout_cpu"  # also where it ended between two looks: the same program, the same status
        if self.code == -signal.SIGKILL and reason:
            return reason
        if self.code == 0:
            return "ok"
        told = _TOLD.get(self.code) if is_python else None
        if refused.memory or told == "oom":
            return "oom"
        if self.code == -signal.SIGKILL and refused.memory is None:
            return "oom"  # nobody inside can send it; where a group counts, it is the program's own limit of CPU time
        if told:
            return told
        if refused.disk or self.code == -signal.SIGXFSZ:
            return "disk_limit"
        if refused.processes:
            return "processes_limit"
        return "signal" if self.code < 0 else "nonzero"

    def result(self, status: Status, cpu_s: float, outlets: Sequence[Outlet]) -> ExecResult:
        """What its caller gets to see.

        Args:
            status: how it ended.
            cpu_s: all CPU seconds that were seen.
            outlets: its stdout, stderr and perhaps the channel.
        """
        texts = [bytes(outlet.kept) for outlet in outlets]
        return ExecResult(
            status=status,
            exit_code=max(self.code, -1),
            signal=max(-self.code, 0),
            stdout=texts[0],
            stderr=texts[1],
            channel=texts[2] if len(texts) > 2 else b"",
            truncated_bytes=sum(outlet.n_dropped for outlet in outlets),
            wall_s=self.wall_s,
            cpu_s=cpu_s,
            peak_memory_mb=self.peak_kib / 1024,
            n_killed=self.n_killed,
        )
