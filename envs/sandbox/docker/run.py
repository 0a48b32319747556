"""A program in a container, seen from outside: its input, its output, its deadline, its end."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from workgym.envs.sandbox.docker.container import Container, chunks_of
from workgym.envs.sandbox.docker.inside.frames import STDIN_WINDOW_BYTES, pack_frame
from workgym.envs.sandbox.local.report import Refusals, Report
from workgym.envs.sandbox.protocol import Program
from workgym.envs.sandbox.spec import ExecResult, PythonCode, SandboxSpec, Status
from workgym.tasks.errors import SandboxError

__all__ = ["DockerRun"]

_FLOOD = 256  # times its cap: a program that writes more is ended
_DEATH_S = 10.0
_REPLACED = b"""
workgym: memory ran out in the container as a whole. Another takes its place; its workspace is as its owner last laid it
out, without what programs changed since.
"""


@dataclass
class _Outlet:
    """What a program wrote to one stream, kept up to a cap."""

    cap_bytes: int
    kept: bytearray = field(default_factory=bytearray)
    n_dropped: int = 0
    is_open: bool = True

    def take(self, data: bytes) -> None:
        room = max(0, self.cap_bytes - len(self.kept))
        self.kept += data[:room]
        self.n_dropped += max(0, len(data) - room)


class DockerRun:
    """A program in the sandbox. Used by one thread; `kill` may come from another.

    Args:
        container: where it runs.
        spec: what it may use.
        program: Python source, or the arguments of a command.
        stdin: all its input, or None to keep it open for `send`.
        env: further environment variables.
        channel: open a private line from it to us.

    Attributes:
        began: when it was handed over, by `time.monotonic()`.
    """

    def __init__(
        self,
        container: Container,
        spec: SandboxSpec,
        program: Program,
        *,
        stdin: bytes | None,
        env: Mapping[str, str],
        channel: bool,
    ) -> None:
        self._container, self._spec, self._is_python = container, spec, isinstance(program, PythonCode)
        self._outlets = {stream: _Outlet(spec.output_kb << 10) for stream in (1, 2, 3)[: 2 + channel]}
        self._reason: Status | None = None
        self._report: dict[str, Any] | None = None
        self._fault = ""
        self._is_deaf = self._is_given_up = False
        self._input = bytearray(stdin or b"")
        self._input_ends = stdin is not None
        self._told_end = False
        self._feeding = threading.Lock()  # whoever reads for all feeds it too, beside its own thread
        self._n_under_way = 0
        source = program.source.encode("utf-8", "surrogatepass") if isinstance(program, PythonCode) else b""
        argv = None if isinstance(program, PythonCode) else list(program)
        self.began = time.monotonic()
        what = pack_frame({"argv": argv, "env": dict(env)}, source)
        self._number = container.enlist(self._hear)
        container.tell({"op": "start", "run": self._number, "channel": channel}, what)
        self._feed()

    @property
    def done(self) -> bool:
        """Whether it has ended or was given up."""
        return self._report is not None or self._is_given_up or not self._container.is_alive

    def _hear(self, meta: dict[str, Any], blob: bytes) -> None:
        match meta["op"]:
            case "out":
                outlet = self._outlets[meta["stream"]]
                outlet.take(blob)
                if outlet.n_dropped > _FLOOD * outlet.cap_bytes and not self._reason:
                    self._kill("output_limit")
            case "closed":
                self._outlets[meta["stream"]].is_open = False
            case "took":
                with self._feeding:
                    self._n_under_way -= meta["n"]
                    self._send_input()
            case "deaf":
                with self._feeding:
                    self._is_deaf = True
                    self._input.clear()
            case "fault":
                self._fault = meta["text"]
            case "refused":
                self._report = {"status": 0, "reason": "processes_limit"}
            case "report":
                self._report = meta

    def _feed(self) -> None:
        """Send as much of its input as may be on its way, then that it ends."""
        with self._feeding:
            self._send_input()

    def _send_input(self) -> None:
        while self._input and self._n_under_way < STDIN_WINDOW_BYTES:
            data = bytes(self._input[: STDIN_WINDOW_BYTES - self._n_under_way])
            del self._input[: len(data)]
            self._n_under_way += len(data)
            for chunk in chunks_of(data):
                self._container.tell({"op": "stdin", "run": self._number, "ends": False}, chunk)
        if self._input_ends and not self._input and not self._told_end:
            self._told_end = True
            self._container.tell({"op": "stdin", "run": self._number, "ends": True})

    # What one does with it

    def send(self, data: bytes) -> None:
        """Write to its stdin; what it does not take at once follows while we wait for something.

        Raises:
            BrokenPipeError: the program has closed its stdin or is gone.
        """
        if self._input_ends or self._is_deaf or self.done:
            raise BrokenPipeError("the program has closed its stdin or is gone")
        with self._feeding:
            self._input += data
            self._send_input()

    def receive(self, timeout_s: float) -> bytes | None:
        """Read one line from the channel, without its newline; None at its end or after `timeout_s`.

        Raises:
            ValueError: there is no channel.
            SandboxError: the container died, or the program could not be set up.
        """
        if 3 not in self._outlets:
            raise ValueError("this program was started without channel=True")
        channel = self._outlets[3]

        def is_settled() -> bool:
            return b"\n" in channel.kept or not channel.is_open or self._report is not None or bool(self._fault)

        is_there = self._container.wait(is_settled, time.monotonic() + timeout_s)
        self._raise_fault()
        line, newline, _ = bytes(channel.kept).partition(b"\n")
        if newline:
            del channel.kept[: len(line) + 1]
            return line
        if not is_there and not self._container.is_alive:
            self._container.raise_lost("is gone")
        return None

    def wait(self, timeout_s: float) -> ExecResult:
        """Close its stdin, wait until it ends, kill it with all descendants at the deadline.

        Raises:
            SandboxError: the container died, so that nobody knows what became of the program.
        """
        if not self._input_ends:
            self._input_ends = True
            self._feed()
        return self.finish(time.monotonic() + timeout_s)

    def finish(self, deadline: float) -> ExecResult:
        """Wait until it ends, kill it with all descendants at a time of `time.monotonic()`.

        Raises:
            SandboxError: the container died, or the program could not be killed.
        """
        if self._is_given_up:
            raise SandboxError("this program's result is lost: its sandbox was closed")

        def is_settled() -> bool:
            return self._report is not None or bool(self._fault)

        if not self._container.wait(is_settled, deadline) and self._container.is_alive:
            self._kill("timeout_wall")
            if not self._container.wait(is_settled, time.monotonic() + _DEATH_S) and self._container.is_alive:
                self._container.raise_lost(f"holds a program that was killed and is not dead after {_DEATH_S:g} s")
        self._container.forget(self._number)
        self._raise_fault()
        return self._result(self._report) if self._report is not None else self._lost()

    def _raise_fault(self) -> None:
        if self._fault:
            raise SandboxError(f"a program could not be set up: {self._fault}")

    def _kill(self, reason: Status) -> None:
        self._reason = self._reason or reason
        self._container.tell({"op": "kill", "run": self._number, "reason": self._reason})

    def kill(self) -> None:
        """Kill it with all descendants; `wait` then reports "killed"."""
        self._kill("killed")

    def abandon(self) -> None:
        """Give it up without waiting for its result, and kill it if it still runs."""
        if not self.done:
            self._kill("killed")
        self._is_given_up = self._report is None
        self._container.forget(self._number)

    # What became of it

    def _lost(self) -> ExecResult:
        """The container is gone. A program that took so much memory that its container died is to blame itself."""
        if not self._container.ran_out_of_memory():
            self._container.raise_lost("is gone")
        self._outlets[2].kept += _REPLACED
        report = {"status": signal.SIGKILL, "reason": "oom", "wall_s": time.monotonic() - self.began}
        return self._result(report)

    def _result(self, report: dict[str, Any]) -> ExecResult:
        code = os.waitstatus_to_exitcode(report["status"])
        texts = {stream: bytes(outlet.kept) for stream, outlet in self._outlets.items()}
        is_refused = report["reason"] == "processes_limit"
        return ExecResult(
            status=self._status(report),
            exit_code=-1 if is_refused else max(code, -1),
            signal=max(-code, 0),
            stdout=texts[1],
            stderr=texts[2],
            channel=texts.get(3, b""),
            truncated_bytes=sum(outlet.n_dropped for outlet in self._outlets.values()),
            wall_s=report.get("wall_s", 0.0),
            cpu_s=report.get("cpu_s", 0.0),
            peak_memory_mb=report.get("peak_kib", 0) / 1024,
            n_killed=report.get("n_killed", 0),
        )

    def _status(self, told: dict[str, Any]) -> Status:
        """Say how it ended, by what the kernel counted and by why it was killed."""
        reason: Status | None = told["reason"] or self._reason
        if reason in ("oom", "processes_limit"):
            return reason
        report = Report(told["status"], told["n_killed"], told["cpu_s"], told["wall_s"], told["peak_kib"])
        refused = Refusals(told["n_oom_kills"] > 0, told["has_filled_disk"], told["n_forks_refused"] > 0)
        if report.code == -signal.SIGKILL and not reason and not refused.memory:
            return "timeout_cpu" if report.cpu_s > self._spec.cpu_s else "signal"  # its own processes can kill it
        return report.status(reason, report.cpu_s, self._spec.cpu_s, refused, is_python=self._is_python)
