"""Keeps one child, an interpreter or a shell, that carries out requests one after another.

A request is a line of JSON on stdin: {"nonce", "text", "timeout_s"}; without "text" it asks whether the child answers.
On the channel come {"nonce", "event": "begun"} before the child gets it, and {"nonce", "event": "end", ...} when it has
answered, was interrupted, or is gone. The child holds neither: it speaks to us over a line of its own, and what it and
its programs print is caught here. We are no part of what it runs: it may leave, loop or crash, and we say so.
"""

from __future__ import annotations

import base64
import contextlib
import ctypes
import json
import os
import select
import signal
import socket
import time
from typing import Any, NoReturn, Protocol

from workgym.envs.sandbox.inside.capture import Capture
from workgym.envs.sandbox.inside.processes import descendants, kill_new, stop

__all__ = ["CHANNEL", "Child", "Reply", "keep", "prepare", "restore_signals"]

STDIN, CHANNEL = 0, 3
_CHUNK_BYTES = 1 << 16
_LONGEST_LINE = 1 << 20
_TICK_S = 1.0  # how often the dead are looked for while nothing happens
_BETWEEN_INTERRUPTS_S = 0.5
_SET_DUMPABLE, _SET_CHILD_SUBREAPER = 4, 36  # of prctl
# Signals that would end us; SIGKILL and SIGSTOP cannot be helped, and SIGCHLD may not be touched.
_DEAF_TO = ("HUP", "INT", "QUIT", "ALRM", "TERM", "USR1", "USR2", "VTALRM", "PROF", "IO", "TSTP", "TTIN", "TTOU")

Reply = dict[str, Any]  # nonce, status, code, error


class Child(Protocol):
    """What is kept: the process `pid`, whose output can be read from `output`, and who is spoken to over `line`."""

    pid: int
    output: int
    line: socket.socket

    def ask(self, nonce: str, text: str | None) -> None:
        """Hand it a request; None asks only whether it answers.

        Raises:
            OSError: it does not listen anymore.
        """
        ...

    def understand(self, line: bytes) -> Reply | None:
        """Read one line of what it says; None where it is none of ours."""
        ...

    def interrupt(self, nonce: str) -> None:
        """Stop what it is doing, and have it answer."""
        ...

    def settle(self, capture: Capture) -> None:
        """Read what was printed before it answered."""
        ...


def prepare() -> None:
    """Become deaf to signals, a father to orphans, and closed to those who would look into our memory."""
    for name in _DEAF_TO:
        signal.signal(getattr(signal, f"SIG{name}"), signal.SIG_IGN)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_SET_DUMPABLE, 0, 0, 0, 0)
    libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def restore_signals(*others: str) -> None:
    """In the child: hear again, of other signals too, and belong to the user, who may then look at its /proc/self."""
    for name in (*_DEAF_TO, *others):
        signal.signal(getattr(signal, f"SIG{name}"), signal.SIG_DFL)
    ctypes.CDLL(None).prctl(_SET_DUMPABLE, 1, 0, 0, 0)


def keep(child: Child, output_bytes: int, error_bytes: int, grace_s: float) -> NoReturn:
    """Serve requests until stdin or the child ends. Exits with 1 where a SIGKILL that was not ours ended the child.

    Args:
        child: who carries them out.
        output_bytes: of output to keep for each request.
        error_bytes: of what the child says of an error.
        grace_s: how long an interrupted request may take to end, before the child is killed.
    """
    keeper = _Keeper(child, output_bytes, error_bytes, grace_s)
    try:
        keeper.serve()
    finally:
        kill_new(os.getpid(), 0, ())
        os._exit(keeper.exit_code)


class _Request:
    """What is being done, and until when."""

    def __init__(self, nonce: str, text: str | None, timeout_s: float) -> None:
        self.nonce, self.text = nonce, text
        self.deadline = time.monotonic() + timeout_s
        self.next_interrupt = self.deadline
        self.old = descendants(os.getpid())
        self.timed_out = False


