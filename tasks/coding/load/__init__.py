"""Importers of coding tasks in the formats that people have them in, a module a format."""

from __future__ import annotations

import json
from pathlib import Path

from workgym.tasks.coding.load.humaneval import COLUMNS, load_humaneval
from workgym.tasks.coding.load.text_file import open_lines
from workgym.tasks.errors import TaskError
from workgym.tasks.task import Task

__all__ = ["load_humaneval", "load_tasks"]


def load_tasks(path: str | Path) -> list[Task]:
    """Read tasks from a file, whatever its format.

    Args:
        path: HumanEval as JSON lines, plain or gzip.

    Returns:
        The tasks in order.

    Raises:
        TaskError: the format is unknown, or the file breaks its rules.
    """
    path = Path(path)
    if path.is_dir():
        raise TaskError(f"{path} is a folder, which is no known format of coding tasks. Known: HumanEval (a file)")
    first = next(open_lines(path), None)
    if first is None:
        raise TaskError(f"{path} is empty. Known formats: HumanEval")
    try:
        row = json.loads(first[1])
    except (ValueError, RecursionError):
        row = None
    if isinstance(row, dict) and {"task_id", "entry_point", "test"} <= row.keys():
        return load_humaneval(path)
    keys = sorted(row)[:10] if isinstance(row, dict) else "no JSON object"
    raise TaskError(
        f"{path} is in no known format of coding tasks: its first row holds {keys}. "
        f"Known: HumanEval (JSON lines with {', '.join(COLUMNS)})"
    )
