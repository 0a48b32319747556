"""The oracles earn everything, doing nothing and guessing nothing, and half right lies between."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from plays import play

from workgym.envs.env import WorkEnv
from workgym.envs.modeling.policies import erring_oracle
from workgym.envs.testing.leftovers import nothing_is_left_behind
from workgym.envs.testing.subject import Subject
from workgym.tasks.source import distinct_tasks

MakeEnv = Callable[..., WorkEnv]

FAMILIES = ("text_to_part", "edit", "repair")
LEVELS = (1, 2, 3)


def _rewards(env: WorkEnv, level: int, n: int) -> dict[str, list[float]]:
    tasks = [
        *distinct_tasks(env.domain.source, level, n - n // 2, split="train"),
        *distinct_tasks(env.domain.source, level, n // 2, split="test"),
    ]
    return {name: [play(env, player, task)[0] for task in tasks] for name, player in env.domain.players.items()}


def _check(rewards: dict[str, list[float]], most_random: float) -> None:
    assert set(rewards["oracle"]) == set(rewards["oracle-tools"]) == {1.0}
    assert set(rewards["noop"]) == {0.0}
    assert float(np.mean(rewards["random"])) <= most_random
    assert 0 < float(np.mean(rewards["half-right"])) < 1


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("family", FAMILIES)
def test_players_earn_what_they_deserve(make_env: MakeEnv, family: str, level: int) -> None:
    _check(_rewards(make_env(family=family, level=level), level, 2), most_random=0.2)


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("family", FAMILIES)
def test_20_seeds_of_players_earn_what_they_deserve(make_env: MakeEnv, family: str, level: int) -> None:
    _check(_rewards(make_env(family=family, level=level), level, 20), most_random=0.02)


@pytest.mark.slow
def test_players_of_small_models_earn_what_they_deserve(make_env: MakeEnv) -> None:
    _check(_rewards(make_env(style="short"), 1, 40), most_random=0.02)


def test_small_models_make_parts_in_a_line(make_env: MakeEnv) -> None:
    env = make_env(style="short")
    drawn = distinct_tasks(env.domain.source, 1, 80, split="test")
    one_of_each = {task.hidden["template"]: task for task in drawn}
    assert len(one_of_each) > 8
    rewards = {name: play(env, env.domain.players["oracle"], task)[0] for name, task in one_of_each.items()}
    assert set(rewards.values()) == {1.0}, rewards


def test_an_oracle_that_errs_always_never_succeeds(make_env: MakeEnv) -> None:
    env = make_env(style="short")
    tasks = distinct_tasks(env.domain.source, 1, 3)
    assert not any(play(env, erring_oracle(1.0), task)[1]["is_success"] for task in tasks)


@pytest.mark.slow
@pytest.mark.xdist_group("alone")
def test_300_episodes_leave_no_process_descriptor_or_folder(require_backend: Callable[[str], None]) -> None:
    require_backend("local")
    folders = set(Path("/tmp").iterdir())
    subject = Subject(gym.make, kwargs={"id": "Modeling-v0", "style": "short"}, levels=(1,), n_tasks=1)
    nothing_is_left_behind(subject)
    descriptors = len(os.listdir("/proc/self/fd"))
    env = gym.make("Modeling-v0", pictures=False).unwrapped
    assert isinstance(env, WorkEnv)
    for seed in range(300):
        env.reset(seed=seed)
        env.step(env.oracle_action())
        if seed % 2:
            env.step("submit")
    env.close()
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) <= descriptors
    nothing_is_left_behind(subject)
    assert set(Path("/tmp").iterdir()) <= folders
