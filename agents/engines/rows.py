"""Which episode lies in which row of a block of keys and values, and what has to be computed for a turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from workgym.agents.engines.engine import Request

__all__ = ["Plan", "RowTable"]


@dataclass(slots=True)
class Plan:
    """How the rows of a turn are laid out and filled.

    Attributes:
        order: `order[i]` is the index of the request in row i.
        n_kept: tokens already stored, of each row that is computed.
        new: tokens to compute, of the same rows; they are the first ones.
        copied_from: for each of the rows after those, the computed row that has the same context.
        copied_length: positions to copy for those.
        sources, targets: what lies in row `sources[i]` has to move to row `targets[i]` first.
        moved_length: positions to move.
    """

    order: list[int]
    n_kept: list[int]
    new: list[Sequence[int]]
    copied_from: list[int]
    copied_length: int = 0
    sources: list[int] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)
    moved_length: int = 0


class RowTable:
    """Says for each row whose it is, and which tokens' keys and values it holds.

    Args:
        n_rows: rows of the block.
    """

    def __init__(self, n_rows: int) -> None:
        self._owner: list[str | None] = [None] * n_rows
        self._stored: list[Sequence[int]] = [()] * n_rows
        self._row_of: dict[str, int] = {}  # in the order of last use

    def plan(self, requests: Sequence[Request]) -> Plan:
        """Give every request a row and say what is to be computed; the table is as if all moves had been made.

        Rows that are computed come first: those that continue by their present place, so that few move, then fresh ones
        as they were asked for. The rest copy: identical fresh contexts (the rollouts of a group) are computed once.

        Args:
            requests: of different episodes, no more than there are rows.
        """
        kept = [self._common_prefix(request) for request in requests]
        continuing = sorted((i for i, n in enumerate(kept) if n), key=lambda i: self._row_of[requests[i].rollout_id])
        leaders: dict[tuple[int, ...], int] = {}
        followers: list[int] = []
        followed: list[int] = []
        for i, request in enumerate(requests):
            if kept[i]:
                continue
            leader = leaders.setdefault(tuple(request.ids), i)
            if leader != i:
                followers.append(i)
                followed.append(leader)
        computed = [*continuing, *leaders.values()]
        order = computed + followers
        place = {i: row for row, i in enumerate(order)}
        plan = Plan(
            order=order,
            n_kept=[kept[i] for i in computed],
            new=[requests[i].ids[kept[i] :] for i in computed],
            copied_from=[place[i] for i in followed],
            copied_length=max((len(requests[i].ids) for i in followers), default=0),
        )
        self._arrange(plan, [requests[i].rollout_id for i in order])
        return plan

    def settle(self, stored: Sequence[Sequence[int]], request_of: Sequence[int], rollout_ids: Sequence[str]) -> None:
        """Record a finished turn.

        Args:
            stored: tokens whose keys and values are stored, of each request in the plan's order.
            request_of: which of them lies in each of the first rows now.
            rollout_ids: of each request in the plan's order.
        """
        for row, i in enumerate(request_of):
            self._stored[row] = stored[i]
            self._owner[row] = rollout_ids[i]
            self._row_of[rollout_ids[i]] = row

    def free(self, rollout_ids: Sequence[str]) -> None:
        """Make the rows of these episodes free; unknown ids are no error."""
        for rollout_id in rollout_ids:
            row = self._row_of.pop(rollout_id, None)
            if row is not None:
                self._owner[row], self._stored[row] = None, ()

    def drop_stored(self) -> None:
        """Nothing that is stored may be used any more."""
        self._stored = [()] * len(self._stored)

    def n_stored(self, rollout_id: str) -> int:
        """How many tokens of an episode are stored."""
        row = self._row_of.get(rollout_id)
        return 0 if row is None else len(self._stored[row])

    def _common_prefix(self, request: Request) -> int:
        """Tokens at the start of the context that are stored; one is always computed, for the logits after it."""
        row = self._row_of.get(request.rollout_id)
        if row is None:
            return 0
        stored, ids = self._stored[row], request.ids
        n = min(len(stored), len(ids) - 1)
        if list(stored[:n]) == list(ids[:n]):
            return n
        return next(i for i in range(n) if stored[i] != ids[i])

    def _arrange(self, plan: Plan, rollout_ids: Sequence[str]) -> None:
        """Make row i that of `rollout_ids[i]`; what lay there moves to where those came from."""
        rows = self._claim(rollout_ids)
        claimed = set(rows)
        sources = [*rows, *(row for row in range(len(rows)) if row not in claimed)]
        targets = [*range(len(rows)), *(row for row in rows if row >= len(rows))]
        owners = [self._owner[row] for row in sources]
        stored = [self._stored[row] for row in sources]
        for source, target, owner, tokens in zip(sources, targets, owners, stored, strict=True):
            self._owner[target], self._stored[target] = owner, tokens
            if owner is not None:
                self._row_of[owner] = target
            if source != target and tokens:
                plan.sources.append(source)
                plan.targets.append(target)
                plan.moved_length = max(plan.moved_length, len(tokens))

    def _claim(self, rollout_ids: Sequence[str]) -> list[int]:
        """The row of each episode; new ones get a free row, or that of the episode longest unused."""
        known = {rollout_id: self._row_of.pop(rollout_id) for rollout_id in rollout_ids if rollout_id in self._row_of}
        free = [row for row, owner in enumerate(self._owner) if owner is None]
        free += self._row_of.values()
        free.reverse()
        rows = []
        for rollout_id in rollout_ids:
            row = known.get(rollout_id)
            if row is None:
                row = free.pop()
                evicted = self._owner[row]
                if evicted is not None:
                    del self._row_of[evicted]
                self._owner[row], self._stored[row] = rollout_id, ()
            self._row_of[rollout_id] = row
            rows.append(row)
        return rows
