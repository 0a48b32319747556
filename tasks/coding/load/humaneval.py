"""Reads HumanEval: functions to be written from a signature and a docstring.

Source: https://github.com/openai/human-eval, file `data/HumanEval.jsonl.gz`.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from workgym.tasks.coding.load.text_file import open_lines
from workgym.tasks.errors import TaskError
from workgym.tasks.task import Budget, Task, content_hash

__all__ = ["COLUMNS", "load_humaneval"]

COLUMNS: Final = ("task_id", "prompt", "entry_point", "canonical_solution", "test")
"""What a row must hold, each a text."""

_BUDGET: Final = Budget(turns=4, tokens=4096, wall_s=600.0)


def load_humaneval(path: str | Path) -> list[Task]:
    """Read a file of HumanEval problems.

    The tasks belong to the split "test". `public` holds `entry_point` and `prompt`; `hidden` holds `reference` (the
    whole function) and `test` (code that defines `check(candidate)`).

    Args:
        path: JSON lines, plain or gzip.

    Returns:
        One task a row, in order.

    Raises:
        TaskError: the file cannot be read, or a row is not a problem; the message names file and row.
    """
    path = Path(path)
    tasks: list[Task] = []
    seen: set[str] = set()
    for where, row in _rows(path):
        task = _task(where, row)
        if task.id in seen:
            raise TaskError(f"{where}: task_id {row['task_id']!r} was there before; ids must be unique")
        seen.add(task.id)
        tasks.append(task)
    if not tasks:
        raise TaskError(f"{path} holds no problem: a HumanEval file has one JSON object a line")
    return tasks


def _rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, line in open_lines(path):
        where = f"{path} row {number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise TaskError(f"{where} is not JSON: {error}") from error
        if not isinstance(row, dict):
            raise TaskError(f"{where} is a {type(row).__name__}, not an object with {', '.join(COLUMNS)}")
        yield where, row


def _task(where: str, row: dict[str, Any]) -> Task:
    for column in COLUMNS:
        if not isinstance(row.get(column), str):
            found = f"a {type(row[column]).__name__}" if column in row else "missing"
            raise TaskError(f"{where}: {column} is {found}; it must be a text")
    prompt, entry_point = row["prompt"], row["entry_point"]
    reference = prompt + row["canonical_solution"]
    defined = {name for text in (prompt, reference) for name in _functions(where, text)}
    if entry_point not in defined:
        raise TaskError(f"{where}: entry_point {entry_point!r} is not defined; found {sorted(defined)}")
    if "check" not in _functions(where, row["test"]):
        raise TaskError(f"{where}: test defines no function check(candidate)")
    return Task(
        id=f"coding-humaneval-{row['task_id']}",
        domain="coding",
        family="function",
        level=3,
        split="test",
        prompt=prompt,
        structure=content_hash(["humaneval", row["task_id"]]),
        public={"entry_point": entry_point, "prompt": prompt},
        hidden={"reference": reference, "test": row["test"]},
        budget=_BUDGET,
        source=f"HumanEval {row['task_id']}",
    )


def _functions(where: str, text: str) -> set[str]:
    """Names of the functions that a module defines at its top."""
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        raise TaskError(f"{where}: the code does not parse: {error}") from error
    return {node.name for node in module.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
