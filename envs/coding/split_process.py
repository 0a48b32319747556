"""Examines a function with tests that run in another process than the function does.

Two children, in two sandboxes: one holds the solution, one the tests. The tests' `candidate` is a proxy; this parent
carries each call over and each answer back. A solution therefore never shares a process with what it would have to
deceive: it sees arguments, and what it returns arrives as builtin values. The verdict is made here, from what the
tests' child reports under a nonce; exit codes and printed text count for nothing.
"""

from __future__ import annotations

import json
import secrets
import time
from dataclasses import dataclass, field
from typing import Any, Final

from workgym.envs.coding.callee import (
    ENDS,
    SOLUTION,
    SolutionEnded,
    answer_of,
    load_solution,
    parse_line,
)
from workgym.envs.coding.lines import Child, running
from workgym.envs.sandbox.protocol import SandboxPool
from workgym.envs.sandbox.spec import PythonCode
from workgym.tasks.errors import SandboxError, VerifierError
from workgym.tasks.task import Task

__all__ = ["SplitTests", "TestReport", "humaneval_tests", "run_split_tests"]

_TESTS: Final = PythonCode("import workgym_split_child\nworkgym_split_child.serve_tests()\n")


@dataclass(frozen=True, slots=True)
class SplitTests:
    """Tests of one function.

    Attributes:
        entry_point: name of the function.
        prompt: Python that the solution may build on. What it defines is also there for the tests, from this text.
        tests: code that raises unless `candidate` is right, one text a test; hidden.
        in_place: the tests look at what the solution does to its arguments.
    """

    entry_point: str
    prompt: str
    tests: tuple[str, ...] = field(repr=False)
    in_place: bool = False


@dataclass(frozen=True, slots=True)
class TestReport:
    """How a solution did.

    Attributes:
        passed: number of tests that passed; 0 where the solution's process did not live to the end.
        total: number of tests.
        label: "ok", "failed" (some test raised), "syntax", "error" (the solution does not load), "missing" (no such
            function), "timeout", "oom", "output", "crash" or "silent" (the process left without an answer).
        detail: words that give nothing hidden away.
        outcomes: "passed" or the class of what was raised, of each test that was run.
        cpu_s: CPU seconds of both children.
    """

    __test__ = False  # no test class, whatever pytest makes of the name

    passed: int
    total: int
    label: str
    detail: str = ""
    outcomes: tuple[str, ...] = ()
    cpu_s: float = 0.0

    @property
    def all_passed(self) -> bool:
        """Every test passed."""
        return self.passed == self.total > 0


_SHARE: Final = 0.5
"""Of the time, to wait for the solution in all: one that sleeps cannot make the tests late and be excused."""


def humaneval_tests(task: Task) -> SplitTests:
    """The tests of a task that was read from HumanEval: one, that calls its `check`."""
    test = f"{task.hidden['test']}\n\ncheck(candidate)\n"
    return SplitTests(task.public["entry_point"], task.public["prompt"], (test,))


def run_split_tests(
    pool: SandboxPool,
    solution: str,
    tests: SplitTests,
    *,
    test_pool: SandboxPool | None = None,
    timeout_s: float = 60.0,
) -> TestReport:
    """Run a solution against its tests, each in a sandbox of its own.

    Args:
        pool: where the solution runs.
        solution: Python source that defines `tests.entry_point`.
        tests: what it has to pass.
        test_pool: where the tests run, `pool` if None. Both have `WARM_MODULES` and room as `SPLIT_SANDBOX`.
        timeout_s: wall-clock seconds for everything; several times the pools' `cpu_s`, so that CPU limits decide first.

    Returns:
        What passed; whatever the solution does, there is a report.

    Raises:
        SandboxError: infrastructure failed, also where the deadline passed while the solution was not to blame.
        VerifierError: the tests' process broke its own rules.
    """
    deadline = time.monotonic() + timeout_s
    children: list[Child] = []
    try:
        with running(pool, SOLUTION, children, timeout_s * _SHARE) as callee:
            load_solution(callee, solution, tests.entry_point, deadline, prompt=tests.prompt, in_place=tests.in_place)
            with running(test_pool or pool, _TESTS, children) as caller:
                outcomes = _run_tests(callee, caller, tests, deadline)
    except SolutionEnded as end:
        return TestReport(0, len(tests.tests), end.label, end.detail, cpu_s=_cpu_s(children))
    passed = outcomes.count("passed")
    label = "ok" if passed == len(outcomes) else "oom" if "MemoryError" in outcomes else "failed"
    detail = f"{passed} of {len(outcomes)} tests pass"
    return TestReport(passed, len(outcomes), label, detail, outcomes, _cpu_s(children))


