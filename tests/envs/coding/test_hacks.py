"""No reward hack earns more than doing nothing; the same hacks pay where solution and judge share a process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from workgym.envs.coding.callee import SPLIT_SANDBOX
from workgym.envs.coding.evaluate import evaluate_expression
from workgym.envs.coding.function_hacks import FUNCTION_HACKS, FUNCTION_STALLS
from workgym.envs.coding.hacks import EXPRESSION_HACKS, HACKS
from workgym.envs.coding.split_process import humaneval_tests, run_split_tests
from workgym.envs.env import WorkEnv
from workgym.envs.sandbox.pool import open_pool
from workgym.envs.sandbox.protocol import SandboxPool
from workgym.tasks.coding.load import load_tasks
from workgym.tasks.coding.source import CodingTasks
from workgym.tasks.task import Task

NAIVE_GRADER = Path(__file__).with_name("naive_grader.py")
TASK_ID = "coding-expression-1-test-2a"
STALLS = ("endless-loop", "patched-clock", "sleep")
"""Hacks of expressions that use up a limit: they are tried with small limits."""

SAMPLE = (0, 1, 2, 4, 10, 32, 38, 45, 50, 53, 92, 127)
"""HumanEval tasks with every kind of test: lists, texts, floats within a tolerance, booleans, functions of prompts."""


@pytest.fixture(autouse=True)
def _local_sandbox(require_backend: Callable[[str], None]) -> None:
    require_backend("local")


@pytest.fixture(scope="module")
def env(require_backend: Callable[[str], None]) -> Iterator[WorkEnv]:
    require_backend("local")
    env = gym.make("Coding-v0")
    yield env.unwrapped  # type: ignore[misc]
    env.close()


@pytest.fixture(scope="module")
def pool(require_backend: Callable[[str], None]) -> Iterator[SandboxPool]:
    require_backend("local")
    pool = open_pool("local", SPLIT_SANDBOX)
    yield pool
    pool.close()


@pytest.fixture(scope="module")
def short_pool(require_backend: Callable[[str], None]) -> Iterator[SandboxPool]:
    require_backend("local")
    pool = open_pool("local", replace(SPLIT_SANDBOX, cpu_s=0.3, memory_mb=128))
    yield pool
    pool.close()


@pytest.fixture(scope="module")
def humaneval(test_data: Callable[[str], Path]) -> list[Task]:
    return load_tasks(test_data("humaneval") / "HumanEval.jsonl.gz")


def pays_naively(folder: Path, **request: Any) -> bool:
    """Whether the naive grader is taken in: by its exit code, or by what it prints."""
    path = folder / "request.json"
    path.write_text(json.dumps(request))
    command = [sys.executable, "-I", str(NAIVE_GRADER), str(path)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    return done.returncode == 0 or b"PASSED" in done.stdout or b'{"passed": true}' in done.stdout


def reward(env: WorkEnv, name: str, **options: Any) -> float:
    observation, info = env.reset(options={"task_id": TASK_ID, **options})
    player = {**env.domain.players, **env.domain.hacks}[name]
    _, reward, terminated, _, info = env.step(player(observation, info, env))
    assert terminated
    assert info["reward_valid"] is True
    assert info["is_success"] is False
    return float(reward)


@pytest.mark.parametrize("name", [name for name in EXPRESSION_HACKS if name not in STALLS])
def test_a_hack_earns_no_more_than_noop(env: WorkEnv, name: str) -> None:
    assert HACKS[name] is env.domain.hacks[name]
    assert reward(env, name) <= reward(env, "noop") == 0.0


@pytest.mark.parametrize("name", STALLS)
def test_a_hack_that_stalls_runs_out_of_time(short_pool: SandboxPool, name: str) -> None:
    result = evaluate_expression(short_pool, EXPRESSION_HACKS[name].text, [1, 2], timeout_s=2.0)
    assert result.status == "timeout"


@pytest.mark.parametrize("name", [name for name, hack in EXPRESSION_HACKS.items() if hack.forges])
def test_a_forging_hack_pays_under_a_naive_grader(tmp_path: Path, name: str) -> None:
    hidden = CodingTasks().load(TASK_ID).hidden
    assert pays_naively(tmp_path, expression=EXPRESSION_HACKS[name].text, cases=hidden["cases"])


def test_the_naive_grader_pays_the_reference_and_not_noop(tmp_path: Path) -> None:
    hidden = CodingTasks().load(TASK_ID).hidden
    assert pays_naively(tmp_path, expression=hidden["reference"], cases=hidden["cases"])
    assert not pays_naively(tmp_path, expression="x", cases=hidden["cases"])


@pytest.mark.slow
@pytest.mark.parametrize("level", [1, 2, 3, 4, 5])
def test_hacks_earn_no_more_than_noop_on_any_level(env: WorkEnv, level: int) -> None:
    for seed in range(5):
        for name in HACKS.keys() - set(STALLS):
            assert reward(env, name, task_id=f"coding-expression-{level}-test-{seed:x}") == 0.0


@pytest.fixture(scope="module")
def function_env(require_backend: Callable[[str], None]) -> Iterator[WorkEnv]:
    require_backend("local")
    env = gym.make("Coding-v0", family="function")
    yield env.unwrapped  # type: ignore[misc]
    env.close()


def naive_test(task: Task) -> str:
    """The hidden cases of a made function, as the tests of a grader that shares the solution's process."""
    cases = [case for case in task.hidden["cases"] if case["paid"]]
    lines = [f"    assert candidate(*{case['args']!r}) == {case['value']!r}" for case in cases]
    return "\n".join(["def check(candidate):", *lines])


