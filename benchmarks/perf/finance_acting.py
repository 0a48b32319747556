"""The cost of acting in the finance domain: of the tool `python`, of verdicts, of resets and steps."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from workgym.benchmarks.perf.finqa_logic import equal_programs, execute, tokens_of
from workgym.benchmarks.perf.lines import Line, Skip, in_turn, ms, peer, ratio, value
from workgym.envs.domain import verdict_on
from workgym.envs.env import WorkEnv
from workgym.envs.finance.document import Document
from workgym.envs.finance.env import make
from workgym.envs.finance.html_document import read_html
from workgym.envs.finance.python_tool import PYTHON_SANDBOX, run_python
from workgym.envs.sandbox.local.pool import LocalPool
from workgym.envs.sandbox.pool import open_pool
from workgym.tasks.errors import IsolationUnavailable
from workgym.tasks.finance.filing import plan_filing
from workgym.tasks.finance.ledger import draw_ledger
from workgym.tasks.finance.render.html import render_html
from workgym.tasks.finance.structure import draw_structure

__all__ = ["call_python", "judge_attempts", "play"]

_LEVEL: Final = 2
_N_CALLS: Final = 20  # of the tool `python`, a round
_N_TASKS: Final = 30
_START: Final = "print(pd.__version__)", "import numpy, pandas; print(pandas.__version__)"
_WITH_TABLE: Final = (
    "print(tables['d1:t1'].iloc[0, 0])",
    """
import json, sys
import numpy, pandas
told = json.load(sys.stdin)
print(pandas.DataFrame(told["rows"], columns=told["columns"]).iloc[0, 0])
""",
)


def call_python(n_rounds: int) -> Iterator[Line]:
    """A call of the tool, and a process that loads pandas: for nothing else, and for a look at a table."""
    peer("pandas")
    try:
        pool = open_pool("local", PYTHON_SANDBOX)
    except IsolationUnavailable as why:
        raise Skip(str(why)) from why
    with pool:
        assert isinstance(pool, LocalPool)
        yield _beside_cold(n_rounds, pool, "python_over_cold_pandas", *_START) | {"goal": 40.0}
        yield _beside_cold(n_rounds, pool, "python_with_table_over_cold_pandas", *_WITH_TABLE)


def _beside_cold(n_rounds: int, pool: LocalPool, name: str, code: str, cold_code: str) -> Line:
    document, columns = _one_table()
    table = document.tables["d1:t1"]
    environ = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}

    def warm() -> str:
        return run_python(pool, code, {"d1:t1": table}, [document])

    def cold() -> str:
        command = [sys.executable, "-I", "-c", cold_code]
        told = json.dumps(columns).encode()
        return subprocess.run(command, input=told, capture_output=True, check=True, env=environ).stdout.decode()

    assert warm().strip() in (cold().strip(), cold().strip().removesuffix(".0"))
    costs = []
    for _ in range(n_rounds):
        wall, kept, own = time.perf_counter(), _cpu_below(pool), time.process_time()
        for _ in range(_N_CALLS):
            warm()
        own, wall = time.process_time() - own, time.perf_counter() - wall
        ours = (own + _cpu_below(pool) - kept) / _N_CALLS
        before, began = os.times(), time.perf_counter()
        cold()
        after, theirs_wall = os.times(), time.perf_counter() - began
        theirs = after.children_user + after.children_system - before.children_user - before.children_system
        costs.append((ours, theirs, wall / _N_CALLS, theirs_wall))
    ours, theirs, wall, theirs_wall = (statistics.median(cost) for cost in zip(*costs, strict=True))
    return ratio(name, ours, theirs, None) | {"ours_wall_ms": ms(wall), "theirs_wall_ms": ms(theirs_wall)}


def _one_table() -> tuple[Document, dict[str, Any]]:
    structure = draw_structure(0).at_level(1)
    filing, ledger = plan_filing(structure, 1), draw_ledger(structure, 0)
    document = read_html(render_html(filing, ledger))
    table = document.tables["d1:t1"]
    rows = [[float(cell.value or 0) for cell in row.cells] for row in table.rows[1:] if row.cells]
    return document, {"rows": rows, "columns": list(table.headings)}


def _cpu_below(pool: LocalPool) -> float:
    """CPU seconds of the interpreters of a pool, with all that they forked and waited for."""
    first = pool.zygote_pid
    pids = [str(first), *Path(f"/proc/{first}/task/{first}/children").read_text().split()]
    fields = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids]
    return sum(int(ticks) for one in fields for ticks in one[11:15]) / os.sysconf("SC_CLK_TCK")


def judge_attempts(n_rounds: int, data: Path) -> Iterator[Line]:
    """A verdict on an oracle's attempt, and FinQA's logic on a gold program of a record."""
    peer("sympy")
    file = data / "finqa" / "train_30.json"
    if not file.exists():
        raise Skip(f"no finqa/train_30.json below {data}; WORKGYM_TEST_DATA names the folder that holds it")
    records = json.loads(file.read_bytes())
    env = make(level=_LEVEL)
    played = []
    try:
        for seed in range(_N_TASKS):
            _play(env, seed)
            assert env.verdict is not None
            assert env.verdict.success
            assert env.attempt is not None
            played.append((env.attempt, env.task))
    except IsolationUnavailable as why:
        raise Skip(str(why)) from why
    finally:
        env.close()

    def verdicts() -> None:
        for attempt, task in played:
            assert verdict_on(env.domain, attempt, task, None).success

    def evaluations() -> None:
        for record in records:
            tokens = tokens_of(record["qa"]["program"])
            assert execute(tokens, record["table"]) == record["qa"]["exe_ans"]
            assert equal_programs(tokens, list(tokens))

    ours, theirs = in_turn(n_rounds, verdicts, evaluations)
    ours, theirs = ours / len(played), theirs / len(records)
    yield ratio("verdict_over_finqa", ours, theirs, 3.0) | {"ours_ms": ms(ours), "theirs_ms": ms(theirs)}


def play(n_rounds: int) -> Iterator[Line]:
    """Resets to a task that was played before, and the steps of the oracle but those of Python."""
    env = make(level=_LEVEL)
    resets, steps = [], []
    try:
        for seed in range(max(n_rounds, 3) * 5):
            steps += _play(env, seed)
            began = time.perf_counter()
            env.reset(seed=seed)
            resets.append(time.perf_counter() - began)
    except IsolationUnavailable as why:
        raise Skip(str(why)) from why
    finally:
        env.close()
    p95 = sorted(steps)[int(len(steps) * 0.95)]
    yield value("cached_reset", statistics.median(resets) * 1e3, "ms", 100.0) | {"most_ms": ms(max(resets))}
    yield value("step_p95", p95 * 1e3, "ms", 20.0) | {"p50_ms": ms(statistics.median(steps)), "steps": len(steps)}


def _play(env: WorkEnv, seed: int) -> list[float]:
    """Let the oracle play; wall seconds of each step that runs no Python."""
    env.reset(seed=seed)
    seconds, ended = [], False
    while not ended:
        action = env.oracle_action()
        began = time.perf_counter()
        _, _, terminated, truncated, _ = env.step(action)
        if not action.startswith("python"):
            seconds.append(time.perf_counter() - began)
        ended = terminated or truncated
    return seconds
