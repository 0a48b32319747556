"""What isolation costs: a program in the local sandbox and in a bare fork, in turn in one run.

    python benchmarks/perf/sandbox.py [--pairs N] [--warm MODULE ...]

The bare fork is a warm interpreter without any isolation or limit that forks, runs the same source and waits. Prints
one JSON line a measure: CPU milliseconds of a run (its child, the interpreter it was forked from, and the process that
asked) against the bare fork's, and runs a second from several threads.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from workgym.envs.sandbox.local.pool import LocalPool
from workgym.envs.sandbox.pool import open_pool
from workgym.envs.sandbox.protocol import Sandbox
from workgym.envs.sandbox.spec import PythonCode, SandboxSpec

__all__ = ["main"]

PROGRAM = PythonCode("print(sum(n * n for n in range(10)))")
ANSWER = b"285\n"
GOAL_RATIO, GOAL_PER_SECOND = 2.0, 500.0

_BARE = """
import gc, importlib, json, os, resource, sys, time
for name in sys.argv[1:]:
    importlib.import_module(name)
source = json.loads(sys.stdin.readline())
compile("", "<warm>", "exec")
gc.collect()
gc.freeze()
for _ in sys.stdin:
    began, before = time.monotonic(), time.process_time()
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(writer, 1)
        exec(compile(source, "<program>", "exec"), {"__name__": "__main__"})
        sys.stdout.flush()
        os._exit(0)
    os.close(writer)
    with open(reader, "rb") as pipe:
        output = pipe.read()
    _, status, usage = os.wait4(pid, 0)
    cpu = time.process_time() - before + usage.ru_utime + usage.ru_stime
    answer = [output.decode(), status, cpu, time.monotonic() - began]
    sys.stderr.write(json.dumps(answer) + "\\n")
    sys.stderr.flush()
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU seconds of one run by who spent them, and its wall seconds."""

    child_s: float
    zygote_s: float
    caller_s: float
    wall_s: float

    @property
    def cpu_s(self) -> float:
        """All of it."""
        return self.child_s + self.zygote_s + self.caller_s


class BareForker:
    """A warm interpreter that forks without any isolation."""

    def __init__(self, warm: Sequence[str]) -> None:
        command = [sys.executable, "-P", "-s", "-S", "-X", "utf8", "-c", _BARE, *warm]
        pipe = subprocess.PIPE
        environ = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path.endswith("site-packages"))}
        environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
        self._process = subprocess.Popen(command, stdin=pipe, stderr=pipe, text=True, env=environ)
        self._say(json.dumps(PROGRAM.source))

    def _say(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def run(self) -> Cost:
        """Run the program once."""
        self._say("")
        assert self._process.stderr is not None
        output, status, cpu_s, wall_s = json.loads(self._process.stderr.readline())
        if (output.encode(), status) != (ANSWER, 0):
            raise RuntimeError(f"the bare fork answered {output!r} and ended with {status}")
        return Cost(cpu_s, 0.0, 0.0, wall_s)

    def close(self) -> None:
        """End it."""
        self._process.communicate()


def run_boxed(box: Sandbox, zygote_pid: int) -> Cost:
    """Run the program once in the sandbox."""
    clock = (~zygote_pid << 3) | 2  # the CPU clock of another process
    began, zygote, caller = time.monotonic(), time.clock_gettime(clock), time.thread_time()
    result = box.exec(PROGRAM, timeout_s=30.0)
    caller = time.thread_time() - caller
    if result.stdout != ANSWER:
        raise RuntimeError(f"the sandbox answered {result}")
    wall_s = time.monotonic() - began
    return Cost(result.cpu_s, time.clock_gettime(clock) - zygote, caller, wall_s)


def zygote_below(pool: LocalPool) -> int:
    """The zygote itself: the only child of the process that the pool started."""
    with open(f"/proc/{pool.zygote_pid}/task/{pool.zygote_pid}/children") as children:
        return int(children.read())


def compare(pool: LocalPool, warm: Sequence[str], n_pairs: int) -> dict[str, object]:
    """Pair after pair, the sandbox and the bare fork."""
    bare = BareForker(warm)
    with pool.lease() as box:
        box.exec(PROGRAM, timeout_s=60.0)
        pid = zygote_below(pool)
        for _ in range(20):
            run_boxed(box, pid), bare.run()
        pairs = [(run_boxed(box, pid), bare.run()) for _ in range(n_pairs)]
    bare.close()
    boxed, free = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    walls = sorted(cost.wall_s for cost in boxed)
    return {
        "name": "sandbox_cpu_over_bare_fork",
        "ratio": round(statistics.median(a.cpu_s for a in boxed) / statistics.median(b.cpu_s for b in free), 3),
        "goal": GOAL_RATIO,
        "better": "lower",
        "cpu_ms": _ms(a.cpu_s for a in boxed),
        "child_ms": _ms(a.child_s for a in boxed),
        "zygote_ms": _ms(a.zygote_s for a in boxed),
        "caller_ms": _ms(a.caller_s for a in boxed),
        "bare_cpu_ms": _ms(b.cpu_s for b in free),
        "wall_min_ms": round(walls[0] * 1e3, 3),
        "wall_p50_ms": round(walls[len(walls) // 2] * 1e3, 3),
        "wall_p99_ms": round(walls[int(len(walls) * 0.99)] * 1e3, 3),
        "warm": list(warm),
    }


def saturate(pool: LocalPool, n_runs: int, n_threads: int) -> dict[str, object]:
    """How many runs a second several threads get out of one pool."""

    def work(n: int) -> None:
        with pool.lease() as box:
            for _ in range(n):
                box.exec(PROGRAM, timeout_s=60.0)

    began = time.monotonic()
    with ThreadPoolExecutor(n_threads) as threads:
        list(threads.map(work, [n_runs // n_threads] * n_threads))
    wall_s = time.monotonic() - began
    return {
        "name": "sandbox_runs_per_second",
        "ratio": round(n_runs // n_threads * n_threads / wall_s, 1),
        "unit": "runs/s",
        "goal": GOAL_PER_SECOND,
        "better": "higher",
        "threads": n_threads,
    }


def _ms(seconds: Iterable[float]) -> float:
    return round(statistics.median(seconds) * 1e3, 3)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--threads", type=int, default=2 * (os.cpu_count() or 1))
    parser.add_argument("--warm", nargs="*", default=[], help="modules that both interpreters import first")
    options = parser.parse_args(arguments)
    pool = open_pool("local", SandboxSpec(warm_imports=tuple(options.warm), memory_mb=512))
    assert isinstance(pool, LocalPool)
    try:
        for measure in (compare(pool, options.warm, options.pairs), saturate(pool, 2 * options.pairs, options.threads)):
            print(json.dumps({**measure, "load": round(os.getloadavg()[0], 2)}), flush=True)
    finally:
        pool.close()


if __name__ == "__main__":
    main()
