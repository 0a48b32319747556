"""A Python that stays in a sandbox: variables, imports, open files and the folder are there for the next run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Literal

from workgym.envs.sandbox.protocol import Sandbox
from workgym.envs.sandbox.resident import TIMED_OUT, Answer, Resident
from workgym.envs.sandbox.spec import Health, Status

__all__ = ["Kernel", "KernelResult"]


@dataclass(frozen=True, slots=True)
class KernelResult:
    """What became of one run, by the program's own word: it runs in the process that says so, and may say anything.

    What decides a reward is measured elsewhere.

    Attributes:
        status: "ok"; "error", an exception that nobody caught; "exited", by `sys.exit`, which ends the run alone;
            "timeout"; "died", the interpreter ended, by `os._exit`, a crash or a limit.
        output: what it printed, and the value of its last expression as the interactive interpreter shows it; stdout
            and stderr in one, the middle left out where it is too long.
        error: the traceback of the exception, or why the interpreter ended.
        exit_code: of "exited" and "died", 128 + signal where a signal ended it, -1 where nobody knows; 1 for "error",
            124 for "timeout".
        truncated_bytes: of output that were left out.
        survived: whether variables and imports are still there. If not, the next run begins anew, in the same
            workspace.
        restarted: whether this run began anew, because the interpreter of earlier ones was gone.
        end: how the sandbox saw the end of the process that kept the interpreter, where that did not survive: "oom" and
            "timeout_cpu" say what it was that ran out.
    """

    status: Literal["ok", "error", "exited", "timeout", "died"]
    output: str
    error: str = ""
    exit_code: int = 0
    truncated_bytes: int = 0
    survived: bool = True
    restarted: bool = False
    end: Status | None = None


class Kernel:
    """A persistent Python in a sandbox. Used by one thread; starts with the first run.

    Args:
        box: where it runs. `box.spec.cpu_s` bounds its whole life, not one run.
        timeout_s: wall seconds of a run, unless the run says otherwise.
        env: further environment variables.

    Raises:
        ValueError: `timeout_s` is not positive.
    """

    def __init__(self, box: Sandbox, *, timeout_s: float, env: Mapping[str, str] | None = None) -> None:
        if not timeout_s > 0:
            raise ValueError(f"timeout_s must be > 0, not {timeout_s!r}")
        self._resident = Resident(box, "interpreter", env or {})
        self._timeout_s = timeout_s

    def run(self, source: str, timeout_s: float | None = None) -> KernelResult:
        """Run Python source in the namespace that earlier runs left.

        A run over its time is interrupted by a KeyboardInterrupt, and what it started is killed; if that does not end
        it within two seconds, the interpreter is killed too.

        Raises:
            ValueError: `timeout_s` is not positive.
            SandboxError: the sandbox is gone, or this kernel was closed.
        """
        answer = self._resident.ask(source, self._timeout_s if timeout_s is None else timeout_s)
        return KernelResult(
            status="timeout" if answer.timed_out else answer.status,
            output=answer.output,
            error=answer.error or _why_it_died(answer),
            exit_code=TIMED_OUT if answer.timed_out else answer.code,
            truncated_bytes=answer.n_dropped,
            survived=answer.survived,
            restarted=answer.restarted,
            end=answer.end.status if answer.end else None,
        )

    def heartbeat(self, timeout_s: float = 1.0) -> Health:
        """Ask whether the interpreter answers. One that does not is killed, and the next run begins anew."""
        return self._resident.heartbeat(timeout_s)

    def close(self) -> None:
        """Kill it, and all that it started. Idempotent."""
        self._resident.close()

    def __enter__(self) -> Kernel:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _why_it_died(answer: Answer) -> str:
    if answer.survived:
        return ""
    if answer.timed_out:
        return "its time was over, and the interpreter did not survive the interrupt\n"
    if answer.end and answer.end.status not in ("ok", "nonzero", "signal", "killed"):
        return f"the interpreter ended: {answer.end.status}\n"
    return (
        f"the interpreter ended with exit code {answer.code}\n" if answer.code >= 0 else "the interpreter was killed\n"
    )
