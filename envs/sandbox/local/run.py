"""One run, seen from outside: its pipes, its deadline, its end."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import struct
import time
from collections.abc import Callable, Mapping

from workgym.envs.sandbox.local.berth import HEAD, Berth
from workgym.envs.sandbox.local.line import hears_end, is_readable, pack, receive
from workgym.envs.sandbox.local.pipes import Inlet, Outlet
from workgym.envs.sandbox.local.report import NO_REFUSALS, Report
from workgym.envs.sandbox.protocol import Program
from workgym.envs.sandbox.spec import ExecResult, PythonCode, SandboxSpec, Status
from workgym.tasks.errors import SandboxError

__all__ = ["Run"]

# As local/zygote.py has them; it belongs into the bare interpreter and is not imported here.
_FLAG_STDIN, _FLAG_CHANNEL = 1, 2
_USAGE = struct.Struct("<d")

_FLOOD = 256  # times its cap: a program that writes more is ended
_DEATH_S = 10.0
_QUICK_S = 0.02  # most programs end before their pipes need a look
_CPU_CHECK_S = 0.02
_N_CPUS = os.cpu_count() or 1


class Run:
    """A program in the sandbox. Used by one thread; `kill` may come from another.

    Args:
        spec: what it may use.
        berth: where it runs.
        program: what to run.
        stdin: all its input, or None to keep it open for `send`.
        env: further environment variables.
        channel: open a private pipe from it to us.
        when_done: called once when it has ended or was given up.

    Attributes:
        began: when it was handed over, by `time.monotonic()`.
        done: whether it has ended or was given up.

    Raises:
        SandboxError: there are no descriptors left, or the zygote does not take it.
    """

    def __init__(
        self,
        spec: SandboxSpec,
        berth: Berth,
        program: Program,
        *,
        stdin: bytes | None,
        env: Mapping[str, str],
        channel: bool,
        when_done: Callable[[Run], None],
    ) -> None:
        self.done = self._watches_inlet = False
        self._spec, self._berth, self._when_done = spec, berth, when_done
        self._is_python = isinstance(program, PythonCode)
        self._n_acknowledged = 0
        self._reason: Status | None = None
        self._report: Report | None = None
        self._refusals = NO_REFUSALS
        self._cpu_seen_s = 0.0
        self._line: socket.socket | None = None
        self._outlets: list[Outlet] = []  # stdout, stderr and perhaps the channel
        self._inlet: Inlet | None = None
        self._poll: select.poll | None = None
        theirs: list[int] = []
        try:
            self._line, line = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            line.setblocking(False)
            theirs.append(line.detach())
            flags = self._open_pipes(theirs, stdin, channel)
            message, more_flags = pack(program, env, theirs, len(berth.doors))
            if not berth.zygote.hand_over(
                HEAD.pack(flags | more_flags, berth.number) + message, [*theirs, *berth.doors]
            ):
                raise SandboxError(
                    f"the sandbox's zygote (pid {berth.zygote.pid}) died with the workspace in it; "
                    "lease another sandbox"
                )
        except OSError as error:
            self._release()
            raise SandboxError(
                f"cannot open a run's pipes: {error}; raise the limit of open files (ulimit -n)"
            ) from error
        except BaseException:
            self._release()
            raise
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        self.began = time.monotonic()
        self._next_cpu_check = self.began + spec.cpu_s / _N_CPUS

    def _open_pipes(self, theirs: list[int], stdin: bytes | None, channel: bool) -> int:
        for _ in range(2):
            reader, writer = os.pipe()
            theirs.append(writer)
            self._outlets.append(Outlet(reader, self._spec.output_kb << 10))
        flags = 0
        if stdin is None or stdin:
            reader, writer = os.pipe()
            theirs.append(reader)
            self._inlet = Inlet(writer, stdin or b"", ends=stdin is not None)
            flags |= _FLAG_STDIN
        if channel:
            # A socket: a pipe could be opened anew through /proc, and what was written read back before we see it.
            reader, writer = (end.detach() for end in socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM))
            theirs.append(writer)
            self._outlets.append(Outlet(reader, self._spec.output_kb << 10))
            flags |= _FLAG_CHANNEL
        return flags

    # What one does with it

    def send(self, data: bytes) -> None:
        """Write to its stdin; what the pipe does not take at once follows while we wait for something.

        Raises:
            BrokenPipeError: the program has closed its stdin or is gone.
        """
        if self._inlet is None or self._report is not None:
            raise BrokenPipeError("the program has closed its stdin or is gone")
        self._feed_inlet(lambda inlet: inlet.add(data))

    def receive(self, timeout_s: float) -> bytes | None:
        """Read one line from the channel, without its newline; None at its end or after `timeout_s`.

        Raises:
            ValueError: there is no channel.
            SandboxError: the zygote died.
        """
        if len(self._outlets) < 3:
            raise ValueError("this program was started without channel=True")
        channel = self._outlets[2]
        deadline = time.monotonic() + timeout_s
        while (line := channel.take_line()) is None:
            if self._report is not None or not channel.is_open or not self._step(deadline):
                return None
        return line

    def wait(self, timeout_s: float) -> ExecResult:
        """Close its stdin, wait until it ends, kill it with all descendants at the deadline.

        Raises:
            SandboxError: the zygote died.
        """
        if self._inlet is not None:
            self._feed_inlet(Inlet.end)
        return self.finish(time.monotonic() + timeout_s)

    def finish(self, deadline: float) -> ExecResult:
        """Wait until it ends, kill it with all descendants at a time of `time.monotonic()`.

        Raises:
            SandboxError: the zygote died, so that nobody knows what became of the program.
        """
        is_waiting = self._inlet is not None and self._inlet.is_waiting
        is_new = self._poll is None and not self.done and not is_waiting
        if is_new and self._line and is_readable(self._line, min(_QUICK_S, deadline - time.monotonic())):
            self._hear(self._line)
        while self._report is None:
            if not self._step(deadline):
                self._end("timeout_wall")
        return self._result(self._report)

    def kill(self) -> None:
        """Kill it with all descendants; `wait` then reports "killed"."""
        self._reason = self._reason or "killed"
        self._tell(b"K")

    def freeze(self, *, thaw: bool = False) -> None:
        """Stop all its processes where they are, or let them go on; return when that is done.

        Raises:
            SandboxError: the zygote died, or did not do it in time.
        """
        wanted = self._n_acknowledged + 1
        self._tell(b"T" if thaw else b"F")
        deadline = time.monotonic() + _DEATH_S
        while self._n_acknowledged < wanted and self._report is None and self._line is not None:
            if not is_readable(self._line, deadline - time.monotonic()):
                raise SandboxError(f"the sandbox's zygote did not stop a program within {_DEATH_S:g} s")
            self._hear(self._line)

    def abandon(self) -> None:
        """Kill it, and wait until it is dead; its result is lost."""
        if self._line is not None and not self.done:
            self._tell(b"K")  # the line's end would tell as much, but for copies of it in processes that were forked
            if not hears_end(self._line, _DEATH_S):
                self._berth.zygote.kill()
        self._settle()

    def forsake(self) -> None:
        """Close our copies of its descriptors after a fork: it belongs to the parent process."""
        self.done = True
        self._release()

    # How it is watched

    def _tell(self, command: bytes) -> None:
        with contextlib.suppress(OSError):  # it has ended, and its report waits to be read
            if self._line is not None:
                self._line.send(command)

    def _step(self, deadline: float) -> bool:
        """Wait for whatever comes next, and deal with it.

        Returns:
            False where the deadline came first.
        """
        if self._line is None or self.done:
            raise SandboxError("this program's result is lost: its sandbox was closed or restored, or its zygote died")
        poll = self._poll or self._open_poll(self._line)
        now = time.monotonic()
        if now >= deadline:
            return False
        wait_s = max(0.0, min(deadline, self._next_cpu_check) - now)
        for descriptor, _ in poll.poll(wait_s * 1000 + 0.5):
            if descriptor == self._line.fileno():
                self._hear(self._line)
            else:
                self._attend(poll, descriptor)
            if self.done:
                return True
        if time.monotonic() >= self._next_cpu_check:
            self._next_cpu_check = time.monotonic() + _DEATH_S  # until the answer says better
            self._tell(b"U")
        return True

    def _open_poll(self, line: socket.socket) -> select.poll:
        self._poll = poll = select.poll()
        for descriptor in (line.fileno(), *(outlet.descriptor for outlet in self._outlets)):
            poll.register(descriptor, select.POLLIN)
        self._watch_inlet()
        return poll

    def _feed_inlet(self, feed: Callable[[Inlet], None]) -> None:
        """Write to its stdin, unwatched meanwhile: it may close, and its number may then be another descriptor's."""
        if self._inlet is None:
            return
        if self._poll is not None and self._watches_inlet:
            self._poll.unregister(self._inlet.descriptor)
            self._watches_inlet = False
        try:
            feed(self._inlet)
        finally:
            self._watch_inlet()

    def _watch_inlet(self) -> None:
        """Ask to be woken when its stdin takes more, as long as there is more."""
        if self._poll is not None and self._inlet is not None and self._inlet.is_waiting:
            self._poll.register(self._inlet.descriptor, select.POLLOUT)
            self._watches_inlet = True

    def _attend(self, poll: select.poll, descriptor: int) -> None:
        """Deal with a pipe that has something to say."""
        if self._inlet is not None and self._inlet.is_open and descriptor == self._inlet.descriptor:
            self._feed_inlet(Inlet.feed)
            return
        for outlet in self._outlets:
            if outlet.descriptor != descriptor or not outlet.is_open:
                continue
            if not outlet.drain():
                poll.unregister(descriptor)
                outlet.close()
            elif outlet.n_dropped > _FLOOD * outlet.cap_bytes:
                self._end("output_limit")

    def _hear(self, line: socket.socket) -> None:
        """Read one message of the zygote about this run."""
        message = receive(line)
        if message:
            self._berth.zygote.heard = time.monotonic()
        kind, body = message[:1], message[1:]
        if kind == b"X":
            self._report = Report.parse(body)
            self._refusals = self._berth.refusals(failed=self._report.code != 0)
            self._settle()
        elif kind == b"U":
            self._cpu_seen_s = _USAGE.unpack(body)[0]
            left_s = self._spec.cpu_s - self._cpu_seen_s
            self._next_cpu_check = time.monotonic() + max(_CPU_CHECK_S, left_s / _N_CPUS)
            if left_s <= 0:
                self._end("timeout_cpu")
        elif kind in (b"F", b"T"):
            self._n_acknowledged += 1
        elif kind == b"E":
            self._settle()
            said = body + b"; " * bool(self._outlets[1].kept) + bytes(self._outlets[1].kept[-500:])
            self._refusals = self._berth.shortage(said)
            if not self._refusals.any:
                _ = self._berth.workspace  # says why, where that is what could not be made
                raise SandboxError(f"a run could not be set up: {said.decode('utf-8', 'replace').strip()}")
            self._report = Report.unborn(time.monotonic() - self.began)
        else:
            self._settle()
            words = self._berth.zygote.last_words()
            raise SandboxError(
                f"the sandbox's zygote (pid {self._berth.zygote.pid}) died under a program, whose result is lost; "
                f"the pool starts another for the next one{'. It said: ' + words if words else ''}"
            )

    def _end(self, reason: Status) -> None:
        """Kill it, and wait until it is dead."""
        self._reason = self._reason or reason
        self._tell(b"K")
        deadline = time.monotonic() + _DEATH_S
        while self._report is None and self._line is not None:
            if not is_readable(self._line, deadline - time.monotonic()):
                self._berth.zygote.kill()
                self._settle()
                raise SandboxError(f"a killed program was not dead after {_DEATH_S:g} s; its zygote was killed too")
            self._hear(self._line)

    # What is left of it

    def _settle(self) -> None:
        """Nobody can write anymore: read what is left, and give everything back. Idempotent."""
        if self.done:
            return
        self.done = True
        for outlet in self._outlets:
            if outlet.is_open:
                outlet.drain(_FLOOD)
        self._release()
        self._when_done(self)

    def _release(self) -> None:
        if self._line is not None:
            self._line.close()
        if self._inlet is not None:
            self._inlet.close()
        for outlet in self._outlets:
            outlet.close()

    def _result(self, report: Report) -> ExecResult:
        cpu_s = max(report.cpu_s, self._cpu_seen_s)  # the kernel forgets children that nobody waited for
        status = report.status(self._reason, cpu_s, self._spec.cpu_s, self._refusals, is_python=self._is_python)
        return report.result(status, cpu_s, self._outlets)
