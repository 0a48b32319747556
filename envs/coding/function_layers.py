"""Measures a submitted function, and says what it is worth."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from workgym.envs.coding.asked import asked_of
from workgym.envs.coding.calls import ANSWERS_KB, CallReport, call_function
from workgym.envs.coding.function_session import is_right
from workgym.envs.coding.split_process import humaneval_tests, run_split_tests
from workgym.envs.sandbox.protocol import Pools
from workgym.envs.verify import Attempt, Check, Layer
from workgym.tasks.coding.function.answer import large_case
from workgym.tasks.errors import SandboxError
from workgym.tasks.task import Task

__all__ = [
    "FUNCTION_LAYERS", "FunctionFindings", "FunctionTests", "all_pass", "examine_function", "loads", "parses",
    "tests_pass",
]  # fmt: skip

_CPU_S: Final = 2.0
"""For all cases of one task but the large one, and at least for that: many times what a reference needs."""

_TIMES: Final = 3.0
"""By which a solution may be slower than the reference on the large case, where that is more."""


@dataclass(frozen=True, slots=True)
class FunctionTests:
    """How a function did on the hidden cases.

    Attributes:
        paid, n_paid: cases that earn reward: passed, and all.
        passed, total: all cases.
        label: "" or what stopped it: syntax, error, missing, timeout, oom, output, crash, silent.
        detail: words that give nothing hidden away.
    """

    paid: int
    n_paid: int
    passed: int
    total: int
    label: str = ""
    detail: str = ""


class FunctionFindings:
    """What is to be known of an attempt; it is measured when a verifier first asks.

    Args:
        attempt: what was submitted.
        task: what was asked.
        pools: where it runs.
        time_share: share of the CPU limits that it may use.
    """

    def __init__(self, attempt: Attempt, task: Task, pools: Pools, time_share: float = 1.0) -> None:
        self._attempt = attempt
        self._task = task
        self._pools = pools
        self._time_share = time_share

    @property
    def submission(self) -> str:
        """The code that was submitted; "" where none was."""
        return self._attempt.submission or ""

    @cached_property
    def tests(self) -> FunctionTests:
        """The submission on the hidden cases, whose values stay in this process.

        Raises:
            SandboxError: infrastructure failed.
        """
        return self._by_tests() if "test" in self._task.hidden else self._by_cases()

    def _by_tests(self) -> FunctionTests:
        """A task that came with code to test it: all or nothing."""
        report = run_split_tests(self._pools.grader, self.submission, humaneval_tests(self._task))
        label = "" if report.label in ("ok", "failed") else report.label
        right = int(report.all_passed)
        return FunctionTests(right, 1, right, 1, label, report.detail if label else "")

    def _by_cases(self) -> FunctionTests:
        cases = [*self._task.hidden["cases"]]
        report = self._call(cases, _CPU_S)
        right = [is_right(answer, case) for answer, case in zip(report.answers, cases, strict=False)]
        if "large" in self._task.hidden and not report.label:
            case, reference_s = large_case(self._task)
            worth_it = any(good and one["paid"] for good, one in zip(right, cases, strict=True))
            cases.append(case)
            right.append(worth_it and self._is_fast(case, max(_CPU_S, _TIMES * reference_s)))
        n_paid = sum(case["paid"] for case in cases)
        if report.label:
            return FunctionTests(0, n_paid, 0, len(cases), report.label, _WORDS.get(report.label, report.label))
        paid = sum(good and case["paid"] for good, case in zip(right, cases, strict=True))
        return FunctionTests(paid, n_paid, sum(right), len(cases))

    def _is_fast(self, case: dict[str, Any], cpu_s: float) -> bool:
        report = self._call([case], cpu_s)
        return not report.label and is_right(report.answers[0], case)

    def _call(self, cases: list[dict[str, Any]], cpu_s: float) -> CallReport:
        """Call it, with room for what is wanted: twice, since an answer travels as JSON within JSON."""
        asked = asked_of(self._task)
        wanted_kb = len(json.dumps([case.get("value") for case in cases])) // 1024
        return call_function(
            self._pools.grader,
            asked.complete(self.submission),
            asked.called,
            [case["args"] for case in cases],
            cpu_s=cpu_s * self._time_share,
            timeout_s=10 * cpu_s,
            answers_kb=ANSWERS_KB + 2 * wanted_kb,
        )


_WORDS: Final = {
    "syntax": "it is no Python",
    "error": "it raises while it is loaded",
    "missing": "it does not define the function",
    "timeout": "it takes too long",
    "oom": "it takes too much memory",
    "output": "its answers are far longer than asked for",
}


def examine_function(attempt: Attempt, task: Task, pools: Pools | None) -> FunctionFindings:
    """Prepare the findings of an attempt at a function; nothing runs before a verifier asks.

    Raises:
        SandboxError: there are no pools to run it in.
    """
    if pools is None:
        raise SandboxError("the coding domain judges in a sandbox and was given none")
    return FunctionFindings(attempt, task, pools)


def parses(findings: FunctionFindings) -> Check:
    """Whether the submission is Python. Asked in the sandbox too: parsers can be attacked."""
    if not findings.submission.strip():
        return Check("parses", 0.0, detail="nothing was submitted", label="empty")
    if findings.tests.label == "syntax":
        return Check("parses", 0.0, detail=findings.tests.detail, label="syntax")
    return Check("parses", 1.0)


def loads(findings: FunctionFindings) -> Check:
    """Whether the submission can be loaded and defines the function."""
    tests = findings.tests
    if tests.label in ("error", "missing"):
        return Check("loads", 0.0, detail=tests.detail, label=tests.label)
    return Check("loads", 1.0)


def tests_pass(findings: FunctionFindings) -> Check:
    """Share of the paid hidden cases that the submission passes."""
    tests = findings.tests
    if tests.label:
        return Check("tests", 0.0, detail=tests.detail, label=tests.label)
    return Check("tests", tests.paid / tests.n_paid, detail=f"{tests.paid} of {tests.n_paid} paid cases are right")


def all_pass(findings: FunctionFindings) -> Check:
    """Whether it passes every hidden case, edge cases included, which earn nothing by themselves."""
    tests = findings.tests
    done = not tests.label and tests.passed == tests.total
    return Check("all", float(done), detail=f"{tests.passed} of {tests.total} cases are right", label=tests.label)


FUNCTION_LAYERS: Final = (
    Layer(parses, gate=True),
    Layer(loads, gate=True, cost=1.0),
    Layer(tests_pass, weight=1.0, cost=2.0),
    Layer(all_pass, cost=3.0),
)
