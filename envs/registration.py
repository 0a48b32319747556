"""The ids of the suite. An entry point is a text: nothing of a domain is imported before it is made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import gymnasium as gym

__all__ = ["ENTRY_POINTS", "register_environments"]

ENTRY_POINTS: Final[Mapping[str, str]] = {
    "Coding-v0": "workgym.envs.coding.env:make",
    "Calculator-v0": "workgym.envs.calculator.env:make",
}
"""id -> where its `make` is."""


def register_environments() -> None:
    """Make the ids known to Gymnasium; again and again does no harm.

    Registered without `max_episode_steps`: Gymnasium's TimeLimit would truncate an episode without judging it.
    """
    for env_id, entry_point in ENTRY_POINTS.items():
        if env_id not in gym.registry:
            gym.register(env_id, entry_point=entry_point)
