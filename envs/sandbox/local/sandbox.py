"""A lease of the local backend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NoReturn, Protocol

from workgym.envs.sandbox.local.run import Run
from workgym.envs.sandbox.protocol import Program
from workgym.envs.sandbox.spec import Capabilities, ExecResult, Health, PythonCode, SandboxSpec, SnapshotId, WorkspaceDiff
from workgym.tasks.errors import SandboxError

__all__ = ["Launcher", "LocalSandbox"]


class Launcher(Protocol):
    """What a sandbox needs of its pool."""

    @property
    def spec(self) -> SandboxSpec:
        """What each program may use."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What this machine was seen to hold."""
        ...

    def start(self, program: PythonCode, *, stdin: bytes | None, env: Mapping[str, str], channel: bool) -> Run:
        """Start a program in a fresh child."""
        ...

    def heartbeat(self, timeout_s: float) -> Health:
        """Whether programs still start and end."""
        ...


class LocalSandbox:
    """A lease: every program runs in a child of its own, with scratch space of its own."""

    def __init__(self, launcher: Launcher) -> None:
        self._launcher = launcher
        self._closed = False
        self._live: list[Run] = []

    @property
    def spec(self) -> SandboxSpec:
        """What each program may use."""
        return self._launcher.spec

    @property
    def capabilities(self) -> Capabilities:
        """What this machine was seen to hold."""
        return self._launcher.capabilities

    def start(self, program: Program, *, env: Mapping[str, str] | None = None, channel: bool = False) -> Run:
        """Start a program and return at once."""
        run = self._start(program, None, env, channel)
        self._live = [other for other in self._live if not other.done] + [run]
        return run

    def exec(
        self,
        program: Program,
        *,
        stdin: bytes = b"",
        timeout_s: float,
        env: Mapping[str, str] | None = None,
        channel: bool = False,
    ) -> ExecResult:
        """Run a program to its end, or to `timeout_s` of wall time."""
        if not timeout_s > 0:
            raise ValueError(f"timeout_s must be > 0, not {timeout_s!r}")
        run = self._start(program, stdin, env, channel)
        try:
            return run.finish(run.began + timeout_s)
        except BaseException:
            run.abandon()
            raise

    def _start(self, program: Program, stdin: bytes | None, env: Mapping[str, str] | None, channel: bool) -> Run:
        if self._closed:
            raise SandboxError("this sandbox is closed; lease another")
        if not isinstance(program, PythonCode):
            raise SandboxError(f"sandbox backend 'local' runs PythonCode, not {type(program).__name__}")
        return self._launcher.start(program, stdin=stdin, env=_checked_env(env or {}), channel=channel)

    def kill_all(self) -> int:
        """Kill what `start` started and is still running; return how many programs. Idempotent."""
        live = [run for run in self._live if not run.done]
        self._live = []
        for run in live:
            run.abandon()
        return len(live)

    def heartbeat(self, timeout_s: float) -> Health:
        """Ask whether programs still start and end here."""
        return self._launcher.heartbeat(timeout_s)

    def close(self) -> None:
        """Kill everything. Idempotent."""
        self.kill_all()
        self._closed = True

    def write(self, path: str, data: bytes) -> None:
        """Not in this backend."""
        self._lack("write")

    def read(self, path: str, max_bytes: int) -> bytes:
        """Not in this backend."""
        self._lack("read")

    def diff(self) -> WorkspaceDiff:
        """Not in this backend."""
        self._lack("diff")

    def snapshot(self, kind: Literal["workspace"] = "workspace") -> SnapshotId:
        """Not in this backend."""
        self._lack("snapshot")

    def restore(self, snapshot: SnapshotId) -> None:
        """Not in this backend."""
        self._lack("restore")

    def fork(self, n: int) -> Sequence[LocalSandbox]:
        """Not in this backend."""
        self._lack("fork")

    def freeze(self) -> None:
        """Not in this backend."""
        self._lack("freeze")

    def thaw(self) -> None:
        """Not in this backend."""
        self._lack("thaw")

    def _lack(self, name: str) -> NoReturn:
        raise SandboxError(
            f"sandbox backend 'local' has no {name}: each program gets fresh scratch space; see its capabilities"
        )


def _checked_env(env: Mapping[str, str]) -> Mapping[str, str]:
    for name, value in env.items():
        if not name or "=" in name or "\0" in name + value:
            raise ValueError(f"environment variable {name!r} has no valid name or value")
    return env
