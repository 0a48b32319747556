"""Memory is no skill: who answers with the nearest task ever seen scores at the floor on the test split."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import gymnasium as gym
import numpy as np
import pytest

from workgym.envs.env import WorkEnv
from workgym.tasks.source import distinct_tasks
from workgym.tasks.task import Task


def _shown(examples: list[list[int]]) -> np.ndarray:
    return np.array([value for _, value in examples], float)


@pytest.mark.parametrize(("split", "low", "high"), [("test", 0.0, 0.02), ("train", 0.9, 1.0)])
def test_a_nearest_neighbor_over_the_training_split(split: str, low: float, high: float, local_env: WorkEnv) -> None:
    known = distinct_tasks(local_env.domain.source, 1, 500, seed=1, split="train")
    memory = np.stack([_shown(task.public["examples"]) for task in known])
    asked = known[:24] if split == "train" else distinct_tasks(local_env.domain.source, 1, 24, split=split)
    rewards = []
    for task in asked:
        local_env.reset(options={"task": task})
        nearest = known[int(np.abs(memory - _shown(task.public["examples"])).sum(axis=1).argmin())]
        rewards.append(float(local_env.step(f"submit {nearest.hidden['reference']}")[1]))
    assert low <= np.mean(rewards) <= high


@pytest.fixture
def function_env(require_backend: Callable[[str], None]) -> Iterator[WorkEnv]:
    require_backend("local")
    env = gym.make("Coding-v0", family="function")
    yield env.unwrapped  # type: ignore[misc]
    env.close()


def _words(task: Task) -> set[str]:
    return set(re.findall(r"[a-z]+|\d+", task.prompt.lower()))


@pytest.mark.parametrize(("split", "low", "high"), [("test", 0.0, 0.03), ("train", 1.0, 1.0)])
def test_the_nearest_prompt_of_the_training_split(split: str, low: float, high: float, function_env: WorkEnv) -> None:
    source = function_env.domain.source
    known = distinct_tasks(source, 1, 300, seed=1, split="train")
    asked = known[:24] if split == "train" else distinct_tasks(source, 1, 48, split=split)
    rewards = []
    for task in asked:
        function_env.reset(options={"task": task})
        words = _words(task)
        nearest = max(known, key=lambda other: len(words & _words(other)) / len(words | _words(other)))
        names = [f"def {one.public['entry_point']}(" for one in (nearest, task)]
        rewards.append(float(function_env.step(f"submit {nearest.hidden['reference'].replace(*names)}")[1]))
    assert low <= np.mean(rewards) <= high
