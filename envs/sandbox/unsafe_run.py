"""One program of the unsafe backend, seen from outside: its pipes, its deadline, its end."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict

from workgym.envs.sandbox import unsafe_program
from workgym.envs.sandbox.local.pipes import Inlet, Outlet, file_of
from workgym.envs.sandbox.local.processes import cpu_seconds
from workgym.envs.sandbox.protocol import Program
from workgym.envs.sandbox.spec import ExecResult, PythonCode, SandboxSpec, Status
from workgym.tasks.errors import SandboxError

__all__ = ["UnsafeRun"]

_FLOOD = 256  # times its cap: a program that writes more is ended
_SETUP_S = 60.0
_LOOK_S = 0.02  # between two looks at its CPU time
_ENVIRON = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONHASHSEED": "0"}
_TOLD: Mapping[int, Status] = {
    unsafe_program.FAILURES["oom"]: "oom",
    unsafe_program.FAILURES["disk_limit"]: "disk_limit",
    unsafe_program.FAILURES["processes_limit"]: "processes_limit",
}


class UnsafeRun:
    """A program as a process of ours, in a process group of its own. Used by one thread; `kill` by any.

    Args:
        spec: what it may use.
        folder: where it starts.
        scratch: its TMPDIR.
        program: what to run.
        stdin: all its input, or None to keep it open for `send`.
        env: further environment variables.
        channel: open a private line from it to us.

    Attributes:
        began: when its own first line came, by `time.monotonic()`.

    Raises:
        SandboxError: it could not be started.
    """

    def __init__(
        self,
        spec: SandboxSpec,
        folder: str,
        scratch: str,
        program: Program,
        *,
        stdin: bytes | None,
        env: Mapping[str, str],
        channel: bool,
    ) -> None:
        self._spec, self._is_python = spec, isinstance(program, PythonCode)
        self._result: ExecResult | None = None
        self._reason: Status | None = None
        self._is_lost = False
        self._outlets: list[Outlet] = []  # stdout, stderr and perhaps the channel
        self._inlet: Inlet | None = None
        theirs: list[int] = []
        try:
            for _ in range(2):
                self._open_outlet(theirs, os.pipe())
            if channel:
                ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
                self._open_outlet(theirs, (ends[0].detach(), ends[1].detach()))
            source = subprocess.DEVNULL
            if stdin is None or stdin:
                source, writer = os.pipe()
                theirs.append(source)
                self._inlet = Inlet(writer, stdin or b"", ends=stdin is not None)
            settings = asdict(spec) | {
                "argv": None if isinstance(program, PythonCode) else list(program),
                "source": program.source if isinstance(program, PythonCode) else "",
                "channel": theirs[2] if channel else -1,
            }
            environ = _ENVIRON | {"TMPDIR": scratch, "HOME": folder} | dict(spec.env) | dict(env)
            if channel:
                environ["WORKGYM_CHANNEL"] = str(unsafe_program.CHANNEL)
            self._process = self._spawn(settings, theirs, source, folder, environ)
        except OSError as error:
            self._release()
            raise SandboxError(f"cannot start a program: {error}") from error
        except BaseException:
            self._release()
            raise
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        self._pidfd = os.pidfd_open(self._process.pid)
        self._cpu_before_s = self._cpu_s = cpu_seconds(self._process.pid)
        self.began = time.monotonic()

    def _open_outlet(self, theirs: list[int], ends: tuple[int, int]) -> None:
        self._outlets.append(Outlet(ends[0], self._spec.output_kb << 10))
        theirs.append(ends[1])

    def _spawn(
        self, settings: dict[str, object], theirs: list[int], source: int, folder: str, environ: dict[str, str]
    ) -> subprocess.Popen[bytes]:
        """Start the interpreter, and wait until it comes to the program."""
        told, teller = os.pipe()
        config = file_of(json.dumps(settings).encode())
        try:
            process = subprocess.Popen(
                [sys.executable, "-s", "-P", unsafe_program.__file__, str(config), str(teller)],
                stdin=source,
                stdout=theirs[0],
                stderr=theirs[1],
                cwd=folder,
                env=environ,
                pass_fds=[config, teller, *theirs[2:3]],
                start_new_session=True,
            )
        except BaseException:
            os.close(told)
            raise
        finally:
            os.close(teller)
            os.close(config)
        with os.fdopen(told, "rb", buffering=0) as line:
            poll = select.poll()
            poll.register(line, select.POLLIN)
            answer = line.read(8000) if poll.poll(_SETUP_S * 1000) else None
        if answer != unsafe_program.READY:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            why = f"it was not ready in {_SETUP_S:g} s" if answer is None else answer.decode("utf-8", "replace")
            raise SandboxError(f"a program could not be set up: {why or 'its interpreter died'}")
        return process

    @property
    def done(self) -> bool:
        """Whether it has ended and was looked after."""
        return self._result is not None

    # What one does with it

    def send(self, data: bytes) -> None:
        """Write to its stdin; what the pipe does not take at once follows while we wait for something.

        Raises:
            BrokenPipeError: the program has closed its stdin or is gone.
        """
        if self._inlet is None or self.done:
            raise BrokenPipeError("the program has closed its stdin or is gone")
        self._inlet.add(data)

    def receive(self, timeout_s: float) -> bytes | None:
        """Read one line from the channel, without its newline; None at its end or after `timeout_s`.

        Raises:
            ValueError: there is no channel.
        """
        if len(self._outlets) < 3:
            raise ValueError("this program was started without channel=True")
        channel, deadline = self._outlets[2], time.monotonic() + timeout_s
        while (line := channel.take_line()) is None:
            if self.done or not channel.is_open or not self._step(deadline):
                return None
        return line

    def wait(self, timeout_s: float) -> ExecResult:
        """Close its stdin, wait until it ends, kill its process group at the deadline."""
        if self._inlet is not None:
            self._inlet.end()
        return self.finish(time.monotonic() + timeout_s)

    def finish(self, deadline: float) -> ExecResult:
        """Wait until it ends, kill its process group at a time of `time.monotonic()`.

        Raises:
            SandboxError: its sandbox was closed under it.
        """
        while self._result is None:
            if not self._step(deadline):
                self._end("timeout_wall")
        if self._is_lost:
            raise SandboxError("this program's result is lost: its sandbox was closed")
        return self._result

    def kill(self) -> None:
        """Kill its process group; `wait` then reports "killed"."""
        self._reason = self._reason or "killed"
        self.signal(signal.SIGKILL)

    def signal(self, number: signal.Signals) -> None:
        """Signal its process group."""
        if not self.done:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)

    def lose(self) -> None:
        """Kill it; its result is not to be had anymore."""
        if not self.done:
            self._is_lost = True
            self.signal(signal.SIGKILL)

    def abandon(self) -> int:
        """Kill it and wait for its end; how many processes that were."""
        if self._result is None:
            self._is_lost = True
            self._end("killed")
        return self._result.n_killed if self._result else 0

    # How it is watched

    def _step(self, deadline: float) -> bool:
        """Wait for whatever comes next, and deal with it; False where the deadline came first."""
        now = time.monotonic()
        if now >= deadline:
            return False
        poll = select.poll()
        poll.register(self._pidfd, select.POLLIN)
        for outlet in self._outlets:
            if outlet.is_open:
                poll.register(outlet.descriptor, select.POLLIN)
        if self._inlet is not None and self._inlet.is_waiting:
            poll.register(self._inlet.descriptor, select.POLLOUT)
        ready = [descriptor for descriptor, _ in poll.poll(min(deadline - now, _LOOK_S) * 1000 + 0.5)]
        if self._pidfd in ready:
            self._end(None)
            return True
        if self._inlet is not None:
            self._inlet.feed()
        for outlet in self._outlets:
            if outlet.descriptor in ready and outlet.is_open and not outlet.drain():
                outlet.close()
        self._cpu_s = max(self._cpu_s, cpu_seconds(self._process.pid))
        if self._cpu_s - self._cpu_before_s > self._spec.cpu_s:
            self._end("timeout_cpu")
        elif any(outlet.n_dropped > _FLOOD * outlet.cap_bytes for outlet in self._outlets):
            self._end("output_limit")
        return True

    def _end(self, reason: Status | None) -> None:
        """Kill what is left of its process group, and say what became of it."""
        self._reason = self._reason or reason
        n_left = _count_group(self._process.pid)
        self.signal(signal.SIGKILL)  # while it is not waited for, its number is still its own
        _, wait_status, usage = os.wait4(self._process.pid, 0)
        wall_s = time.monotonic() - self.began
        self._process.returncode = code = os.waitstatus_to_exitcode(wait_status)
        os.close(self._pidfd)
        for outlet in self._outlets:
            if outlet.is_open:
                outlet.drain(_FLOOD)
        self._release()
        cpu_s = max(self._cpu_s, usage.ru_utime + usage.ru_stime) - self._cpu_before_s
        texts = [bytes(outlet.kept) for outlet in self._outlets]
        self._result = ExecResult(
            status=self._status(code, cpu_s),
            exit_code=max(code, -1),
            signal=max(-code, 0),
            stdout=texts[0],
            stderr=texts[1],
            channel=texts[2] if len(texts) > 2 else b"",
            truncated_bytes=sum(outlet.n_dropped for outlet in self._outlets),
            wall_s=wall_s,
            cpu_s=cpu_s,
            peak_memory_mb=usage.ru_maxrss / 1024,
            n_killed=n_left,
        )

    def _status(self, code: int, cpu_s: float) -> Status:
        if cpu_s > self._spec.cpu_s and self._reason != "killed":
            return "timeout_cpu"  # also where it ended between two looks
        if code == -signal.SIGKILL and self._reason:
            return self._reason
        if code == 0:
            return "ok"
        if self._is_python and code in _TOLD:
            return _TOLD[code]
        if code == -signal.SIGXFSZ:
            return "disk_limit"
        return "signal" if code < 0 else "nonzero"

    def _release(self) -> None:
        if self._inlet is not None:
            self._inlet.close()
        for outlet in self._outlets:
            outlet.close()


def _count_group(number: int) -> int:
    """How many processes of a process group are alive."""
    n = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:
            state, _, group = file.read().rpartition(b")")[2].split()[:3]  # a process's name may be any bytes
            n += state not in b"ZX" and int(group) == number
    return n
