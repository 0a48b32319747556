"""The backend `unsafe-subprocess`: programs run as you, in a temporary folder. It isolates nothing.

For programs that are your own, where no other backend works. Limits are those that a plain user can set on a process of
its own, and a program can escape all of them.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from signal import SIGCONT, SIGSTOP
from typing import Literal, Self

from workgym.envs.sandbox.programs import check_program
from workgym.envs.sandbox.protocol import Program
from workgym.envs.sandbox.shown import checked_folders
from workgym.envs.sandbox.spec import (
    Capabilities,
    ExecResult,
    Health,
    PoolSize,
    PythonCode,
    SandboxSpec,
    SnapshotId,
    WorkspaceDiff,
)
from workgym.envs.sandbox.unsafe_run import UnsafeRun
from workgym.envs.sandbox.workspace import Workspace
from workgym.tasks.errors import SandboxError

__all__ = ["UnsafePool", "UnsafeSandbox"]

_HOLDS = Capabilities(workspace=True, snapshot=True, freeze=True)


class UnsafePool:
    """Sandboxes that are none: folders, and processes of ours.

    Args:
        spec: what programs are asked to keep to.
        size: how many are lent at once; nothing is kept ready.
    """

    def __init__(self, spec: SandboxSpec, size: PoolSize | None = None) -> None:
        self._spec = spec
        self._room = threading.Semaphore((size or PoolSize()).max_size)
        self._lent: set[UnsafeSandbox] = set()
        self._closed = False

    @property
    def spec(self) -> SandboxSpec:
        """What programs are asked to keep to."""
        return self._spec

    @property
    def capabilities(self) -> Capabilities:
        """No isolation; workspaces, snapshots, and freezing of a program's process group."""
        return _HOLDS

    @contextlib.contextmanager
    def lease(self, *, read_only: Mapping[str, str] | None = None) -> Iterator[UnsafeSandbox]:
        """Lend a folder; it is removed when the `with` ends. Waits while `max_size` are lent.

        Raises:
            ValueError: a path of `read_only` is not absolute, is taken, or there is no such folder.
            SandboxError: the pool is closed, `read_only` names a folder, or the lent folder cannot be removed.
        """
        if checked_folders(read_only or {}):
            raise SandboxError("sandbox backend 'unsafe-subprocess' cannot show folders read-only")
        with self._room:
            if self._closed:
                raise SandboxError("this sandbox pool is closed; open another")
            box = UnsafeSandbox(self._spec)
            self._lent.add(box)
            try:
                yield box
            finally:
                self._lent.discard(box)
                box.close()

    def close(self) -> None:
        """Kill what runs; folders are removed as their leases end. Idempotent."""
        self._closed = True
        for box in list(self._lent):
            box.forfeit()

    def __enter__(self) -> Self:
        """The pool; it is closed when the `with` ends."""
        return self

    def __exit__(self, *raised: object) -> None:
        """Close it."""
        self.close()


