"""What the reference of a task gives for its large input. It is our own code and runs in our own process."""

from __future__ import annotations

import time
from typing import Any

from workgym.tasks.coding.function.cases import CONSTANTS
from workgym.tasks.coding.function.make import large_args
from workgym.tasks.coding.function.make_pair import large_pair_args
from workgym.tasks.task import Task

__all__ = ["large_case"]


def large_case(task: Task) -> tuple[dict[str, Any], float]:
    """Make the large case of a task: its input from its seed, its value by the reference.

    Args:
        task: of family `function`, with `large` in its hidden part.

    Returns:
        The case, as the task holds the others; and the CPU seconds that the reference took.
    """
    large = task.hidden["large"]
    args = large_pair_args(large) if "asks" in large else large_args(large)
    namespace: dict[str, Any] = {}
    exec(task.hidden["reference"], namespace)
    function = namespace[task.public["entry_point"]]
    began = time.process_time()
    if "asks" in large:
        items, questions = args
        data = namespace[task.public["builder"]](items)
        value: Any = [function(data, question) for question in questions]
    else:
        value = function(*args)
    cpu_s = time.process_time() - began
    known = [*CONSTANTS, *args, *(shown for _, shown in task.public["examples"])]
    paid = value not in known and not any(value == [one] * len(args[-1]) for one in known)
    return {"args": list(args), "value": value, "paid": paid}, cpu_s
