"""Functions are examined by tests in another process, and the verdict is right whoever misbehaves."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from workgym.envs.coding.callee import SPLIT_SANDBOX
from workgym.envs.coding.split_process import SplitTests, TestReport, humaneval_tests, run_split_tests
from workgym.envs.sandbox.pool import open_pool
from workgym.envs.sandbox.protocol import SandboxPool
from workgym.tasks.coding.load import load_tasks
from workgym.tasks.errors import SandboxError, VerifierError
from workgym.tasks.task import Task

PROMPT_FUNCTION_TASKS = (10, 32, 38, 50)
"""HumanEval tasks whose tests call a function that the prompt defines."""


@pytest.fixture(scope="module")
def pool(require_backend: Callable[[str], None]) -> Iterator[SandboxPool]:
    require_backend("local")
    pool = open_pool("local", SPLIT_SANDBOX)
    yield pool
    pool.close()


@pytest.fixture(scope="module")
def test_pool(require_backend: Callable[[str], None]) -> Iterator[SandboxPool]:
    require_backend("local")
    pool = open_pool("local", SPLIT_SANDBOX)
    yield pool
    pool.close()


@pytest.fixture(scope="module")
def humaneval(test_data: Callable[[str], Path]) -> list[Task]:
    return load_tasks(test_data("humaneval") / "HumanEval.jsonl.gz")


@pytest.fixture
def examine(pool: SandboxPool) -> Callable[..., TestReport]:
    def examine(solution: str, *tests: str, prompt: str = "", in_place: bool = False) -> TestReport:
        return run_split_tests(pool, solution, SplitTests("f", prompt, tests, in_place))

    return examine


Examine = Callable[..., TestReport]


def test_every_canonical_solution_of_humaneval_passes(
    pool: SandboxPool, test_pool: SandboxPool, humaneval: list[Task]
) -> None:
    reports = {
        task.id: run_split_tests(pool, task.hidden["reference"], humaneval_tests(task), test_pool=test_pool)
        for task in humaneval
    }
    assert {name: report for name, report in reports.items() if not report.all_passed} == {}
    assert len(reports) == 164


@pytest.mark.slow
def test_every_canonical_solution_of_humaneval_passes_five_times(pool: SandboxPool, humaneval: list[Task]) -> None:
    for _ in range(5):
        for task in humaneval:
            assert run_split_tests(pool, task.hidden["reference"], humaneval_tests(task)).all_passed, task.id


def test_no_stub_of_humaneval_passes(pool: SandboxPool, humaneval: list[Task]) -> None:
    passed = [task.id for task in humaneval if run_split_tests(pool, task.prompt, humaneval_tests(task)).passed]
    assert passed == []


@pytest.mark.parametrize("number", PROMPT_FUNCTION_TASKS)
def test_a_solution_may_bring_its_own_copy_of_what_the_prompt_defines(
    pool: SandboxPool, humaneval: list[Task], number: int
) -> None:
    task = humaneval[number]
    prompt = task.prompt[: task.prompt.rindex("def ")]
    assert run_split_tests(pool, prompt + task.hidden["reference"], humaneval_tests(task)).all_passed


def test_tests_use_what_the_prompt_defines_whatever_the_solution_makes_of_it(examine: Examine) -> None:
    prompt = "def double(x): return 2 * x\ndef f(x):\n    'Half of x.'\n"
    test = "assert candidate(double(7)) == 7"
    assert examine("def double(x): return x\ndef f(x): return x // 2", test, prompt=prompt).all_passed
    assert not examine("def double(x): return x\ndef f(x): return x", test, prompt=prompt).passed


def test_tests_are_counted_one_by_one(examine: Examine) -> None:
    report = examine("def f(x): return x", "assert candidate(1) == 1", "assert candidate(1) == 2", "assert f(3) == 3")
    assert (report.passed, report.total, report.label, report.all_passed) == (2, 3, "failed", False)
    assert report.outcomes == ("passed", "AssertionError", "passed")
    assert report.cpu_s > 0


def test_a_report_says_nothing_of_what_the_tests_hold(examine: Examine) -> None:
    report = examine("def f(x): return [][x]", "assert candidate(4711) == 'PLANTED-CANARY'")
    assert "4711" not in repr(report)
    assert "CANARY" not in repr(report)


def test_values_of_many_types_pass_both_ways(examine: Examine) -> None:
    values = "[None, True, 10 ** 30, -0.5, 1j, 'é\\n', b'\\x00', (1, [2]), {3}, frozenset({4}), {'a': {(5,): 6}}]"
    test = f"for value in {values}:\n    got = candidate(value)\n    assert got == value and type(got) is type(value)"
    assert examine("def f(x): return x", test).all_passed


def test_keyword_arguments_travel(examine: Examine) -> None:
    test = "assert candidate(a=5) == 3 and candidate(b=1, a=1) == 0"
    assert examine("def f(*, a, b=2): return a - b", test).all_passed


def test_builtin_exceptions_arrive_as_themselves_and_others_as_a_failure(examine: Examine) -> None:
    expects = "try:\n    candidate(1)\nexcept {}:\n    pass\nelse:\n    raise AssertionError\n"
    assert examine("def f(x): raise KeyError(x)", expects.format("KeyError")).all_passed
    assert examine("def f(x): return x / 0", expects.format("ArithmeticError")).all_passed
    assert examine("def f(x): return bytes([255]).decode()", expects.format("Exception")).all_passed
    own = "class ValueError(Exception): pass\nclass Other(Exception): pass\n"
    assert not examine(own + "def f(x): raise Other", expects.format("ValueError")).passed
    assert not examine("def f(x): raise KeyError(x)", expects.format("ValueError")).passed


def test_exceptions_that_are_no_exceptions_do_not_leave_the_tests(examine: Examine) -> None:
    swallows = "try:\n    candidate(1)\nexcept {}:\n    pass"
    assert examine("def f(x): raise SystemExit", swallows.format("Exception")).passed == 1
    assert examine("def f(x): raise SystemExit", swallows.format("SystemExit")).passed == 0


def test_changes_of_arguments_travel_back_where_the_task_asks_for_it(examine: Examine) -> None:
    solution = "def f(items, table):\n    items.sort()\n    items[0].append(9)\n    table.clear()\n    table['n'] = 3\n"
    test = "items, table = [[3], [1], [2]], {1: 2}\ninner = items[0]\ncandidate(items, table)\n"
    test += "assert items == [[1, 9], [2], [3]] and table == {'n': 3}"
    assert examine(solution, test, in_place=True).all_passed
    assert not examine(solution, test).passed


def test_a_solution_may_use_what_its_prompt_imports_and_defines(examine: Examine) -> None:
    prompt = "from typing import List\ndef double(x): return 2 * x\ndef f(x: List[int]) -> int:\n    '''Doc.'''\n"
    solution = "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: 'List[int]'\n"
    solution += "def f(x: List[int]): return double(P(x).x[0])"
    assert examine(solution, "assert candidate([4]) == 8 == double(4)", prompt=prompt).all_passed


def test_a_value_that_cannot_travel_equals_nothing_in_the_tests(examine: Examine) -> None:
    tests = ("assert {0} == {0}", "assert {0}", "assert not {0}", "assert {0} in [{0}]", "candidate({0})")
    assert examine("def f(x): return object()", *(test.format("candidate(1)") for test in tests)).passed == 0


def test_a_solution_keeps_its_state_between_calls(examine: Examine) -> None:
    solution = "seen = []\ndef f(x):\n    seen.append(x)\n    return seen"
    assert examine(solution, "candidate(1)\nassert candidate(2) == [1, 2]").all_passed


@pytest.mark.parametrize(
    ("solution", "label"),
    [
        ("def f(:", "syntax"),
        ("x = \x00", "syntax"),
        ("import nothing_of_this_name", "error"),
        ("raise SystemExit", "error"),
        ("def g(x): return x", "missing"),
        ("f = 3", "missing"),
        ("import os; os._exit(0)", "silent"),
        ("import os\ndef f(x): os._exit(0)", "silent"),
        ("import os\ndef f(x): os._exit(3)", "crash"),
        ("import ctypes\ndef f(x): ctypes.string_at(0)", "crash"),
        ("import os\nos.write(3, b'nonsense\\n')\ndef f(x): return x", "crash"),
        ("def f(x): return 1 / 0", "failed"),
    ],
)
def test_a_solution_that_fails_has_a_label(examine: Examine, solution: str, label: str) -> None:
    report = examine(solution, "assert candidate(1) == 1", "try: candidate(1)\nexcept Exception: assert 0")
    assert (report.passed, report.total, report.label) == (0, 2, label)


def test_tests_that_passed_before_the_process_was_lost_do_not_count(examine: Examine) -> None:
    solution = "import os\ndef f(x):\n    return x if x < 3 else os._exit(0)"
    assert examine(solution, "assert candidate(1) == 1", "assert candidate(3) == 3").passed == 0


def test_answers_that_exhaust_the_tests_process_are_the_solutions_fault(pool: SandboxPool, examine: Examine) -> None:
    endless = "value = candidate(1)\nwhile value:\n    pass"
    with_limit = replace(SPLIT_SANDBOX, cpu_s=0.3)
    short = open_pool("local", with_limit)
    try:
        report = run_split_tests(pool, "def f(x): return x", SplitTests("f", "", (endless,)), test_pool=short)
    finally:
        short.close()
    assert (report.passed, report.label) == (0, "timeout")


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"nonsense",
        b"[" * 5000,
        b"[1]",
        b'{"value": 1}',
        b'{"value": "["}',
        b'{"value": "1", "arguments": 3}',
        b'{"raised": ["SystemExit", "0"]}',
        b'{"raised": [[], {}]}',
        b'{"raised": "x"}',
    ],
    ids=lambda answer: repr(answer[:16]),
)
def test_a_malformed_answer_fails_the_test_that_asked(examine: Examine, answer: bytes) -> None:
    solution = f"import os\ndef f(x):\n    os.write(3, {answer!r} + b'\\n')\n    return 1\n"
    report = examine(solution, "candidate(1)", "pass")
    assert report.outcomes[0] != "passed"
    assert report.outcomes[1] == "passed"


def test_an_answer_of_many_megabytes_arrives(examine: Examine) -> None:
    assert examine("def f(n): return 'x' * n", "assert len(candidate(4_000_000)) == 4_000_000").all_passed
    assert examine("def f(text): return len(text)", "assert candidate('x' * 4_000_000) == 4_000_000").all_passed


def test_a_solution_that_reads_no_stdin_cannot_block_the_parent(pool: SandboxPool) -> None:
    solution = 'import os, time\ndef f(x):\n    os.write(3, b\'{"value": "1"}\\n\')\n    time.sleep(10 ** 6)'
    tests = SplitTests("f", "", ("candidate('x' * 4_000_000)\ncandidate('x' * 4_000_000)\ncandidate(1)",))
    report = run_split_tests(pool, solution, tests, timeout_s=2.0)
    assert (report.passed, report.label) == (0, "timeout")


@pytest.mark.parametrize(
    "test",
    [
        "import os; os._exit(0)",
        'import os; os.write(3, b\'["", "end", null]\\n\')',
        "import os; os.write(3, b'nonsense\\n')",
        "import os; os.close(3)",
    ],
    ids=["exit", "forged end", "nonsense", "closed"],
)
def test_a_tests_process_that_breaks_its_rules_is_no_verdict(examine: Examine, test: str) -> None:
    with pytest.raises(VerifierError):
        examine("def f(x): return x", test)


def test_a_pool_without_the_drivers_is_an_infrastructure_failure() -> None:
    bare = open_pool("local", replace(SPLIT_SANDBOX, warm_modules=()))
    try:
        with pytest.raises(SandboxError, match="Is the pool opened with SPLIT_SANDBOX"):
            run_split_tests(bare, "def f(x): return x", SplitTests("f", "", ("pass",)))
    finally:
        bare.close()


@pytest.mark.parametrize(
    "name", ["StopIteration", "StopAsyncIteration", "GeneratorExit", "SystemExit", "KeyboardInterrupt", "BaseException"]
)
def test_a_solution_cannot_end_the_loop_over_its_cases(examine: Examine, name: str) -> None:
    solution = f"def f(x): raise {name}"
    assert not examine(solution, "assert all(map(lambda x: candidate(x) == x, range(3)))").all_passed


def test_a_solution_that_sleeps_until_the_tests_are_late_is_to_blame(pool: SandboxPool) -> None:
    solution = "import time\nslept = []\ndef f(x):\n    slept or slept.append(time.sleep(1.6))\n    return x"
    tests = SplitTests("f", "", ("candidate(1)", "import time; time.sleep(10 ** 6)"))
    report = run_split_tests(pool, solution, tests, timeout_s=3.0)
    assert (report.passed, report.label) == (0, "timeout")


@pytest.mark.parametrize("slept_s", [0.0, 0.6, 1.2])
def test_a_solution_whose_answers_make_the_tests_late_is_to_blame(pool: SandboxPool, slept_s: float) -> None:
    """Each answer takes the tests' process long to read, so that the deadline passes there."""
    solution = f"""
import os, time
line = b'{{"value": "[\\\\"l\\\\"' + b',[\\\\"t\\\\"]' * 170_000 + b']"}}\\n'
slept = []
def f(x):
    slept or slept.append(time.sleep({slept_s}))
    os.write(3, line)
"""
    tests = SplitTests("f", "", ("candidate(1)\nwhile True: pass",))
    for _ in range(5):  # on a machine so busy that it got no CPU, nobody is to blame
        with contextlib.suppress(SandboxError):
            report = run_split_tests(pool, solution, tests, timeout_s=2.5)
            break
    assert (report.passed, report.label) == (0, "timeout")


