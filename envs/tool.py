"""Tools: one table gives the text form, the JSON tool call and the chat template's list."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from workgym.envs.fences import fenced_blocks
from workgym.tasks.errors import ActionError
from workgym.tasks.naming import unknown_name

__all__ = ["End", "Tool", "ToolTable", "check_arguments", "one_text"]

_REASONS: Final = ("submitted", "solved", "gave_up")
_MAX_TEXT_CHARS: Final = 1_000_000
_MAX_CALLS: Final = 16
_MAX_INT_BITS: Final = 1024
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


@dataclass(frozen=True, slots=True)
class End:
    """What a tool returns to end the episode.

    Attributes:
        reason: "submitted", "solved" or "gave_up".
        submission: what is to be judged.
        text: what the agent reads last.

    Raises:
        ValueError: the reason is another.
    """

    reason: str
    submission: str | None = None
    text: str = ""

    def __post_init__(self) -> None:
        if self.reason not in _REASONS:
            raise ValueError(unknown_name("reason to end", self.reason, _REASONS))


@dataclass(frozen=True, slots=True)
class Tool:
    """Something an agent can do.

    Attributes:
        name: as the agent calls it.
        description: one or two sentences for the agent.
        schema: JSON schema of the arguments, an object with `properties` and `required`.
        call: does it; takes the arguments by name; returns the text to show, or an End.
            Raises ActionError, with words for the agent, where the arguments make no sense.
        short: a second, shorter name in the text form; "" for none.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    call: Callable[..., str | End] = field(repr=False)
    short: str = ""

    def __call__(self, /, **arguments: Any) -> str | End:
        """Check the arguments and do it.

        Raises:
            ActionError: an argument is missing, unknown or of another type.
        """
        check_arguments(self.name, self.schema, arguments)
        return self.call(**arguments)


def one_text(name: str, description: str) -> dict[str, Any]:
    """The schema of a tool that takes one text: an agent may then write it behind the tool's name, as it stands.

    Args:
        name: of the argument.
        description: of it, for the agent.
    """
    return {"type": "object", "properties": {name: {"type": "string", "description": description}}, "required": [name]}


