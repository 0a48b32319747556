"""The pools of a process, shared by all environments that ask for the same and closed with the last of them."""

from __future__ import annotations

import atexit
import os
import threading

from workgym.envs.sandbox.backends import AUTO, ISOLATING
from workgym.envs.sandbox.pool import check_guarantees, choose_backend, open_pool
from workgym.envs.sandbox.protocol import SandboxPool
from workgym.envs.sandbox.spec import SandboxSpec
from workgym.tasks.naming import unknown_name

__all__ = ["SHARED_BACKENDS", "SharedPools", "acquire_pools"]

SHARED_BACKENDS = (*ISOLATING, AUTO)
"""Backends that environments may run code in: they isolate."""

_Key = tuple[str, SandboxSpec, SandboxSpec]


class _Pair:
    """Two open pools and the number of handles on them."""

    def __init__(self, key: _Key) -> None:
        self.key = key
        backend, agent, grader = key
        if backend == AUTO:
            backend = choose_backend(agent)
        self.backend = backend
        self.agent = open_pool(backend, agent, check=False)
        self.grader = open_pool(backend, grader, check=False)
        self.n_handles = 0

    def close(self) -> None:
        self.agent.close()
        self.grader.close()


class SharedPools:
    """A handle on two pools that never share a process: one for agents, one for those who judge them.

    Made by `acquire_pools`. After a fork it serves the new process too, whose pools start interpreters of their own.
    """

    def __init__(self, pair: _Pair) -> None:
        self._pair = pair
        self._closed = False

    @property
    def agent(self) -> SandboxPool:
        """The pool of agents."""
        return self._pair.agent

    @property
    def grader(self) -> SandboxPool:
        """The pool of graders."""
        return self._pair.grader

    def check(self) -> None:
        """Try the isolation, once a process.

        Raises:
            IsolationUnavailable: this machine cannot give a guarantee that a pool's spec requires.
        """
        _, agent, grader = self._pair.key
        check_guarantees(self._pair.backend, agent)
        check_guarantees(self._pair.backend, grader)

    def close(self) -> None:
        """Give the handle back; the last handle closes the pools. Idempotent."""
        with _shelf.lock:
            if self._closed:
                return
            self._closed = True
            last = _shelf.drop(self._pair)
        if last:
            self._pair.close()


class _Shelf:
    """The open pairs of this process, by what was asked for. `lock` guards all of it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._pairs: dict[_Key, _Pair] = {}

    def take(self, key: _Key) -> _Pair:
        pair = self._pairs.get(key) or _Pair(key)
        self._pairs[key] = pair
        pair.n_handles += 1
        return pair

    def drop(self, pair: _Pair) -> bool:
        """Whether that was the last handle."""
        pair.n_handles -= 1
        if pair.n_handles > 0 or self._pairs.get(pair.key) is not pair:
            return False
        del self._pairs[pair.key]
        return True

    def clear(self) -> None:
        with self.lock:
            pairs = list(self._pairs.values())
            self._pairs.clear()
        for pair in pairs:
            pair.close()

    def renew_lock(self) -> None:
        self.lock = threading.Lock()


def acquire_pools(backend: str, agent: SandboxSpec, grader: SandboxSpec) -> SharedPools:
    """Share the process's pools for these specs. Starts and probes nothing, but to choose for "auto": see `check`.

    Raises:
        ValueError: there is no such backend, or it does not isolate.
        IsolationUnavailable: what it is made of is not installed, or none is there for "auto" to choose.
    """
    if backend not in SHARED_BACKENDS:
        raise ValueError(unknown_name("sandbox", backend, SHARED_BACKENDS))
    with _shelf.lock:
        return SharedPools(_shelf.take((backend, agent, grader)))


_shelf = _Shelf()
atexit.register(_shelf.clear)
os.register_at_fork(after_in_child=_shelf.renew_lock)
