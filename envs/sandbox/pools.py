"""The pools of a process, shared by all environments that ask for the same and closed with the last of them."""

from __future__ import annotations

import atexit
import os
import threading
from dataclasses import dataclass

from workgym.envs.sandbox.pool import check_guarantees, open_pool
from workgym.envs.sandbox.protocol import SandboxPool
from workgym.envs.sandbox.spec import SandboxSpec

__all__ = ["SharedPools", "acquire_pools", "release_pools"]

_Key = tuple[str, SandboxSpec, SandboxSpec]


@dataclass(frozen=True, eq=False)
class SharedPools:
    """Two pools that never share a process: one for agents, one for those who judge them.

    Attributes:
        backend: where both run.
        agent: the pool of agents.
        grader: the pool of graders.
    """

    backend: str
    agent: SandboxPool
    grader: SandboxPool

    def check(self) -> None:
        """Try once a process whether the machine holds what both specs require.

        Raises:
            IsolationUnavailable: it does not.
        """
        for pool in (self.agent, self.grader):
            check_guarantees(self.backend, pool.spec)


class _Shelf:
    """Open pools by what was asked for, with the number of their users."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[_Key, tuple[SharedPools, int]] = {}

    def acquire(self, key: _Key) -> SharedPools:
        with self._lock:
            pools, users = self._open.get(key) or (_make(key), 0)
            self._open[key] = (pools, users + 1)
            return pools

    def release(self, pools: SharedPools) -> None:
        with self._lock:
            key = next((key for key, (shared, _) in self._open.items() if shared is pools), None)
            if key is None:
                return
            users = self._open[key][1] - 1
            if users > 0:
                self._open[key] = (pools, users)
                return
            del self._open[key]
        _close(pools)

    def clear(self) -> None:
        with self._lock:
            leftovers = [pools for pools, _ in self._open.values()]
            self._open.clear()
        for pools in leftovers:
            _close(pools)

    def after_fork(self) -> None:
        """The pools go on in the forked process (each starts its own zygote there); the lock may have been held."""
        self._lock = threading.Lock()


def acquire_pools(backend: str, agent: SandboxSpec, grader: SandboxSpec) -> SharedPools:
    """Share the process's pools for these specs. Starts and probes nothing: see `SharedPools.check`.

    Raises:
        ValueError: there is no such backend.
    """
    return _shelf.acquire((backend, agent, grader))


def release_pools(pools: SharedPools) -> None:
    """Give them back; the last user's release closes them. Pools that are not open are ignored."""
    _shelf.release(pools)


def _make(key: _Key) -> SharedPools:
    backend, agent, grader = key
    return SharedPools(backend, open_pool(backend, agent, check=False), open_pool(backend, grader, check=False))


def _close(pools: SharedPools) -> None:
    pools.agent.close()
    pools.grader.close()


_shelf = _Shelf()
atexit.register(_shelf.clear)
os.register_at_fork(after_in_child=_shelf.after_fork)
