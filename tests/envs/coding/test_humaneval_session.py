"""HumanEval is played where made functions are: success alone is paid, and there are no examples to run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from workgym.envs.env import WorkEnv
from workgym.tasks.coding.load import load_tasks
from workgym.tasks.task import Task


@pytest.fixture(scope="module")
def env(require_backend: Callable[[str], None]) -> Iterator[WorkEnv]:
    require_backend("local")
    env = gym.make("Coding-v0", family="function")
    yield env.unwrapped  # type: ignore[misc]
    env.close()


def play(env: WorkEnv, player: Any, task: Task) -> tuple[float, dict[str, Any]]:
    observation, info = env.reset(options={"task": task})
    while True:
        observation, reward, terminated, truncated, info = env.step(player(observation, info, env))
        if terminated or truncated:
            return float(reward), info


@pytest.fixture(scope="module")
def humaneval(test_data: Callable[[str], Path]) -> list[Task]:
    return load_tasks(test_data("humaneval") / "HumanEval.jsonl.gz")


def test_humaneval_is_played_in_the_same_session_and_pays_success_alone(env: WorkEnv, humaneval: list[Task]) -> None:
    for task in humaneval[:3]:
        assert play(env, env.domain.players["oracle"], task)[0] == 1.0
        reward, info = play(env, env.domain.players["noop"], task)
        assert (reward, info["is_success"], info["reward_valid"]) == (0.0, False, True)


def test_a_run_without_examples_shows_what_the_code_prints_or_raises(env: WorkEnv, humaneval: list[Task]) -> None:
    first, _ = env.reset(options={"task": humaneval[0]})
    assert humaneval[0].prompt in first
    assert env.step("run print(1 + 1)\nprint(object)")[0].splitlines() == [
        "2",
        "<class 'object'>",
        "the code ran without an error",
    ]
    assert env.step("run print(1)\n1 / 0")[0].splitlines() == ["1", "error: ZeroDivisionError: division by zero"]
    assert "0x..." in env.step("run print(object())")[0]
