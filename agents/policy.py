"""Who acts: the one method of a policy, what it is given and what it gives back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from workgym.agents.message import Call, Message, Text
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
        text: the action; what was said beside the calls, where there are some.
        calls: native tool calls, which then are the action.
        fed: token ids that were fed before it since the last turn; empty for a policy without tokens.
        ids: token ids as sampled, the end of the turn included where it was sampled.
        logps: their log-probabilities.
        version: version of the weights.
        finish: "stop", "length", "" (no tokens), or "gave_up": it is not carried out, and what stands is judged.
        split: the tokens so far were not the context of this turn; `fed` is the whole context.
        tokens_in, tokens_out, money_usd: what the turn cost where there are no token ids; None for an unknown price.
        error: what failed, where the policy's machinery did: the episode ends and is not scored.
        own_s: seconds that the turn took by itself, without waiting for other conversations, for a free line or for a
            machine to mend; budgets and costs count these. None where nobody can tell: all turns that were taken
            together then share their time evenly.
    """

    text: str
    calls: Sequence[Call] = field(default=(), kw_only=True)
    fed: Sequence[int] = ()
    ids: Sequence[int] = ()
    logps: Sequence[float] = ()
    version: int = 0
    finish: str = ""
    split: bool = False
    tokens_in: int = 0
    tokens_out: int = 0
    money_usd: float | None = 0.0
    error: str = ""
    own_s: float | None = None

    @property
    def action(self) -> str | list[dict[str, str]]:
        """What the environment is given: the calls, or the text."""
        return [{"name": call.name, "arguments": call.arguments} for call in self.calls] or self.text

    @property
    def shown(self) -> str:
        """The action for people: the text, or the calls as JSON."""
        calls = [{"name": call.name, "arguments": _parsed(call.arguments)} for call in self.calls]
        return json.dumps(calls[0] if len(calls) == 1 else calls, ensure_ascii=False) if calls else self.text

    @property
    def message(self) -> Message:
        """The turn as a message of the conversation."""
        said = (Text(self.text),) if self.text or not self.calls else ()
        return Message("assistant", (*said, *self.calls))


def _parsed(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments


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
