"""The one door behind which untrusted code runs, whatever the backend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Literal, Protocol, Self

from workgym.envs.sandbox.spec import (
    Capabilities,
    ExecResult,
    Health,
    PythonCode,
    SandboxSpec,
    SnapshotId,
    WorkspaceDiff,
)

__all__ = ["Argv", "Pools", "Process", "Program", "Sandbox", "SandboxPool"]

Argv = tuple[str, ...]
Program = Argv | PythonCode


class Process(Protocol):
    """A program that is running.

    With `channel=True` it holds, beside stdin, stdout and stderr, one private pipe to us: its descriptor 3, whose
    number also stands in its environment as WORKGYM_CHANNEL.
    """

    def send(self, data: bytes) -> None:
        """Write to its stdin.

        Raises:
            BrokenPipeError: the program has closed its stdin or is gone.
        """
        ...

    def receive(self, timeout_s: float) -> bytes | None:
        """Read one line from the channel, without its newline.

        Returns:
            The line; None once the program has closed the channel or ended, or where `timeout_s` has passed.
        """
        ...

    def wait(self, timeout_s: float) -> ExecResult:
        """Close stdin, wait until it ends, kill it with all descendants at the deadline, and say what became of it."""
        ...

    def kill(self) -> None:
        """Kill it with all descendants; `wait` then reports "killed"."""
        ...


class Sandbox(Protocol):
    """A place where untrusted code runs. What a backend lacks reads false in `capabilities` and raises SandboxError.

    Its workspace, where programs start, lasts as long as the sandbox; nothing else of a program outlives it.
    """

    @property
    def spec(self) -> SandboxSpec:
        """What the programs may use."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What the backend was seen to hold."""
        ...

    def start(self, program: Program, *, env: Mapping[str, str] | None = None, channel: bool = False) -> Process:
        """Start a program and return at once.

        Raises:
            SandboxError: infrastructure failed.
        """
        ...

    def exec(
        self,
        program: Program,
        *,
        stdin: bytes = b"",
        timeout_s: float,
        env: Mapping[str, str] | None = None,
        channel: bool = False,
    ) -> ExecResult:
        """Run a program to its end, or to `timeout_s` of wall time, and kill what is left of it.

        Raises:
            SandboxError: infrastructure failed; the program's own failure is a status.
        """
        ...

    def write(self, path: str, data: bytes) -> None:
        """Write a file of the workspace, with the folders above it.

        Raises:
            ValueError: the path leaves the workspace.
            ActionError: what programs left there is in the way, or the workspace is full.
            SandboxError: infrastructure failed.
        """
        ...

    def read(self, path: str, max_bytes: int) -> bytes:
        """Read a regular file of the workspace.

        Raises:
            ValueError: the path leaves the workspace.
            ActionError: no such file, a link, a device or a pipe, or a file larger than `max_bytes`.
            SandboxError: infrastructure failed.
        """
        ...

    def diff(self) -> WorkspaceDiff:
        """How the workspace differs from what `write` laid there: what programs changed."""
        ...

    def snapshot(self, kind: Literal["workspace"] = "workspace") -> SnapshotId:
        """Remember the workspace; no program may be running.

        Raises:
            ActionError: what programs left there fills it, and the backend needs room to remember it.
            SandboxError: a program is running, or the backend cannot.
        """
        ...

    def restore(self, snapshot: SnapshotId) -> None:
        """Go back to a remembered workspace, as often as wanted; what runs is killed.

        Raises:
            SandboxError: this sandbox, and what it was forked from, has no such snapshot.
        """
        ...

    def fork(self, n: int) -> Sequence[Sandbox]:
        """Make sandboxes with the same workspace, independent from then on; no program may be running.

        They end with the lease, or when they are closed.

        Raises:
            ActionError: as of `snapshot`.
            SandboxError: as of `snapshot`.
        """
        ...

    def freeze(self) -> None:
        """Stop every process where it is."""
        ...

    def thaw(self) -> None:
        """Let them go on."""
        ...

    def kill_all(self) -> int:
        """Kill every process of this sandbox; return how many. Idempotent."""
        ...

    def heartbeat(self, timeout_s: float) -> Health:
        """Ask whether it still answers."""
        ...

    def close(self) -> None:
        """Kill everything and give back what it held. Idempotent."""
        ...


class SandboxPool(Protocol):
    """Keeps sandboxes of one kind warm. Safe to use from many threads."""

    @property
    def spec(self) -> SandboxSpec:
        """What the programs may use."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What the backend was seen to hold."""
        ...

    def lease(self, *, read_only: Mapping[str, str] | None = None) -> AbstractContextManager[Sandbox]:
        """Lend a sandbox that nobody has used for anything else; it is closed when the `with` ends.

        Args:
            read_only: absolute path inside -> folder of the host that is shown there and cannot be changed.

        Raises:
            ValueError: a path is not absolute, or no such folder exists.
            SandboxError: the pool is closed or its machinery is gone and cannot be replaced.
        """
        ...

    def close(self) -> None:
        """End every sandbox and process of the pool. Idempotent."""
        ...

    def __enter__(self) -> Self:
        """The pool; it is closed when the `with` ends."""
        ...

    def __exit__(self, *raised: object) -> None:
        """Close it."""
        ...


class Pools(Protocol):
    """A handle on the pools of one domain in one process.

    What judges never shares a process with what agents run in.
    """

    @property
    def agent(self) -> SandboxPool:
        """Where agents run code."""
        ...

    @property
    def grader(self) -> SandboxPool:
        """Where their code is judged."""
        ...

    def check(self) -> None:
        """Try the isolation, once a process.

        Raises:
            IsolationUnavailable: this machine cannot give a guarantee that the pools' spec requires.
        """
        ...

    def close(self) -> None:
        """Give the handle back; the last handle closes the pools. Idempotent."""
        ...
