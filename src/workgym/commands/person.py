"""A person as a policy: reads the observation in a terminal and types the action."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

from workgym.agents.policy import Conversation, Turn
from workgym.commands.episode_text import rule
from workgym.commands.tables import readable
from workgym.envs.tool import Tool, ToolTable
from workgym.tasks.naming import unknown_name

__all__ = ["HELP", "Person", "describe_tools"]

HELP: Final = """\
An action is one line: a tool's name, a space, its argument. Or {"name": ..., "arguments": {...}}.
Several lines: open them with a line :{ and end them with a line :}; or open a block with ``` and end it with ```.
:tools shows the tools, :task the task, :again the last observation, :help this, :quit gives up (so does Ctrl-D).
Ctrl-C leaves at once: nothing is judged and nothing kept."""

_COMMANDS: Final = (":help", ":tools", ":task", ":again", ":quit")
_OPEN, _CLOSE, _FENCE = ":{", ":}", "```"

Ask = Callable[[str], str]
"""Asks for a line behind a prompt; raises EOFError where there is none any more."""


class Person:
    """Plays as somebody types.

    Args:
        n_turns: actions that the task allows; 0 for no limit.
        ask: asks for a line; of this process's standard input by default, be it a terminal or a pipe.
        say: shows a text.
    """

    def __init__(self, n_turns: int, ask: Ask | None = None, say: Callable[[str], None] = print) -> None:
        self._n_turns: Final = n_turns
        self._ask: Final = ask or _ask_here
        self._say: Final = say

    @property
    def name(self) -> str:
        """Names the policy in archives."""
        return "person"

    def act(self, conversations: Sequence[Conversation]) -> list[Turn]:
        """Show each observation and ask for an action; the end of the input gives up."""
        return [self._turn(conversation) for conversation in conversations]

    def forget(self, rollout_ids: Sequence[str]) -> None:
        """People keep nothing that could be given back."""

    def _turn(self, conversation: Conversation) -> Turn:
        number = len(conversation.trajectory.steps) + 1
        if number == 1:
            self._say(f"{rule('tools')}\n{describe_tools(conversation.env.table)}\n{rule('task')}")
        self._say(readable(conversation.observation))
        prompt = f"\nturn {number} of {self._n_turns}> " if self._n_turns else f"\nturn {number}> "
        while True:
            try:
                text, is_command = _read(self._ask, prompt)
            except EOFError:
                self._say("\nthe input ended")
                text, is_command = ":quit", True
            if not is_command:
                return Turn(text)
            if text == ":quit":
                return Turn("", finish="gave_up")
            if text:
                self._say(self._told(text, conversation))

    def _told(self, command: str, conversation: Conversation) -> str:
        if command not in _COMMANDS:
            return f"{unknown_name('command', command, _COMMANDS)} A text that begins so goes between :{{ and :}}"
        if command == ":tools":
            return describe_tools(conversation.env.table)
        if command == ":help":
            return HELP
        messages = conversation.trajectory.messages
        first = next((message.text for message in messages if message.role == "user"), "")
        return readable(first if command == ":task" else conversation.observation)


def describe_tools(table: ToolTable) -> str:
    """The tools, as a person types them."""
    return "\n".join(f"  {_usage(tool)}\n      {readable(tool.description)}" for tool in table.tools)


def _usage(tool: Tool) -> str:
    short = f"    (short: {tool.short})" if tool.short else ""
    properties: dict[str, Any] = dict(tool.schema.get("properties", {}))
    if [about.get("type") for about in properties.values()] == ["string"]:
        return f"{tool.name} {next(iter(properties)).upper()}{short}"
    fields = ", ".join(f'"{name}": {about.get("type", "...")}' for name, about in properties.items())
    return f"{tool.name} {{{fields}}}{short}" if fields else f"{tool.name}{short}"


def _read(ask: Ask, prompt: str) -> tuple[str, bool]:
    """What was typed, and whether it is a command; an empty line is one that does nothing."""
    line = ask(prompt)
    word = line.strip()
    if word == _OPEN:
        return "\n".join(_lines_until(_CLOSE, ask)), False
    if not word or word.startswith(":"):
        return word, True
    if line.count(_FENCE) % 2:
        return "\n".join([line, *_lines_until(_FENCE, ask), _FENCE]), False
    return line, False


def _lines_until(mark: str, ask: Ask) -> list[str]:
    lines: list[str] = []
    while True:
        line = ask("... ")
        if line.strip() == mark:
            return lines
        lines.append(line)


def _ask_here(prompt: str) -> str:
    """A line of standard input. A pipe does not show what it brings, so that is shown here."""
    if sys.stdin.isatty():
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401 - that it is loaded gives `input` keys to edit and to recall lines
        return input(prompt)
    line = sys.stdin.readline()
    if not line:
        print(prompt, end="")
        raise EOFError
    line = line.rstrip("\r\n")
    print(f"{prompt}{readable(line)}")
    return line
