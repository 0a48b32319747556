"""A lease of the docker backend."""

from __future__ import annotations

import contextlib
import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from workgym.envs.sandbox.docker.container import Answer, Container, chunks_of
from workgym.envs.sandbox.docker.run import DockerRun
from workgym.envs.sandbox.paths import checked_path
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

__all__ = ["Containers", "DockerSandbox"]

_DEATH_S = 10.0


class Containers(Protocol):
    """What a sandbox needs of its pool."""

    @property
    def spec(self) -> SandboxSpec:
        """What programs may use."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What docker was seen to hold here."""
        ...

    def take(self, read_only: Mapping[str, str]) -> Container:
        """A container that nobody has used."""
        ...

    def drop(self, container: Container) -> None:
        """Remove a container."""
        ...


class DockerSandbox:
    """A container that is made with the first need and removed with the lease.

    Args:
        containers: where containers come from.
        read_only: absolute path inside -> folder of the daemon's host.
        snapshots: of what this was forked from, by their ids.
    """

    def __init__(
        self, containers: Containers, read_only: Mapping[str, str], snapshots: Mapping[str, bytes] | None = None
    ) -> None:
        self._containers, self._read_only = containers, dict(read_only)
        self._snapshots: dict[str, bytes] = dict(snapshots or {})
        self._container: Container | None = None
        self._base: bytes = b""  # the snapshot that the workspace was last equal to,
        self._laid: dict[str, bytes] = {}  # and what its owner has written since
        self._live: list[DockerRun] = []
        self._forks: list[DockerSandbox] = []
        self._lock = threading.RLock()
        self._closed = False

    @property
    def spec(self) -> SandboxSpec:
        """What programs may use."""
        return self._containers.spec

    @property
    def capabilities(self) -> Capabilities:
        """What docker was seen to hold here."""
        return self._containers.capabilities

    def _living(self) -> Container:
        with self._lock:
            if self._closed:
                raise SandboxError("this sandbox is closed; lease another")
            if self._container is not None and not self._container.is_alive:
                if not self._container.ran_out_of_memory():
                    self._container.raise_lost("is gone")
                self._replace(self._container)
            if self._container is None:
                self._container = self._containers.take(self._read_only)
            return self._container

    def _replace(self, dead: Container) -> None:
        """Go on in another container, with the workspace as its owner laid it: a program that kills its own loses."""
        self._container = None
        self._containers.drop(dead)
        laid = self._laid
        if self._base:
            self._lay(self._base)
        for path, data in laid.items():
            self.write(path, data)

    # Programs

    def start(self, program: Program, *, env: Mapping[str, str] | None = None, channel: bool = False) -> DockerRun:
        """Start a program and return at once."""
        return self._start(program, None, env, channel)

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

    def _start(self, program: Program, stdin: bytes | None, env: Mapping[str, str] | None, channel: bool) -> DockerRun:
        check_program(program, env or {})
        container = self._living()
        run = DockerRun(container, self.spec, program, stdin=stdin, env=env or {}, channel=channel)
        self._live = [other for other in self._live if not other.done] + [run]
        return run

    def kill_all(self) -> int:
        """Kill every process; return how many. Idempotent."""
        container = self._container
        if container is None or not container.is_alive:
            return 0
        live, self._live = [run for run in self._live if not run.done], []
        for run in live:
            run.abandon()
        n_killed: int = container.ask("kill_all", timeout_s=_DEATH_S).pieces[-1][0]["n"]
        return max(n_killed, len(live))  # those that were given up may be dead by now

    def freeze(self) -> None:
        """Stop every process where it is."""
        self._living().ask("freeze")

    def thaw(self) -> None:
        """Let them go on."""
        self._living().ask("thaw")

    def heartbeat(self, timeout_s: float) -> Health:
        """Ask the container's first process for a nonce."""
        began, nonce = time.monotonic(), secrets.token_hex(8)
        try:
            answer = self._living().ask("ping", timeout_s=timeout_s, nonce=nonce)
        except SandboxError as error:
            return Health(False, time.monotonic() - began, {"error": str(error)})
        return Health(answer.pieces[-1][0]["nonce"] == nonce, time.monotonic() - began)

    # The workspace

    def write(self, path: str, data: bytes) -> None:
        """Write a file of the workspace, with the folders above it."""
        checked_path(path)
        if len(data) > self.spec.disk_mb << 20:
            raise SandboxError(
                f"cannot write {path!r} of {len(data)} bytes: the workspace holds {self.spec.disk_mb} MB"
            )
        self._living().ask("write", chunks_of(data), path=path)
        self._laid[path] = data

    def read(self, path: str, max_bytes: int) -> bytes:
        """Read a regular file of the workspace."""
        checked_path(path)
        return _joined(self._living().ask("read", path=path, max_bytes=max_bytes))

    def diff(self) -> WorkspaceDiff:
        """How the workspace differs from what `write` laid there."""
        answer = self._living().ask("diff")
        written: dict[str, bytes] = {}
        for meta, blob in answer.pieces[:-1]:
            written[meta["path"]] = written.get(meta["path"], b"") + blob
        last = answer.pieces[-1][0]
        return WorkspaceDiff(written=written, removed=tuple(last["removed"]), skipped=last["skipped"])

    def snapshot(self, kind: Literal["workspace"] = "workspace") -> SnapshotId:
        """Remember the workspace, here and not in the container; no program may be running."""
        if kind != "workspace":
            raise SandboxError(f"sandbox backend 'docker' has no snapshots of kind {kind!r}, only of the workspace")
        name = SnapshotId(secrets.token_hex(8))
        self._snapshots[name] = self._base = _joined(self._living().ask("snapshot"))
        self._laid = {}
        return name

    def restore(self, snapshot: SnapshotId) -> None:
        """Go back to a remembered workspace; what runs is killed."""
        if snapshot not in self._snapshots:
            raise SandboxError(f"this sandbox, and what it was forked from, has no snapshot {snapshot!r}")
        self.kill_all()
        self._lay(self._snapshots[snapshot])

    def _lay(self, state: bytes) -> None:
        self._living().ask("restore", chunks_of(state))
        self._base, self._laid = state, {}

    def fork(self, n: int) -> Sequence[DockerSandbox]:
        """Make sandboxes with the same workspace, each in a container of its own."""
        if n < 1:
            raise ValueError(f"a sandbox is forked into 1 or more, not {n}")
        state = _joined(self._living().ask("snapshot"))
        made = [DockerSandbox(self._containers, self._read_only, self._snapshots) for _ in range(n)]
        self._forks += made
        for fork in made:
            fork._lay(state)
        return made

    def close(self) -> None:
        """Remove the container, and those of forks. Idempotent."""
        with self._lock:
            self._closed = True
            container, self._container = self._container, None
        with contextlib.ExitStack() as stack:  # all of it, whatever one of them raises
            for fork in self._forks:
                stack.callback(fork.close)
            if container is not None:
                stack.callback(self._containers.drop, container)
            for run in self._live:
                stack.callback(run.abandon)
        self._live = []


def _joined(answer: Answer) -> bytes:
    return b"".join(blob for _, blob in answer.pieces)
