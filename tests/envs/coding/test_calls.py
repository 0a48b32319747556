"""A function is called in a process of its own; what comes back is its answer or its failure, no fault of ours."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from workgym.envs.coding.callee import SPLIT_SANDBOX
from workgym.envs.coding.calls import Raised, call_function
from workgym.envs.coding.function_session import is_right
from workgym.envs.sandbox.pool import open_pool
from workgym.envs.sandbox.protocol import SandboxPool
from workgym.tasks.errors import SandboxError


@pytest.fixture(scope="module", autouse=True)
def pool(require_backend: Callable[[str], None]) -> Iterator[SandboxPool]:
    require_backend("local")
    pool = open_pool("local", SPLIT_SANDBOX)
    yield pool
    pool.close()


def test_each_call_is_answered_in_order_with_a_value_or_what_was_raised(pool: SandboxPool) -> None:
    report = call_function(pool, "def f(x): return [1 / x]", "f", [[2], [0], [4]])
    assert report.answers == ([0.5], Raised("ZeroDivisionError", "ZeroDivisionError: division by zero"), [0.25])
    assert (report.label, report.cpu_s > 0) == ("", True)


def test_arguments_are_copies_that_a_function_may_change(pool: SandboxPool) -> None:
    items = [3, 1, 2]
    report = call_function(pool, "def f(x):\n    x.sort()\n    return x", "f", [[items], [items]])
    assert report.answers == ([1, 2, 3], [1, 2, 3])
    assert items == [3, 1, 2]


@pytest.mark.parametrize("where", ["def f(x):\n    while True: pass", "while True: pass"])
def test_cpu_time_is_limited_within_that_of_the_sandbox(pool: SandboxPool, where: str) -> None:
    report = call_function(pool, where, "f", [[1]], cpu_s=0.9)
    assert (report.answers, report.label) == ((), "timeout")
    assert 0.8 < report.cpu_s < 3


def test_a_limit_cannot_be_raised_by_who_is_under_it(pool: SandboxPool) -> None:
    source = (
        "import resource, signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\n"
        "try: resource.setrlimit(resource.RLIMIT_CPU, (99, 99))\nexcept ValueError: pass\n"
        "def f(x):\n    while True: pass"
    )
    report = call_function(pool, source, "f", [[1]], cpu_s=0.9)
    assert report.label == "timeout"
    assert report.cpu_s < 4


def test_a_function_that_sleeps_runs_out_of_time(pool: SandboxPool) -> None:
    source = "import time\ndef f(x): time.sleep(1000)"
    assert call_function(pool, source, "f", [[1]], timeout_s=0.5).label == "timeout"


def test_a_lost_sandbox_is_no_fault_of_the_function() -> None:
    bare = open_pool("local", replace(SPLIT_SANDBOX, warm_modules=()))
    try:
        with pytest.raises(SandboxError, match="Is the pool opened with SPLIT_SANDBOX"):
            call_function(bare, "def f(x): return x", "f", [[1]])
    finally:
        bare.close()
    with pytest.raises(SandboxError):
        call_function(bare, "def f(x): return x", "f", [[1]])


def test_answers_far_longer_than_what_is_wanted_are_not_read(pool: SandboxPool) -> None:
    source = "def f(n): return [1234567] * n"
    assert call_function(pool, source, "f", [[1000]]).answers == ([1234567] * 1000,)
    began = time.process_time()
    report = call_function(pool, source, "f", [[1], [500_000], [1]])
    assert (report.answers, report.label) == (([1234567],), "output")
    assert time.process_time() - began < 1
    assert call_function(pool, source, "f", [[100_000]], answers_kb=2048).label == ""


@pytest.mark.parametrize(
    "line",
    [
        "[]",
        "{}",
        "nonsense",
        '{"value": 3}',
        '{"value": "[3"}',
        '{"raised": "ValueError"}',
        '{"value": "[\\"o\\", \\"int\\"]"}',
    ],
)
def test_a_forged_answer_is_none(pool: SandboxPool, line: str) -> None:
    forge = f"import os\ndef f(x):\n    os.write(3, {line!r}.encode() + b'\\n')\n    return x\n"
    report = call_function(pool, forge, "f", [[1]])
    assert not is_right(report.answers[0], {"value": 1})
    assert not is_right(report.answers[0], {"raises": "ValueError"})
