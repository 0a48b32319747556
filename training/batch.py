"""Rows of tokens as tensors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from workgym.agents.trajectory import Row, Trajectory
from workgym.tasks.errors import PolicyError

__all__ = ["Batch", "Layout", "episode_batch", "make_batch"]


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Where the tokens of rows stand that hold several texts with one beginning.

    Attributes:
        positions: of each token in its text, int64 [B, T].
        texts: 0 for the common beginning, then 1, 2, ...; a token sees text 0 and its own, int64 [B, T].
    """

    positions: Tensor
    texts: Tensor

    def mask(self) -> Tensor:
        """True where a token (second to last dimension) may see another [B, 1, T, T]."""
        seen, seeing = self.texts[:, None, None, :], self.texts[:, None, :, None]
        width = self.texts.shape[1]
        causal = torch.ones((width, width), dtype=torch.bool, device=self.texts.device).tril()
        return ((seen == 0) | (seen == seeing)) & causal


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Rows for one optimizer step, padded on the right.

    All tensors but `ids` speak of the *predicted* token: at position t of what follows t. So a row's last position
    predicts nothing, and `target` is false there and on padding.

    Attributes:
        ids: token ids, 0 on padding, int64 [B, T].
        lengths: tokens of each row, int64 [B].
        target: the token after this position was sampled by a policy and is trained [B, T].
        behavior_logp: its log-probability when it was sampled, float32 [B, T].
        advantage: how much better than expected its action was, float32 [B, T].
        weight: what it weighs in the loss, float32 [B, T]; 0 where `target` is false.
        version: version of the weights that sampled it, -1 for none, int64 [B, T].
        rollout_ids: the episode of each row, for messages.
        layout: of rows that hold several texts; None where each holds one.
    """

    ids: Tensor
    lengths: Tensor
    target: Tensor
    behavior_logp: Tensor
    advantage: Tensor
    weight: Tensor
    version: Tensor
    rollout_ids: tuple[str, ...]
    layout: Layout | None = None

    def __len__(self) -> int:
        return len(self.rollout_ids)

    @property
    def n_targets(self) -> int:
        """Number of tokens that are trained."""
        return int(self.target.sum())

    @property
    def n_tokens(self) -> int:
        """Number of tokens without padding."""
        return int(self.lengths.sum())

    def take(self, rows: Sequence[int]) -> Batch:
        """Some rows, in this order, cut to the longest of them."""
        index = torch.tensor(list(rows), dtype=torch.long)
        lengths = self.lengths[index]
        width = int(lengths.max()) if len(index) else 0
        return Batch(
            self.ids[index, :width],
            lengths,
            self.target[index, :width],
            self.behavior_logp[index, :width],
            self.advantage[index, :width],
            self.weight[index, :width],
            self.version[index, :width],
            tuple(self.rollout_ids[row] for row in rows),
            Layout(self.layout.positions[index, :width], self.layout.texts[index, :width]) if self.layout else None,
        )

    def split(self, max_tokens: int) -> Iterator[Batch]:
        """Cut into micro-batches of rows of like length.

        Args:
            max_tokens: most tokens of a micro-batch, padding included; a longer row comes alone.
        """
        order = torch.argsort(self.lengths, stable=True).tolist()
        lengths = self.lengths.tolist()
        rows: list[int] = []
        for row in order:
            if rows and lengths[row] * (len(rows) + 1) > max_tokens:
                yield self.take(rows)
                rows = []
            rows.append(row)
        if rows:
            yield self.take(rows)


def make_batch(
    rows: Sequence[Row],
    *,
    advantages: Sequence[float] | None = None,
    weights: Sequence[float] | None = None,
    rollout_ids: Sequence[str] | None = None,
) -> Batch:
    """Lay out rows as tensors.

    Args:
        rows: of trajectories, or demonstrations.
        advantages: of each row; 0 by default.
        weights: of each token of each row; 1 by default. With 1 / (targets of the row) every row weighs the same.
        rollout_ids: the episode of each row, for messages; by default its index.

    Raises:
        PolicyError: there is no row, a row has no token, or the lists differ in length.
    """
    n = len(rows)
    if not n or not all(row.ids for row in rows):
        raise PolicyError(f"a batch of {n} rows needs at least one row, and a token in each")
    for name, values in (("advantages", advantages), ("weights", weights), ("rollout_ids", rollout_ids)):
        if values is not None and len(values) != n:
            raise PolicyError(f"{len(values)} {name} for {n} rows")
    lengths = np.array([len(row.ids) for row in rows])
    shape = (n, int(lengths.max()))
    ids, version = np.zeros(shape, np.int64), np.full(shape, -1, np.int64)
    target, logp = np.zeros(shape, np.bool_), np.zeros(shape, np.float32)
    for i, row in enumerate(rows):
        stop = len(row.ids)
        ids[i, :stop] = row.ids
        # Shifted by one: position t speaks of token t + 1.
        target[i, : stop - 1] = row.action[1:]
        logp[i, : stop - 1] = row.logp[1:]
        version[i, : stop - 1] = row.version[1:]
    of_row = np.zeros(n) if advantages is None else np.asarray(advantages, np.float64)
    weight = np.ones(n) if weights is None else np.asarray(weights, np.float64)
    return Batch(
        torch.from_numpy(ids),
        torch.from_numpy(lengths),
        torch.from_numpy(target),
        torch.from_numpy(logp),
        torch.from_numpy((target * of_row[:, None]).astype(np.float32)),
        torch.from_numpy((target * weight[:, None]).astype(np.float32)),
        torch.from_numpy(version),
        tuple(rollout_ids) if rollout_ids is not None else tuple(map(str, range(n))),
    )


def episode_batch(
    trajectories: Sequence[Trajectory], advantages: Sequence[float], *, weigh: Literal["tokens", "episodes"] = "tokens"
) -> Batch:
    """Lay out episodes as tensors; all rows of an episode share its advantage.

    Args:
        trajectories: that the model played.
        advantages: of each.
        weigh: "tokens": every sampled token weighs the same (DAPO); "episodes": every episode does (GRPO's mean of
            means).

    Raises:
        PolicyError: nothing was sampled, or the lists differ in length.
    """
    if len(trajectories) != len(advantages):
        raise PolicyError(f"{len(advantages)} advantages for {len(trajectories)} episodes")
    rows: list[Row] = []
    of_row: list[float] = []
    weights: list[float] = []
    names: list[str] = []
    for trajectory, advantage in zip(trajectories, advantages, strict=True):
        n_sampled = max(1, sum(trajectory.action))
        for row in trajectory.rows():
            rows.append(row)
            of_row.append(advantage)
            weights.append(1.0 if weigh == "tokens" else 1.0 / n_sampled)
            names.append(trajectory.rollout_id)
    return make_batch(rows, advantages=of_row, weights=weights, rollout_ids=names)
