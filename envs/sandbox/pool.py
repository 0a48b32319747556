"""Open a pool of sandboxes by the name of its backend, or refuse."""

from __future__ import annotations

from functools import partial

from workgym.envs.sandbox.backends import BACKENDS, build_pool
from workgym.envs.sandbox.capabilities import probe
from workgym.envs.sandbox.protocol import SandboxPool
from workgym.envs.sandbox.spec import Capabilities, SandboxSpec
from workgym.tasks.errors import IsolationUnavailable

__all__ = ["BACKENDS", "check_guarantees", "open_pool"]

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


def open_pool(backend: str, spec: SandboxSpec, *, check: bool = True) -> SandboxPool:
    """Open a pool. It starts its interpreter with the first program.

    Args:
        backend: "local".
        spec: what each program may use, and which guarantees must hold.
        check: try the guarantees now (once a process); without it the caller answers for calling `check_guarantees`.

    Raises:
        ValueError: there is no such backend.
        IsolationUnavailable: this machine cannot give a guarantee that `spec.require` names.
    """
    pool = build_pool(backend, spec, partial(probe, backend))
    if check:
        check_guarantees(backend, spec)
    return pool


def check_guarantees(backend: str, spec: SandboxSpec) -> Capabilities:
    """Refuse to go on where a guarantee that was asked for does not hold.

    Returns:
        What the backend was seen to hold.

    Raises:
        IsolationUnavailable: names the guarantee, the cause and a way out.
    """
    seen = probe(backend)
    for name in spec.require:
        if not getattr(seen, name):
            raise IsolationUnavailable(
                f"sandbox backend {backend!r} does not guarantee {name!r} here: {_CAUSES[name]} when it was tried; "
                f"see `workgym doctor`, or leave {name!r} out of SandboxSpec.require if you accept that"
            )
    return seen
