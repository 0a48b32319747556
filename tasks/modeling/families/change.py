"""What an edit must do, and what it must leave alone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from workgym.tasks.modeling.groups import Group, Predicate, empty, full, unchanged
from workgym.tasks.modeling.probes import groups_of
from workgym.tasks.modeling.shape import Point, bounds
from workgym.tasks.modeling.tree import Piece, Tree, extent, pieces

__all__ = ["Change", "change_groups"]

_MARGIN_MM: Final = 0.5
_LEAST_MM: Final = 1.0


@dataclass(frozen=True)
class Change:
    """An edit.

    Attributes:
        variant: what kind it is, and of what.
        before: the part that is there.
        after: the part that is wanted.
    """

    variant: Sequence[str]
    before: Tree
    after: Tree


def change_groups(change: Change, level: int) -> tuple[Group, ...]:
    """Groups beside those of the wanted part: what is removed is gone, and around the change all is as it was.

    A bounding block or a hull has nothing of what is removed, and the input has all the rest: so that none of them
    passes it, the group of what is removed asks for both.
    """
    groups = []
    kept = {step.name for step in change.after.steps}
    gone = {step.name: step.verb for step in change.before.steps if step.name not in kept}
    if gone:
        traces = [
            (full if gone[group.name] == "cut" else empty)(predicate.params["shape"])
            for group in groups_of(change.before, level)
            if group.name in gone
            for predicate in group.predicates
        ]
        wanted = [predicate for group in groups_of(change.after, level) for predicate in group.predicates]
        groups.append(Group("removed", (*traces, *wanted)))
    regions = tuple(_regions(change, level))
    return (*groups, Group("rest", regions)) if regions else tuple(groups)


def _regions(change: Change, level: int) -> Iterator[Predicate]:
    """Boxes that, with the one around the change, fill the part's extent; thin ones are left out."""
    changed = _changed_box(change)
    low, high = (list(corner) for corner in extent(change.after))
    for axis in range(3):
        below, above = changed[0][axis] - _MARGIN_MM, changed[1][axis] + _MARGIN_MM
        if below - low[axis] >= _LEAST_MM:
            yield unchanged(low, [below if k == axis else high[k] for k in range(3)], level)
        if high[axis] - above >= _LEAST_MM:
            yield unchanged([above if k == axis else low[k] for k in range(3)], high, level)
        low[axis], high[axis] = max(low[axis], below), min(high[axis], above)


def _changed_box(change: Change) -> tuple[Point, Point]:
    before, after = (
        {_key(piece): bounds(piece.shape) for piece in pieces(tree)} for tree in (change.before, change.after)
    )
    corners = [before.get(key) or after[key] for key in before.keys() ^ after.keys()]
    low, high = ([pick(c[side][axis] for c in corners) for axis in range(3)] for side, pick in ((0, min), (1, max)))
    return (low[0], low[1], low[2]), (high[0], high[1], high[2])


def _key(piece: Piece) -> str:
    value: dict[str, Any] = {"verb": piece.step.verb, **piece.shape.as_json()}
    return json.dumps(value, sort_keys=True)
