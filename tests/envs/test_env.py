"""The contract of WorkEnv, on a domain without a sandbox."""

from __future__ import annotations

import json
import pickle
import random
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from workgym.envs.env import WorkEnv
from workgym.tasks.errors import IsolationUnavailable, SandboxError, TaskError
from workgym.tasks.task import Task


def test_the_reward_comes_with_the_last_step_and_is_the_verdicts(env: WorkEnv) -> None:
    env.reset(seed=0, options={"task_id": "count-1-train-4"})
    first = env.step('add {"by": 2}')
    last = env.step("done")
    assert first[1:4] == (0.0, False, False)
    assert last[1:4] == (0.5, True, False)
    assert env.verdict is not None
    assert env.verdict.reward == 0.5


def test_a_submission_that_is_right_is_a_success(env: WorkEnv) -> None:
    env.reset(options={"task_id": "count-1-train-4"})
    env.step({"name": "add", "arguments": {"by": 4}})
    observation, reward, terminated, truncated, info = env.step({"name": "done", "arguments": "{}"})
    assert (observation, reward, terminated, truncated) == ("handed in", 1.0, True, False)
    assert (info["is_success"], info["reward_valid"], info["end_reason"]) == (True, True, "submitted")
    assert json.loads(info["reward_breakdown"]) == {"counted": 1.0}


@pytest.mark.parametrize(
    ("action", "words"),
    [
        ("", "empty"),
        ("   \n", "empty"),
        ("fly", "unknown tool 'fly'"),
        ("ad", "Did you mean 'add'"),
        ("add", "needs the argument 'by'"),
        ('add {"by": "two"}', "must be of type integer"),
        ('add {"by": true}', "must be of type integer"),
        ('add {"by": 1, "too": 2}', "unknown argument 'too'"),
        ('add {"by": 1, "self": 0}', "unknown argument 'self'"),
        ({"name": "add", "arguments": {"by": 1, "self": 0, "call": 1, "arguments": {}}}, "unknown argument 'self'"),
        ("add [1]", "JSON object"),
        ("add {", "JSON object"),
        ('add {"by": -1}', "backwards"),
        ("{", "does not parse"),
        ("[1, 2]", "object with name"),
        ({"name": 3}, "the name of a tool is a text, not int"),
        ({"arguments": {}}, "unknown tool None"),
        ({"name": "add", "arguments": 7}, "must be an object"),
        ({"name": "add", "arguments": {1: 2}}, "must be an object"),
        ([], "1 to 16"),
        ([{"name": "done"}] * 17, "1 to 16"),
        (["done"], "tool call is an object"),
        (None, "an action is a text"),
        (12, "an action is a text"),
        (b"done", "an action is a text"),
        ("x" * 1_000_001, "1000001 characters"),
        ("[" * 100_000, "does not parse"),
        ("\ud800", "unknown tool"),
    ],
)
def test_a_malformed_action_is_answered_and_the_episode_goes_on(env: WorkEnv, action: Any, words: str) -> None:
    env.reset(options={"task_id": "count-1-train-4"})
    observation, reward, terminated, truncated, info = env.step(action)
    assert words in observation
    assert observation.startswith("error: ")
    assert (reward, terminated, truncated, info["action_valid"]) == (0.0, False, False, False)
    assert env.step('add {"by": 4}')[0] == "count 4"
    assert env.step("done")[1] == 1.0


@pytest.mark.parametrize("action", ['+ {"by": 3}', '  add\n{"by": 3}  ', '{"name": "add", "arguments": {"by": 3}}'])
def test_every_form_of_a_call_is_the_same_call(env: WorkEnv, action: str) -> None:
    env.reset(options={"task_id": "count-1-train-4"})
    assert env.step(action)[0] == "count 3"


def test_a_text_argument_arrives_as_it_was_written(env: WorkEnv) -> None:
    env.reset(seed=1)
    assert env.step("say  a b\n{c}\n")[0] == " a b\n{c}\n"


def test_a_list_of_calls_is_done_in_order_and_stops_at_the_end(env: WorkEnv) -> None:
    env.reset(options={"task_id": "count-1-train-4"})
    calls = [{"name": "add", "arguments": {"by": 4}}, {"name": "done"}, {"name": "add", "arguments": {"by": 1}}]
    observation, reward, terminated, _, _ = env.step(calls)
    assert (observation, reward, terminated) == ("count 4\nhanded in", 1.0, True)


def test_a_list_of_calls_stops_at_the_first_that_fails(env: WorkEnv) -> None:
    env.reset(options={"task_id": "count-1-train-4"})
    calls = [{"name": "add", "arguments": {"by": 1}}, {"name": "add"}, {"name": "add", "arguments": {"by": 3}}]
    assert env.step(calls)[0] == "error: count 1\nadd needs the argument 'by'"
    assert env.step('add {"by": 3}')[0] == "count 4"


