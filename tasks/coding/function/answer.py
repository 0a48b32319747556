"""What the reference of a task gives for its large input. It is our own code and runs in our own process."""

from __future__ import annotations

import time
from typing import Any, Final

from workgym.tasks.coding.function.cases import CONSTANTS
from workgym.tasks.coding.function.make import large_args
from workgym.tasks.coding.function.make_pair import large_pair_args
from workgym.tasks.task import Task

__all__ = ["large_case"]


_N_DRAWS: Final = 6


def large_case(task: Task) -> tuple[dict[str, Any], float]:
    """Make the large case of a task: its input from its seed, its value by the reference.

    Where the value is one that is shown, or that a function gives which does nothing, the input is drawn again: a
    solution would else be right on it by chance, without reading it. A function of which every large input has such a
    value is judged by the last of them.

    Args:
        task: of family `function`, with `large` in its hidden part.

    Returns:
        The case, as the task holds the others, always paid, so that no slow solution earns everything; and the CPU
        seconds that the reference took.
    """
    large = task.hidden["large"]
    namespace: dict[str, Any] = {}
    exec(task.hidden["reference"], namespace)
    for again in range(_N_DRAWS):
        args, value, cpu_s = _tried(task, {**large, "seed": large["seed"] + again}, namespace)
        known = [*CONSTANTS, *args, *(shown for _, shown in task.public["examples"])]
        if value not in known and not any(value == [one] * len(args[-1]) for one in known):
            break
    return {"args": list(args), "value": value, "paid": True}, cpu_s


def _tried(task: Task, large: dict[str, Any], namespace: dict[str, Any]) -> tuple[tuple[Any, ...], Any, float]:
    """A large input, what the reference gives there, and the CPU seconds that it took."""
    args = large_pair_args(large) if "asks" in large else large_args(large)
    function = namespace[task.public["entry_point"]]
    began = time.process_time()
    if "asks" in large:
        items, questions = args
        data = namespace[task.public["builder"]](items)
        value: Any = [function(data, question) for question in questions]
    else:
        value = function(*args)
    return args, value, time.process_time() - began
