"""The local backend's pool."""

from __future__ import annotations

import contextlib
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Self

from workgym.envs.sandbox.local.berth import Berth
from workgym.envs.sandbox.local.nursery import Nursery
from workgym.envs.sandbox.local.run import Run
from workgym.envs.sandbox.local.sandbox import LocalSandbox
from workgym.envs.sandbox.local.supervisor import MAX_RUNS
from workgym.envs.sandbox.protocol import Program
from workgym.envs.sandbox.shown import checked_folders
from workgym.envs.sandbox.spec import Capabilities, Health, PoolSize, PythonCode, SandboxSpec
from workgym.tasks.errors import SandboxError

__all__ = ["LocalPool"]

_pools: weakref.WeakSet[LocalPool] = weakref.WeakSet()


class LocalPool:
    """Sandboxes whose programs are children of a warm interpreter.

    It starts with the first program. It is replaced when it dies or does not answer, and after so many sandboxes or
    seconds.

    Args:
        spec: what each program may use.
        capabilities: tells what this machine was seen to hold.
        size: how many sandboxes are lent at once, and how long an interpreter is used.
        bwrap: path of bubblewrap, where that shall build the walls.
    """

    def __init__(
        self,
        spec: SandboxSpec,
        capabilities: Callable[[], Capabilities],
        size: PoolSize | None = None,
        *,
        bwrap: str = "",
    ) -> None:
        self._spec, self._capabilities, self._size = spec, capabilities, size or PoolSize()
        self._bwrap = bwrap
        self._closed = False
        self._begin()
        _pools.add(self)
        if self._size.min_idle:
            self._nursery.find(())

    def _begin(self) -> None:
        """Start without a zygote: when new, and in a process that was forked from another."""
        self._leases = threading.Semaphore(self._size.max_size)
        self._room = threading.Semaphore(MAX_RUNS)
        self._nursery = Nursery(self._spec, self._size, self._bwrap)
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
        return self._nursery.newest_pid

    @contextlib.contextmanager
    def lease(self, *, read_only: Mapping[str, str] | None = None) -> Iterator[LocalSandbox]:
        """Lend a sandbox; costs nothing before its first program. Waits while `max_size` are lent.

        Folders of the host take an interpreter of their own, for all leases that show the same ones.

        Raises:
            ValueError: a path of `read_only` is not absolute, is taken, or there is no such folder.
            SandboxError: the pool is closed.
        """
        shown = checked_folders(read_only or {})
        if self._closed:
            raise SandboxError("this sandbox pool is closed; open another")
        leases = self._leases
        leases.acquire()
        try:
            box = LocalSandbox(self, shown)
            try:
                yield box
            finally:
                box.close()
        finally:
            leases.release()

    def find_berth(self, shown: tuple[tuple[str, str], ...], like: Berth | None = None) -> Berth:
        """Make a workspace in a living zygote, or a copy of one in its own.

        Raises:
            SandboxError: the pool is closed, or no zygote can be had.
        """
        if self._closed:
            raise SandboxError("this sandbox pool is closed; open another")
        return self._nursery.find_berth(shown) if like is None else self._nursery.copy_berth(like)

    def start(
        self, berth: Berth, program: Program, *, stdin: bytes | None, env: Mapping[str, str], channel: bool
    ) -> Run:
        """Start a program in a fresh child.

        Raises:
            SandboxError: the zygote with the workspace is gone.
        """
        self._room.acquire()
        try:
            run = Run(self._spec, berth, program, stdin=stdin, env=env, channel=channel, when_done=self._done)
        except BaseException:
            self._room.release()
            raise
        self._runs.add(run)
        return run

    def _done(self, run: Run) -> None:
        self._runs.discard(run)
        self._room.release()

    def heartbeat(self, berth: Berth, timeout_s: float) -> Health:
        """Run an empty program; a zygote that does not answer is killed, and takes all its sandboxes with it."""
        began = time.monotonic()
        try:
            if not berth.zygote.answers(timeout_s):
                self._nursery.quarantine(berth.zygote)
                return Health(False, time.monotonic() - began, {"error": f"its zygote was silent for {timeout_s:g} s"})
            run = self.start(berth, PythonCode(""), stdin=b"", env={}, channel=False)
            status = run.finish(began + timeout_s).status
        except SandboxError as error:
            return Health(False, time.monotonic() - began, {"error": str(error)})
        return Health(status == "ok", time.monotonic() - began, {"status": status})

    def close(self) -> None:
        """End the zygotes and with them every run. Idempotent."""
        self._closed = True
        self._nursery.close()

    def __enter__(self) -> Self:
        """The pool; it is closed when the `with` ends."""
        return self

    def __exit__(self, *raised: object) -> None:
        """Close it."""
        self.close()

    def _forsake(self) -> None:
        """In a forked process: zygotes and runs belong to the parent; new ones come at the next need."""
        nursery, runs = self._nursery, self._runs
        self._begin()
        for run in runs:
            run.forsake()
        nursery.forsake()


def _forsake_all() -> None:
    for pool in list(_pools):
        pool._forsake()


os.register_at_fork(after_in_child=_forsake_all)
