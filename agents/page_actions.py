"""What an action is made of, for people who read it: words, code, and tools that were used, in whichever form."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from workgym.agents.message import Call, Message, Text
from workgym.agents.trajectory import Step

__all__ = ["Code", "Said", "UsedTool", "in_words", "read_action"]

_FENCE: Final = re.compile(r"^[ \t]*```([^\n`]*)\n(.*?)^[ \t]*```[ \t]*$", re.MULTILINE | re.DOTALL)
_TEXT_CALL: Final = re.compile(r"\s*([A-Za-z_][\w.-]{0,39})(?:\s+(.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Said:
    """Words."""

    text: str


@dataclass(frozen=True, slots=True)
class Code:
    """A fenced block.

    Attributes:
        language: as it was named; "" where it was not.
        text: what stands between the fences.
    """

    language: str
    text: str


@dataclass(frozen=True, slots=True)
class UsedTool:
    """A call of a tool.

    Attributes:
        name: of the tool.
        arguments: (name, value as text); the name is "" where the form has none.
        form: "native call", "JSON call" or "text call".
    """

    name: str
    arguments: tuple[tuple[str, str], ...]
    form: str


def read_action(step: Step, message: Message | None = None) -> list[Said | Code | UsedTool]:
    """Take an action apart.

    A record does not list the tools, so the first word of a text counts as one where the action could be carried out.

    Args:
        step: the turn.
        message: the assistant's message of this turn, which alone tells native calls from JSON that was written out.

    Returns:
        Its pieces in order; empty for an action without any.
    """
    if message is not None and any(isinstance(part, Call) for part in message.parts):
        return list(_native(message))
    calls = _json_calls(step.action)
    if calls:
        return [_call(call["name"], call["arguments"], "JSON call") for call in calls]
    if _FENCE.search(step.action):
        return list(_fenced(step.action))
    match = _TEXT_CALL.fullmatch(step.action) if step.valid else None
    if match:
        name, rest = match[1], match[2]
        return [UsedTool(name, (("", rest),) if rest else (), "text call")]
    return [Said(step.action)] if step.action else []


def _native(message: Message) -> Iterator[Said | UsedTool]:
    for part in message.parts:
        if isinstance(part, Call):
            yield _call(part.name, part.arguments, f"native call {part.id}".rstrip())
        elif isinstance(part, Text) and part.text:
            yield Said(part.text)


def _fenced(text: str) -> Iterator[Said | Code]:
    place = 0
    for match in _FENCE.finditer(text):
        before = text[place : match.start()].strip("\n")
        if before.strip():
            yield Said(before)
        yield Code(match[1].strip(), match[2].removesuffix("\n"))
        place = match.end()
    after = text[place:].strip("\n")
    if after.strip():
        yield Said(after)


def _json_calls(text: str) -> list[Mapping[str, Any]]:
    """The calls in an action that is JSON; none where it is something else."""
    if not text.lstrip().startswith(("{", "[")):
        return []
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return []
    calls = found if isinstance(found, list) else [found]
    fits = all(isinstance(call, dict) and isinstance(call.get("name"), str) and "arguments" in call for call in calls)
    return calls if fits else []


def _call(name: str, arguments: object, form: str) -> UsedTool:
    """Arguments by name where they are an object, also one that was written as text; else as they are."""
    if isinstance(arguments, str):
        try:
            parsed = json.loads(arguments)
        except (ValueError, RecursionError):
            parsed = None
        arguments = parsed if isinstance(parsed, dict) else arguments
    if not isinstance(arguments, dict):
        return UsedTool(name, (("", in_words(arguments)),), form)
    return UsedTool(name, tuple((str(key), in_words(value)) for key, value in arguments.items()), form)


def in_words(value: object) -> str:
    """A text as it is, any other JSON value laid out on lines of its own."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, indent=1)
    except RecursionError:
        return "(nested too deeply to be shown)"
