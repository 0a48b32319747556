"""Snapshots, restoring and forks of an environment."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import pytest

from workgym.envs.env import WorkEnv
from workgym.tasks.errors import SandboxError


@pytest.mark.parametrize("copies", [True, False])
def test_forks_stand_where_the_original_stands_and_are_independent(make_domain: Any, copies: bool) -> None:
    env = WorkEnv(make_domain(copies=copies), render_mode="ansi")
    env.reset(seed=0, options={"task_id": "count-1-train-4"})
    env.step('add {"by": 1}')
    env.step("nonsense")
    left, right = env.fork(2)
    assert left.render() == right.render() == env.render()
    assert left.step('add {"by": 3}')[0] == "count 4"
    assert right.step('add {"by": 1}')[0] == "count 2"
    assert env.step('add {"by": 0}')[0] == "count 1"
    assert left.step("done")[1] == 1.0
    assert left.reset()[1]["task_id"] == right.reset()[1]["task_id"]
    for one in (env, left, right):
        one.close()


@pytest.mark.parametrize("copies", [True, False])
def test_restore_goes_back(make_domain: Any, copies: bool) -> None:
    env = WorkEnv(make_domain(copies=copies))
    env.reset(options={"task_id": "count-1-train-4"})
    env.step('add {"by": 1}')
    snapshot = env.snapshot()
    env.step('add {"by": 5}')
    env.step("done")
    env.restore(snapshot)
    _, _, _, _, info = env.step('add {"by": 3}')
    assert info["turn"] == 2
    assert env.step("done")[1] == 1.0


def test_a_state_that_cannot_be_copied_nor_replayed_is_refused(make_domain: Any) -> None:
    env = WorkEnv(make_domain(copies=False, drifts=True))
    env.reset(seed=0)
    env.step('add {"by": 1}')
    session = type(env._latest_episode().session)
    n_open = session.n_open
    with pytest.raises(SandboxError, match="cannot be copied"):
        env.fork(1)
    assert session.n_open == n_open  # the copy that failed is closed
    with pytest.raises(SandboxError, match="cannot be copied"):
        env.restore(env.snapshot())
    with pytest.raises(gym.error.ResetNeeded):
        env.step("done")