class _Keeper:
    """The loop between those who ask and the child.

    Attributes:
        exit_code: not 0 where those outside should look whether memory ran out.
    """

    def __init__(self, child: Child, output_bytes: int, error_bytes: int, grace_s: float) -> None:
        self._child, self._error_bytes, self._grace_s = child, error_bytes, grace_s
        self._capture = Capture(output_bytes)
        self._asked, self._heard = bytearray(), bytearray()
        self._request: _Request | None = None
        self._is_over = False
        self.exit_code = 0
        self._pidfd = os.pidfd_open(child.pid)
        self._poll = select.poll()
        for descriptor in (STDIN, child.output, child.line.fileno(), self._pidfd):
            self._poll.register(descriptor, select.POLLIN)
        for descriptor in (child.output, child.line.fileno()):
            os.set_blocking(descriptor, False)

    def serve(self) -> None:
        """Until it is over."""
        while not self._is_over:
            for descriptor, _ in self._poll.poll(self._wait_s() * 1000 + 0.5):
                self._attend(descriptor)
            self._keep_time()
            self._reap()

    def _attend(self, descriptor: int) -> None:
        if descriptor == self._child.output:
            with contextlib.suppress(BlockingIOError):
                self._capture.add(os.read(descriptor, _CHUNK_BYTES))
        elif descriptor == self._child.line.fileno():
            self._listen()
        elif descriptor == STDIN:
            self._take_request()
        elif descriptor == self._pidfd:
            self._child_ended()

    def _take_request(self) -> None:
        chunk = os.read(STDIN, _CHUNK_BYTES)
        self._is_over = self._is_over or not chunk
        self._asked += chunk
        line, newline, rest = self._asked.partition(b"\n")
        if not newline or self._is_child_dead():  # without a "begun" it may be asked of another
            return
        self._asked = rest
        asked = json.loads(line)
        self._request = request = _Request(asked["nonce"], asked.get("text"), asked["timeout_s"])
        self._tell({"nonce": request.nonce, "event": "begun"})
        with contextlib.suppress(OSError):  # its line is gone: its end, or the deadline, will tell
            self._child.ask(request.nonce, request.text)

    def _listen(self) -> None:
        try:
            chunk = os.read(self._child.line.fileno(), _CHUNK_BYTES)
        except OSError:
            chunk = b""
        self._heard += chunk
        while b"\n" in self._heard:
            line, _, self._heard = self._heard.partition(b"\n")
            reply = self._child.understand(bytes(line))
            if reply and self._request and reply.get("nonce") == self._request.nonce:
                self._answer(reply, survived=True)
        if not chunk or len(self._heard) > _LONGEST_LINE:  # it closed its line, or became another program
            self._poll.unregister(self._child.line.fileno())

    def _keep_time(self) -> None:
        request, now = self._request, time.monotonic()
        if request is None or now < request.next_interrupt:
            return
        request.timed_out = True
        if now > request.deadline + self._grace_s:
            os.kill(self._child.pid, signal.SIGKILL)
            request.next_interrupt = now + self._grace_s
            return
        request.next_interrupt = min(now + _BETWEEN_INTERRUPTS_S, request.deadline + self._grace_s + 0.001)
        stop(self._child.pid)  # it would see its own stopped and tell of it, or start others
        kill_new(os.getpid(), self._child.pid, request.old)
        self._child.interrupt(request.nonce)
        os.kill(self._child.pid, signal.SIGCONT)

    def _wait_s(self) -> float:
        if self._request is None:
            return _TICK_S
        return max(0.0, min(_TICK_S, self._request.next_interrupt - time.monotonic()))

    def _is_child_dead(self) -> bool:
        poll = select.poll()
        poll.register(self._pidfd, select.POLLIN)
        return bool(poll.poll(0))

    def _child_ended(self) -> None:
        status = os.waitstatus_to_exitcode(os.waitpid(self._child.pid, 0)[1])
        self._is_over = True
        is_ours = self._request is not None and self._request.timed_out
        self.exit_code = int(status == -signal.SIGKILL and not is_ours)
        if self._request is not None:
            self._answer({"status": "died", "code": status if status >= 0 else 128 - status}, survived=False)

    def _reap(self) -> None:
        """Bury orphans: they count against the number of processes until somebody does."""
        with contextlib.suppress(ChildProcessError):
            while not self._is_over:
                found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
                if found is None or found.si_pid == self._child.pid:
                    return
                os.waitpid(found.si_pid, 0)

    def _answer(self, reply: Reply, *, survived: bool) -> None:
        request, self._request = self._request, None
        if request is None:
            return
        head, tail, n_dropped = b"", b"", 0
        if request.text is not None:
            self._child.settle(self._capture)
            head, tail, n_dropped = self._capture.take()
        self._tell(
            {
                "nonce": request.nonce,
                "event": "end",
                "status": reply["status"],
                "code": reply["code"],
                "survived": survived,
                "timed_out": request.timed_out,
                "error": _encoded(reply.get("error", "").encode("utf-8", "backslashreplace")[: self._error_bytes]),
                "head": _encoded(head),
                "tail": _encoded(tail),
                "dropped": n_dropped,
            }
        )

    def _tell(self, message: dict[str, Any]) -> None:
        data = json.dumps(message).encode() + b"\n"
        while data:
            data = data[os.write(CHANNEL, data) :]


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
