"""One run, seen from outside: its pipes, its deadline, its end."""

from __future__ import annotations

import contextlib
import marshal
import os
import select
import signal
import socket
import struct
import time
from collections.abc import Callable, Mapping

from workgym.envs.sandbox.local.supervisor import Zygote
from workgym.envs.sandbox.spec import ExecResult, PythonCode, SandboxSpec, Status
from workgym.tasks.errors import SandboxError

__all__ = ["Run"]

# What local/zygote.py speaks; it is not imported here because it belongs into the bare interpreter.
_FLAG_STDIN, _FLAG_CHANNEL, _FLAG_FILE = 1, 2, 4
_REPORT = struct.Struct("<iiddq")
_USAGE = struct.Struct("<d")
_OUT_OF_MEMORY = 137

_INLINE_BYTES = 60_000  # a larger program travels as a file
_CHUNK_BYTES = 1 << 16
_FLOOD = 256  # times its cap: a program that writes more is ended
_DEATH_S = 10.0
_QUICK_S = 0.02  # most programs end before their pipes need a look
_CPU_CHECK_S = 0.02
_N_CPUS = os.cpu_count() or 1


class _Stream:
    """What a program wrote to one pipe, up to a cap."""

    __slots__ = ("cap", "descriptor", "dropped", "kept", "open")

    def __init__(self, descriptor: int, cap: int) -> None:
        self.descriptor, self.cap = descriptor, cap
        self.kept = bytearray()
        self.dropped = 0
        self.open = True

    def drain(self, limit: int = 1) -> bool:
        """Read up to `limit` chunks.

        Returns:
            False once nobody can write to it anymore.
        """
        for _ in range(limit):
            try:
                chunk = os.read(self.descriptor, _CHUNK_BYTES)
            except BlockingIOError:
                return True
            if not chunk:
                return False
            room = max(0, self.cap - len(self.kept))
            self.kept += chunk[:room]
            self.dropped += max(0, len(chunk) - room)
        return True

    def close(self) -> None:
        if self.open:
            self.open = False
            os.close(self.descriptor)


