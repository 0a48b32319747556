"""A shell on a terminal that stays: its folder, variables and jobs are there for the next command.

The shell is interactive, so that an interrupt ends a command and not the shell; but its commands come over a line of
their own, and what it runs finds the terminal as stdin. `eval` keeps a command together, however many lines it has, and
the report behind it goes over the line too, where no program of the command can write.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import socket
import struct
import termios
import time
from typing import Any, NoReturn

from workgym.envs.sandbox.inside.capture import Capture
from workgym.envs.sandbox.inside.keeper import CHANNEL, Reply, keep, prepare, restore_signals

__all__ = ["main"]

_TERMINAL = 7  # the terminal's descriptor in the shell: /bin/sh knows single digits only
_ROWS, _COLUMNS = 50, 160
_SETTLE_S = 1.0
_CHUNK_BYTES = 1 << 16
_GET_PEER = 0x5441  # TIOCGPTPEER
_ENVIRON = {"TERM": "dumb", "PAGER": "cat"}  # nobody sits there: no colors, no pages to turn
_PREAMBLE = """\
PS1= PS2=
workgym_report() { command printf '%s %s\\n' "$1" "$2" >&0; PS1= PS2= PROMPT_COMMAND=; return "$2"; }
"""
_PREAMBLE_OF_BASH = "set +o history +H; history -c; unset HISTFILE PROMPT_COMMAND; shopt -u checkwinsize\n"


def main(settings: dict[str, Any]) -> NoReturn:
    """Start the shell and serve it."""
    prepare()
    terminal = _Terminal(next(path for path in settings["shells"] if os.access(path, os.X_OK)))
    keep(terminal, settings["output_bytes"], settings["error_bytes"], settings["grace_s"])


class _Terminal:
    """Our side of a shell on a terminal."""

    def __init__(self, shell: str) -> None:
        self.output, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
        self._modes = termios.tcgetattr(slave)
        self._modes[1] &= ~termios.OPOST  # what is written is what is read
        termios.tcsetattr(slave, termios.TCSANOW, self._modes)
        # An open file of our own on the terminal's side, so that the shell's does not become non-blocking with it.
        self._side = fcntl.ioctl(self.output, _GET_PEER, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
        os.set_blocking(self.output, False)
        self.line, theirs = socket.socketpair()
        self.pid = os.fork()
        if not self.pid:
            _become_shell(shell, theirs.fileno(), slave)
        theirs.close()
        os.close(slave)
        preamble = (_PREAMBLE_OF_BASH if os.path.basename(shell) == "bash" else "") + _PREAMBLE
        self.line.sendall(preamble.encode())
        self._greet()

    def _greet(self) -> None:
        """Wait until it is there, and forget what it printed meanwhile."""
        self.line.sendall(_report("hello").encode() + b"\n")
        while b"hello" not in (heard := self.line.recv(_CHUNK_BYTES)):
            if not heard:
                raise RuntimeError("the shell did not start")
        self.settle(Capture(_CHUNK_BYTES))

    def ask(self, nonce: str, text: str | None) -> None:
        """Hand it a command."""
        report = _report(nonce)
        request = report
        if text is not None:
            quoted = text.replace("'", "'\\''")
            request = f"command eval '{quoted}' <&{_TERMINAL} {_TERMINAL}>&-; {report}"
        self.line.setblocking(True)
        try:
            self.line.sendall(request.encode("utf-8", "surrogateescape") + b"\n")
        finally:
            self.line.setblocking(False)

    def understand(self, line: bytes) -> Reply | None:
        """Read a report: its nonce, and how the command ended."""
        nonce, _, code = line.decode("ascii", "replace").partition(" ")
        return {"nonce": nonce, "status": "ok", "code": int(code)} if code.isdecimal() and len(code) < 4 else None

    def interrupt(self, nonce: str) -> None:
        """End the command. A shell forgets the line it was interrupted in, and with it the report."""
        os.kill(self.pid, signal.SIGINT)
        with contextlib.suppress(OSError):
            self.line.send(_report(nonce).encode() + b"\n")

    def settle(self, capture: Capture) -> None:
        """Set the terminal's modes back, and read up to a mark that we write behind what was written."""
        with contextlib.suppress(termios.error):
            termios.tcflow(self._side, termios.TCOON)
            termios.tcsetattr(self._side, termios.TCSANOW, self._modes)
        mark = os.urandom(16).hex().encode()
        unwritten, heard = mark, bytearray()
        deadline = time.monotonic() + _SETTLE_S
        poll = select.poll()
        poll.register(self.output, select.POLLIN)
        while mark not in heard and time.monotonic() < deadline:
            with contextlib.suppress(BlockingIOError):
                unwritten = unwritten[os.write(self._side, unwritten) :] if unwritten else b""
            poll.poll(10)
            with contextlib.suppress(BlockingIOError):
                heard += os.read(self.output, _CHUNK_BYTES)
            if mark not in heard and len(heard) > len(mark):
                capture.add(bytes(heard[: -len(mark)]))
                del heard[: -len(mark)]
        capture.add(bytes(heard).replace(mark, b"", 1))


def _report(nonce: str) -> str:
    return f'{{ workgym_report {nonce} "$?"; }} 2>/dev/null'


def _become_shell(path: str, line: int, slave: int) -> NoReturn:
    restore_signals("PIPE", "XFSZ")  # Python ignores them, and what is ignored stays so in a shell
    line, terminal, slave = (
        fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, _TERMINAL + 1) for number in (line, slave, slave)
    )
    os.closerange(CHANNEL, _TERMINAL)
    os.login_tty(slave)
    os.dup2(terminal, _TERMINAL)
    os.dup2(line, 0)
    name = os.path.basename(path)
    flags = ["--norc", "--noprofile", "--noediting", "-i"] if name == "bash" else ["-i"]
    environ = {key: value for key, value in os.environ.items() if key not in ("WORKGYM_CHANNEL", "ENV")}
    os.execve(path, [name, *flags], _ENVIRON | environ)