class UnsafeSandbox:
    """A folder, and programs that start in it. Not for several threads at once.

    Args:
        spec: what programs are asked to keep to.
        parent: what it is a copy of.
    """

    def __init__(self, spec: SandboxSpec, parent: UnsafeSandbox | None = None) -> None:
        self._spec = spec
        self._root = tempfile.mkdtemp(prefix="workgym-unsafe-")
        self._folder, self._scratch = f"{self._root}/workspace", f"{self._root}/tmp"
        os.mkdir(self._scratch)
        self._forfeited = False
        self._live: list[UnsafeRun] = []
        self._forks: list[UnsafeSandbox] = []
        self._snapshots: dict[SnapshotId, tuple[str, Mapping[str, bytes]]] = {}
        try:
            if parent is None:
                os.mkdir(self._folder)
            else:
                self._snapshots |= parent._snapshots
                _copy(parent._folder, self._folder)
            self._workspace: Workspace = self._open_workspace(parent._workspace.baseline if parent else {})
        except BaseException:
            _remove(self._root)
            raise

    def _open_workspace(self, baseline: Mapping[str, bytes]) -> Workspace:
        folder = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        return Workspace(folder, user=None, group=None, baseline=baseline)

    @property
    def spec(self) -> SandboxSpec:
        """What programs are asked to keep to."""
        return self._spec

    @property
    def capabilities(self) -> Capabilities:
        """No isolation; workspaces, snapshots, and freezing of a program's process group."""
        return _HOLDS

    # Programs

    def start(self, program: Program, *, env: Mapping[str, str] | None = None, channel: bool = False) -> UnsafeRun:
        """Start a program; returns when its interpreter has loaded."""
        return self._start(program, None, env or {}, channel)

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
        run = self._start(program, stdin, env or {}, channel)
        try:
            return run.finish(run.began + timeout_s)
        except BaseException:
            run.abandon()
            raise

    def _start(self, program: Program, stdin: bytes | None, env: Mapping[str, str], channel: bool) -> UnsafeRun:
        check_program(program, env)
        self._check_open()
        run = UnsafeRun(self._spec, self._folder, self._scratch, program, stdin=stdin, env=env, channel=channel)
        self._live = [*self._living(), run]
        return run

    def _living(self) -> list[UnsafeRun]:
        return [run for run in self._live if not run.done]

    def _check_open(self) -> None:
        if not self._root or self._forfeited:
            raise SandboxError("this sandbox is closed; lease another")

    def freeze(self) -> None:
        """Stop each program's process group."""
        for run in self._living():
            run.signal(SIGSTOP)

    def thaw(self) -> None:
        """Let them go on."""
        for run in self._living():
            run.signal(SIGCONT)

    def kill_all(self) -> int:
        """Kill each program's process group; return how many processes. Idempotent."""
        live, self._live = self._living(), []
        return sum(run.abandon() for run in live)

    def forfeit(self) -> None:
        """Kill everything and start nothing more, from whichever thread."""
        self._forfeited = True
        for run in self._living():
            run.lose()
        for fork in self._forks:
            fork.forfeit()

    def heartbeat(self, timeout_s: float) -> Health:
        """Run an empty program."""
        began = time.monotonic()
        try:
            status = self.exec(PythonCode(""), timeout_s=timeout_s).status
        except SandboxError as error:
            return Health(False, time.monotonic() - began, {"error": str(error)})
        return Health(status == "ok", time.monotonic() - began, {"status": status})

    def close(self) -> None:
        """Kill everything, forks too, and remove the folder. Idempotent.

        Raises:
            SandboxError: the folder cannot be removed: what left its process group may still write there.
        """
        for fork in self._forks:
            fork.close()
        self.kill_all()
        root, self._root = self._root, ""
        self._workspace.close()
        if root:
            _remove(root)

    # The workspace

    def write(self, path: str, data: bytes) -> None:
        """Write a file of the workspace, with the folders above it."""
        self._workspace.write(path, data)

    def read(self, path: str, max_bytes: int) -> bytes:
        """Read a regular file of the workspace."""
        return self._workspace.read(path, max_bytes)

    def diff(self) -> WorkspaceDiff:
        """How the workspace differs from what `write` laid there."""
        return self._workspace.diff()

    def snapshot(self, kind: Literal["workspace"] = "workspace") -> SnapshotId:
        """Copy the workspace."""
        if kind != "workspace":
            raise SandboxError(f"sandbox backend 'unsafe-subprocess' remembers the workspace, not {kind!r}")
        self._check_quiet("be remembered")
        name = SnapshotId(secrets.token_hex(8))
        folder = f"{self._root}/{name}"
        _copy(self._folder, folder)
        self._snapshots[name] = folder, self._workspace.baseline
        return name

    def restore(self, snapshot: SnapshotId) -> None:
        """Copy a remembered workspace back; what runs is killed."""
        self._check_open()
        if snapshot not in self._snapshots:
            raise SandboxError(f"this sandbox has no snapshot {snapshot!r}; it has {sorted(self._snapshots) or 'none'}")
        self.kill_all()
        folder, baseline = self._snapshots[snapshot]
        self._workspace.close()
        _remove(self._folder)
        _copy(folder, self._folder)
        self._workspace = self._open_workspace(baseline)

    def fork(self, n: int) -> Sequence[UnsafeSandbox]:
        """Make copies."""
        if n < 1:
            raise ValueError(f"a sandbox is forked into at least 1, not {n}")
        self._check_quiet("be forked")
        made = []
        for _ in range(n):
            made.append(UnsafeSandbox(self._spec, self))
            self._forks.append(made[-1])
        return made

    def _check_quiet(self, what: str) -> None:
        self._check_open()
        if self._living():
            raise SandboxError(f"a sandbox cannot {what} while a program runs in it; wait for it, or kill_all() first")


def _copy(source: str, target: str) -> None:
    done = subprocess.run(["cp", "-a", "--", source, target], capture_output=True, check=False)
    if done.returncode:
        raise SandboxError(f"cannot copy a workspace: {done.stderr.decode('utf-8', 'replace')[-500:]}")


def _remove(folder: str) -> None:
    """Remove a folder, of which programs may have closed parts to us."""
    try:
        for here, folders, _ in os.walk(folder):
            for name in folders:
                if not os.path.islink(f"{here}/{name}"):
                    os.chmod(f"{here}/{name}", 0o700)
        shutil.rmtree(folder)
    except OSError as error:
        raise SandboxError(f"cannot remove the folder of an unsafe sandbox: {error}") from error
