"""The table of sandbox backends."""

from __future__ import annotations

from collections.abc import Callable

from workgym.envs.sandbox.protocol import SandboxPool
from workgym.envs.sandbox.spec import Capabilities, SandboxSpec
from workgym.tasks.naming import unknown_name

__all__ = ["BACKENDS", "build_pool"]

BACKENDS = ("local",)


def build_pool(backend: str, spec: SandboxSpec, capabilities: Callable[[], Capabilities]) -> SandboxPool:
    """Make a pool, without asking what it guarantees.

    Args:
        backend: one of `BACKENDS`.
        spec: what each program may use.
        capabilities: tells what the backend was seen to hold.

    Raises:
        ValueError: there is no such backend.
    """
    if backend not in BACKENDS:
        raise ValueError(unknown_name("sandbox backend", backend, BACKENDS))
    from workgym.envs.sandbox.local.pool import LocalPool

    return LocalPool(spec, capabilities)
