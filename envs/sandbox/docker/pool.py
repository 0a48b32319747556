"""The docker backend's pool."""

from __future__ import annotations

import contextlib
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Self

from workgym.envs.sandbox.docker.container import LABEL, Container
from workgym.envs.sandbox.docker.daemon import Daemon, find_daemon, require_image
from workgym.envs.sandbox.docker.sandbox import DockerSandbox
from workgym.envs.sandbox.ledger import Owner, own_ledger
from workgym.envs.sandbox.shown import checked_folders
from workgym.envs.sandbox.spec import Capabilities, SandboxSpec
from workgym.tasks.errors import SandboxError

__all__ = ["DockerPool"]

_pools: weakref.WeakSet[DockerPool] = weakref.WeakSet()


class DockerPool:
    """Sandboxes in containers: one container a lease, made with its first need and removed after it.

    Nothing is asked of docker before the first need.

    Args:
        spec: what programs may use.
        capabilities: tells what docker was seen to hold here.
        min_idle: containers kept ready, so that a lease need not wait for one to start.
        max_size: leases at once; one more waits.
        max_age_s: an idle container that is older is not used anymore.
    """

    def __init__(
        self,
        spec: SandboxSpec,
        capabilities: Callable[[], Capabilities],
        *,
        min_idle: int = 0,
        max_size: int = 64,
        max_age_s: float = 3600.0,
    ) -> None:
        if min_idle < 0 or max_size < 1 or not max_age_s > 0:
            raise ValueError(
                f"min_idle must be >= 0, max_size >= 1, max_age_s > 0, not {min_idle}, {max_size}, {max_age_s}"
            )
        self._spec, self._capabilities = spec, capabilities
        self._min_idle, self._max_size, self._max_age_s = min_idle, max_size, max_age_s
        self._closed = False
        self._begin()
        _pools.add(self)

    def _begin(self) -> None:
        """Start without a container: when new, and in a process that was forked from another."""
        self._lock = threading.Lock()
        self._finding = threading.Lock()
        self._room = threading.Semaphore(self._max_size)
        self._daemon: Daemon | None = None
        self._note = ""
        self._living: set[Container] = set()
        self._idle: list[Container] = []
        self._is_filling = False

    @property
    def spec(self) -> SandboxSpec:
        """What programs may use."""
        return self._spec

    @property
    def capabilities(self) -> Capabilities:
        """What docker was seen to hold here."""
        return self._capabilities()

    @contextlib.contextmanager
    def lease(self, *, read_only: Mapping[str, str] | None = None) -> Iterator[DockerSandbox]:
        """Lend a sandbox; costs nothing before its first need.

        Args:
            read_only: absolute path inside -> folder of the host that is shown there and cannot be changed.

        Raises:
            ValueError: a path is not absolute, is one of docker's own, or no such folder exists.
            SandboxError: the pool is closed.
        """
        folders = dict(checked_folders(read_only or {}))
        self._require_open()
        with self._room:
            self._require_open()
            box = DockerSandbox(self, folders)
            try:
                yield box
            finally:
                box.close()

    def _require_open(self) -> None:
        if self._closed:
            raise SandboxError("this sandbox pool is closed; open another")

    # Containers

    def take(self, read_only: Mapping[str, str]) -> Container:
        """A container that nobody has used: one that is idle, or else a new one.

        Raises:
            IsolationUnavailable: docker or the image is missing, or does not give what isolates.
            SandboxError: the container does not start, or the pool is closed.
        """
        container = None if read_only else self._take_idle()
        container = container or self._make(read_only)
        if self._min_idle:
            self._fill()
        return container

    def _take_idle(self) -> Container | None:
        while True:
            with self._lock:
                if not self._idle:
                    return None
                container = self._idle.pop(0)
            if container.is_fit and time.time() - container.made_at < self._max_age_s:
                return container
            self.drop(container)

    def _make(self, read_only: Mapping[str, str]) -> Container:
        daemon, owner = self._found_daemon()
        container = Container(daemon, self._spec, owner, read_only)
        with self._lock:
            if not self._closed:
                self._living.add(container)
                return container
        container.close()
        raise SandboxError("this sandbox pool is closed; open another")

    def _found_daemon(self) -> tuple[Daemon, str]:
        """The daemon, asked once, and the name that our containers carry, written down before there is one."""
        owner = Owner.this_process().name
        with self._finding:
            if self._daemon is None:
                daemon = find_daemon()
                require_image(daemon, self._spec.image)
                self._note = own_ledger().note("containers", label=f"{LABEL}={owner}", host=daemon.address)
                self._daemon = daemon
            return self._daemon, owner

    def drop(self, container: Container) -> None:
        """Remove a container."""
        container.close()
        with self._lock:
            self._living.discard(container)

    def _fill(self) -> None:
        """Make idle containers, beside whoever leases."""
        with self._lock:
            if self._is_filling or self._closed or len(self._idle) >= self._min_idle:
                return
            self._is_filling = True
        threading.Thread(target=self._fill_up, name="workgym-docker-pool", daemon=True).start()

    def _fill_up(self) -> None:
        # What fails here fails again, and is told, where a lease makes its own.
        with contextlib.suppress(SandboxError):
            while not self._closed and len(self._idle) < self._min_idle:
                container = self._make({})
                with self._lock:
                    self._idle.append(container)
        with self._lock:
            self._is_filling = False

    def close(self) -> None:
        """Remove every container of the pool. Idempotent.

        Raises:
            SandboxError: the daemon does not remove one.
        """
        with self._lock:
            self._closed = True
            living, self._living = self._living, set()
            self._idle.clear()
        with contextlib.ExitStack() as stack:  # all of them, whatever one raises; what is left stays in the ledger
            for container in living:
                stack.callback(container.close)
        with self._lock:
            note, self._note = self._note, ""
        if note:
            own_ledger().done(note)

    def __enter__(self) -> Self:
        """The pool; it is closed when the `with` ends."""
        return self

    def __exit__(self, *raised: object) -> None:
        """Close it."""
        self.close()

    def _forsake(self) -> None:
        """In a forked process: the containers belong to the parent; new ones come at the next need."""
        for container in self._living:
            container.forsake()
        self._begin()


def _forsake_all() -> None:
    for pool in list(_pools):
        pool._forsake()


os.register_at_fork(after_in_child=_forsake_all)
