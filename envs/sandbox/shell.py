"""A shell that stays in a sandbox: its folder, variables, functions and jobs are there for the next command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType

from workgym.envs.sandbox.protocol import Sandbox
from workgym.envs.sandbox.resident import TIMED_OUT, Resident
from workgym.envs.sandbox.spec import Health, Status

__all__ = ["Shell", "ShellResult"]


@dataclass(frozen=True, slots=True)
class ShellResult:
    """What became of one command, by the word of the shell that ran it.

    Attributes:
        output: what appeared on the terminal, also of jobs in the background, the middle left out where it is too long.
        exit_code: of the command; of the shell where the command ended it; 128 + signal where a signal ended either;
            124 where its time was over; -1 where nobody knows.
        timed_out: whether it was killed at its deadline.
        survived: whether folder, variables and jobs are still there. If not, the next command gets a new shell in the
            same workspace.
        restarted: whether this command got a new shell, because that of earlier ones was gone.
        truncated_bytes: of output that were left out.
        end: how the sandbox saw the process end ("oom", "timeout_cpu" ...), where the shell did not survive.
    """

    output: str
    exit_code: int
    timed_out: bool = False
    survived: bool = True
    restarted: bool = False
    truncated_bytes: int = 0
    end: Status | None = None


class Shell:
    """A persistent shell on a terminal in a sandbox. Used by one thread; starts with the first command.

    Commands find the terminal as stdin, but nobody types: who waits for input waits until its time is over. The
    variables TERM=dumb and PAGER=cat keep programs from colors and from turning pages.

    Args:
        box: where it runs. `box.spec.cpu_s` bounds the whole life of a shell with all its commands, not one command.
        timeout_s: wall seconds of a command, unless the command says otherwise.
        env: further environment variables.
        shells: the first of these that is there is the shell: bash, or one that is as POSIX has it.

    Raises:
        ValueError: `timeout_s` is not positive.
    """

    def __init__(
        self,
        box: Sandbox,
        *,
        timeout_s: float,
        env: Mapping[str, str] | None = None,
        shells: Sequence[str] = ("/bin/bash", "/bin/sh"),
    ) -> None:
        if not timeout_s > 0:
            raise ValueError(f"timeout_s must be > 0, not {timeout_s!r}")
        self._resident = Resident(box, "terminal", env or {}, shells=list(shells))
        self._timeout_s = timeout_s

    def run(self, command: str, timeout_s: float | None = None) -> ShellResult:
        """Run a command, of as many lines as it likes.

        One over its time is killed with all that it started, but not the jobs of earlier commands. The shell is then
        interrupted, and killed only where it does not heed that within two seconds.

        Raises:
            ValueError: `timeout_s` is not positive, or the command holds a NUL or what is no text.
            SandboxError: the sandbox is gone, or this shell was closed.
        """
        if "\0" in command:
            raise ValueError(f"a command cannot hold a NUL: {command[:80]!r}")
        command.encode("utf-8", "surrogateescape")
        answer = self._resident.ask(command, self._timeout_s if timeout_s is None else timeout_s)
        return ShellResult(
            output=answer.output,
            exit_code=TIMED_OUT if answer.timed_out else answer.code,
            timed_out=answer.timed_out,
            survived=answer.survived,
            restarted=answer.restarted,
            truncated_bytes=answer.n_dropped,
            end=answer.end.status if answer.end else None,
        )

    def heartbeat(self, timeout_s: float = 1.0) -> Health:
        """Ask whether the shell answers. One that does not is killed, and the next command gets another."""
        return self._resident.heartbeat(timeout_s)

    def close(self) -> None:
        """Kill it, and all that it started. Idempotent."""
        self._resident.close()

    def __enter__(self) -> Shell:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
