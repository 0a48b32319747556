"""Memory is no skill: who answers with the nearest task ever seen scores at the floor on the test split."""

from __future__ import annotations

import numpy as np
import pytest

from workgym.envs.env import WorkEnv
from workgym.tasks.source import distinct_tasks


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
