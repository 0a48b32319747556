"""How scripted players say what they do, draw by chance, and err.

A player keeps no state: where it needs chance, it draws from a generator made of the task's id and the moment, so that
an episode can be played again to the letter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from workgym.envs.domain import ScriptedPlayer
from workgym.envs.env import WorkEnv

__all__ = ["chance", "check_rate", "erring", "say"]


def say(env: WorkEnv, tool: str, argument: str) -> str:
    """The text form of a call of a tool that takes one text; by its short name where the environment is brief.

    Args:
        env: an episode runs in it; brief is one whose task has no prompt.
        tool: its name.
        argument: the text.
    """
    known = env.table.find(tool)
    return f"{known.name if env.task.prompt else known.short or known.name} {argument}"


def chance(env: WorkEnv, seed: int, salt: bytes) -> np.random.Generator:
    """Randomness of this task and this moment alone.

    Args:
        env: an episode of the task runs in it.
        seed: of the player.
        salt: names the moment, or the purpose.
    """
    return np.random.default_rng([seed, *env.task.id.encode(), *salt])


def check_rate(rate: float) -> float:
    """A share, such as that of the actions that err.

    Raises:
        ValueError: it is outside [0, 1].
    """
    if not 0 <= rate <= 1:
        raise ValueError(f"rate must be in [0, 1], not {rate}")
    return rate


def erring(
    player: ScriptedPlayer, spoil: Callable[[str, np.random.Generator], str], rate: float, seed: int = 0
) -> ScriptedPlayer:
    """A player that spoils a share of another's actions. Who imitates it has something left to learn from rewards.

    Args:
        player: plays.
        spoil: makes an action wrong.
        rate: share of the actions that err, in [0, 1].
        seed: decides, with the task and the turn, which.

    Raises:
        ValueError: the rate is outside [0, 1].
    """
    check_rate(rate)

    def play(observation: str, info: dict[str, Any], env: WorkEnv) -> str:
        action = player(observation, info, env)
        rng = chance(env, seed, bytes([int(info["turn"])]))
        return spoil(action, rng) if rng.random() < rate else action

    return play
