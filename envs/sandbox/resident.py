"""A program that stays in a sandbox and answers requests: what `Kernel` and `Shell` have in common."""

from __future__ import annotations

import base64
import contextlib
import json
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal

from workgym.envs.sandbox.protocol import Process, Sandbox
from workgym.envs.sandbox.spec import ExecResult, Health, PythonCode
from workgym.tasks.errors import SandboxError

__all__ = ["GRACE_S", "TIMED_OUT", "Answer", "Resident"]

TIMED_OUT = 124  # exit code of what was interrupted, as timeout(1) has it
GRACE_S = 2.0  # from the interrupt of a request until what carries it out is killed
_PATIENCE_S = 5.0  # beyond all its deadlines a resident is given, on a busy machine, to say what became of a request
_START_S = 30.0
_END_S = 10.0
_ENVELOPE_BYTES = 600  # of an answer, beside output and error
_PACKAGE = "workgym.envs.sandbox.inside"
_MODULES = ("processes", "capture", "keeper", "interpreter", "terminal")
# Modules from text, under the names by which they import each other; nothing else of workgym is there.
_BOOTSTRAP = """\
import sys, types
for name, text in {modules!r}:
    module = sys.modules[name] = types.ModuleType(name)
    exec(compile(text, f"<{{name}}>", "exec"), module.__dict__)
sys.modules[{main!r}].main({settings!r})
"""


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of a request, as the resident says: all of it but `end` is the word of what runs in the sandbox.

    Attributes:
        status: "ok", "error" or "exited", as the resident has it; "died" where it is gone.
        code: exit code, 128 + signal where a signal ended it, -1 where nobody knows.
        output: what was printed, its middle left out where it is longer than the cap.
        error: what was said of an error.
        n_dropped: bytes of output that were left out.
        timed_out: whether it was interrupted at its deadline.
        survived: whether what earlier requests left is still there.
        restarted: whether it began anew, because its predecessor was gone.
        end: what became of the process, where it did not survive.
    """

    status: Literal["ok", "error", "exited", "died"]
    code: int
    output: str = ""
    error: str = ""
    n_dropped: int = 0
    timed_out: bool = False
    survived: bool = True
    restarted: bool = False
    end: ExecResult | None = None


class Resident:
    """A program of `envs/sandbox/inside` in a sandbox, started at the first need, and anew after it is gone.

    Used by one thread. It holds one of the processes of `box.spec`, and what it runs for it at least another.

    Args:
        box: where it runs. Its `cpu_s` bounds the whole life of one resident, not one request.
        module: "interpreter" or "terminal".
        env: further environment variables.
        settings: further settings of the module.
    """

    def __init__(self, box: Sandbox, module: str, env: Mapping[str, str], **settings: Any) -> None:
        self._box, self._module, self._env = box, module, dict(env)
        self._process: Process | None = None
        self._was_lost = False
        self._closed = False
        room = max(64, box.spec.output_kb * 1024 - _ENVELOPE_BYTES)
        self._settings = {"output_bytes": room // 2, "error_bytes": room // 8, "grace_s": GRACE_S, **settings}

    def ask(self, text: str, timeout_s: float) -> Answer:
        """Have it carry out a request; interrupt it after `timeout_s`, and kill it if that does not help.

        Raises:
            ValueError: `timeout_s` is not positive, or the text holds what cannot be sent.
            SandboxError: infrastructure failed, or this was closed.
        """
        if not timeout_s > 0:
            raise ValueError(f"timeout_s must be > 0, not {timeout_s!r}")
        try:
            for _ in range(2):
                answer = self._ask(text, timeout_s)
                if answer is not None:
                    return answer
        except BaseException:
            self._abandon()
            raise
        raise SandboxError(f"the sandbox's {self._module} ended twice before it began; does the sandbox let it run?")

    def _ask(self, text: str, timeout_s: float) -> Answer | None:
        """None where it had ended before it began, so that the request may be given to another."""
        restarted = self._process is None and self._was_lost
        process = self._living()
        nonce = secrets.token_hex(8)
        deadline = time.monotonic() + timeout_s + GRACE_S + _PATIENCE_S
        try:
            self._send(process, nonce, text, timeout_s)
        except BrokenPipeError:
            self._abandon()
            return None
        if self._receive(process, nonce, "begun", deadline) is None:
            if time.monotonic() < deadline:
                self._abandon()
                return None
            return Answer("died", -1, timed_out=True, survived=False, restarted=restarted, end=self._bury(process))
        said = self._receive(process, nonce, "end", deadline)
        if said is None:
            late = time.monotonic() >= deadline
            ended = self._bury(process, leaves=not late)
            return Answer("died", -1, timed_out=late, survived=False, restarted=restarted, end=ended)
        end = None if said["survived"] else self._bury(process, leaves=True)
        return Answer(
            status=said["status"],
            code=said["code"],
            output=_joined(said["head"], said["tail"], said["dropped"]),
            error=_text(said["error"]),
            n_dropped=said["dropped"],
            timed_out=said["timed_out"],
            survived=said["survived"],
            restarted=restarted,
            end=end,
        )

    def heartbeat(self, timeout_s: float = 1.0) -> Health:
        """Ask whether it answers, between two requests. One that does not is killed: the next request gets another."""
        began = time.monotonic()
        try:
            process = self._living()
            began = time.monotonic()
            nonce = secrets.token_hex(8)
            self._send(process, nonce, None, 1e9)
            said = self._receive(process, nonce, "end", began + timeout_s)
        except (SandboxError, BrokenPipeError) as error:
            self._abandon()
            return Health(False, time.monotonic() - began, {"error": str(error)})
        if said is None or not said["survived"]:
            self._abandon()
            return Health(False, time.monotonic() - began, {"error": f"no answer within {timeout_s:g} s"})
        return Health(True, time.monotonic() - began)

    def close(self) -> None:
        """Kill it with all that it started. Idempotent."""
        self._closed = True
        self._abandon()

    def _living(self) -> Process:
        if self._closed:
            raise SandboxError(f"this {self._module} is closed; make another")
        if self._process is None:
            program = PythonCode(_source(self._module, self._settings))
            self._process = self._box.start(program, env=self._env, channel=True)
            self._greet(self._process)
        return self._process

    def _greet(self, process: Process) -> None:
        """Wait until it answers: what keeps it from starting is no fault of a request."""
        nonce = secrets.token_hex(8)
        said = None
        with contextlib.suppress(BrokenPipeError):
            self._send(process, nonce, None, 1e9)
            said = self._receive(process, nonce, "end", time.monotonic() + _START_S)
        if said is None or not said["survived"]:
            end = self._bury(process)
            words = end.stderr[-500:].decode("utf-8", "replace").strip() or "it said nothing"
            raise SandboxError(
                f"the sandbox's {self._module} did not start ({end.status}): {words}; it needs a process or two "
                f"of SandboxSpec.n_processes={self._box.spec.n_processes}, and memory"
            )

    def _send(self, process: Process, nonce: str, text: str | None, timeout_s: float) -> None:
        request = {"nonce": nonce, "timeout_s": timeout_s} | ({} if text is None else {"text": text})
        process.send(json.dumps(request).encode() + b"\n")

    def _receive(self, process: Process, nonce: str, event: str, deadline: float) -> dict[str, Any] | None:
        """The message of that event; None where the process ended, or the deadline came, before it."""
        while (left_s := deadline - time.monotonic()) > 0:
            line = process.receive(left_s)
            if line is None:
                return None
            message = _understood(line)
            if message and (message["nonce"], message["event"]) == (nonce, event):
                return message
        return None

    def _bury(self, process: Process, *, leaves: bool = False) -> ExecResult:
        """Have it end, all that it started with it, and say how; `leaves`: it does so by itself."""
        self._process, self._was_lost = None, True
        if not leaves:
            process.kill()
        return process.wait(_END_S)

    def _abandon(self) -> None:
        """Have it end, however it stands with it."""
        if self._process is not None:
            with contextlib.suppress(SandboxError):
                self._bury(self._process)


def _source(module: str, settings: dict[str, Any]) -> str:
    folder = resources.files(_PACKAGE)
    modules = [
        (f"{_PACKAGE}.{name}", folder.joinpath(f"{name}.py").read_text(encoding="utf-8"))
        for name in _MODULES
        if name not in ("interpreter", "terminal") or name == module
    ]
    return _BOOTSTRAP.format(modules=modules, main=f"{_PACKAGE}.{module}", settings=settings)


_FIELDS = {"status": str, "code": int, "survived": bool, "timed_out": bool, "dropped": int}
_TEXTS = ("head", "tail", "error")


def _understood(line: bytes) -> dict[str, Any] | None:
    """A message with all its fields; None for anything else, which a program may have got onto the channel."""
    try:
        message: dict[str, Any] = json.loads(line)
        if message["event"] == "end":
            if any(type(message[name]) is not kind for name, kind in _FIELDS.items()):
                return None
            if message["status"] not in ("ok", "error", "exited", "died"):
                return None
            message |= {name: base64.b64decode(message[name], validate=True) for name in _TEXTS}
        return message if isinstance(message["nonce"], str) else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _joined(head: bytes, tail: bytes, n_dropped: int) -> str:
    if not n_dropped:
        return _text(head + tail)
    return f"{_text(head)}\n[... {n_dropped:,} bytes left out ...]\n{_text(tail)}"


def _text(data: bytes) -> str:
    """As text; what is none stays readable as escapes."""
    return data.decode("utf-8", "backslashreplace")