def test_answers_that_are_too_long_in_all_are_refused(pool: SandboxPool) -> None:
    roomy = open_pool("local", replace(SPLIT_SANDBOX, output_kb=64 * 1024))
    try:
        tests = SplitTests("f", "", ("for n in range(8): candidate(4_000_000)",))
        report = run_split_tests(roomy, "def f(n): return 'x' * n", tests, test_pool=pool)
    finally:
        roomy.close()
    assert (report.passed, report.label) == (0, "output")
    assert "too long in all" in report.detail


def test_tests_that_stall_are_an_infrastructure_failure(pool: SandboxPool) -> None:
    tests = SplitTests("f", "", ("import time\ntime.sleep(10 ** 6)",))
    with pytest.raises(SandboxError, match="did not come to their end before the deadline"):
        run_split_tests(pool, "def f(x): return x", tests, timeout_s=1.5)


def test_the_solution_sees_nothing_of_the_tests(examine: Examine) -> None:
    """Frames, heap and environment of its process hold no text of theirs; the same search finds what is planted."""
    search = """
import gc, os, sys
def texts():
    frame = sys._getframe()
    while frame:
        yield repr(frame.f_locals) + repr(frame.f_globals)
        frame = frame.f_back
    for value in gc.get_objects():
        if type(value) in (list, tuple, dict):
            yield repr(value)
    yield repr(os.environ) + open('/proc/self/cmdline').read()
def f(plant):
    canary = ['PLANTED', '-CANARY']
    kept = ''.join(canary) if plant else ''
    return sum(''.join(canary) in text for text in texts())
"""
    assert examine(search, "assert candidate(False) == 0, 'PLANTED-CANARY'").all_passed
    assert examine(search, "assert candidate(True) > 0").all_passed
