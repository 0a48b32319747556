"""Calculator-v0 keeps the contract of the suite, and rewards the right number alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import pytest

import workgym  # noqa: F401 - registers the ids
from workgym.envs.calculator.policies import erring_oracle
from workgym.envs.env import WorkEnv
from workgym.envs.testing import check_domain
from workgym.tasks.source import distinct_tasks
from workgym.tasks.task import LEVELS

GOLDEN = {
    "calculator-1-test-2a": "4ecd5ab5f9603f3aabb056d3ba4a8e9b",
    "calculator-2-test-2a": "356041f0dd99e00cde2d63a582b36623",
    "calculator-3-test-2a": "2a5bc60b212a94effd3c87f4523b2c90",
    "calculator-4-test-2a": "22c51afad94b9566511a5f4c0feb82f1",
    "calculator-5-test-2a": "24a1deba21056514ec2c5cf14179ceeb",
}

TASK = "calculator-5-test-2a"


@pytest.fixture
def env() -> Iterator[WorkEnv]:
    env = gym.make("Calculator-v0")
    yield env.unwrapped  # type: ignore[misc]
    env.close()


def play(env: WorkEnv, player: Any, **options: Any) -> tuple[float, list[str]]:
    observation, info = env.reset(options=options)
    said = [observation]
    while True:
        action = player(observation, info, env)
        observation, reward, terminated, truncated, info = env.step(action)
        said += [action, observation]
        if terminated or truncated:
            return float(reward), said


@pytest.mark.xdist_group("alone")
@pytest.mark.parametrize("style", ["full", "short"])
def test_it_passes_the_conformance_test(style: str) -> None:
    check_domain("Calculator-v0", kwargs={"style": style}, golden=GOLDEN if style == "full" else {})


def test_an_operation_is_answered_with_its_value(env: WorkEnv) -> None:
    env.reset(options={"task_id": TASK})
    assert env.step("calculate 12+34")[0] == "12+34 = 46"
    assert env.step("c -3 * -4")[0] == "-3*-4 = 12"
    assert env.step({"name": "calculate", "arguments": {"operation": "5-12"}})[0] == "5-12 = -7"


@pytest.mark.parametrize("operation", ["12+34-5", "12/3", "", "2**99999999", "__import__('os')", "9" * 100 + "+1"])
def test_more_than_one_operation_is_refused_in_words(env: WorkEnv, operation: str) -> None:
    env.reset(seed=0)
    observation, reward, terminated, truncated, info = env.step(
        {"name": "calculate", "arguments": {"operation": operation}}
    )
    assert observation.startswith("error: calculate does one operation on two whole numbers")
    assert len(observation) < 200
    assert (reward, terminated, truncated, info["action_valid"]) == (0.0, False, False, False)


def test_short_style_shows_the_sum_alone_and_answers_with_bare_numbers() -> None:
    env = gym.make("Calculator-v0", style="short")
    env.reset(options={"task_id": TASK})
    reward, said = play(env.unwrapped, env.unwrapped.domain.players["oracle"], task_id=TASK)  # type: ignore[attr-defined]
    assert said == [
        "(6891-(1803+7965))*4949+4897",
        "c 1803+7965",
        "9768",
        "c 6891-9768",
        "-2877",
        "c -2877*4949",
        "-14238273",
        "c -14238273+4897",
        "-14233376",
        "s -14233376",
        "",
    ]
    assert reward == 1.0
    env.close()


@pytest.mark.parametrize("level", LEVELS)
def test_the_oracle_needs_one_turn_an_operation_and_one_to_submit(env: WorkEnv, level: int) -> None:
    n_calls = {1: 1, 2: 2, 3: 2, 4: 3, 5: 4}[level]
    for task in distinct_tasks(env.domain.source, level, 10):
        reward, said = play(env, env.domain.players["oracle"], task=task)
        assert reward == 1.0
        assert [action.split()[0] for action in said[1::2]] == ["calculate"] * n_calls + ["submit"]


def test_an_oracle_that_errs_more_succeeds_less(env: WorkEnv) -> None:
    tasks = distinct_tasks(env.domain.source, 3, 40)
    ladder = [
        sum(play(env, erring_oracle(rate), task=task)[0] for task in tasks) / len(tasks)
        for rate in (0.0, 0.2, 0.5, 1.0)
    ]
    assert ladder == sorted(ladder, reverse=True)
    assert ladder[0] == 1.0
    assert ladder[-1] < 0.1


def test_an_oracle_that_erred_goes_on_with_what_it_was_shown(env: WorkEnv) -> None:
    """Rate 1 at the first action alone: what follows is worked out from the wrong number."""
    task_id = "calculator-3-test-2a"
    wrong = erring_oracle(1.0)
    _, right_said = play(env, env.domain.players["oracle"], task_id=task_id)

    def player(observation: str, info: dict[str, Any], env: WorkEnv) -> str:
        return (env.domain.players["oracle"] if info["turn"] else wrong)(observation, info, env)

    reward, said = play(env, player, task_id=task_id)
    shown = said[2].split(" = ")[1]
    assert said[1] != right_said[1]
    assert said[3].startswith(f"calculate {shown}-")
    assert said[5] == f"submit {said[4].split(' = ')[1]}"
    assert reward == 0.0


@pytest.mark.parametrize("rate", [-0.1, 1.1])
def test_a_rate_outside_0_to_1_is_refused(rate: float) -> None:
    with pytest.raises(ValueError, match=r"rate must be in \[0, 1\]"):
        erring_oracle(rate)


def test_corrupting_the_hidden_answer_makes_the_oracle_fail(env: WorkEnv) -> None:
    env.reset(options={"task_id": "calculator-1-test-2a"})
    env.task.hidden["answer"] = str(int(env.task.hidden["answer"]) + 1)  # type: ignore[index]
    env.step(env.oracle_action())
    assert env.step(env.oracle_action())[1] == 0.0


def test_white_space_around_the_answer_does_no_harm(env: WorkEnv) -> None:
    env.reset(options={"task_id": TASK})
    assert env.step(f"submit  {env.task.hidden['answer']} \n")[1] == 1.0


def test_a_second_judgment_is_the_same(env: WorkEnv) -> None:
    env.reset(options={"task_id": TASK})
    env.step("submit 42 or 43")
    assert env.attempt is not None
    assert env.grade(env.attempt) == env.verdict
    assert env.verdict is not None
    assert [check.label for check in env.verdict.checks] == ["form"]


def test_it_runs_no_code_and_needs_no_sandbox(env: WorkEnv) -> None:
    assert env.domain.open_pools is None


def test_a_name_that_does_not_exist_answers_with_the_nearest() -> None:
    with pytest.raises(ValueError, match="Did you mean 'short'"):
        gym.make("Calculator-v0", style="shrot")
