"""Who acts: the one method of a policy, what it is given and what it gives back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from workgym.agents.message import Message
from workgym.agents.trajectory import Trajectory
from workgym.envs.env import WorkEnv

__all__ = ["Conversation", "Policy", "Turn"]


@dataclass(slots=True)
class Conversation:
    """An episode as a policy sees it.

    Attributes:
        trajectory: messages and tokens so far; a policy reads it and never changes it.
        tools: the tools, as chat templates take them.
        unread: the messages since the policy's last turn; at first all of them.
        observation, info: what the environment said last.
        env: the environment, for scripted players alone.
        max_tokens: the turn may have so many tokens.
    """

    trajectory: Trajectory
    tools: Sequence[Mapping[str, Any]]
    unread: Sequence[Message]
    observation: str
    info: dict[str, Any]
    env: WorkEnv
    max_tokens: int = 1024


@dataclass(frozen=True, slots=True)
class Turn:
    """What a policy did in one conversation.

    Attributes:
        text: the action.
        fed: token ids that were fed before it since the last turn; empty for a policy without tokens.
        ids: token ids as sampled, the end of the turn included where it was sampled.
        logps: their log-probabilities.
        version: version of the weights.
        finish: "stop", "length" or "".
        split: the tokens so far were not the context of this turn; `fed` is the whole context.
        tokens_in, tokens_out, money_usd: what the turn cost where there are no token ids.
    """

    text: str
    fed: Sequence[int] = ()
    ids: Sequence[int] = ()
    logps: Sequence[float] = ()
    version: int = 0
    finish: str = ""
    split: bool = False
    tokens_in: int = 0
    tokens_out: int = 0
    money_usd: float = 0.0


class Policy(Protocol):
    """Acts in many conversations at once."""

    @property
    def name(self) -> str:
        """Names the policy in archives and reports."""
        ...

    def act(self, conversations: Sequence[Conversation]) -> list[Turn]:
        """Take one turn in each conversation.

        Raises:
            PolicyError: the policy cannot act; nothing of it is scored.
        """
        ...

    def forget(self, rollout_ids: Sequence[str]) -> None:
        """Give back what is kept for episodes that have ended."""
        ...