class Run:
    """A program in the sandbox. Used by one thread; `kill` may come from another.

    Args:
        spec: what it may use.
        program: the source to run.
        stdin: all its input, or None to keep it open for `send`.
        env: further environment variables.
        channel: open a private pipe from it to us.
        hand_over: gives a message and descriptors to a living zygote and returns that zygote.
        when_done: called once when it has ended.

    Raises:
        SandboxError: there are no descriptors left, or no zygote takes it.
    """

    def __init__(
        self,
        spec: SandboxSpec,
        program: PythonCode,
        *,
        stdin: bytes | None,
        env: Mapping[str, str],
        channel: bool,
        hand_over: Callable[[bytes, list[int]], Zygote],
        when_done: Callable[[Run], None],
    ) -> None:
        self._spec, self._when_done = spec, when_done
        self._reason: Status | None = None
        self._report: tuple[int, int, float, float, int] | None = None
        self._settled = False
        self._cpu_seen_s = 0.0
        self._stdin = -1
        self._pending = memoryview(stdin or b"")
        self._stdin_open_ended = stdin is None
        self._streams: list[_Stream] = []
        self._poll: select.poll | None = None
        theirs: list[int] = []
        try:
            self._line, line = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            line.setblocking(False)
            theirs.append(line.detach())
            flags = self._open_pipes(theirs, channel)
            source: bytes | None = program.source.encode("utf-8", "surrogatepass")
            if source is not None and len(source) > _INLINE_BYTES:
                theirs.append(_as_file(source))
                flags, source = flags | _FLAG_FILE, None
            message = bytes([flags]) + marshal.dumps((source, dict(env), source is None))
            self._zygote = hand_over(message, theirs)
            self.began = time.monotonic()
        except BaseException as error:
            self._release()
            if isinstance(error, OSError):
                raise SandboxError(f"cannot open the pipes of a run: {error}; raise the limit of open files (ulimit -n)") from error
            raise
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        self._next_cpu_check = self.began + spec.cpu_s / _N_CPUS

    def _open_pipes(self, theirs: list[int], channel: bool) -> int:
        flags = 0
        cap = self._spec.output_kb << 10
        for _ in range(2):
            self._open_stream(theirs, cap)
        if self._stdin_open_ended or self._pending:
            reader, self._stdin = os.pipe()
            theirs.append(reader)
            os.set_blocking(self._stdin, False)
            flags |= _FLAG_STDIN
            self._feed()
        if channel:
            self._open_stream(theirs, cap)
            flags |= _FLAG_CHANNEL
        return flags

    def _open_stream(self, theirs: list[int], cap: int) -> None:
        reader, writer = os.pipe()
        self._streams.append(_Stream(reader, cap))
        theirs.append(writer)
        os.set_blocking(reader, False)

    # the program's input

    def send(self, data: bytes) -> None:
        """Write to its stdin; what the pipe does not take at once follows while we wait for something.

        Raises:
            BrokenPipeError: the program has closed its stdin or is gone.
        """
        if self._stdin < 0 or self._report is not None:
            raise BrokenPipeError("the program has closed its stdin or is gone")
        self._pending = memoryview(bytes(self._pending) + data) if self._pending else memoryview(data)
        self._feed()
        if self._stdin < 0:
            raise BrokenPipeError("the program has closed its stdin or is gone")
        if self._pending and self._poll is not None:
            self._poll.register(self._stdin, select.POLLOUT)

    def _feed(self) -> None:
        """Write what its stdin takes; close it at the end of the input."""
        try:
            while self._pending:
                self._pending = self._pending[os.write(self._stdin, self._pending) :]
        except BlockingIOError:
            return
        except OSError:
            self._pending = memoryview(b"")
            self._close_stdin()
            return
        if not self._stdin_open_ended:
            self._close_stdin()
        elif self._poll is not None:
            with contextlib.suppress(KeyError):
                self._poll.unregister(self._stdin)

    def _close_stdin(self) -> None:
        if self._stdin >= 0:
            if self._poll is not None:
                with contextlib.suppress(KeyError):
                    self._poll.unregister(self._stdin)
            os.close(self._stdin)
            self._stdin = -1

    # its output and its end

    def receive(self, timeout_s: float) -> bytes | None:
        """Read one line from the channel, without its newline; None at its end or after `timeout_s`."""
        channel = self._streams[2] if len(self._streams) > 2 else None
        if channel is None:
            raise ValueError("this program was started without channel=True")
        deadline = time.monotonic() + timeout_s
        while True:
            at = channel.kept.find(b"\n")
            if at >= 0:
                line = bytes(channel.kept[:at])
                del channel.kept[: at + 1]
                return line
            if self._report is not None or not channel.open or not self._step(deadline):
                return None

    def wait(self, timeout_s: float) -> ExecResult:
        """Close stdin, wait for the end, kill at the deadline."""
        self._stdin_open_ended = False
        if not self._pending:
            self._close_stdin()
        deadline = time.monotonic() + timeout_s
        return self.finish(deadline)

    def finish(self, deadline: float) -> ExecResult:
        """Wait for the end until a time of `time.monotonic()`, then kill.

        Raises:
            SandboxError: the zygote died, so that nobody knows what became of the program.
        """
        if self._report is None and self._poll is None and not self._pending:
            self._wait_quickly(deadline)
        while self._report is None:
            if not self._step(deadline):
                self._end("timeout_wall")
        return self._result(self._report)

    def kill(self) -> None:
        """Kill it with all descendants."""
        self._reason = self._reason or "killed"
        with contextlib.suppress(OSError):
            self._line.send(b"K")

    @property
    def done(self) -> bool:
        """Whether its end has been seen."""
        return self._settled

    def abandon(self) -> None:
        """Kill it without waiting for its result: the zygote kills whose line is closed."""
        if not self._settled:
            self._settle()

    def forsake(self) -> None:
        """Close our copies of its descriptors after a fork: it belongs to the parent process."""
        self._settled = True
        self._release()

    def _wait_quickly(self, deadline: float) -> None:
        poll = select.poll()
        poll.register(self._line, select.POLLIN)
        if poll.poll(max(0.0, min(_QUICK_S, deadline - time.monotonic())) * 1000):
            self._hear()

    def _step(self, deadline: float) -> bool:
        """Wait for whatever comes next, and deal with it.

        Returns:
            False where the deadline came first.
        """
        if self._settled:
            raise SandboxError("this program's result is lost: its zygote died, or its sandbox was closed")
        poll = self._poll or self._open_poll()
        now = time.monotonic()
        if now >= deadline:
            return False
        until = min(deadline, self._next_cpu_check)
        for descriptor, _ in poll.poll(max(0.0, until - now) * 1000 + 0.5):
            self._attend(descriptor)
            if self._report is not None:
                return True
        if self._report is None and time.monotonic() >= self._next_cpu_check:
            self._next_cpu_check = time.monotonic() + _DEATH_S
            self._line.send(b"U")
        return True

    def _open_poll(self) -> select.poll:
        self._poll = poll = select.poll()
        poll.register(self._line, select.POLLIN)
        for stream in self._streams:
            poll.register(stream.descriptor, select.POLLIN)
        if self._stdin >= 0 and self._pending:
            poll.register(self._stdin, select.POLLOUT)
        return poll

    def _attend(self, descriptor: int) -> None:
        if descriptor == self._line.fileno():
            self._hear()
            return
        if descriptor == self._stdin:
            self._feed()
            return
        for stream in self._streams:
            if stream.descriptor == descriptor and stream.open:
                if not stream.drain():
                    self._poll.unregister(descriptor)  # type: ignore[union-attr]
                    stream.close()
                elif stream.dropped > _FLOOD * stream.cap:
                    self._end("output_limit")

    def _hear(self) -> None:
        """Read one message of the zygote about this run."""
        message = self._read_line()
        kind, body = message[:1], message[1:]
        if kind == b"X":
            self._report = _REPORT.unpack(body)
            self._settle()
        elif kind == b"U":
            self._cpu_seen_s = _USAGE.unpack(body)[0]
            left = self._spec.cpu_s - self._cpu_seen_s
            if left <= 0:
                self._end("timeout_cpu")
            self._next_cpu_check = time.monotonic() + max(_CPU_CHECK_S, left / _N_CPUS)
        else:
            self._settle()
            if kind == b"E":
                raise SandboxError(f"a run could not be set up: {body.decode('utf-8', 'replace')}")
            words = self._zygote.last_words()
            raise SandboxError(
                f"the sandbox's zygote (pid {self._zygote.pid}) died under a program, whose result is lost; the pool starts another"
                + (f". It said: {words}" if words else "")
            )

    def _read_line(self) -> bytes:
        for _ in range(2):  # a reset says once that the zygote left something unread, before what it wrote can be read
            with contextlib.suppress(ConnectionResetError):
                return self._line.recv(_CHUNK_BYTES)
        return b""

    def _end(self, reason: Status) -> None:
        """Kill it, and wait until it is dead."""
        self._reason = self._reason or reason
        with contextlib.suppress(OSError):
            self._line.send(b"K")
        deadline = time.monotonic() + _DEATH_S
        poll = select.poll()
        poll.register(self._line, select.POLLIN)
        while self._report is None:
            if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
                self._zygote.kill()
                self._settle()
                raise SandboxError(f"a killed program was not reported dead for {_DEATH_S:g} s; its zygote was killed too")
            self._hear()

    def _settle(self) -> None:
        """Nobody can write anymore: read what is left, and give everything back."""
        if self._settled:
            return
        self._settled = True
        for stream in self._streams:
            if stream.open:
                stream.drain(limit=_FLOOD)
        self._release()
        self._when_done(self)

    def _release(self) -> None:
        if hasattr(self, "_line"):
            self._line.close()
        self._close_stdin()
        for stream in self._streams:
            stream.close()

    def _result(self, report: tuple[int, int, float, float, int]) -> ExecResult:
        wait_status, n_killed, cpu_s, wall_s, peak_kib = report
        cpu_s = max(cpu_s, self._cpu_seen_s)  # the kernel forgets children that nobody waited for
        code = os.waitstatus_to_exitcode(wait_status)
        texts = [bytes(stream.kept) for stream in self._streams]
        return ExecResult(
            status=self._status(code, cpu_s),
            exit_code=max(code, -1),
            signal=max(-code, 0),
            stdout=texts[0],
            stderr=texts[1],
            channel=texts[2] if len(texts) > 2 else b"",
            truncated_bytes=sum(stream.dropped for stream in self._streams),
            wall_s=wall_s,
            cpu_s=cpu_s,
            peak_memory_mb=peak_kib / 1024,
            n_killed=n_killed,
        )

    def _status(self, code: int, cpu_s: float) -> Status:
        if cpu_s > self._spec.cpu_s and self._reason != "killed":
            return "timeout_cpu"  # also where it ended between two looks: the same program, the same status
        if code == -signal.SIGKILL and self._reason:
            return self._reason
        if code in (_OUT_OF_MEMORY, -signal.SIGKILL):  # the first process of a PID namespace is killed from outside or not at all
            return "oom"
        if code < 0:
            return "signal"
        return "ok" if code == 0 else "nonzero"


def _as_file(data: bytes) -> int:
    descriptor = os.memfd_create("workgym-program")
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
    return descriptor
