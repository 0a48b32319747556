"""Conversations and replies in the JSON of OpenAI-compatible endpoints, which agents of any kind speak.

{"role": "user", "content": "..."}
{"role": "assistant", "content": "...", "tool_calls": [{"id", "type": "function", "function": {"name", "arguments"}}]}
{"role": "tool", "tool_call_id": "...", "content": "..."}
"""

from __future__ import annotations

import json
import reprlib
from collections.abc import Mapping, Sequence
from typing import Any

from workgym.agents.message import Call, Image, Message
from workgym.tasks.errors import PolicyError

__all__ = ["chat_messages", "read_reply", "tools_in_words"]

_ANSWERED_LATER = "(answered below, with the last of these calls)"


def chat_messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """A conversation as a chat endpoint takes it.

    What the environment answered to native calls comes as `tool` messages, one for each call as endpoints demand: the
    environment answers a list of calls at once, so the last message of them holds the answer. What it answered to a
    text comes as a `user` message.

    Raises:
        PolicyError: a message holds a picture.
    """
    shown: list[dict[str, Any]] = []
    calls: Sequence[Call] = ()
    for message in messages:
        text = _text(message)
        if message.role == "assistant":
            calls = [part for part in message.parts if isinstance(part, Call)]
            shown.append(_assistant(text, calls))
        elif message.role == "tool" and calls:
            answers = [_ANSWERED_LATER] * (len(calls) - 1) + [text]
            shown += [
                {"role": "tool", "tool_call_id": call.id, "content": answer}
                for call, answer in zip(calls, answers, strict=True)
            ]
        else:
            shown.append({"role": "system" if message.role == "system" else "user", "content": text})
    return shown


def read_reply(reply: object) -> tuple[str, list[Call]]:
    """What an agent or an endpoint answered: a text, or a message with `content` and `tool_calls`.

    Args:
        reply: a str, a dict, or an object of a client's own with `model_dump`.

    Returns:
        The text, "" for none, and the calls.

    Raises:
        ValueError: it is none of these; the message says what it is instead.
    """
    if isinstance(reply, str):
        return reply, []
    dump = getattr(reply, "model_dump", None)
    if callable(dump):
        reply = dump()
    if not isinstance(reply, Mapping):
        raise ValueError(f"a {type(reply).__name__}, not a text or a message with content and tool_calls")
    content, raw_calls = reply.get("content"), reply.get("tool_calls")
    if content is None and not raw_calls:
        raise ValueError(f"a message with neither content nor tool_calls; its keys are {sorted(map(str, reply))}")
    if not isinstance(content, str | None):
        raise ValueError(f"a message whose content is a {type(content).__name__}, not a text")
    if not isinstance(raw_calls, Sequence | None) or isinstance(raw_calls, str):
        raise ValueError(f"a message whose tool_calls are a {type(raw_calls).__name__}, not a list")
    return content or "", [_call(number, call) for number, call in enumerate(raw_calls or ())]


def tools_in_words(tools: Sequence[Mapping[str, Any]]) -> str:
    """Tell an agent that writes plain text how it calls the tools: the text form of the environment."""
    lines = ["Act by writing one tool call and nothing else. The tools:"]
    for tool in tools:
        about = tool["function"]
        properties: Mapping[str, Any] = about["parameters"].get("properties", {})
        only = next(iter(properties)) if len(properties) == 1 else ""
        if only and properties[only].get("type") == "string" and "enum" not in properties[only]:
            form = f"{about['name']} {only.upper()}"
        elif properties:
            form = f"{about['name']} {json.dumps({name: one.get('type', '') for name, one in properties.items()})}"
        else:
            form = about["name"]
        lines.append(f"  {form}\n    {about['description']}")
    return "\n".join(lines)


def _assistant(text: str, calls: Sequence[Call]) -> dict[str, Any]:
    if not calls:
        return {"role": "assistant", "content": text}
    return {
        "role": "assistant",
        "content": text or None,
        "tool_calls": [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": _object(call.arguments)}}
            for call in calls
        ],
    }


def _object(arguments: str) -> str:
    """Arguments that servers can parse, as they parse those of earlier turns: {} where the agent's own do not."""
    try:
        return arguments if isinstance(json.loads(arguments), dict) else "{}"
    except (ValueError, RecursionError):
        return "{}"


def _call(number: int, call: object) -> Call:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(call, Mapping) or not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        raise ValueError('a tool call without {"function": {"name": ...}}')
    arguments = function.get("arguments")
    try:
        text = arguments if isinstance(arguments, str) else json.dumps(arguments if arguments is not None else {})
    except (TypeError, ValueError, RecursionError) as error:
        given = reprlib.repr(arguments)
        raise ValueError(
            f"a call of {function['name']!r} with arguments that are no JSON: {given} ({error})"
        ) from error
    return Call(function["name"], text or "{}", str(call.get("id") or f"call_{number}"))


def _text(message: Message) -> str:
    if any(isinstance(part, Image) for part in message.parts):
        raise PolicyError("pictures cannot be sent to a chat endpoint yet: use a domain that speaks in text")
    # What a program printed may hold lone surrogates, which no UTF-8 and so no request can.
    return message.text.encode("utf-8", "backslashreplace").decode("utf-8")
