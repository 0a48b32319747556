"""The fixed mix of programs that an audit lets run: honest, broken and hostile ones."""

from __future__ import annotations

import contextlib
import os
import select
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from workgym.envs.sandbox.census import descendants_of
from workgym.envs.sandbox.protocol import SandboxPool
from workgym.envs.sandbox.spec import ExecResult, PythonCode, SandboxSpec
from workgym.tasks.errors import SandboxError

__all__ = ["CASES", "SPEC", "Case", "run_case"]

SPEC: Final = SandboxSpec(
    memory_mb=64, cpu_s=0.3, n_processes=16, n_open_files=64, disk_mb=4, n_inodes=64, output_kb=16, require=()
)
"""Small limits, so that what is stopped by them is stopped soon."""

_LONG_S = 30.0
_SHORT_S = 1.0

# None is unbounded: where nothing holds it, it ends by itself and harms nobody.
_LOOP = "import time\nend = time.monotonic() + 20\nwhile time.monotonic() < end: pass"
_FORKS = """
import os, time
for _ in range(6):
    try:
        os.fork()
    except OSError:
        pass
time.sleep(20)
"""
_DAEMON = """
import os, signal, time
if os.fork() == 0:
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    if os.fork() == 0:
        time.sleep(20)
    os._exit(0)
"""
_ZOMBIES = """
import os
for _ in range(5):
    if os.fork() == 0:
        os._exit(0)
"""
_FLOOD = "import os\nfor _ in range(1024): os.write(1, bytes(65536)); os.write(2, bytes(65536))"
_DISK = """
with open("much", "wb", buffering=0) as file:
    for _ in range(64):
        file.write(bytes(1 << 20))
"""
_SHARED = """
for folder in ("/dev/shm", "/tmp", "/var/tmp"):
    try:
        open(f"{folder}/NONCE", "w").close()
    except OSError:
        pass
"""
_WAIT = "import os, time\nos.write(3, b'ready\\n')\ntime.sleep(20)"


@dataclass(frozen=True, slots=True)
class Case:
    """One kind of run.

    Attributes:
        name: what it does.
        act: does it in a pool, given a nonce for the names of its files, and says how it ended.
        ends: how it may end.
        needs: the capabilities without which it cannot be done.
        is_alone: it is done once, when all others are through, for it would disturb them.
    """

    name: str
    act: Callable[[SandboxPool, str], str]
    ends: tuple[str, ...] = ("ok",)
    needs: tuple[str, ...] = ()
    is_alone: bool = False


def run_case(case: Case, pool: SandboxPool, nonce: str) -> tuple[str, bool]:
    """Do it once.

    Returns:
        How it ended, and whether it may end so.
    """
    try:
        end = case.act(pool, nonce)
    except SandboxError as error:
        return f"fault: {error}", False
    return end, end in case.ends


def _executes(source: str, timeout_s: float = _LONG_S) -> Callable[[SandboxPool, str], str]:
    def act(pool: SandboxPool, nonce: str) -> str:
        with pool.lease() as box:
            return box.exec(PythonCode(source.replace("NONCE", nonce)), timeout_s=timeout_s).status

    return act


def _kill(pool: SandboxPool, _: str) -> str:
    with pool.lease() as box:
        process = box.start(PythonCode(_WAIT), channel=True)
        process.receive(_LONG_S)
        process.kill()
        return process.wait(_LONG_S).status


def _close_under_a_program(pool: SandboxPool, _: str) -> str:
    with pool.lease() as box:
        begun = box.start(PythonCode(_WAIT), channel=True).receive(_LONG_S)
    return "ok" if begun == b"ready" else "never began"


def _snapshot_and_fork(pool: SandboxPool, _: str) -> str:
    with pool.lease() as box:
        box.write("file", b"first")
        snapshot = box.snapshot()
        box.write("file", b"second")
        box.restore(snapshot)
        forks = box.fork(2)
        results: list[ExecResult] = []
        for number, fork in enumerate(forks):
            results.append(
                fork.exec(
                    PythonCode(f"print(open('file').read()); open('file', 'w').write('{number}')"), timeout_s=_LONG_S
                )
            )
        contents = [one.read("file", 100) for one in (box, *forks)]
    told = [result.stdout for result in results]
    is_right = (told, contents) == ([b"first\n"] * 2, [b"first", b"0", b"1"])
    return "ok" if is_right else f"mixed up: {told}, {contents}"


def _kill_the_machinery(pool: SandboxPool, _: str) -> str:
    """Kill every process that the pool has started, under a program; the next program must find all as ever."""
    with pool.lease() as box:
        process = box.start(PythonCode(_WAIT), channel=True)
        process.receive(_LONG_S)
        machinery = [os.pidfd_open(pid) for pid in descendants_of(os.getpid())]
        if not machinery:
            return "nothing to kill"
        _kill_and_wait(machinery)
        try:
            return f"told as {process.wait(_LONG_S).status}"
        except SandboxError:
            pass
    with pool.lease() as box:
        return box.exec(PythonCode("print(1)"), timeout_s=_LONG_S).status


def _kill_and_wait(handles: list[int]) -> None:
    """The next program must not be given to something that is still dying."""
    poll = select.poll()
    for handle in handles:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(handle, signal.SIGKILL)
        poll.register(handle, select.POLLIN)
    n_left = len(handles)
    while n_left and (ended := poll.poll(_LONG_S * 1000)):
        for handle, _ in ended:
            poll.unregister(handle)
        n_left -= len(ended)
    for handle in handles:
        os.close(handle)


CASES: Final = [
    Case("ok", _executes("print(sum(range(10)))")),
    Case("error", _executes("1 / 0"), ("nonzero",)),
    Case("crash", _executes("import os; os.abort()"), ("signal",)),
    Case("loop", _executes(_LOOP), ("timeout_cpu",)),
    Case("sleep", _executes("import time; time.sleep(20)", _SHORT_S), ("timeout_wall",)),
    Case("fork bomb", _executes(_FORKS, _SHORT_S), ("timeout_wall", "processes_limit"), ("processes",)),
    Case("memory", _executes("bytearray(256 << 20)"), ("oom",), ("memory",)),
    Case("flood", _executes(_FLOOD), ("output_limit",)),
    Case("full disk", _executes(_DISK), ("disk_limit",), ("disk",)),
    Case("zombies", _executes(_ZOMBIES)),
    Case("daemon", _executes(_DAEMON)),
    Case("shared files", _executes(_SHARED)),
    Case("killed", _kill, ("killed",)),
    Case("closed under a program", _close_under_a_program),
    Case("snapshot and fork", _snapshot_and_fork, needs=("workspace", "snapshot")),
    Case("machinery killed", _kill_the_machinery, ("ok", "nothing to kill"), ("kill",), is_alone=True),
]
"""What is run in turn. Whoever wants to see the audit find something adds a case that leaves something."""