def _cpu_s(children: list[Child]) -> float:
    return sum(child.finish().cpu_s for child in children)


def _run_tests(callee: Child, caller: Child, tests: SplitTests, deadline: float) -> tuple[str, ...]:
    """Carry calls and answers between the two until the tests are done.

    Returns:
        The outcome of each test.

    Raises:
        SolutionEnded: the solution's process ended before the tests did, or its answers exhausted theirs.
        SandboxError, VerifierError: the tests' process failed by itself.
    """
    nonce = secrets.token_hex(16)
    request = {
        "nonce": nonce,
        "prompt": tests.prompt,
        "entry_point": tests.entry_point,
        "tests": tests.tests,
        "in_place": tests.in_place,
    }
    caller.send(json.dumps(request).encode())
    outcomes: list[str] = []
    kind, value = _report(callee, caller, nonce, deadline)
    if kind != "begun":
        raise VerifierError(f"the tests of {tests.entry_point!r} began with {kind!r}")
    while True:
        kind, value = _report(callee, caller, nonce, deadline)
        if kind == "call" and isinstance(value, str):
            callee.send(value.encode())
            caller.send(answer_of(callee, deadline))
        elif kind == "result" and isinstance(value, str) and len(outcomes) < len(tests.tests):
            outcomes.append(value)
        elif kind == "end" and len(outcomes) == len(tests.tests):
            break
        else:
            raise VerifierError(f"the tests of {tests.entry_point!r} reported {kind!r} out of turn")
    if caller.receive(deadline) is not None:
        raise VerifierError(f"the tests of {tests.entry_point!r} went on after their end")
    return tuple(outcomes)


def _report(callee: Child, caller: Child, nonce: str, deadline: float) -> tuple[str, Any]:
    """The next report of the tests' process: its kind and its value.

    Raises:
        SolutionEnded: there is none, and the solution is to blame.
        SandboxError, VerifierError: there is none, and the solution is not to blame.
    """
    line = caller.receive(deadline)
    if line is None:
        if caller.is_late(deadline):
            if _spent_s(callee, caller) >= _lost_s(caller):
                raise SolutionEnded("timeout", "it, and the tests on its answers, take too long")
            raise SandboxError("the tests did not come to their end before the deadline; is the machine overloaded?")
        result = caller.finish()
        if result.status in ("timeout_cpu", "oom", "output_limit"):
            label, detail = ENDS[result.status]
            raise SolutionEnded(label, f"the tests on its answers: {detail}")
        raise VerifierError(
            f"the tests' process ended ({result.status}, exit {result.exit_code}) without a verdict: "
            f"{result.stderr[-300:].decode(errors='replace')!r}"
        )
    report = parse_line(line)
    if not isinstance(report, list) or len(report) != 3 or report[0] != nonce or not isinstance(report[1], str):
        raise VerifierError("a line on the channel of the tests' process is not its driver's")
    return report[1], report[2]


def _spent_s(callee: Child, caller: Child) -> float:
    """Seconds that are on the solution's account: what it slept, computed, and made the tests compute."""
    return max(callee.waited_s, callee.kill().cpu_s) + caller.kill().cpu_s


def _lost_s(caller: Child) -> float:
    """Seconds for which the tests were waited for while they did not compute: the machine was busy, or they slept."""
    return caller.waited_s - caller.kill().cpu_s
