"""Scripted players of the coding domain: the oracle, one that errs, one that does nothing, one that guesses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from workgym.envs.domain import ScriptedPlayer
from workgym.envs.env import WorkEnv
from workgym.envs.playing import chance, erring, say

__all__ = ["PLAYERS", "erring_oracle", "noop", "oracle", "random_guess"]


def oracle(observation: str, info: Mapping[str, Any], env: WorkEnv) -> str:
    """Try the reference, then submit it."""
    return say(env, "submit" if info["turn"] else "run", env.task.hidden["reference"])


def noop(observation: str, info: Mapping[str, Any], env: WorkEnv) -> str:
    """Submit the input itself."""
    return say(env, "submit", "x")


def random_guess(observation: str, info: Mapping[str, Any], env: WorkEnv) -> str:
    """Submit a linear function, the same for the same task, without looking at it."""
    rng = chance(env, 0, b"guess")
    return say(env, "submit", f"{rng.integers(1, 100)}*x+{rng.integers(0, 10)}")


def erring_oracle(rate: float, seed: int = 0) -> ScriptedPlayer:
    """An oracle that gets a number of its expression wrong at a share of its actions, submitting included.

    It submits once a run showed the values wanted, and on its last turn.

    Args:
        rate: share of actions that err, in [0, 1].
        seed: decides, with the task and the turn, where it errs.

    Raises:
        ValueError: the rate is outside [0, 1].
    """
    return erring(_patient_oracle, _misspell, rate, seed)


def _patient_oracle(observation: str, info: Mapping[str, Any], env: WorkEnv) -> str:
    """Try the reference until a run shows the values wanted, or turns run out; then submit it."""
    last = int(info["turn"]) + 1 == env.task.budget.turns
    return say(env, "submit" if last or _looks_right(observation) else "run", env.task.hidden["reference"])


def _looks_right(observation: str) -> bool:
    """Whether a run showed that all examples have the value wanted, in the words of either style."""
    if observation.endswith(" ok"):
        return True
    match = re.search(r"(\d+) of (\d+) examples have the value wanted$", observation)
    return match is not None and match[1] == match[2]


def _misspell(text: str, rng: np.random.Generator) -> str:
    """Change one digit of an expression; no tool has one in its name."""
    numbers = list(re.finditer(r"\d+", text))
    number = numbers[int(rng.integers(len(numbers)))]
    digits = number[0]
    i = int(rng.integers(len(digits)))
    wrong = str((int(digits[i]) + int(rng.integers(1, 10))) % 10)
    return text[: number.start()] + str(int(digits[:i] + wrong + digits[i + 1 :])) + text[number.end() :]


PLAYERS: Final[Mapping[str, ScriptedPlayer]] = {
    "oracle": oracle,
    "noop": noop,
    "random": random_guess,
    "half-right": erring_oracle(0.5),
}
