"""Plays an episode to its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workgym.envs.env import WorkEnv
from workgym.envs.testing.subject import text_of
from workgym.tasks.task import Task


def play(env: WorkEnv, player: Callable[..., Any], task: Task) -> tuple[float, dict[str, Any]]:
    """The reward of an episode, and its last info."""
    observation, info = env.reset(options={"task": task})
    total, ended = 0.0, False
    while not ended:
        observation, reward, *ends, info = env.step(player(text_of(observation), info, env))
        total, ended = total + float(reward), any(ends)
    return total, info
