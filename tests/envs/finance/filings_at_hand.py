"""Tasks at hand, and how an agent that knows the answer hands it in, for tests that attack the reward."""

from __future__ import annotations

import functools
import json
from typing import Any

import numpy as np
from naive_judge import looked_at

from workgym.envs.env import WorkEnv
from workgym.envs.finance.policies import call, steps
from workgym.tasks.finance.source import FinanceTasks
from workgym.tasks.task import Task


@functools.cache
def tasks_of(level: int) -> list[Task]:
    """Some tasks, drawn once for all tests."""
    source, rng = FinanceTasks(), np.random.default_rng(1)
    return [source.sample(level, rng) for _ in range(150)]


def answered(level: int) -> list[Task]:
    return [task for task in tasks_of(level) if "question" in task.hidden]


def find(level: int, *forms: str, start: int = 0) -> Task:
    """The first task whose question has one of these forms."""
    return next(task for task in answered(level)[start:] if task.hidden["question"]["form"] in forms)


def right(task: Task) -> dict[str, Any]:
    """What the oracle submits."""
    fields: dict[str, Any] = json.loads(steps(task)[-1].removeprefix("submit "))
    return fields


def hand_in(env: WorkEnv, task: Task, *, look: bool = True, **changes: Any) -> tuple[float, dict[str, Any]]:
    """Look where the oracle looks, and submit what it would, but for some changes."""
    env.reset(options={"task": task})
    for action in steps(task)[:-1] if look else []:
        if not action.startswith("python"):
            env.step(action)
    fields = {name: value for name, value in {**right(task), **changes}.items() if value is not None}
    observation, reward, *_, info = env.step(call("submit", **fields))
    return float(reward), {**info, "observation": observation}


def labels(env: WorkEnv) -> dict[str, str]:
    assert env.attempt is not None
    return looked_at(env.attempt, env.task)
