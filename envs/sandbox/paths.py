"""What may be the path of a file in a workspace."""

from __future__ import annotations

import os

__all__ = ["MAX_DEPTH", "checked_path", "path_problem"]

MAX_DEPTH = 128
"""Names in a path, the file's own among them."""

_MAX_PATH_BYTES, _MAX_NAME_BYTES = 4095, 255  # of Linux


def checked_path(path: str) -> tuple[str, ...]:
    """Split a path of a workspace into its parts.

    Args:
        path: relative to the workspace; bytes that are no UTF-8 are escaped as `os.fsdecode` does.

    Raises:
        ValueError: it is not a relative path of plain names; the message says what is wrong with it.
    """
    problem = path_problem(path)
    if problem:
        raise ValueError(f"path {path!r} {problem}; give a path relative to the workspace, such as 'src/main.py'")
    return tuple(path.split("/"))


def path_problem(path: str) -> str:
    """What is wrong with a path, as the end of a sentence about it; "" where nothing is."""
    parts = path.split("/")
    try:
        lengths = [len(os.fsencode(part)) for part in parts]
    except UnicodeEncodeError:
        return "has a character that no file name can hold"
    problems = {
        "is empty": not path,
        "is absolute": path.startswith("/"),
        "holds a NUL": "\0" in path,
        "has an empty part": "" in parts,
        "has a part '.'": "." in parts,
        "has a part '..'": ".." in parts,
        f"has a part of more than {_MAX_NAME_BYTES} bytes": max(lengths) > _MAX_NAME_BYTES,
        f"has more than {_MAX_PATH_BYTES} bytes": sum(lengths) + len(parts) - 1 > _MAX_PATH_BYTES,
        f"has more than {MAX_DEPTH} parts": len(parts) > MAX_DEPTH,
    }
    return next((problem for problem, holds in problems.items() if holds), "")
