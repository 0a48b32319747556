"""Open a pool of sandboxes by the name of its backend."""

from __future__ import annotations

from workgym.envs.sandbox.protocol import SandboxPool
from workgym.envs.sandbox.spec import Capabilities, SandboxSpec
from workgym.tasks.naming import unknown_name

__all__ = ["BACKENDS", "open_pool"]

BACKENDS = ("local",)


def open_pool(backend: str, spec: SandboxSpec) -> SandboxPool:
    """Open a pool. It starts nothing before the first program.

    Raises:
        ValueError: there is no such backend.
        IsolationUnavailable: this machine cannot give a guarantee that `spec.require` names.
    """
    if backend not in BACKENDS:
        raise ValueError(unknown_name("sandbox backend", backend, BACKENDS))
    from workgym.envs.sandbox.local.pool import LocalPool

    return LocalPool(spec, Capabilities())
