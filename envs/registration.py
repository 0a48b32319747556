"""The ids of the suite. An entry point is a text: nothing of a domain is imported before it is made."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

import gymnasium as gym

from workgym.envs.plugins import Plugin, installed_plugins

__all__ = ["ENTRY_POINTS", "OWN", "known_domains", "register_environments"]

OWN: Final = "workgym"
"""The package that brings the domains below."""

ENTRY_POINTS: Final[Mapping[str, str]] = {
    "Coding-v0": "workgym.envs.coding.env:make",
    "Calculator-v0": "workgym.envs.calculator.env:make",
    "Finance-v0": "workgym.envs.finance.env:make",
    "Modeling-v0": "workgym.envs.modeling.env:make",
}
"""id -> where its `make` is, of the domains that workgym itself brings."""


@cache
def known_domains() -> tuple[Plugin, ...]:
    """All domains: workgym's own, then those of other installed packages.

    Raises:
        gymnasium.error.RegistrationError: two packages bring the same id.
    """
    own = [Plugin(env_id, entry_point, OWN) for env_id, entry_point in ENTRY_POINTS.items()]
    known: dict[str, Plugin] = {}
    for plugin in (*own, *installed_plugins()):
        other = known.setdefault(plugin.env_id, plugin)
        if other is not plugin:
            raise gym.error.RegistrationError(_clash(plugin, other.distribution, other.entry_point))
    return tuple(known.values())


def register_environments() -> None:
    """Make the ids known to Gymnasium; again and again does no harm.

    Registered without `max_episode_steps`: Gymnasium's TimeLimit would truncate an episode without judging it.

    Raises:
        gymnasium.error.RegistrationError: an id is taken. Nobody could tell what an environment of that name is, nor
            what was measured in it, so nothing goes on before one of the two is gone.
    """
    for plugin in known_domains():
        taken = gym.registry.get(plugin.env_id)
        if taken is None:
            gym.register(plugin.env_id, entry_point=plugin.entry_point)
        elif taken.entry_point != plugin.entry_point:
            raise gym.error.RegistrationError(_clash(plugin, "Gymnasium's registry", str(taken.entry_point)))


def _clash(plugin: Plugin, other: str, other_entry_point: str) -> str:
    return (
        f"the id {plugin.env_id!r} is brought twice: by the installed package {plugin.distribution} "
        f"({plugin.entry_point}) and by {other} ({other_entry_point}). "
        "Uninstall one of them, or give one another id in its entry points."
    )
