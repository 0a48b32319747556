"""Scripted players of the coding domain: the oracle, one that errs, one that does nothing, one that guesses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from workgym.envs.domain import ScriptedPlayer
from workgym.envs.env import WorkEnv

__all__ = ["PLAYERS", "erring_oracle", "noop", "oracle", "random_guess"]


def oracle(observation: str, info: Mapping[str, Any], env: WorkEnv) -> str:
    """Try the reference, then submit it."""
    return _say(env, "submit" if info["turn"] else "run", env.task.hidden["reference"])


def noop(observation: str, info: Mapping[str, Any], env: WorkEnv) -> str:
    """Submit the input itself."""
    return _say(env, "submit", "x")


def random_guess(observation: str, info: Mapping[str, Any], env: WorkEnv) -> str:
    """Submit a linear function, the same for the same task, without looking at it."""
    rng = _generator(env, 0, salt=b"guess")
    return _say(env, "submit", f"{rng.integers(1, 100)}*x+{rng.integers(0, 10)}")


def erring_oracle(rate: float, seed: int = 0) -> ScriptedPlayer:
    """An oracle that gets a number of its expression wrong at a share of its actions, submitting included.

    It submits once a run showed the values wanted, and on its last turn.

    Args:
        rate: share of actions that err, in [0, 1].
        seed: decides, with the task and the turn, where it errs.

    Raises:
        ValueError: the rate is outside [0, 1].
    """
    if not 0 <= rate <= 1:
        raise ValueError(f"rate must be in [0, 1], not {rate}")

    def play(observation: str, info: Mapping[str, Any], env: WorkEnv) -> str:
        turn = int(info["turn"])
        rng = _generator(env, seed, salt=bytes([turn]))
        text = env.task.hidden["reference"]
        if rng.random() < rate:
            text = _misspell(text, rng)
        last = turn + 1 == env.task.budget.turns
        return _say(env, "submit" if last or _looks_right(observation) else "run", text)

    return play


def _looks_right(observation: str) -> bool:
    """Whether a run showed that all examples have the value wanted, in the words of either style."""
    if observation.endswith(" ok"):
        return True
    match = re.search(r"(\d+) of (\d+) examples have the value wanted$", observation)
    return match is not None and match[1] == match[2]


def _misspell(text: str, rng: np.random.Generator) -> str:
    """Change one number of an expression to a neighbor or change one of its digits."""
    numbers = list(re.finditer(r"\d+", text))
    number = numbers[int(rng.integers(len(numbers)))]
    digits = number[0]
    i = int(rng.integers(len(digits)))
    wrong = str((int(digits[i]) + int(rng.integers(1, 10))) % 10)
    return text[: number.start()] + str(int(digits[:i] + wrong + digits[i + 1 :])) + text[number.end() :]


def _say(env: WorkEnv, tool: str, argument: str) -> str:
    """The text form of a call, by the tool's short name where the environment is brief."""
    known = env.table.find(tool)
    return f"{known.short or known.name} {argument}" if not env.task.prompt else f"{known.name} {argument}"


def _generator(env: WorkEnv, seed: int, salt: bytes) -> np.random.Generator:
    """Randomness of this task and this moment alone, so that a player needs no state."""
    return np.random.default_rng([seed, *env.task.id.encode(), *salt])


PLAYERS: Final[Mapping[str, ScriptedPlayer]] = {
    "oracle": oracle,
    "noop": noop,
    "random": random_guess,
    "half-right": erring_oracle(0.5),
}
