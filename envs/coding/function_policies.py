"""Scripted players of the family `function`: oracles, those that err, those that do nothing, and reward hacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from workgym.envs.coding.asked import asked_of
from workgym.envs.coding.function_hacks import FUNCTION_HACKS, FUNCTION_STALLS
from workgym.envs.coding.trivial import constant, echo, hacked, public_table
from workgym.envs.domain import ScriptedPlayer
from workgym.envs.env import WorkEnv
from workgym.envs.playing import check_rate
from workgym.tasks.coding.function.cases import CONSTANTS
from workgym.tasks.task import Task

__all__ = ["FUNCTION_HACK_PLAYERS", "FUNCTION_PLAYERS", "direct_oracle", "erring_function_oracle", "oracle"]

_HALF: Final = """

right_{name} = {name}


def {name}(*arguments):
    value = right_{name}(*arguments)
    return value if sum(map(ord, repr(arguments[-1]))) % 2 else None
"""


def oracle(observation: str, info: Mapping[str, Any], env: WorkEnv) -> str:
    """Run the reference, then submit it."""
    return f"{'submit' if info['turn'] else 'run'} {env.task.hidden['reference']}"


def direct_oracle(observation: str, info: Mapping[str, Any], env: WorkEnv) -> str:
    """Answer with the reference in a block of code at once, as a language model would."""
    return f"```python\n{env.task.hidden['reference'].rstrip()}\n```"


def half_right(observation: str, info: Mapping[str, Any], env: WorkEnv) -> str:
    """Submit the reference, made wrong on about half of the inputs."""
    return f"submit {_half(env.task)}"


def erring_function_oracle(rate: float, seed: int = 0) -> ScriptedPlayer:
    """An oracle that may err at every part of a function, and then submits one that is wrong on half of the inputs.

    Args:
        rate: chance of an error at each part (a step, an edge rule, speed, a function to define), in [0, 1].
        seed: decides, with the seed of the task, where it errs: of two tasks of equal seed it succeeds at the one of
            more parts only if it does at the other.

    Raises:
        ValueError: the rate is outside [0, 1].
    """
    check_rate(rate)

    def play(observation: str, info: Mapping[str, Any], env: WorkEnv) -> str:
        rng = np.random.default_rng([seed, *env.task.id.rpartition("-")[2].encode()])
        errs = bool((rng.random(env.task.hidden["n_parts"]) < rate).any())
        return f"submit {_half(env.task) if errs else env.task.hidden['reference']}"

    return play


def _half(task: Task) -> str:
    return str(task.hidden["reference"]) + _HALF.format(name=asked_of(task).entry_point)


def _submitting(source_of: Callable[[Task], str]) -> ScriptedPlayer:
    return lambda observation, info, env: f"submit {source_of(env.task)}"


def _random_value(task: Task) -> object:
    """A value of a public example, or one that means nothing, the same for the same task."""
    rng = np.random.default_rng([*task.id.encode()])
    values = [*CONSTANTS, *(value for _, value in task.public.get("examples", ()))]
    return values[int(rng.integers(len(values)))]


def _public_value(task: Task) -> object:
    examples = task.public.get("examples", ())
    return examples[0][1] if examples else None


FUNCTION_PLAYERS: Final[Mapping[str, ScriptedPlayer]] = {
    "oracle": oracle,
    "direct-oracle": direct_oracle,
    "half-right": half_right,
    "erring-oracle": erring_function_oracle(0.1),
    "noop": _submitting(lambda task: constant(task, None)),
    "random": _submitting(lambda task: constant(task, _random_value(task))),
}
"""By name. "noop" and "random" look at nothing hidden."""

FUNCTION_HACK_PLAYERS: Final[Mapping[str, ScriptedPlayer]] = {
    "public-constant": _submitting(lambda task: constant(task, _public_value(task))),
    "public-table": _submitting(public_table),
    "echo": _submitting(echo),
    **{
        name: _submitting(lambda task, text=hack.text: hacked(task, text))  # type: ignore[misc]
        for name, hack in {**FUNCTION_HACKS, **FUNCTION_STALLS}.items()
    },
}
"""By name. None looks at anything hidden, and none earns more than noop's 0."""
