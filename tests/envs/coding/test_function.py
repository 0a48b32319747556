"""Family `function` of Coding-v0: who writes the function is paid, who does nothing is not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from workgym.envs.coding.asked import asked_of
from workgym.envs.coding.function_policies import erring_function_oracle
from workgym.envs.coding.gates import unsound
from workgym.envs.env import WorkEnv
from workgym.tasks.coding.function.operation import Step
from workgym.tasks.coding.function.program import Program
from workgym.tasks.coding.function.sequence import OPERATIONS
from workgym.tasks.task import LEVELS, Task

ADD = Task(
    id="coding-function-1-train-0",
    domain="coding",
    family="function",
    level=1,
    split="train",
    prompt="Write a Python function `solve(nums)`. `nums` is a list of integers. Add 3 to each number.",
    public={"entry_point": "solve", "examples": [[[[1, 2]], [4, 5]], [[[0, 7]], [3, 10]]]},
    hidden={
        "reference": "def solve(nums):\n    return [n + 3 for n in nums]\n",
        "cases": [
            {"args": [[5, 6]], "value": [8, 9], "paid": True},
            {"args": [[-3, 9]], "value": [0, 12], "paid": True},
            {"args": [[]], "value": [], "paid": False},
            {"args": [["x"]], "raises": "TypeError", "paid": False},
        ],
    },
)
"""A task that one can read."""


@pytest.fixture(scope="module")
def env(require_backend: Callable[[str], None]) -> Iterator[WorkEnv]:
    require_backend("local")
    env = gym.make("Coding-v0", family="function")
    yield env.unwrapped  # type: ignore[misc]
    env.close()


def sample(env: WorkEnv, level: int, seed: int, split: str = "test") -> Task:
    return env.domain.source.sample(level, np.random.default_rng(seed), split)


def play(env: WorkEnv, player: Any, task: Task) -> tuple[float, dict[str, Any]]:
    observation, info = env.reset(options={"task": task})
    while True:
        observation, reward, terminated, truncated, info = env.step(player(observation, info, env))
        if terminated or truncated:
            return float(reward), info


def submit(env: WorkEnv, task: Task, source: str) -> tuple[float, dict[str, Any]]:
    return play(env, lambda *_: {"name": "submit", "arguments": {"code": source}}, task)


@pytest.mark.parametrize("level", LEVELS)
def test_oracles_score_1_and_who_does_nothing_0_and_half_right_lies_between(env: WorkEnv, level: int) -> None:
    tasks = [sample(env, level, seed) for seed in range(6 if level < 4 else 3)]
    rewards: dict[str, float] = {}
    for name in ("oracle", "direct-oracle", "half-right", "noop", "random", "public-constant", "public-table", "echo"):
        player = {**env.domain.players, **env.domain.hacks}[name]
        results = [play(env, player, task) for task in tasks]
        assert all(info["reward_valid"] for _, info in results)
        rewards[name] = float(np.mean([reward for reward, _ in results]))
    assert rewards["oracle"] == rewards["direct-oracle"] == 1.0
    assert 0 < rewards["half-right"] < 1
    assert sum(rewards[name] for name in ("noop", "random", "public-constant", "public-table", "echo")) == 0.0


def test_the_direct_oracle_takes_one_turn_and_the_oracle_runs_first(env: WorkEnv) -> None:
    task = sample(env, 2, 0)
    assert play(env, env.domain.players["direct-oracle"], task)[1]["turn"] == 1
    assert play(env, env.domain.players["oracle"], task)[1]["turn"] == 2


def ladder(env: WorkEnv, rate: float, seeds: int) -> list[float]:
    """Success of an oracle that errs, by level, over tasks of the same seeds."""
    player = erring_function_oracle(rate)
    return [
        float(np.mean([play(env, player, sample(env, level, seed))[1]["is_success"] for seed in range(seeds)]))
        for level in LEVELS
    ]


def test_an_oracle_that_errs_succeeds_less_at_each_level(env: WorkEnv) -> None:
    successes = ladder(env, 0.1, 10)
    assert successes == sorted(successes, reverse=True)
    assert successes[0] > successes[-1] > 0


@pytest.mark.slow
def test_the_ladder_of_oracles_that_err_falls_with_rate_and_level(env: WorkEnv) -> None:
    rungs = [ladder(env, rate, 24) for rate in (0.0, 0.05, 0.15, 0.4)]
    assert rungs[0] == [1.0] * 5
    for rung in rungs[1:]:
        assert rung == sorted(rung, reverse=True)
        assert rung[0] > rung[-1]
    assert [sum(rung) for rung in rungs] == sorted((sum(rung) for rung in rungs), reverse=True)


@pytest.mark.parametrize("level", LEVELS)
def test_tasks_pass_the_gates(env: WorkEnv, level: int) -> None:
    env.reset(seed=0)
    for seed in range(2):
        assert unsound(sample(env, level, 100 + seed, "train"), env._pools) == []


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_20_tasks_pass_the_gates(env: WorkEnv, level: int) -> None:
    env.reset(seed=0)
    for seed in range(20):
        assert unsound(sample(env, level, seed, "train" if seed % 2 else "test"), env._pools) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"reference": "def solve(nums):\n    return nums\n"}, "the reference earns 0"),
        (
            {"cases": [{"args": [[5, 6]], "value": [4, 5], "paid": True}]},
            r"trivial solution 'constant \[4, 5\]' earns 1",
        ),
        ({"cases": [{"args": [[1, 2]], "value": [4, 5], "paid": True}]}, r"the hidden input \[\[1, 2\]\] is shown"),
    ],
)
def test_a_task_that_is_unsound_is_found(env: WorkEnv, change: dict[str, Any], words: str) -> None:
    env.reset(seed=0)
    assert unsound(ADD, env._pools) == []
    faults = "\n".join(unsound(replace(ADD, hidden={**ADD.hidden, **change}), env._pools))
    with pytest.raises(AssertionError, match=words):
        raise AssertionError(faults)


@pytest.mark.parametrize(
    ("source", "reward", "success"),
    [
        ("def solve(nums): return [n + 3 for n in nums]", 1.0, True),
        ("def solve(nums): return [n + 3 for n in nums] if nums else None", 1.0, False),
        ("def solve(nums): return tuple(n + 3 for n in nums)", 0.0, False),
        ("def solve(nums): return (n + 3 for n in nums)", 1.0, True),
        ("def solve(nums): return [n + 3.0 for n in nums]", 1.0, True),
        ("def solve(nums): return [8, 9]", 0.5, False),
        ("def solve(nums):\n    assert nums and nums[0] == 5\n    return [8, 9]", 0.5, False),
        ("def solve(nums)\n    return nums", 0.0, False),
        ("import nothing_of_this_name", 0.0, False),
        ("def other(nums): return [n + 3 for n in nums]", 0.0, False),
        ("raise SystemExit", 0.0, False),
        ("", 0.0, False),
    ],
)
def test_a_function_earns_the_share_of_its_paid_cases(env: WorkEnv, source: str, reward: float, success: bool) -> None:
    earned, info = submit(env, ADD, source)
    assert (earned, info["is_success"], info["reward_valid"]) == (reward, success, True)


def labels(env: WorkEnv) -> dict[str, str]:
    assert env.verdict is not None
    return {check.name: check.label for check in env.verdict.checks}


@pytest.mark.parametrize(
    ("source", "name", "label"),
    [
        ("def solve(nums)", "parses", "syntax"),
        ("", "parses", "empty"),
        ("1 / 0", "loads", "error"),
        ("x = 1", "loads", "missing"),
        ("def solve(nums):\n    while True: pass", "tests", "timeout"),
        ("def solve(nums): return [b'9' * 10 ** 8 for _ in range(100)]", "tests", "oom"),
        ("import os\ndef solve(nums): os._exit(0)", "tests", "silent"),
        ("def solve(nums): return [1234567] * 500_000", "tests", "output"),
    ],
)
def test_what_stopped_a_function_is_named(env: WorkEnv, source: str, name: str, label: str) -> None:
    assert submit(env, ADD, source)[0] == 0.0
    assert labels(env)[name] == label


@pytest.mark.slow
def test_a_function_that_sleeps_is_out_of_time(env: WorkEnv) -> None:
    reward, info = submit(env, ADD, "import time\ndef solve(nums): time.sleep(1000)")
    assert (reward, info["reward_valid"], labels(env)["tests"]) == (0.0, True, "timeout")


def test_a_run_says_which_examples_differ(env: WorkEnv) -> None:
    first, _ = env.reset(options={"task": ADD})
    assert first.splitlines()[1:] == ["solve([1, 2]) == [4, 5]", "solve([0, 7]) == [3, 10]"]
    shown = env.step("run def solve(nums): return [n + 3 if n else 0 for n in nums]")[0]
    assert shown.splitlines() == ["solve([0, 7]) gives [0, 10], not [3, 10]", "1 of 2 examples are right"]
    shown = env.step("run\n```python\ndef solve(nums):\n    return nums[9]\n```")[0]
    assert shown.splitlines()[0] == "solve([1, 2]) gives IndexError: list index out of range, not [4, 5]"
    assert env.step("run def solve(nums): ]")[0].startswith("error: SyntaxError")
    assert env.step("```python\ndef solve(nums):\n    return [n + 3 for n in nums]\n```")[1] == 1.0


def test_a_run_shows_what_the_code_prints(env: WorkEnv) -> None:
    env.reset(options={"task": ADD})
    shown = env.step(
        "run print('loaded')\ndef solve(nums):\n    print(nums, end=' ')\n    return [n + 3 for n in nums]"
    )[0]
    assert shown.splitlines() == ["printed: loaded", "printed: [1, 2] [0, 7]", "2 of 2 examples are right"]
    shown = env.step("run def solve(nums):\n    print('so far')\n    while True: pass")[0]
    assert shown.splitlines() == ["printed: so far", "error: out of CPU time", "0 of 2 examples are right"]
    shown = env.step("run def solve(nums):\n    for n in range(5000): print(object())\n    return nums")[0]
    assert shown.splitlines()[0] == "printed: <object object at 0x...>"
    assert 1000 < len(shown) < 2000


def test_what_a_run_prints_cannot_pass_for_what_it_came_to(env: WorkEnv) -> None:
    env.reset(options={"task": ADD})
    shown = env.step("run import os\nos.write(1, b'2 of 2 examples are right\\n')\ndef solve(nums): return nums")[0]
    assert shown.splitlines()[0] == "printed: 2 of 2 examples are right"
    assert shown.splitlines()[-1] == "0 of 2 examples are right"
    shown = env.step("run import sys\nsys.stdout = None\ndef solve(nums): return [n + 3 for n in nums]")[0]
    assert shown == "2 of 2 examples are right"


def test_two_blocks_are_a_mistake_that_is_told(env: WorkEnv) -> None:
    env.reset(options={"task": ADD})
    block = "```python\ndef solve(nums):\n    return nums\n```\n"
    for text in (block + block, f"run {block}{block}"):
        observation, _, terminated, _, info = env.step(text)
        assert "2 blocks of code" in observation
        assert len(observation.splitlines()) == 1
        assert (terminated, info["action_valid"]) == (False, False)


def test_a_block_of_a_list_is_loaded_and_a_block_of_a_shell_is_told(env: WorkEnv) -> None:
    env.reset(options={"task": ADD})
    observation, *_, info = env.step("```bash\npython solve.py\n```")
    assert "a block labelled 'bash' is no Python" in observation
    assert info["action_valid"] is False
    assert env.step("- So:\n  ```python\n  def solve(nums):\n      return [n + 3 for n in nums]\n  ```")[1] == 1.0


def test_style_short_drops_the_instructions_and_nothing_of_the_task() -> None:
    full, short = (gym.make("Coding-v0", family="function", style=style).unwrapped for style in ("full", "short"))
    assert isinstance(full, WorkEnv)
    assert isinstance(short, WorkEnv)
    assert (bool(full.domain.instructions), bool(short.domain.instructions)) == (True, False)
    assert sample(full, 1, 0).prompt == sample(short, 1, 0).prompt


def test_two_functions_are_called_with_what_the_first_one_built(env: WorkEnv) -> None:
    task = sample(env, 5, 1)
    first, _ = env.reset(options={"task": task})
    asked = asked_of(task)
    assert f"{asked.entry_point}({asked.builder}(" in first
    shown = env.step(f"run {task.hidden['reference']}")[0]
    assert shown == "3 of 3 examples are right"
    own = f"class Data: pass\ndef {asked.builder}(items):\n    data = Data()\n    data.n = 3\n    return data\n"
    shown = env.step(f"run {own}def {asked.entry_point}(data, q): return data.n")[0]
    assert "examples are right" in shown
    assert "gives" in shown
    shown = env.step(f"run def {asked.entry_point}(data, q): return 0")[0]
    assert f"NameError: name '{asked.builder}' is not defined" in shown


def slow_and_fast(name: str) -> tuple[Task, str]:
    """A task whose one step is slow if written without thought, and a solution in quadratic time."""
    operation = next(operation for operation in OPERATIONS if operation.name == name)
    params = tuple((letter, values[0]) for letter, values in operation.params.items())
    step = Step(operation, params)
    program = Program((step,))
    cases = [{"args": [[4, 1, 9]], "value": program.run([4, 1, 9]), "paid": True}]
    hidden = {
        "reference": program.write("solve", "nums"),
        "cases": cases,
        "large": {"kind": "numbers", "seed": 1},
    }
    slow = operation.slow.replace("{x}", "nums").replace("{k}", str(dict(params).get("k")))
    return replace(ADD, level=4, hidden=hidden), f"def solve(nums):\n    return {slow}\n"


@pytest.mark.parametrize("name", ["running-sum", "records"])
def test_quadratic_time_is_refused_and_linear_time_is_not(env: WorkEnv, name: str) -> None:
    task, slow = slow_and_fast(name)
    assert submit(env, task, task.hidden["reference"])[0] == 1.0
    reward, info = submit(env, task, slow)
    assert (reward, info["is_success"], info["reward_valid"]) == (0.5, False, True)


def test_an_exception_counts_by_the_name_of_its_class(env: WorkEnv) -> None:
    task = next(task for seed in range(20) if '"raises"' in json.dumps((task := sample(env, 4, seed)).hidden))
    reference = task.hidden["reference"]
    name = next(case["raises"] for case in task.hidden["cases"] if "raises" in case)
    assert submit(env, task, reference)[1]["is_success"] is True
    reward, info = submit(env, task, reference.replace(f"raise {name}", "raise OverflowError('of another class')"))
    assert (reward, info["is_success"]) == (1.0, False)


@pytest.mark.parametrize("level", [1, 5])
def test_a_second_judgment_is_the_same_to_the_bit(env: WorkEnv, level: int) -> None:
    task = sample(env, level, 3)
    play(env, env.domain.players["half-right"], task)
    assert env.attempt is not None
    assert {env.grade(env.attempt) for _ in range(2)} == {env.verdict}
    assert 0 < env.verdict.reward < 1  # type: ignore[union-attr]


def test_corrupting_one_hidden_answer_makes_the_oracle_fail(env: WorkEnv) -> None:
    task = sample(env, 2, 0)
    task.hidden["cases"][0]["value"] = "CORRUPTED"
    reward, info = play(env, env.domain.players["oracle"], task)
    n_paid = sum(case["paid"] for case in task.hidden["cases"])
    assert (reward, info["is_success"]) == (pytest.approx(1 - 1 / n_paid), False)


def test_a_session_can_be_copied(env: WorkEnv) -> None:
    env.reset(options={"task": ADD})
    env.step("run def solve(nums): return nums")
    (copy,) = env.fork(1)
    try:
        assert copy.step("submit def solve(nums): return [n + 3 for n in nums]")[1] == 1.0
    finally:
        copy.close()


def test_a_question_that_reads_all_items_again_is_out_of_time(env: WorkEnv) -> None:
    task = next(task for seed in range(99) if (task := sample(env, 5, seed)).hidden["large"]["asks"] == "number")
    asked = asked_of(task)
    name = asked.entry_point
    scan = f"seen = {name}\ndef {name}(data, q):\n    max(range(100_000))\n    return seen(data, q)"
    reward, info = submit(env, task, f"{task.hidden['reference']}\n\n{scan}\n")
    assert (0.8 < reward < 1.0, info["is_success"], info["reward_valid"]) == (True, False, True)
