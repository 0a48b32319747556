"""The pools of the domain, and the processes beside them: the scorer and the renderer end with the last handle."""

from __future__ import annotations

import importlib.util
import os
import threading
from collections import Counter
from typing import Final

from workgym.envs.modeling.reader import READER_SANDBOX
from workgym.envs.modeling.render.server import close_shared_servers
from workgym.envs.modeling.scorer import close_shared_scorer
from workgym.envs.modeling.script import MESH_SANDBOX
from workgym.envs.sandbox.pools import SharedPools, acquire_pools
from workgym.envs.sandbox.protocol import SandboxPool
from workgym.tasks.errors import SandboxError
from workgym.tasks.extras import install_command

__all__ = ["Machinery"]

_PACKAGES: Final = ("manifold3d", "trimesh", "embreex", "scipy")


class Machinery:
    """A handle on the pools of agents and readers, and on the processes of this process that measure and draw.

    Args:
        sandbox: backend of the pools.
    """

    def __init__(self, sandbox: str) -> None:
        self._pools: Final[SharedPools] = acquire_pools(sandbox, MESH_SANDBOX, READER_SANDBOX)
        self._owner: Final = os.getpid()
        self._closed = False
        with _lock:
            _handles[self._owner] += 1

    @property
    def agent(self) -> SandboxPool:
        """Where scripts run."""
        return self._pools.agent

    @property
    def grader(self) -> SandboxPool:
        """Where files are read."""
        return self._pools.grader

    def check(self) -> None:
        """Try the isolation, once a process, and look for the packages.

        Raises:
            IsolationUnavailable: this machine cannot give a guarantee that the pools require.
            SandboxError: a package is missing.
        """
        missing = [name for name in _PACKAGES if importlib.util.find_spec(name) is None]
        if missing:
            raise SandboxError(f"Modeling-v0 needs {', '.join(missing)}: {install_command('modeling')}")
        self._pools.check()

    def close(self) -> None:
        """Give the handle back; the last one ends what runs. Idempotent."""
        with _lock:
            if self._closed:
                return
            self._closed = True
            _handles[self._owner] -= 1
            last = self._owner == os.getpid() and not _handles[self._owner]
        self._pools.close()
        if last:
            close_shared_scorer()
            close_shared_servers()


_handles: Counter[int] = Counter()  # by process: what a fork has inherited is not its own to end
_lock = threading.Lock()


def _renew_lock() -> None:
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_renew_lock)
