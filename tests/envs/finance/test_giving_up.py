"""Who gives up is right where the filing has no answer, for the right reason, with something that shows it."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator

import gymnasium as gym
import numpy as np
import pytest

import workgym  # noqa: F401 - registers the ids
from workgym.envs.env import WorkEnv
from workgym.envs.finance.policies import call, steps
from workgym.tasks.finance.source import FinanceTasks
from workgym.tasks.finance.wording import REASONS
from workgym.tasks.task import Task


@pytest.fixture(autouse=True)
def _needs(require_backend: Callable[[str], None], require_extra: Callable[[str], None]) -> None:
    require_backend("local")
    require_extra("finance")


@pytest.fixture(scope="module")
def env() -> Iterator[WorkEnv]:
    env = gym.make("Finance-v0", level=2)
    yield env.unwrapped  # type: ignore[misc]
    env.close()


@functools.cache
def unanswerable() -> dict[str, Task]:
    """A task for each reason."""
    source, rng = FinanceTasks("unanswerable"), np.random.default_rng(0)
    found: dict[str, Task] = {}
    while len(found) < len(REASONS):
        task = source.sample(2, rng)
        found.setdefault(task.hidden["reason"], task)
    return found


def play(env: WorkEnv, task: Task, last: str, look: bool = True) -> tuple[float, bool]:
    env.reset(options={"task": task})
    for action in steps(task)[:-1] if look else []:
        env.step(action)
    *_, info = env.step(last)
    assert env.verdict is not None
    return env.verdict.reward, bool(info["is_success"])


@pytest.mark.parametrize("reason", REASONS)
def test_the_right_reason_with_a_witness_earns_all(env: WorkEnv, reason: str) -> None:
    task = unanswerable()[reason]
    assert play(env, task, steps(task)[-1]) == (1.0, True)


@pytest.mark.parametrize("reason", REASONS)
def test_another_reason_earns_nothing(env: WorkEnv, reason: str) -> None:
    task = unanswerable()[reason]
    fields = json.loads(steps(task)[-1].removeprefix("give_up "))
    for other in set(REASONS) - {reason}:
        assert play(env, task, call("give_up", **{**fields, "reason": other})) == (0.0, False)


@pytest.mark.parametrize("reason", REASONS)
def test_without_a_witness_that_was_read_the_right_reason_earns_nothing(env: WorkEnv, reason: str) -> None:
    task = unanswerable()[reason]
    fields = json.loads(steps(task)[-1].removeprefix("give_up "))
    assert play(env, task, call("give_up", reason=reason, citations=[])) == (0.0, False)
    assert play(env, task, call("give_up", **fields), look=False) == (0.0, False)


@pytest.mark.parametrize("reason", REASONS)
def test_who_cites_all_that_could_be_a_witness_earns_nothing(env: WorkEnv, reason: str) -> None:
    task = unanswerable()[reason]
    fields = json.loads(steps(task)[-1].removeprefix("give_up "))
    many = fields["citations"] + [{"cell": f"d1:p1!l{line}", "quote": "x"} for line in range(1, 20)]
    assert play(env, task, call("give_up", reason=reason, citations=many)) == (0.0, False)


@pytest.mark.parametrize("reason", REASONS)
def test_an_answer_to_what_has_none_earns_nothing(env: WorkEnv, reason: str) -> None:
    for value in ("0", "1,234"):
        assert play(env, unanswerable()[reason], call("submit", value=value)) == (0.0, False)


@pytest.mark.parametrize("reason", REASONS)
def test_giving_up_on_a_question_that_has_an_answer_earns_nothing(env: WorkEnv, reason: str) -> None:
    source, rng = FinanceTasks("derive"), np.random.default_rng(1)
    citations = [{"cell": "d1:p1!l1", "quote": "anything"}]
    assert play(env, source.sample(2, rng), call("give_up", reason=reason, citations=citations)) == (0.0, False)


def test_an_unknown_reason_is_answered_with_those_there_are(env: WorkEnv) -> None:
    env.reset(seed=0)
    observation, _, terminated, _, info = env.step(call("give_up", reason="too hard"))
    assert (terminated, info["action_valid"]) == (False, False)
    assert "not_reported" in observation


def test_one_in_twelve_has_no_answer_and_as_many_are_twins() -> None:
    source, rng = FinanceTasks(), np.random.default_rng(5)
    tasks = [source.sample(2, rng) for _ in range(150)]
    n_without = sum("reason" in task.hidden for task in tasks)
    assert 4 <= n_without <= 24  # 8 percent of 150, give or take four deviations
    assert not any("reason" in source.sample(1, rng).hidden for _ in range(40))


def test_nothing_that_is_told_before_tells_whether_there_is_an_answer(env: WorkEnv) -> None:
    source, rng = FinanceTasks(), np.random.default_rng(6)
    tasks = [source.sample(2, rng) for _ in range(60)]
    without = next(task for task in tasks if "reason" in task.hidden)
    told = [env.reset(options={"task": task})[1] for task in (without, tasks[0])]
    assert told[0].keys() == told[1].keys()
    assert told[0]["family"] == "lookup"
    assert without.public.keys() == tasks[0].public.keys()
    assert steps(without)[0].startswith("search ")
    assert steps(tasks[0])[0].startswith(f'search {{"query": "{tasks[0].prompt[:20]}')


def test_reasons_are_drawn_alike() -> None:
    source, rng = FinanceTasks("unanswerable"), np.random.default_rng(9)
    reasons = [source.sample(2, rng).hidden["reason"] for _ in range(80)]
    assert all(reasons.count(reason) >= 6 for reason in REASONS)
