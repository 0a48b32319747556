"""Runs programs in a sandbox when it is told to, and says what they cost: for benchmarks/perf/sandbox.py.

    python -m workgym.benchmarks.perf.sandbox_worker BACKEND CORES [MODULE ...]

It may run as another user and with another Python, so it needs nothing but `tasks` and `envs`. Requests and answers
are lines of JSON: ["run"], ["rate", runs, threads], ["fork", forks].
"""

from __future__ import annotations

import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from workgym.envs.sandbox.pool import open_pool
from workgym.envs.sandbox.protocol import Sandbox, SandboxPool
from workgym.envs.sandbox.spec import PythonCode, SandboxSpec

__all__ = ["main"]

_LONG_S = 60.0
_N_FILES, _FILE_BYTES = 20, 4096  # of a workspace that is forked


def _cpu_clock(pid: int) -> int:
    """The CPU clock of another process, for `time.clock_gettime`."""
    return (~pid << 3) | 2


def _below(pid: int) -> list[int]:
    found = [pid]
    for parent in found:
        for thread in os.listdir(f"/proc/{parent}/task"):
            with open(f"/proc/{parent}/task/{thread}/children") as children:
                found += map(int, children.read().split())
    return found[1:]


def _run(box: Sandbox, program: PythonCode, answer: bytes, keepers: list[int]) -> dict[str, float]:
    """Run it once: CPU seconds of the child, of the processes that stay, of this one; and wall seconds."""
    began = time.perf_counter()
    kept = sum(time.clock_gettime(_cpu_clock(pid)) for pid in keepers)
    caller = time.process_time()
    result = box.exec(program, timeout_s=_LONG_S)
    caller = time.process_time() - caller
    wall_s = time.perf_counter() - began
    if result.stdout != answer:
        raise RuntimeError(f"the sandbox answered {result}")
    kept = sum(time.clock_gettime(_cpu_clock(pid)) for pid in keepers) - kept
    return {"child_s": result.cpu_s, "zygote_s": kept, "caller_s": caller, "wall_s": wall_s}


def _rate(pool: SandboxPool, program: PythonCode, n_runs: int, n_threads: int) -> dict[str, float]:
    """How long several threads need for so many runs."""

    def work(n: int) -> None:
        with pool.lease() as box:
            for _ in range(n):
                box.exec(program, timeout_s=_LONG_S)

    began = time.perf_counter()
    with ThreadPoolExecutor(n_threads) as threads:
        list(threads.map(work, [n_runs // n_threads] * n_threads))
    return {"wall_s": time.perf_counter() - began, "runs": n_runs // n_threads * n_threads}


def _fork(pool: SandboxPool, n_forks: int) -> dict[str, list[float]]:
    """Wall seconds of forks of a workspace, of their first program, and of closing them."""
    forks, closes = [], []
    with pool.lease() as box:
        for number in range(_N_FILES):
            box.write(f"folder/{number}", bytes(_FILE_BYTES))
        for _ in range(n_forks):
            began = time.perf_counter()
            (fork,) = box.fork(1)
            forked = time.perf_counter()
            fork.write("folder/0", b"changed")
            changed = time.perf_counter()
            fork.close()
            forks.append(forked - began)
            closes.append(time.perf_counter() - changed)
    return {"fork_s": forks, "close_s": closes}


def main(arguments: list[str]) -> None:
    """Serve requests until the input ends."""
    backend, n_cores, *warm = arguments
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(n_cores)])
    program = PythonCode("".join(f"import {name}\n" for name in warm) + "print(sum(n * n for n in range(10)))")
    pool = open_pool(backend, SandboxSpec(warm_imports=tuple(warm), memory_mb=512))
    try:
        with pool.lease() as box:
            box.exec(program, timeout_s=_LONG_S)
            keepers = _below(os.getpid()) if backend != "docker" else []
            print(json.dumps({"capabilities": pool.capabilities.snapshot}), flush=True)
            for line in sys.stdin:
                name, *numbers = json.loads(line)
                if name == "run":
                    told: object = _run(box, program, b"285\n", keepers)
                elif name == "rate":
                    told = _rate(pool, program, *numbers)
                else:
                    told = _fork(pool, *numbers)
                print(json.dumps(told), flush=True)
    finally:
        pool.close()


if __name__ == "__main__":
    main(sys.argv[1:])
