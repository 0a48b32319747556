"""What a zygote says of a run that has ended, and what that means."""

from __future__ import annotations

import os
import signal
import struct
from dataclasses import dataclass

from workgym.envs.sandbox.spec import Status

__all__ = ["Report"]

# As local/zygote.py and local/child.py have them; both belong into the bare interpreter and are not imported here.
_FIELDS = struct.Struct("<iiddq")
_OUT_OF_MEMORY = 137


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

    @property
    def code(self) -> int:
        """The exit code, negative for a signal."""
        return os.waitstatus_to_exitcode(self.wait_status)

    def status(self, reason: Status | None, cpu_s: float, limit_cpu_s: float) -> Status:
        """Say how it ended.

        Args:
            reason: why we killed it, if we did.
            cpu_s: all CPU seconds that were seen.
            limit_cpu_s: how many it had.
        """
        if cpu_s > limit_cpu_s and reason != "killed":
            return "timeout_cpu"  # also where it ended between two looks: the same program, the same status
        if self.code == -signal.SIGKILL and reason:
            return reason
        if self.code in (_OUT_OF_MEMORY, -signal.SIGKILL):  # nobody inside can kill a namespace's first process
            return "oom"
        if self.code < 0:
            return "signal"
        return "ok" if self.code == 0 else "nonzero"
