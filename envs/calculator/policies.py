"""Scripted players: an oracle, one that errs, one right half of the time, one that does nothing, one that guesses.

A player is a function `(observation, info, env) -> action`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from workgym.envs.domain import ScriptedPlayer
from workgym.envs.env import WorkEnv
from workgym.envs.playing import chance, erring, say
from workgym.tasks.calculator.arithmetic import Operation, work_out

__all__ = ["PLAYERS", "erring_oracle", "half_right", "noop", "oracle", "random_guess"]


def oracle(observation: str, info: Mapping[str, Any], env: WorkEnv) -> str:
    """Work the sum out, an operation a turn, then submit what came out."""
    return _next_action(observation, int(info["turn"]), env)


def noop(observation: str, info: Mapping[str, Any], env: WorkEnv) -> str:
    """Submit 0, which is the value of no sum."""
    return say(env, "submit", "0")


def random_guess(observation: str, info: Mapping[str, Any], env: WorkEnv) -> str:
    """Submit a number of up to three digits, the same for the same task, without looking at it."""
    return say(env, "submit", str(chance(env, 0, b"guess").integers(1000)))


def half_right(observation: str, info: Mapping[str, Any], env: WorkEnv) -> str:
    """Play as the oracle does, but get the answer of every second task wrong, as chance has it."""
    action = _next_action(observation, int(info["turn"]), env)
    rng = chance(env, 0, b"half")
    return _misspell(action, rng) if rng.random() < 0.5 and "submit" in _tool(action, env) else action


def erring_oracle(rate: float, seed: int = 0) -> ScriptedPlayer:
    """An oracle that writes a wrong digit at a share of its actions, and goes on with what then comes out.

    Who imitates it learns how a sum is worked out, and has something left to learn from rewards.

    Args:
        rate: share of actions that err, in [0, 1].
        seed: decides, with the task and the turn, where it errs.

    Raises:
        ValueError: the rate is outside [0, 1].
    """
    return erring(oracle, _misspell, rate, seed)


def _next_action(observation: str, turn: int, env: WorkEnv) -> str:
    """The next operation, or the answer. Where it builds on the last one, the number that was shown is taken."""
    plan = work_out(env.task.public["sum"])
    if not turn:
        return say(env, "calculate", plan[0].text)
    wanted, shown = plan[min(turn, len(plan)) - 1].value, _last_number(observation)
    if turn >= len(plan):
        return say(env, "submit", str(shown))
    step = plan[turn]
    left, right = (shown if number == wanted else number for number in (step.left, step.right))
    return say(env, "calculate", Operation(left, step.sign, right).text)


def _last_number(observation: str) -> int:
    return int(re.findall(r"-?[0-9]+", observation)[-1])


def _misspell(action: str, rng: np.random.Generator) -> str:
    """Write another digit in the place of one, and never a leading 0."""
    places = [match.start() for match in re.finditer("[0-9]", action)]
    place = places[int(rng.integers(len(places)))]
    others: list[str] = sorted({*"123456789"} - {action[place]})
    return action[:place] + others[int(rng.integers(len(others)))] + action[place + 1 :]


def _tool(action: str, env: WorkEnv) -> str:
    name: str = env.table.find(action.partition(" ")[0]).name
    return name


PLAYERS: Final[Mapping[str, ScriptedPlayer]] = {
    "oracle": oracle,
    "noop": noop,
    "random": random_guess,
    "half-right": half_right,
}