def check_arguments(tool: str, schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> None:
    """Check arguments against the part of JSON schema that tools use: `type`, `enum`, `required`, no unknown names.

    Raises:
        ActionError: in words for the agent.
    """
    properties: Mapping[str, Any] = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in arguments:
            raise ActionError(f"{tool} needs the argument {name!r}")
    for name, value in arguments.items():
        if name not in properties:
            raise ActionError(f"{tool}: {unknown_name('argument', name, properties)}")
        wanted = properties[name].get("type")
        if wanted and (
            not isinstance(value, _TYPES[wanted]) or (isinstance(value, bool) and wanted in ("integer", "number"))
        ):
            raise ActionError(f"{tool}: {name} must be of type {wanted}, not {type(value).__name__}")
        if isinstance(value, int) and value.bit_length() > _MAX_INT_BITS:  # Python refuses to write it in a message
            raise ActionError(f"{tool}: {name} is a number of more than {_MAX_INT_BITS} bits")
        choices = properties[name].get("enum")
        if choices and value not in choices:
            raise ActionError(f"{tool}: {unknown_name(name, value, map(str, choices))}")


class ToolTable:
    """The tools of a session, and the three forms in which an agent may call them.

    Text: the tool's name or short name, a space, and its argument: the rest of the text as it stands where the tool
    takes one string, else a JSON object. Call: `{"name": ..., "arguments": {...}}`. List: several calls, done in order.

    Args:
        tools: in the order in which they are shown.
        fenced: name of the tool, of one text, that takes the code of a text that names no tool and has one block of
            code between fences of three backticks; "" for none.
    """

    def __init__(self, tools: Sequence[Tool], fenced: str = "") -> None:
        self.tools: Final = tuple(tools)
        self._fenced: Final = fenced
        self._by_name: Final[dict[str, tuple[Tool, str | None]]] = {}
        for tool in tools:
            entry = (tool, _only_text_argument(tool))
            for name in filter(None, (tool.name, tool.short)):
                if name in self._by_name or not name.isprintable() or " " in name:
                    raise ValueError(f"tool name {name!r} is taken, empty or has a space")
                self._by_name[name] = entry
        self.names: Final = ",".join(tool.name for tool in tools)

    def schema(self) -> list[dict[str, Any]]:
        """The tools as chat templates and OpenAI-compatible endpoints take them."""
        return [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.schema)},
            }
            for tool in self.tools
        ]

    def do(self, action: object) -> str | End:
        """Carry out an action in any of its forms. A list stops at the first call that fails or ends the episode.

        Raises:
            ActionError: in words for the agent: the form is another, no such tool, or arguments that do not fit.
        """
        if type(action) is str:
            return self.do_text(action)
        if isinstance(action, str):
            return self.do_text(str(action))
        if isinstance(action, Mapping):
            return self.do_call(action)
        if not isinstance(action, Sequence) or isinstance(action, bytes):
            raise ActionError(f"an action is a text, a tool call or a list of tool calls, not {type(action).__name__}")
        if not 0 < len(action) <= _MAX_CALLS:
            raise ActionError(f"a list of tool calls holds 1 to {_MAX_CALLS}, not {len(action)}")
        return self._do_list(action)

    def _do_list(self, calls: Sequence[object]) -> str | End:
        texts: list[str] = []
        for call in calls:
            if not isinstance(call, Mapping):
                raise ActionError(f"a tool call is an object with name and arguments, not {type(call).__name__}")
            try:
                result = self.do_call(call)
            except ActionError as error:
                raise ActionError("\n".join([*texts, str(error)])) from error
            if isinstance(result, End):
                return End(result.reason, result.submission, "\n".join([*texts, result.text]))
            texts.append(result)
        return "\n".join(texts)

    def do_text(self, text: str) -> str | End:
        """Carry out an action in text form.

        Raises:
            ActionError: no such tool, or arguments that do not fit.
        """
        if len(text) > _MAX_TEXT_CHARS:
            raise ActionError(f"the action has {len(text)} characters; at most {_MAX_TEXT_CHARS} are read")
        name, _, rest = text.partition(" ")
        entry = self._by_name.get(name)
        if entry is None:
            return self._do_untidy(text)
        tool, only = entry
        if only is not None:
            return tool.call(**{only: rest})
        if not rest:
            return tool()
        return tool(**_parse_object(tool.name, rest))

    def do_call(self, call: Mapping[str, Any]) -> str | End:
        """Carry out an action in the form `{"name": ..., "arguments": {...}}`; arguments may be JSON text.

        Raises:
            ActionError: no such tool, or arguments that do not fit.
        """
        name, arguments = call.get("name"), call.get("arguments", {})
        tool = self.find(name)
        if isinstance(arguments, str):
            arguments = _parse_object(tool.name, arguments)
        if not isinstance(arguments, Mapping) or not all(isinstance(key, str) for key in arguments):
            raise ActionError(f"{tool.name}: arguments must be an object")
        return tool(**arguments)

    def find(self, name: object) -> Tool:
        """The tool of this name.

        Raises:
            ActionError: there is none; the message names the nearest.
        """
        if name is not None and not isinstance(name, str):
            raise ActionError(f"the name of a tool is a text, not {type(name).__name__}. Tools: {self.names}")
        entry = self._by_name.get(name) if name is not None else None
        if entry is None:
            raise ActionError(unknown_name("tool", name, (tool.name for tool in self.tools)))
        return entry[0]

    def _do_untidy(self, text: str) -> str | End:
        """Second try for a text whose first word is no tool: white space around it, a newline after it, or JSON."""
        stripped = text.strip()
        if stripped.startswith(("{", "[")):
            try:
                call = json.loads(stripped, object_pairs_hook=_without_repeats)
            except (ValueError, RecursionError) as error:
                raise ActionError("the action looks like JSON but does not parse") from error
            if isinstance(call, dict):
                return self.do_call(call)
            raise ActionError("an action in JSON is an object with name and arguments")
        words = stripped.split(maxsplit=1)
        if not words:
            raise ActionError(f"the action is empty. Tools: {self.names}")
        if self._fenced and words[0] not in self._by_name:
            return self._do_fenced(text)
        tool = self.find(words[0][:40])
        rest = words[1] if len(words) > 1 else ""
        return self.do_text(f"{tool.name} {rest}" if rest else tool.name)

    def _do_fenced(self, text: str) -> str | End:
        """A text that names no tool: its one block of code, whatever is said around it."""
        blocks = fenced_blocks(text)
        if len(blocks) != 1:
            found = f"{len(blocks)} blocks of code" if blocks else "no block of code"
            raise ActionError(
                f"the text names no tool and has {found}: begin it with one of {', '.join(self.names.split(','))}, "
                f"or give exactly one block between lines of ``` to {self._fenced} it"
            )
        return self.do_text(f"{self._fenced} {blocks[0]}")


def _only_text_argument(tool: Tool) -> str | None:
    properties = tool.schema.get("properties", {})
    if len(properties) != 1:
        return None
    ((name, about),) = properties.items()
    return name if about.get("type") == "string" and "enum" not in about else None


def _parse_object(tool: str, text: str) -> dict[str, Any]:
    try:
        arguments = json.loads(text, object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError) as error:
        raise ActionError(f"{tool}: the arguments must be a JSON object") from error
    if not isinstance(arguments, dict):
        raise ActionError(f"{tool}: the arguments must be a JSON object")
    return arguments


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON in which every name stands once: of two values for one name none is what was meant."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ActionError(f"the name {twice[:40]!r} stands more than once in an object")
    return fields
