"""Solutions that do nothing for what they get: none of them may earn a reward."""

from __future__ import annotations

from typing import Final

from workgym.envs.coding.asked import asked_of
from workgym.envs.coding.function_hacks import FUNCTION_HACKS
from workgym.tasks.coding.function.cases import CONSTANTS
from workgym.tasks.task import Task

__all__ = ["constant", "echo", "hacked", "public_table", "trivial_solutions"]

_HACKS: Final = ("always-equal", "always-equal-int", "exit-on-load", "exit-on-call", "empty", "nothing")


def constant(task: Task, value: object) -> str:
    """A solution that gives one value, whatever it is asked."""
    return _defining(task, f"return {value!r}")


def echo(task: Task, position: int = 0) -> str:
    """A solution that gives back one of its arguments."""
    return _defining(task, f"return arguments[{position}]")


def public_table(task: Task) -> str:
    """A solution that knows the public examples by heart."""
    examples = task.public.get("examples", ())
    table = {repr(args[-1]): value for args, value in examples}
    return _defining(task, f"return {table!r}.get(repr(arguments[-1]))")


def hacked(task: Task, text: str) -> str:
    """A reward hack of functions, in the name of the function that is asked for."""
    return _beside_builder(task, text.replace("ENTRY_POINT", asked_of(task).entry_point))


def trivial_solutions(task: Task) -> dict[str, str]:
    """All that a task of family `function` is tried with before it counts as sound, by name."""
    shown = [value for _, value in task.public.get("examples", ())]
    return {
        **{f"constant {value!r}": constant(task, value) for value in (*CONSTANTS, *shown)},
        "echo": echo(task),
        "echo of the last": echo(task, -1),
        "public table": public_table(task),
        **{name: hacked(task, FUNCTION_HACKS[name].text) for name in _HACKS},
    }


def _defining(task: Task, statement: str) -> str:
    return _beside_builder(task, f"def {asked_of(task).entry_point}(*arguments):\n    {statement}\n")


def _beside_builder(task: Task, source: str) -> str:
    """With a function that builds nothing, where the task asks for one."""
    builder = asked_of(task).builder
    return f"def {builder}(items):\n    return items\n\n\n{source}" if builder else source
