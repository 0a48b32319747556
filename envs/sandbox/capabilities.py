"""Try what a backend holds, instead of believing it."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from workgym.envs.sandbox import trials
from workgym.envs.sandbox.backends import build_pool
from workgym.envs.sandbox.protocol import Sandbox, SandboxPool
from workgym.envs.sandbox.spec import Capabilities, PythonCode, SandboxSpec
from workgym.tasks.errors import IsolationUnavailable, SandboxError

__all__ = ["probe", "try_guarantees"]

_TRIAL = SandboxSpec(memory_mb=64, cpu_s=5.0, n_processes=8, disk_mb=2, n_inodes=64, require=())
_TIMEOUT_S = 20.0
_SILENCE_S = 0.1
_DEATH_S = 1.0
_MOST_TICKS = 100
_MOST_PIDS = 8  # of a run with what started it, where that shares its namespace

_seen: dict[str, Capabilities] = {}
_lock = threading.Lock()


def _renew_lock() -> None:
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_renew_lock)


def probe(backend: str, image: str = "") -> Capabilities:
    """Try each guarantee of a backend on this machine, once a process and image.

    Args:
        backend: its name.
        image: the root file system, for a backend that takes one; its default if "".

    Raises:
        ValueError: there is no such backend.
        IsolationUnavailable: the backend cannot isolate here, or could not be tried.
    """
    image = (image or _TRIAL.image) if backend == "docker" else ""
    key = f"{backend} {image}".strip()
    with _lock:
        if key not in _seen:
            pool = build_pool(backend, replace(_TRIAL, image=image or _TRIAL.image), Capabilities)
            try:
                _seen[key] = try_guarantees(pool)
            except IsolationUnavailable:
                raise
            except SandboxError as error:
                raise IsolationUnavailable(f"sandbox backend {backend!r} could not be tried: {error}") from error
            finally:
                pool.close()
        return _seen[key]


def try_guarantees(pool: SandboxPool) -> Capabilities:
    """Let hostile programs loose in a pool with the limits of the trial, and see what they reached.

    Raises:
        SandboxError: they did not come back.
    """
    with _host() as (canary, port), pool.lease() as box:
        source = trials.BREAKOUT.format(canary=canary, port=port, parent=os.getpid())
        result = box.exec(PythonCode(source), timeout_s=_TIMEOUT_S, channel=True)
        try:
            seen: dict[str, Any] = json.loads(result.channel)
        except ValueError as error:
            raise SandboxError(
                f"the isolation could not be tried: {result.status}, {result.stderr[-500:]!r}"
            ) from error
    with pool.lease() as box:
        memory = _try_memory(box)
        dies = _try_killing(box)
    with pool.lease() as box:
        workspace = _holds(_try_workspace, box)
        snapshot = workspace and _holds(_try_snapshot, box)
        freeze = _holds(_try_freezing, box)
    return Capabilities(
        files=not seen["file"],
        network=not seen["network"] and seen["net"] != _own("net"),
        process_tree=not seen["signal"] and len(seen["pids"]) <= _MOST_PIDS and seen["home"] != _own("pid"),
        memory=memory,
        processes=seen["forks"] < _TRIAL.n_processes,
        disk=not seen["disk"],
        seccomp=not seen["unshare"] and seen["filter"],
        kill=dies,
        workspace=workspace,
        snapshot=snapshot,
        freeze=freeze,
    )


def _try_memory(box: Sandbox) -> Literal["", "cgroup", "per-process"]:
    """One process that takes too much, then several that do so together."""
    if box.exec(PythonCode(trials.GREED), timeout_s=_TIMEOUT_S).status == "ok":
        return ""
    together = box.exec(PythonCode(trials.GREED_TOGETHER), timeout_s=_TIMEOUT_S)
    return "per-process" if together.status == "ok" else "cgroup"


def _try_killing(box: Sandbox) -> bool:
    """A daemon, out of reach of process groups and deaf to signals, must die with its program."""
    home = box.exec(PythonCode(trials.HOME), timeout_s=_TIMEOUT_S, channel=True).channel.decode()
    n_when_quiet = _inhabitants(home)
    survivor = box.start(PythonCode(trials.SURVIVOR), channel=True)
    home = (survivor.receive(_TIMEOUT_S) or b"").decode()
    n_before = _inhabitants(home)
    survivor.wait(0.0)
    deadline = time.monotonic() + _DEATH_S
    while _inhabitants(home) > n_when_quiet and time.monotonic() < deadline:
        time.sleep(_SILENCE_S)
    return n_before > n_when_quiet >= _inhabitants(home)


def _holds(attempt: Callable[[Sandbox], bool], box: Sandbox) -> bool:
    """What a backend lacks raises SandboxError."""
    try:
        return attempt(box)
    except SandboxError:
        return False


def _try_workspace(box: Sandbox) -> bool:
    box.write("kept", b"one")
    box.exec(PythonCode("open('kept', 'a').write(' two'); open('new', 'w').write('new')"), timeout_s=_TIMEOUT_S)
    return box.read("kept", 64) == b"one two" and set(box.diff().written) == {"kept", "new"}


def _try_snapshot(box: Sandbox) -> bool:
    before = box.snapshot()
    box.write("kept", b"changed")
    fork = box.fork(1)[0]
    fork.write("kept", b"forked")
    apart = (box.read("kept", 64), fork.read("kept", 64)) == (b"changed", b"forked")
    box.restore(before)
    return apart and box.read("kept", 64) == b"one two"


def _try_freezing(box: Sandbox) -> bool:
    clock = box.start(PythonCode(trials.CLOCK), channel=True)
    if clock.receive(_TIMEOUT_S) is None:
        return False
    box.freeze()
    for _ in range(_MOST_TICKS):  # what was on its way
        if clock.receive(_SILENCE_S) is None:
            break
    frozen = clock.receive(_SILENCE_S) is None
    box.thaw()
    thawed = clock.receive(_TIMEOUT_S) is not None
    box.kill_all()
    return frozen and thawed


@contextlib.contextmanager
def _host() -> Iterator[tuple[str, int]]:
    """A readable file and a listening socket of the host, both of which a free program reaches."""
    with tempfile.TemporaryDirectory(prefix="workgym-probe-") as folder, socket.socket() as listener:
        canary = Path(folder, "canary")
        canary.write_text("canary")
        canary.chmod(0o644)
        Path(folder).chmod(0o755)
        listener.bind(("127.0.0.1", 0))
        listener.listen(8)
        yield str(canary), listener.getsockname()[1]


def _inhabitants(namespace: str) -> int:
    """How many processes of this machine live in a PID namespace."""
    n = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):  # not ours to see, or gone
            n += os.readlink(f"/proc/{pid}/ns/pid") == namespace
    return n


def _own(namespace: str) -> str:
    return os.readlink(f"/proc/self/ns/{namespace}")
