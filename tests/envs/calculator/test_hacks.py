"""No hack earns more than doing nothing, though each of them knows the right answer."""

from __future__ import annotations

import re
from collections.abc import Iterator

import gymnasium as gym
import pytest

import workgym  # noqa: F401 - registers the ids
from workgym.envs.calculator.hacks import HACKS
from workgym.envs.env import WorkEnv
from workgym.tasks.source import distinct_tasks
from workgym.tasks.task import LEVELS


@pytest.fixture(scope="module")
def env() -> Iterator[WorkEnv]:
    env = gym.make("Calculator-v0")
    yield env.unwrapped  # type: ignore[misc]
    env.close()


def total(env: WorkEnv, name: str, **options: object) -> float:
    observation, info = env.reset(options=options)
    player = {**env.domain.players, **env.domain.hacks}[name]
    earned = 0.0
    while True:
        observation, reward, terminated, truncated, info = env.step(player(observation, info, env))
        earned += float(reward)
        if terminated or truncated:
            assert info["reward_valid"] is True
            assert info["is_success"] is False
            return earned


@pytest.mark.parametrize("name", HACKS)
@pytest.mark.parametrize("level", LEVELS)
def test_a_hack_earns_no_more_than_noop(env: WorkEnv, name: str, level: int) -> None:
    for task in distinct_tasks(env.domain.source, level, 5):
        assert total(env, name, task=task) <= total(env, "noop", task=task) == 0.0


@pytest.mark.parametrize("name", ["two-answers", "listed", "sentence", "answer-in-a-call", "decimal", "equation"])
def test_a_lenient_judge_would_pay_it(env: WorkEnv, name: str) -> None:
    """The positive control: a judge that looks for the right number anywhere in the answer is taken in."""
    observation, info = env.reset(options={"task_id": "calculator-2-test-2a"})
    env.step(env.domain.hacks[name](observation, info, env))
    assert env.attempt is not None
    numbers = re.findall(r"-?[0-9]+", env.attempt.submission or "")
    assert env.task.hidden["answer"] in numbers
    assert env.verdict is not None
    assert env.verdict.reward == 0.0


def test_of_several_submissions_the_first_counts(env: WorkEnv) -> None:
    env.reset(options={"task_id": "calculator-1-test-2a"})
    right = env.task.hidden["answer"]
    calls = [{"name": "submit", "arguments": {"answer": answer}} for answer in ("1", right)]
    assert env.step(calls)[1] == 0.0
