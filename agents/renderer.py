"""From messages to token ids and back: the one place that knows how a conversation is framed.

A renderer never sees tokens that were sampled before: it says what is fed next, and the trajectory keeps what was fed
and sampled. So a conversation is never tokenized twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from workgym.agents.message import Image, Message
from workgym.agents.tokenizer import CharTokenizer
from workgym.agents.trajectory import Row, Trajectory
from workgym.tasks.errors import PolicyError

__all__ = ["CharRenderer", "Renderer", "demonstration"]


class Renderer(Protocol):
    """Frames a conversation in token ids."""

    @property
    def stop_ids(self) -> tuple[int, ...]:
        """Ids that end the policy's turn; a sampled one belongs to the turn."""
        ...

    def open(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> list[int]:
        """Ids of a whole conversation so far, up to where the policy's turn begins.

        Raises:
            PolicyError: the messages cannot be shown to this model.
        """
        ...

    def bridge(self, messages: Sequence[Message], *, ended: bool = True) -> list[int] | None:
        """Ids between the policy's last sampled token and its next turn.

        Args:
            messages: what was said since its last turn.
            ended: its last turn ends with a sampled stop id; if not, the bridge begins with the missing one.

        Returns:
            The ids to feed; None where the framing of new messages depends on old ones, so that the conversation must
            be opened anew in a row of its own.
        """
        ...

    def parse(self, ids: Sequence[int]) -> str:
        """The action in sampled ids, without the stop id."""
        ...

    def action(self, text: str) -> list[int]:
        """The ids that a policy would have sampled for this action, the stop id included."""
        ...


class CharRenderer:
    """The least framing that works: `<bos> observation <act> action <end> observation <act> action <end> ...`.

    System messages and the list of tools are left out: a model of a million parameters learns one domain's tools from
    examples, and every token costs it. Pictures are refused.

    Args:
        tokenizer: of characters.
    """

    def __init__(self, tokenizer: CharTokenizer) -> None:
        self.tokenizer = tokenizer

    @property
    def stop_ids(self) -> tuple[int, ...]:
        """The end of an action."""
        return (self.tokenizer.end,)

    def open(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()) -> list[int]:
        """`<bos>`, then the messages, then `<act>`."""
        return [self.tokenizer.bos, *self.bridge(messages)]

    def bridge(self, messages: Sequence[Message], *, ended: bool = True) -> list[int]:
        """The messages, then `<act>`; a missing `<end>` comes first."""
        ids = [] if ended else [self.tokenizer.end]
        for message in messages:
            ids += self._one(message)
        ids.append(self.tokenizer.act)
        return ids

    def parse(self, ids: Sequence[int]) -> str:
        """The characters before `<end>`."""
        return self.tokenizer.decode(ids[:-1] if ids and ids[-1] == self.tokenizer.end else ids)

    def action(self, text: str) -> list[int]:
        """The characters, then `<end>`."""
        return [*self.tokenizer.encode(text), self.tokenizer.end]

    def _one(self, message: Message) -> list[int]:
        if message.role == "system":
            return []
        if message.role == "assistant":
            return [self.tokenizer.act, *self.action(message.text)]
        if any(isinstance(part, Image) for part in message.parts):
            raise PolicyError("a character model sees no pictures: use a domain that speaks in text")
        return self.tokenizer.encode(message.text)


def demonstration(renderer: Renderer, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()) -> Row:
    """Lay out a finished conversation as a row to imitate.

    Args:
        renderer: frames it exactly as it frames an episode that a model plays.
        messages: the conversation; the assistant's messages are the actions to learn.
        tools: as in `Renderer.open`.

    Returns:
        A row whose `action` is true on the ids of `Renderer.action`; its log-probabilities are 0, its versions -1.

    Raises:
        PolicyError: the conversation holds no action, or cannot be laid out in one row.
    """
    trajectory = Trajectory("demonstration")
    unread: list[Message] = []
    n_actions = 0
    for message in messages:
        if message.role != "assistant":
            unread.append(message)
            continue
        fed = renderer.bridge(unread) if n_actions else renderer.open(unread, tools)
        if fed is None:
            raise PolicyError("this renderer cannot continue a row: its template rewrites earlier messages")
        trajectory.observe(fed)
        ids = renderer.action(message.text)
        trajectory.act(ids, [0.0] * len(ids), 0)
        unread = []
        n_actions += 1
    if not n_actions:
        raise PolicyError(f"a conversation of {len(messages)} messages holds no action to learn from")
    n = len(trajectory.ids)
    return Row(tuple(trajectory.ids), tuple(trajectory.action), (0.0,) * n, (-1,) * n)
