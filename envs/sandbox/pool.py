"""Open a pool of sandboxes by the name of its backend, or refuse."""

from __future__ import annotations

from functools import partial

from workgym.envs.sandbox.backends import AUTO, BACKENDS, ISOLATING, build_pool, check_backend
from workgym.envs.sandbox.capabilities import probe
from workgym.envs.sandbox.protocol import SandboxPool
from workgym.envs.sandbox.spec import Capabilities, PoolSize, SandboxSpec
from workgym.tasks.errors import IsolationUnavailable

__all__ = ["BACKENDS", "check_guarantees", "choose_backend", "open_pool"]

_CAUSES = {
    "files": "a program could open a file of the host",
    "network": "a program could reach a socket of the host",
    "process_tree": "a program could see or signal processes of the host",
    "memory": "a program could take more memory than its limit",
    "processes": "a program could start more processes than its limit",
    "disk": "a program could write more than its limit",
    "seccomp": "no system call filter is in force",
    "kill": "a program's descendants outlived it",
    "workspace": "the backend has no read, write and diff",
    "snapshot": "the backend has no snapshot, restore and fork",
    "freeze": "the backend has no freeze and thaw",
}


def open_pool(
    backend: str,
    spec: SandboxSpec,
    *,
    min_idle: int = 0,
    max_size: int = 128,
    max_uses: int = 100_000,
    max_age_s: float = 86_400.0,
    allow_unsafe: bool = False,
    check: bool = True,
) -> SandboxPool:
    """Open a pool. It starts what it needs with the first program, or with `min_idle` at once.

    Args:
        backend: "local", "bwrap", "docker", or "auto" for the first of these that holds what `spec.require` names;
            "unsafe-subprocess" isolates nothing and is never chosen.
        spec: what each program may use, and which guarantees must hold.
        min_idle: sandboxes kept ready.
        max_size: sandboxes lent at once.
        max_uses: sandboxes made of the same interpreter.
        max_age_s: seconds for which it is used.
        allow_unsafe: needed for "unsafe-subprocess".
        check: try the guarantees now (once a process); without it the caller answers for calling `check_guarantees`.

    Raises:
        ValueError: there is no such backend, or a number is out of range.
        IsolationUnavailable: this machine cannot give a guarantee that `spec.require` names.
    """
    if not isinstance(spec, SandboxSpec):
        raise ValueError(f"a pool is opened for a SandboxSpec(...), not for {spec!r}")
    size = PoolSize(min_idle, max_size, max_uses, max_age_s)
    check_backend(backend)
    if backend == AUTO:
        backend = choose_backend(spec)
    elif check and backend in ISOLATING:
        check_guarantees(backend, spec)
    return build_pool(backend, spec, partial(probe, backend, spec.image), size, allow_unsafe=allow_unsafe)


def choose_backend(spec: SandboxSpec) -> str:
    """The first backend that holds what is required.

    Raises:
        IsolationUnavailable: none does; says why for each.
    """
    reasons = []
    for backend in ISOLATING:
        try:
            check_guarantees(backend, spec)
        except IsolationUnavailable as error:
            reasons.append(str(error))
        else:
            return backend
    raise IsolationUnavailable("no sandbox backend holds here what is required. " + "; ".join(reasons))


def check_guarantees(backend: str, spec: SandboxSpec) -> Capabilities:
    """Refuse to go on where a guarantee that was asked for does not hold.

    Returns:
        What the backend was seen to hold.

    Raises:
        IsolationUnavailable: names the guarantee, the cause and a way out.
    """
    seen = probe(backend, spec.image)
    for name in spec.require:
        if not getattr(seen, name):
            raise IsolationUnavailable(
                f"sandbox backend {backend!r} does not guarantee {name!r} here: {_CAUSES[name]} when it was tried; "
                f"see `workgym doctor`, or leave {name!r} out of SandboxSpec.require if you accept that"
            )
    return seen
