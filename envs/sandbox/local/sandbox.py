"""A lease of the local backend, and its forks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from workgym.envs.sandbox.local.berth import Berth
from workgym.envs.sandbox.local.run import Run
from workgym.envs.sandbox.programs import check_program
from workgym.envs.sandbox.protocol import Program
from workgym.envs.sandbox.spec import (
    Capabilities,
    ExecResult,
    Health,
    SandboxSpec,
    SnapshotId,
    WorkspaceDiff,
)
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

    def find_berth(self, shown: tuple[tuple[str, str], ...], like: Berth | None = None) -> Berth:
        """Make a workspace in a living zygote, or a copy of one in its own."""
        ...

    def start(
        self, berth: Berth, program: Program, *, stdin: bytes | None, env: Mapping[str, str], channel: bool
    ) -> Run:
        """Start a program in a fresh child."""
        ...

    def heartbeat(self, berth: Berth, timeout_s: float) -> Health:
        """Whether programs still start and end there."""
        ...


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """Levels of a workspace, from the lowest up, and digests of what its owner wrote."""

    levels: Sequence[int]
    baseline: Mapping[str, bytes]


class LocalSandbox:
    """A workspace, and programs that start in it, each in a child of its own. Not for several threads at once.

    Args:
        launcher: the pool.
        shown: (path inside, folder of the host) to show there.
        parent: the sandbox that it is a fork of.
    """

    def __init__(
        self, launcher: Launcher, shown: tuple[tuple[str, str], ...], parent: LocalSandbox | None = None
    ) -> None:
        self._launcher, self._shown = launcher, shown
        self._closed = False
        self._live: list[Run] = []
        self._forks: list[LocalSandbox] = []
        self._berth: Berth | None = None
        self._snapshots: dict[SnapshotId, _Snapshot] = {}
        if parent is not None:
            self._snapshots = dict(parent._snapshots)
            self._berth = launcher.find_berth(shown, parent._living_berth())

    @property
    def spec(self) -> SandboxSpec:
        """What each program may use."""
        return self._launcher.spec

    @property
    def capabilities(self) -> Capabilities:
        """What this machine was seen to hold."""
        return self._launcher.capabilities

    # Programs

    def start(self, program: Program, *, env: Mapping[str, str] | None = None, channel: bool = False) -> Run:
        """Start a program and return at once."""
        run = self._start(program, None, env, channel)
        self._live = [*self._living_runs(), run]
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
        env = env or {}
        check_program(program, env)
        return self._launcher.start(self._living_berth(), program, stdin=stdin, env=env, channel=channel)

    def _living_runs(self) -> list[Run]:
        return [run for run in self._live if not run.done]

    def _living_berth(self) -> Berth:
        if self._closed:
            raise SandboxError("this sandbox is closed; lease another")
        if self._berth is None:
            self._berth = self._launcher.find_berth(self._shown)
        return self._berth

    def freeze(self) -> None:
        """Stop every process where it is."""
        for run in self._living_runs():
            run.freeze()

    def thaw(self) -> None:
        """Let them go on."""
        for run in self._living_runs():
            run.freeze(thaw=True)

    def kill_all(self) -> int:
        """Kill what `start` started and is still running; return how many programs. Idempotent."""
        live = self._living_runs()
        self._live = []
        for run in live:
            run.abandon()
        return len(live)

    def heartbeat(self, timeout_s: float) -> Health:
        """Ask whether programs still start and end here."""
        return self._launcher.heartbeat(self._living_berth(), timeout_s)

    def close(self) -> None:
        """Kill everything, forks too, and give the workspace up. Idempotent."""
        for fork in self._forks:
            fork.close()
        self.kill_all()
        self._closed = True
        if self._berth is not None:
            self._berth.close()
            self._berth = None

    # The workspace

    def write(self, path: str, data: bytes) -> None:
        """Write a file of the workspace, with the folders above it."""
        self._living_berth().workspace.write(path, data)

    def read(self, path: str, max_bytes: int) -> bytes:
        """Read a regular file of the workspace."""
        return self._living_berth().workspace.read(path, max_bytes)

    def diff(self) -> WorkspaceDiff:
        """How the workspace differs from what `write` laid there."""
        berth = self._living_berth()
        seen = berth.workspace.diff(max_bytes=self.spec.disk_mb << 20)
        links = berth.zygote.links  # ours
        return replace(seen, skipped={path: why for path, why in seen.skipped.items() if path not in links})

    def snapshot(self, kind: Literal["workspace"] = "workspace") -> SnapshotId:
        """Remember the workspace, in a time that does not depend on its size."""
        if kind != "workspace":
            raise SandboxError(f"sandbox backend 'local' remembers the workspace, not {kind!r}")
        self._check_quiet("be remembered")
        berth = self._living_berth()
        levels = berth.freeze()
        name = SnapshotId(f"{berth.number}.{levels[-1]}")
        self._snapshots[name] = _Snapshot(levels, berth.workspace.baseline)
        return name

    def restore(self, snapshot: SnapshotId) -> None:
        """Go back to a remembered workspace; what runs is killed."""
        berth = self._living_berth()
        if snapshot not in self._snapshots:
            raise SandboxError(f"this sandbox has no snapshot {snapshot!r}; it has {sorted(self._snapshots) or 'none'}")
        self.kill_all()
        wanted = self._snapshots[snapshot]
        berth.restore(wanted.levels, wanted.baseline)

    def fork(self, n: int) -> Sequence[LocalSandbox]:
        """Make sandboxes with the same workspace, in a time that does not depend on its size."""
        if n < 1:
            raise ValueError(f"a sandbox is forked into at least 1, not {n}")
        self._check_quiet("be forked")
        self._living_berth().freeze()
        forks: list[LocalSandbox] = []
        try:
            for _ in range(n):
                forks.append(LocalSandbox(self._launcher, self._shown, self))
        except BaseException:
            for fork in forks:
                fork.close()
            raise
        self._forks += forks
        return forks

    def _check_quiet(self, what: str) -> None:
        if self._living_runs():
            raise SandboxError(f"a sandbox cannot {what} while a program runs in it; wait for it, or kill_all() first")
