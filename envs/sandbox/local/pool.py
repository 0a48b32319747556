"""The local backend's pool."""

from __future__ import annotations

import contextlib
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping

from workgym.envs.sandbox.local.run import Run
from workgym.envs.sandbox.local.sandbox import LocalSandbox
from workgym.envs.sandbox.local.supervisor import MAX_RUNS, Zygote
from workgym.envs.sandbox.spec import Capabilities, Health, PythonCode, SandboxSpec
from workgym.tasks.errors import SandboxError

__all__ = ["LocalPool"]

_pools: weakref.WeakSet[LocalPool] = weakref.WeakSet()


class LocalPool:
    """Sandboxes whose programs are children of one warm interpreter.

    It starts with the first program and is replaced when it dies.

    Args:
        spec: what each program may use.
        capabilities: tells what this machine was seen to hold.
    """

    def __init__(self, spec: SandboxSpec, capabilities: Callable[[], Capabilities]) -> None:
        self._spec, self._capabilities = spec, capabilities
        self._closed = False
        self._begin()
        _pools.add(self)

    def _begin(self) -> None:
        """Start without a zygote: when new, and in a process that was forked from another."""
        self._lock = threading.Lock()
        self._room = threading.Semaphore(MAX_RUNS)
        self._zygote: Zygote | None = None
        self._runs: set[Run] = set()

    @property
    def spec(self) -> SandboxSpec:
        """What each program may use."""
        return self._spec

    @property
    def capabilities(self) -> Capabilities:
        """What this machine was seen to hold."""
        return self._capabilities()

    @property
    def zygote_pid(self) -> int | None:
        """The process whose end takes every run with it; None before the first program."""
        return self._zygote.pid if self._zygote else None

    @contextlib.contextmanager
    def lease(self, *, read_only: Mapping[str, str] | None = None) -> Iterator[LocalSandbox]:
        """Lend a sandbox; costs nothing before its first program.

        Raises:
            SandboxError: the pool is closed.
        """
        if self._closed:
            raise SandboxError("this sandbox pool is closed; open another")
        if read_only:
            raise SandboxError("sandbox backend 'local' shows no folders of the host yet")
        box = LocalSandbox(self)
        try:
            yield box
        finally:
            box.close()

    def start(self, program: PythonCode, *, stdin: bytes | None, env: Mapping[str, str], channel: bool) -> Run:
        """Start a program in a fresh child.

        Raises:
            SandboxError: the pool is closed, or no zygote can be had.
        """
        self._room.acquire()
        try:
            run = Run(
                self._spec,
                program,
                stdin=stdin,
                env=env,
                channel=channel,
                hand_over=self._hand_over,
                when_done=self._done,
            )
        except BaseException:
            self._room.release()
            raise
        self._runs.add(run)
        return run

    def _hand_over(self, message: bytes, files: list[int]) -> Zygote:
        for _ in range(2):  # a zygote that was dead before it got the message never saw the program
            zygote = self._living()
            if zygote.hand_over(message, files):
                return zygote
            self._discard(zygote)
        raise SandboxError("two zygotes in a row died before they took a program; is the machine out of memory?")

    def _done(self, run: Run) -> None:
        self._runs.discard(run)
        self._room.release()

    def _living(self) -> Zygote:
        with self._lock:
            if self._closed:
                raise SandboxError("this sandbox pool is closed; open another")
            if self._zygote is None:
                self._zygote = Zygote(self._spec)
            return self._zygote

    def _discard(self, zygote: Zygote) -> None:
        with self._lock:
            if self._zygote is zygote:
                self._zygote = None
        zygote.kill()

    def heartbeat(self, timeout_s: float) -> Health:
        """Run an empty program."""
        began = time.monotonic()
        try:
            run = self.start(PythonCode(""), stdin=b"", env={}, channel=False)
            status = run.finish(began + timeout_s).status
        except SandboxError as error:
            return Health(False, time.monotonic() - began, {"error": str(error)})
        return Health(status == "ok", time.monotonic() - began, {"status": status})

    def close(self) -> None:
        """End the zygote and with it every run. Idempotent."""
        with self._lock:
            self._closed = True
            zygote, self._zygote = self._zygote, None
        if zygote is not None:
            zygote.close()

    def _forsake(self) -> None:
        """In a forked process: the zygote and its runs belong to the parent; a new one comes at the next need."""
        zygote, runs = self._zygote, self._runs
        self._begin()
        for run in runs:
            run.forsake()
        if zygote is not None:
            zygote.forsake()


def _forsake_all() -> None:
    for pool in list(_pools):
        pool._forsake()


os.register_at_fork(after_in_child=_forsake_all)
