"""Which headings a row of a table stands below: by how far it is set in, or after a heading that ends in a colon."""

from __future__ import annotations

import itertools
from typing import Final, NamedTuple

from workgym.envs.finance.html_columns import LogicalRow

__all__ = ["row_paths"]

_DEEPEST: Final = 12  # headings above one row
_SAME: Final = 1.0  # points: what differs by less is set in alike


class _Heading(NamedTuple):
    """A row of text that rows stand below; `loose`: also those that are set in no further."""

    label: str
    indent: float
    loose: bool


def row_paths(rows: list[LogicalRow], head: int) -> list[tuple[str, ...]]:
    """For each row the headings above it, the outermost first, and its label; () for rows of the head."""
    paths: list[tuple[str, ...]] = [() for _ in rows[:head]]
    stack: list[_Heading] = []
    for index in range(head, len(rows)):
        row = rows[index]
        label = row.label
        if not label:
            paths.append(tuple(heading.label for heading in stack))
            continue
        indent = row.pieces[0].indent
        is_heading = len(row.pieces) == 1
        while stack and not _holds(stack[-1], indent, is_heading):
            stack.pop()
        paths.append((*(heading.label for heading in stack), label))
        if is_heading and len(stack) < _DEEPEST:
            stack.append(_Heading(label, indent, _is_loose(rows, index, indent)))
        elif stack and stack[-1].loose and indent <= stack[-1].indent + _SAME and _is_total(label):
            stack.pop()
    return paths


def _holds(heading: _Heading, indent: float, is_heading: bool) -> bool:
    if indent > heading.indent + _SAME:
        return True
    return heading.loose and not is_heading and indent > heading.indent - _SAME


def _is_loose(rows: list[LogicalRow], index: int, indent: float) -> bool:
    """Whether rows set in no further belong to a heading: where the next one is no heading and set in alike."""
    following = next((row for row in itertools.islice(rows, index + 1, None) if row.label), None)
    if following is None or len(following.pieces) == 1:
        return False
    return abs(following.pieces[0].indent - indent) <= _SAME


def _is_total(label: str) -> bool:
    return label.lower().startswith("total") or label.lower().endswith(", total")
