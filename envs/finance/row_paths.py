"""Which headings a row of a table stands below: by how far it is set in, or after a heading that ends in a colon."""

from __future__ import annotations

import itertools
import re
from typing import Final, NamedTuple

from workgym.envs.finance.html_columns import LogicalRow
from workgym.envs.finance.table_periods import is_period_heading

__all__ = ["join_labels", "row_paths"]

_DEEPEST: Final = 12  # headings above one row
_SAME: Final = 1.0  # points: what differs by less is set in alike
_GOES_ON: Final = re.compile(r"[a-z]+(?:[ ,;:-]|$)")  # neither "iPhone" nor "a) loans"


class _Heading(NamedTuple):
    """A row of text that rows stand below; `loose`: also those that are set in no further."""

    label: str
    indent: float
    loose: bool


def join_labels(rows: list[LogicalRow], head: int) -> None:
    """Give the second part of a label that is broken over two rows the whole label: "Assets held for" / "sale, net".

    The first row has no amounts and no colon, and the second begins in lower case. Where several rows with amounts in
    turn begin so, as "basic" and "diluted", the first is their heading.
    """
    for index in range(head, len(rows) - 1):
        row, below = rows[index], rows[index + 1]
        if len(row.pieces) > 1 or not _GOES_ON.match(below.label) or not _is_broken(row.label):
            continue
        after = rows[index + 2].label if index + 2 < len(rows) else ""
        if len(below.pieces) > 1 and _GOES_ON.match(after):
            continue
        first, second = row.pieces[0], below.pieces[0]
        second.label = f"{first.label} {second.label}"
        second.indent = first.indent
        row.unfinished = True


def _is_broken(label: str) -> bool:
    """Whether a label may go on below: no heading with a colon, in capitals or of a period, and no sentence."""
    return bool(label) and label[-1] not in ":.;" and not label.isupper() and not is_period_heading(label)


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
        is_heading = len(row.pieces) == 1 and not row.unfinished
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
