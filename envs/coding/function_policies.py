"""Scripted players of the family `function`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from workgym.envs.domain import ScriptedPlayer
from workgym.envs.env import WorkEnv

__all__ = ["FUNCTION_PLAYERS", "direct_oracle", "noop", "oracle"]


def oracle(observation: str, info: Mapping[str, Any], env: WorkEnv) -> str:
    """Run the reference, then submit it."""
    code = env.task.hidden["reference"]
    return f"submit {code}" if info["turn"] else f"run {code}"


def direct_oracle(observation: str, info: Mapping[str, Any], env: WorkEnv) -> str:
    """Answer with the reference in a block of code, as a language model would."""
    return f"```python\n{env.task.hidden['reference'].rstrip()}\n```"


def noop(observation: str, info: Mapping[str, Any], env: WorkEnv) -> str:
    """Submit a function that does nothing."""
    return f"submit def {env.task.public['entry_point']}(*arguments):\n    pass\n"


def random_guess(observation: str, info: Mapping[str, Any], env: WorkEnv) -> str:
    """Submit a function that gives the value of a public example, whatever it is asked."""
    examples = env.task.public.get("examples") or [[[], 0]]
    value = examples[len(env.task.id) % len(examples)][1]
    return f"submit def {env.task.public['entry_point']}(*arguments):\n    return {json.dumps(value)}\n"


FUNCTION_PLAYERS: Final[Mapping[str, ScriptedPlayer]] = {
    "oracle": oracle,
    "direct-oracle": direct_oracle,
    "noop": noop,
    "random": random_guess,
}
