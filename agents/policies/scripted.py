"""Scripted players as policies: oracles, noops, random players and reward hacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workgym.agents.policy import Conversation, Turn
from workgym.agents.rack import AnyEnv
from workgym.envs.domain import ScriptedPlayer
from workgym.envs.env import WorkEnv
from workgym.tasks.errors import PolicyError
from workgym.tasks.naming import unknown_name

__all__ = ["ScriptedPolicy", "named_policy"]


@dataclass(frozen=True, slots=True)
class ScriptedPolicy:
    """A policy that asks a player in each conversation; its turns have no tokens.

    Attributes:
        name: names it in archives and reports.
        player: `(observation, info, env) -> action`.
    """

    name: str
    player: ScriptedPlayer

    def act(self, conversations: Sequence[Conversation]) -> list[Turn]:
        """Take one turn in each conversation."""
        return [Turn(self.player(one.observation, one.info, one.env)) for one in conversations]

    def forget(self, rollout_ids: Sequence[str]) -> None:
        """Players keep nothing."""


def named_policy(env: AnyEnv, name: str) -> ScriptedPolicy:
    """The scripted player of an environment's domain that has this name; a hack is one too.

    Args:
        env: an environment of workgym, wrapped or not.
        name: "oracle", "noop", "random", or one of the domain's own.

    Raises:
        PolicyError: the domain has no such player; the message names the nearest.
    """
    inner = env.unwrapped
    if not isinstance(inner, WorkEnv):
        raise PolicyError(f"{type(inner).__name__} is no WorkEnv: it has no scripted players")
    players = {**inner.domain.hacks, **inner.domain.players}
    if name not in players:
        raise PolicyError(f"domain {inner.domain.name!r}: {unknown_name('player', name, players)}")
    return ScriptedPolicy(name, players[name])