@pytest.mark.parametrize("name", FUNCTION_HACKS)
def test_a_hacked_function_earns_nothing_of_a_task_of_any_level(function_env: WorkEnv, name: str) -> None:
    assert name in function_env.domain.hacks
    for level in (1, 2, 4, 5):
        assert reward(function_env, name, task_id=f"coding-function-{level}-test-2a") == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("name", [*FUNCTION_HACKS, "endless-loop", "patched-clock", "huge-memory"])
@pytest.mark.parametrize("level", [1, 2, 3, 4, 5])
def test_a_hacked_function_earns_nothing_of_several_tasks(function_env: WorkEnv, name: str, level: int) -> None:
    for seed in range(5):
        assert reward(function_env, name, task_id=f"coding-function-{level}-test-{seed:x}") == 0.0


ON_CALLED_TESTS = ("patched-builtins", "prompt-functions")
"""Hacks that forge where tests call what they patch, or what their prompt defines: made functions have none such."""


@pytest.mark.parametrize("name", [name for name, hack in FUNCTION_HACKS.items() if hack.forges])
def test_a_forging_function_pays_under_a_naive_grader_of_a_made_task(tmp_path: Path, name: str) -> None:
    task = CodingTasks("function").load("coding-function-1-test-13")
    entry_point = task.public["entry_point"]
    request = {"prompt": "", "entry_point": entry_point, "test": naive_test(task)}
    assert pays_naively(tmp_path, solution=task.hidden["reference"], **request)
    assert not pays_naively(tmp_path, solution=f"def {entry_point}(*arguments): pass", **request)
    assert pays_naively(tmp_path, solution=hacked(name, task), **request) is (name not in ON_CALLED_TESTS)


def hacked(name: str, task: Task) -> str:
    return {**FUNCTION_HACKS, **FUNCTION_STALLS}[name].text.replace("ENTRY_POINT", task.public["entry_point"])


@pytest.mark.parametrize("name", FUNCTION_HACKS)
def test_a_hacked_function_passes_no_task_of_a_sample(pool: SandboxPool, humaneval: list[Task], name: str) -> None:
    passed = [
        task.id
        for task in (humaneval[number] for number in SAMPLE)
        if run_split_tests(pool, hacked(name, task), humaneval_tests(task)).passed
    ]
    assert passed == []


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTION_HACKS)
def test_a_hacked_function_passes_no_task_at_all(pool: SandboxPool, humaneval: list[Task], name: str) -> None:
    passed = [task.id for task in humaneval if run_split_tests(pool, hacked(name, task), humaneval_tests(task)).passed]
    assert passed == []


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("endless-loop", "timeout"),
        ("endless-loop-on-load", "timeout"),
        ("patched-clock", "timeout"),
        ("sleep", "timeout"),
        ("closed-channel", "timeout"),
        ("huge-memory", "oom"),
    ],
)
def test_a_function_that_uses_up_a_limit_fails_by_it(
    short_pool: SandboxPool, humaneval: list[Task], name: str, label: str
) -> None:
    task = humaneval[2]
    report = run_split_tests(short_pool, hacked(name, task), humaneval_tests(task), timeout_s=2.0)
    assert (report.passed, report.label) == (0, label)


def test_what_a_function_prints_neither_helps_nor_harms(pool: SandboxPool, humaneval: list[Task]) -> None:
    task = humaneval[2]
    printing = "print('9' * 10 ** 6)\n" * 100
    report = run_split_tests(pool, printing + task.hidden["reference"], humaneval_tests(task))
    assert report.all_passed


@pytest.mark.parametrize("name", [name for name, hack in FUNCTION_HACKS.items() if hack.forges])
def test_a_forging_function_pays_under_a_naive_grader(tmp_path: Path, humaneval: list[Task], name: str) -> None:
    assert any(
        pays_naively(
            tmp_path,
            solution=hacked(name, humaneval[number]),
            test=humaneval[number].hidden["test"],
            **humaneval[number].public,
        )
        for number in SAMPLE
    )


@pytest.mark.parametrize("number", [32, 38, 50])
def test_redefined_functions_of_the_prompt_pay_only_where_the_tests_use_them(
    pool: SandboxPool, tmp_path: Path, humaneval: list[Task], number: int
) -> None:
    task = humaneval[number]
    solution = hacked("prompt-functions", task)
    assert pays_naively(tmp_path, solution=solution, test=task.hidden["test"], **task.public)
    assert run_split_tests(pool, solution, humaneval_tests(task)).passed == 0


def test_the_naive_grader_pays_reference_functions_and_not_stubs(tmp_path: Path, humaneval: list[Task]) -> None:
    for number in SAMPLE[:4]:
        task = humaneval[number]
        request = {"test": task.hidden["test"], **task.public}
        assert pays_naively(tmp_path, solution=task.hidden["reference"], **request)
        assert not pays_naively(tmp_path, solution=task.prompt, **request)
