"""Any callable `(messages, tools) -> message` as a policy."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from workgym.agents.policies.openai_json import chat_messages, read_reply
from workgym.agents.policy import Conversation, Turn
from workgym.agents.prices import Price, read_usage, usage_in_words
from workgym.tasks.errors import PolicyError, place_of
from workgym.tasks.importing import import_for
from workgym.tasks.naming import unknown_name

__all__ = ["Agent", "CallablePolicy", "load_agent"]

_log: Final = logging.getLogger(__name__)

Agent = Callable[[list[dict[str, Any]], list[dict[str, Any]]], Any]
"""Takes messages and tools as OpenAI-compatible endpoints do, and returns a text or a message."""


class CallablePolicy:
    """Plays with an agent of one's own.

    The agent is called once a turn, in one conversation after another, always from the thread that plays. It gets lists
    of its own and may change them.

    Args:
        agent: `(messages, tools) -> message`. It returns a text, or a dict with `content` and `tool_calls`, and
            perhaps `usage` as endpoints report it.
        name: in archives and reports.
        price: of its tokens; None where nobody knows.
    """

    def __init__(self, agent: Agent, name: str = "agent", price: Price | None = None) -> None:
        self.agent: Final = agent
        self._name: Final = name
        self._price: Final = price
        self._unmetered = False

    @property
    def name(self) -> str:
        """Names the policy in archives and reports."""
        return self._name

    def act(self, conversations: Sequence[Conversation]) -> list[Turn]:
        """Ask the agent in each conversation.

        Raises:
            PolicyError: the agent raised, or returned what is no message.
        """
        return [self._ask(one) for one in conversations]

    def forget(self, rollout_ids: Sequence[str]) -> None:
        """Nothing is kept: the agent gets the whole conversation every time."""

    def _ask(self, conversation: Conversation) -> Turn:
        rollout = conversation.trajectory.rollout_id
        reply, own_s = self._reply(conversation)
        try:
            text, calls = read_reply(reply)
            told = reply.get("usage") if isinstance(reply, Mapping) else None
            usage = read_usage(told)
        except Exception as error:
            what = error if isinstance(error, ValueError) else f"what cannot be read: {type(error).__name__}: {error}"
            raise PolicyError(
                f"agent {self._name!r} returned {what} (in {rollout}). Nothing of it is scored."
            ) from error
        if usage is None:
            self._warn_of_usage(told)
            return Turn(text, calls=calls, money_usd=None, own_s=own_s)
        return Turn(
            text,
            calls=calls,
            tokens_in=usage.tokens_in,
            tokens_out=usage.tokens_out,
            money_usd=self._price.of(usage) if self._price else None,
            own_s=own_s,
        )

    def _reply(self, conversation: Conversation) -> tuple[object, float]:
        """What the agent returns, and the seconds it took.

        Raises:
            PolicyError: it raised, sys.exit() included, which would else end an evaluation as if it were done.
        """
        messages = chat_messages(conversation.trajectory.messages)
        tools = [dict(tool) for tool in conversation.tools]
        began_s = time.monotonic()
        try:
            reply = self.agent(messages, tools)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise PolicyError(
                f"agent {self._name!r} raised {type(error).__name__} in {conversation.trajectory.rollout_id}: {error} "
                f"({place_of(error)}). Nothing of it is scored."
            ) from error
        return reply, time.monotonic() - began_s

    def _warn_of_usage(self, told: object) -> None:
        """Say once that tokens are missing: an evaluation without them tells nothing of the costs."""
        if not self._unmetered:
            self._unmetered = True
            _log.warning("agent %r %s", self._name, usage_in_words(told))


def load_agent(spec: str) -> Agent:
    """Make the agent that "module:factory" names: the factory is called without arguments and returns the agent.

    Args:
        spec: an importable module, a colon, and a name in it; dots lead into what the name holds.

    Raises:
        PolicyError: there is no such module or name, importing or calling it failed, or it made no callable.
    """
    module_name, _, attribute = spec.partition(":")
    found: Any = import_for(f"--agent {spec}", module_name, PolicyError)
    for part in attribute.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            names = [name for name in dir(found) if not name.startswith("_")]
            raise PolicyError(
                f"--agent {spec}: {module_name} has no such name: {unknown_name('name', part, names)}"
            ) from None
    if not callable(found):
        raise PolicyError(f"--agent {spec} is a {type(found).__name__}, not a function that makes the agent")
    try:
        agent = found()
    except (Exception, SystemExit) as error:
        raise PolicyError(
            f"--agent {spec}: calling {attribute}() failed: {type(error).__name__}: {error}. It names a factory: a "
            "function without arguments that returns the agent, a callable (messages, tools) -> message"
        ) from error
    if not callable(agent):
        raise PolicyError(
            f"--agent {spec}: {attribute}() returned a {type(agent).__name__}; the agent must be a callable "
            "(messages, tools) -> message"
        )
    return agent  # type: ignore[no-any-return]
