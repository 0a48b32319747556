"""A Python that stays: what one request defines, the next one finds."""

from __future__ import annotations

import ast
import builtins
import contextlib
import fcntl
import json
import linecache
import os
import resource
import signal
import socket
import sys
import traceback
from types import ModuleType
from typing import Any, NoReturn

from workgym.envs.sandbox.inside.capture import Capture
from workgym.envs.sandbox.inside.keeper import CHANNEL, Reply, keep, prepare, restore_signals

__all__ = ["main"]

_HIGHEST_DESCRIPTOR = 255
_OURS = "workgym.envs.sandbox.inside."
_CHUNK_BYTES = 1 << 16


def main(settings: dict[str, Any]) -> NoReturn:
    """Start the interpreter and serve it."""
    prepare()
    keep(_Interpreter(settings["error_bytes"]), settings["output_bytes"], settings["error_bytes"], settings["grace_s"])


class _Interpreter:
    """Our side of a forked child that runs what it is asked to."""

    def __init__(self, error_bytes: int) -> None:
        self.line, theirs = socket.socketpair()
        self.output, self._writer = os.pipe()  # we keep the writing end too, so that there is no end of file
        self.pid = os.fork()
        if not self.pid:
            _live(theirs.fileno(), self._writer, error_bytes)
        theirs.close()

    def ask(self, nonce: str, text: str | None) -> None:
        """Hand it a request."""
        self.line.setblocking(True)
        try:
            self.line.sendall(json.dumps({"nonce": nonce, "text": text}).encode() + b"\n")
        finally:
            self.line.setblocking(False)

    def understand(self, line: bytes) -> Reply | None:
        """Read a reply; whoever holds that interpreter may write anything there."""
        try:
            reply = json.loads(line)
            known = reply["status"] in ("ok", "error", "exited") and type(reply["code"]) is int
            return reply if known and isinstance(reply["error"], str) else None
        except (ValueError, KeyError, TypeError, RecursionError):
            return None

    def interrupt(self, nonce: str) -> None:
        """Raise KeyboardInterrupt in its main thread."""
        os.kill(self.pid, signal.SIGINT)

    def settle(self, capture: Capture) -> None:
        """Read what lies in the pipe."""
        with contextlib.suppress(BlockingIOError):
            for _ in range(16):  # it may hold as much; who goes on writing has the next request's output
                capture.add(os.read(self.output, _CHUNK_BYTES))


def _live(line: int, output: int, error_bytes: int) -> NoReturn:
    """What the child does, from its birth on."""
    restore_signals()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # but while a request runs
    os.setsid()
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    high = min(limit, _HIGHEST_DESCRIPTOR + 1) - 1 if limit > 0 else _HIGHEST_DESCRIPTOR
    line = fcntl.fcntl(line, fcntl.F_DUPFD_CLOEXEC, high)  # out of the way of programs that count their descriptors
    nothing = os.open("/dev/null", os.O_RDONLY)
    for number, descriptor in enumerate((nothing, output, output)):
        os.dup2(descriptor, number)
    os.closerange(CHANNEL, line)
    os.environ.pop("WORKGYM_CHANNEL", None)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    _Session(line, error_bytes).serve()


class _Session:
    """The namespace, and the loop that runs requests in it."""

    def __init__(self, line: int, error_bytes: int) -> None:
        self._line, self._error_bytes = line, error_bytes
        self._home = os.getpid()
        self._heard = bytearray()
        self._n_runs = 0
        self._handler: Any = signal.default_int_handler
        main = ModuleType("__main__")
        main.__dict__["__builtins__"] = builtins
        for name in [name for name in sys.modules if name.startswith(_OURS)]:
            del sys.modules[name]
        sys.modules["__main__"] = main
        sys.argv[:] = [""]
        if "" not in sys.path:
            sys.path.insert(0, "")
        self._names = main.__dict__

    def serve(self) -> NoReturn:
        """Until nobody asks anymore."""
        while True:
            request = self._next_request()
            reply = self._carry_out(request["text"]) if request["text"] is not None else ("ok", 0, "")
            self._flush()
            if os.getpid() != self._home:  # the program forked, and its child came back to us
                os._exit(0)
            self._reply(request["nonce"], *reply)

    def _next_request(self) -> dict[str, Any]:
        while b"\n" not in self._heard:
            chunk = os.read(self._line, _CHUNK_BYTES)
            if not chunk:
                os._exit(0)
            self._heard += chunk
        line, _, self._heard = self._heard.partition(b"\n")
        request: dict[str, Any] = json.loads(line)
        return request

    def _carry_out(self, text: str) -> tuple[str, int, str]:
        """Run it, open to SIGINT meanwhile and never else."""
        try:
            try:
                signal.signal(signal.SIGINT, self._handler)
                return self._run(text)
            finally:
                self._handler = signal.getsignal(signal.SIGINT)
                signal.signal(signal.SIGINT, signal.SIG_IGN)
        except KeyboardInterrupt:  # between two lines of ours
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            self._handler = signal.default_int_handler
            return "error", 1, "KeyboardInterrupt\n"

    def _run(self, text: str) -> tuple[str, int, str]:
        self._n_runs += 1
        name = f"<run {self._n_runs}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        try:
            for code in _compiled(text, name):
                exec(code, self._names)  # noqa: S102 - this is what it is for
        except SystemExit as stop:
            code = stop.code
            if code is None or isinstance(code, int):
                return "exited", (code or 0) & 0xFF, ""
            return "exited", 1, f"{code}\n"
        except BaseException as error:  # noqa: BLE001 - the program's own, told as the interpreter would
            return "error", 1, self._explained(error)
        return "ok", 0, ""

    def _explained(self, error: BaseException) -> str:
        """The traceback, beginning at the program's own first frame."""
        try:
            frames = error.__traceback__ and error.__traceback__.tb_next
            text = "".join(traceback.format_exception(type(error), error, frames))
        except BaseException:  # noqa: BLE001 - an exception of the program may do anything when it is told
            text = f"{type(error).__name__}\n"
        room = self._error_bytes - 8
        return text if len(text) <= room else f"{text[: room // 2]}\n...\n{text[-room // 2 :]}"

    def _flush(self) -> None:
        for stream in (sys.stdout, sys.stderr, sys.__stdout__):
            with contextlib.suppress(BaseException):  # the program may have put anything there
                stream.flush()  # type: ignore[union-attr]

    def _reply(self, nonce: str, status: str, code: int, error: str) -> None:
        message = {"nonce": nonce, "status": status, "code": code, "error": error}
        data = json.dumps(message).encode() + b"\n"
        try:
            while data:
                data = data[os.write(self._line, data) :]
        except OSError:  # the program closed our line: nobody hears us anymore
            os._exit(1)


def _compiled(text: str, name: str) -> list[Any]:
    """What to run: all but the last expression, and that one so that its value is shown."""
    tree = ast.parse(text, name)
    codes = []
    last = [tree.body.pop()] if tree.body and isinstance(tree.body[-1], ast.Expr) else []
    if tree.body:
        codes.append(compile(tree, name, "exec", dont_inherit=True))
    if last:
        codes.append(compile(ast.Interactive(body=last), name, "single", dont_inherit=True))
    return codes