def test_when_the_turns_run_out_what_stands_is_judged(env: WorkEnv) -> None:
    env.reset(options={"task_id": "count-1-train-4"})
    results = [env.step('add {"by": 0}') for _ in range(6)]
    assert [result[3] for result in results] == [False] * 5 + [True]
    assert results[-1][4]["end_reason"] == "turns"
    assert results[-1][4]["reward_valid"] is True
    assert env.attempt is not None
    assert env.attempt.submission is None


@pytest.mark.parametrize("reason", ["tokens", "wall", "turns"])
def test_a_budget_the_environment_cannot_see_ends_it_judged(env: WorkEnv, reason: str) -> None:
    env.reset(seed=0)
    _, reward, terminated, truncated, info = env.finish(reason)
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert (info["end_reason"], info["reward_valid"]) == (reason, True)


def test_giving_up_terminates_and_judges_what_stands(env: WorkEnv) -> None:
    env.reset(seed=0)
    _, reward, terminated, truncated, info = env.finish("gave_up")
    assert (reward, terminated, truncated) == (0.0, True, False)
    assert (info["end_reason"], info["reward_valid"]) == ("gave_up", True)


def test_finish_refuses_a_reason_that_is_none(env: WorkEnv) -> None:
    env.reset(seed=0)
    with pytest.raises(ValueError, match="unknown reason 'token'. Did you mean 'tokens'"):
        env.finish("token")


def test_giving_up_terminates_and_is_judged(env: WorkEnv) -> None:
    env.reset(seed=0)
    _, reward, terminated, truncated, info = env.step("leave")
    assert (reward, terminated, truncated, info["end_reason"]) == (0.0, True, False, "gave_up")


def test_an_infrastructure_failure_is_never_a_reward(env: WorkEnv) -> None:
    env.reset(options={"task_id": "count-1-train-4"})
    env.step('add {"by": 4}')
    _, _, terminated, truncated, info = env.step("crash")
    assert (terminated, truncated) == (False, True)
    assert (info["reward_valid"], info["is_success"], info["end_reason"]) == (False, False, "infrastructure")
    assert "sandbox is gone" in info["error"]
    assert env.verdict is not None
    assert not env.verdict.valid


def test_a_judge_that_breaks_is_an_infrastructure_failure(make_domain: Any) -> None:
    def broken(attempt: object, task: object, pools: object) -> object:
        raise OSError("disk full")

    env = WorkEnv(make_domain(examine=broken))
    env.reset(seed=0)
    _, _, _, truncated, info = env.step("done")
    assert (truncated, info["reward_valid"], info["error"]) == (True, False, "OSError: disk full")


def test_a_strict_environment_lets_the_fault_through_and_ends(domain: Any) -> None:
    env = WorkEnv(domain, strict=True)
    env.reset(seed=0)
    with pytest.raises(SandboxError, match="gone"):
        env.step("crash")
    with pytest.raises(gym.error.ResetNeeded):
        env.step("done")


def test_without_isolation_reset_raises_with_the_way_out_and_gives_the_pools_back(
    make_domain: Any, closed_pools: Any
) -> None:
    before = type(closed_pools).n_closed
    env = WorkEnv(make_domain(open_pools=lambda: closed_pools))
    with pytest.raises(SandboxError, match="install it"):
        env.reset(seed=0)
    assert type(closed_pools).n_closed == before + 1


def test_info_has_the_same_keys_and_types_from_the_first_to_the_last(env: WorkEnv) -> None:
    _, first = env.reset(seed=0)
    infos = [first, env.step("nonsense")[4], env.step('add {"by": 1}')[4], env.step("done")[4]]
    env.reset(seed=0)
    infos.append(env.step("crash")[4])
    shapes = {tuple((key, type(value)) for key, value in info.items()) for info in infos}
    assert len(shapes) == 1
    assert None not in first.values()


def test_info_is_a_fresh_object_every_time(env: WorkEnv) -> None:
    _, first = env.reset(seed=0)
    first["turn"] = 99
    assert env.step("say x")[4]["turn"] == 1


def test_an_episode_that_is_over_asks_for_a_reset(env: WorkEnv) -> None:
    with pytest.raises(gym.error.ResetNeeded):
        env.step("done")
    env.reset(seed=0)
    env.step("done")
    with pytest.raises(gym.error.ResetNeeded):
        env.step("done")
    with pytest.raises(gym.error.ResetNeeded):
        env.finish("wall")


