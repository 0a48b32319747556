"""How the function of a task is called: alone, or as one of two that share a data structure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from workgym.tasks.coding.function.make import show_call
from workgym.tasks.task import Task

__all__ = ["Asked", "asked_of"]

_BOTH: Final = """

def both_functions(items, questions, build={build}, ask={ask}):
    data = build(items)
    return [ask(data, question) for question in questions]
"""
"""Runs beside the solution, which it gives no more to see than the arguments."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a solution has to define.

    Attributes:
        entry_point: name of the function.
        builder: name of the function that makes its first argument; "" if there is none.
    """

    entry_point: str
    builder: str = ""

    @property
    def called(self) -> str:
        """Name of the function that is called in the solution's process."""
        return "both_functions" if self.builder else self.entry_point

    def complete(self, source: str) -> str:
        """A solution with what is needed to call it."""
        return source + _BOTH.format(build=self.builder, ask=self.entry_point) if self.builder else source

    def call(self, args: Sequence[Any], value: Any) -> tuple[list[Any], Any]:
        """The arguments and the value of an example, as they are in the solution's process."""
        return ([args[0], [args[1]]], [value]) if self.builder else (list(args), value)

    def show(self, args: Sequence[Any]) -> str:
        """A call as Python, in one line."""
        if not self.builder:
            return show_call(self.entry_point, args)
        rest = show_call("", args[1:])[1:]
        return f"{self.entry_point}({show_call(self.builder, args[:1])}, {rest}"


def asked_of(task: Task) -> Asked:
    """What the solution of a task has to define."""
    return Asked(task.public["entry_point"], task.public.get("builder", ""))
