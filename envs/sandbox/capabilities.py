"""Try what a backend holds, instead of believing it."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from workgym.envs.sandbox.backends import build_pool
from workgym.envs.sandbox.protocol import SandboxPool
from workgym.envs.sandbox.spec import Capabilities, PythonCode, SandboxSpec
from workgym.tasks.errors import IsolationUnavailable, SandboxError

__all__ = ["probe", "try_guarantees"]

_TRIAL = SandboxSpec(memory_mb=64, cpu_s=5.0, n_processes=8, disk_mb=2, n_inodes=64, require=())
_TIMEOUT_S = 20.0

# Each line tries to break out; what comes back is what happened. {canary}, {port} and {parent} belong to the host.
_BREAKOUT = """
import ctypes, errno, json, os, signal, socket, sys, time
seen = {{}}

def succeeds(attempt):
    try:
        return attempt() is not False
    except BaseException:
        return False

def read(path):
    return lambda: open(path).read() != ""

def connect():
    socket.create_connection(("127.0.0.1", {port}), timeout=1).close()

def fork_many():
    n = 0
    try:
        while n < 64:
            pid = os.fork()
            if pid == 0:
                time.sleep(60)
                os._exit(0)
            n += 1
    except OSError:
        pass
    return n

def write_much():
    for n in range(16):
        with open(f"much{{n}}", "wb", buffering=0) as file:
            file.write(bytes(1 << 20))

seen["file"] = succeeds(read({canary!r})) or succeeds(read("/proc/1/root" + {canary!r}))
seen["network"] = succeeds(connect)
seen["net"] = os.readlink("/proc/self/ns/net") if os.path.exists("/proc/self/ns/net") else ""
seen["pids"] = [int(name) for name in os.listdir("/proc") if name.isdigit()] if os.path.isdir("/proc") else []
seen["self"] = os.getpid()
seen["signal"] = succeeds(lambda: os.kill({parent}, 0)) and {parent} != os.getpid()
seen["memory"] = succeeds(lambda: bytearray(256 << 20))
seen["disk"] = succeeds(write_much)
ctypes.set_errno(0)
seen["unshare"] = ctypes.CDLL(None, use_errno=True).unshare(0x10000000) == 0 or ctypes.get_errno() != errno.EPERM
seen["filter"] = "Seccomp:\\t2" in open("/proc/self/status").read() if os.path.exists("/proc/self/status") else True
seen["forks"] = fork_many()
os.write(3, json.dumps(seen).encode())
"""

# A daemon, out of reach of process groups and deaf to signals.
_SURVIVOR = """
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    if os.fork() == 0:
        os.write(3, os.readlink("/proc/self/ns/pid").encode() + b"\\n")
        time.sleep(120)
    os._exit(0)
time.sleep(120)
"""

_seen: dict[str, Capabilities] = {}
_lock = threading.Lock()


def _renew_lock() -> None:
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_renew_lock)


def probe(backend: str) -> Capabilities:
    """Try each guarantee of a backend on this machine, once a process.

    Raises:
        ValueError: there is no such backend.
        IsolationUnavailable: the backend cannot isolate here, or could not be tried.
    """
    with _lock:
        if backend not in _seen:
            pool = build_pool(backend, _TRIAL, Capabilities)
            try:
                _seen[backend] = try_guarantees(pool)
            except IsolationUnavailable:
                raise
            except SandboxError as error:
                raise IsolationUnavailable(f"sandbox backend {backend!r} could not be tried: {error}") from error
            finally:
                pool.close()
        return _seen[backend]


def try_guarantees(pool: SandboxPool) -> Capabilities:
    """Let a hostile program loose in a pool with the limits of the trial, and see what it reached.

    Raises:
        SandboxError: the program did not come back.
    """
    with _host() as (canary, port), pool.lease() as box:
        source = _BREAKOUT.format(canary=canary, port=port, parent=os.getpid())
        result = box.exec(PythonCode(source), timeout_s=_TIMEOUT_S, channel=True)
        try:
            seen: dict[str, Any] = json.loads(result.channel)
        except ValueError as error:
            raise SandboxError(
                f"the isolation could not be tried: {result.status}, {result.stderr[-500:]!r}"
            ) from error
        survivor = box.start(PythonCode(_SURVIVOR), channel=True)
        home = (survivor.receive(_TIMEOUT_S) or b"").decode()
        survivor.wait(0.0)
    memory: Literal["", "per-process"] = "" if seen["memory"] else "per-process"
    return Capabilities(
        files=not seen["file"],
        network=not seen["network"] and seen["net"] != _own_network(),
        process_tree=not seen["signal"] and set(seen["pids"]) <= {seen["self"]},
        memory=memory,
        processes=seen["forks"] < _TRIAL.n_processes,
        disk=not seen["disk"],
        seccomp=not seen["unshare"] and seen["filter"],
        kill=home != "" and _inhabitants(home) == 0,
    )


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


def _own_network() -> str:
    return os.readlink("/proc/self/ns/net")