def test_every_way_to_end_closes_the_session(env: WorkEnv) -> None:
    env.reset(seed=0)
    session = type(env._latest_episode().session)
    for ending in (lambda: env.step("done"), lambda: env.step("crash"), lambda: env.finish("wall"), env.close):
        env.reset(seed=0)
        assert session.n_open == 1
        ending()
        assert session.n_open == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"taskid": "x"}, "unknown reset option 'taskid'. Did you mean 'task_id'"),
        ({"task": "x"}, "must be a Task"),
        ({"task": Task("x", "", "", 1, "train", ""), "task_id": "x"}, "give one of them"),
        ({"level": 7}, "unknown level 7"),
        ({"level": True}, "level must be a whole number, not True"),
        ({"level": "2"}, "level must be a whole number, not '2'"),
        ({"split": "tests"}, "Did you mean 'test'"),
    ],
)
def test_reset_refuses_options_that_are_none(env: WorkEnv, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        env.reset(options=options)


def test_reset_refuses_a_task_that_is_none(env: WorkEnv) -> None:
    with pytest.raises(TaskError, match="no task 'x'"):
        env.reset(options={"task_id": "x"})


def test_a_task_of_another_domain_is_refused(env: WorkEnv) -> None:
    with pytest.raises(TaskError, match="is of domain 'coding'; this is domain 'counting'"):
        env.reset(options={"task": Task("x", "coding", "expression", 1, "train", "")})


def test_where_isolation_is_gone_for_good_the_run_stops(make_domain: Any) -> None:
    def gone(attempt: object, task: object, pools: object) -> object:
        raise IsolationUnavailable("no namespaces anymore")

    env = WorkEnv(make_domain(examine=gone))
    env.reset(seed=0)
    with pytest.raises(IsolationUnavailable):
        env.step("done")
    with pytest.raises(gym.error.ResetNeeded):
        env.step("done")


def test_a_task_can_be_given_whole(env: WorkEnv) -> None:
    task = Task("mine", "counting", "count", 1, "train", "count to 2", hidden={"goal": 2})
    assert env.reset(options={"task": task})[0] == "count to 2"
    env.step('add {"by": 2}')
    assert env.step("done")[1] == 1.0


def test_the_seed_decides_the_task_and_touches_no_global_state(env: WorkEnv) -> None:
    random.seed(5)
    before = random.getstate(), pickle.dumps(np.random.get_state(legacy=False))
    tasks = [env.reset(seed=seed)[1]["task_id"] for seed in (3, 4, 5, 6, 3, 4, 5, 6)]
    assert tasks[:4] == tasks[4:]
    assert len(set(tasks)) > 1
    assert (random.getstate(), pickle.dumps(np.random.get_state(legacy=False))) == before


@pytest.mark.parametrize(
    "keywords", [{"level": 3}, {"split": "tset"}, {"render_mode": "human"}, {"max_observation_tokens": -1}]
)
def test_the_constructor_refuses_what_does_not_exist(domain: Any, keywords: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"unknown|must be"):
        WorkEnv(domain, **keywords)


def test_a_long_observation_is_cut_in_the_middle_and_says_so(domain: Any) -> None:
    env = WorkEnv(domain, max_observation_tokens=50)
    env.reset(seed=0)
    observation, *_ = env.step("say " + "a" * 500 + "b" * 500)
    assert len(observation) == 200
    assert observation.startswith("aaa")
    assert observation.endswith("bbb")
    assert "characters left out" in observation
    assert observation in env.observation_space


def test_render_shows_the_conversation(domain: Any) -> None:
    env = WorkEnv(domain, render_mode="ansi")
    env.reset(options={"task_id": "count-1-train-4"})
    env.step('add {"by": 4}')
    assert env.render() == 'count to 4\n> add {"by": 4}\ncount 4'


def test_the_oracle_scores_1(env: WorkEnv) -> None:
    env.reset(seed=2)
    reward, over = 0.0, False
    while not over:
        _, reward, terminated, truncated, _ = env.step(env.oracle_action())
        over = terminated or truncated
    assert reward == 1.0


def test_an_attempt_is_judged_again_to_the_same_verdict(env: WorkEnv) -> None:
    env.reset(options={"task_id": "count-1-train-4"})
    env.step('add {"by": 3}')
    env.step("done")
    attempt, verdict = env.attempt, env.verdict
    assert attempt is not None
    env.reset(options={"task_id": "count-1-train-9"})
    assert env.grade(attempt) == verdict


def test_nothing_hidden_is_observed_told_or_attempted(env: WorkEnv) -> None:
    shown: list[object] = list(env.reset(seed=0))
    for action in ("nonsense", 'add {"by": 2}', {"name": "x"}, "done"):
        shown.extend(env.step(action))
    shown += [env.attempt, env.verdict, env.tools_schema(), repr(env.task), env.render()]
    assert "PLANTED-CANARY" not in repr(shown)
    assert "PLANTED-CANARY" in repr(env.task.hidden)  # the search finds it where it is


def test_gymnasiums_time_limit_truncates_unjudged_and_says_so(domain: Any) -> None:
    env = gym.wrappers.TimeLimit(WorkEnv(domain), max_episode_steps=2)
    env.reset(seed=0)
    env.step('add {"by": 1}')
    _, _, _, truncated, info = env.step('add {"by": 1}')
    assert truncated
    assert info["reward_valid"] is False
