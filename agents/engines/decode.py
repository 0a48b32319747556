"""The rows of one batched turn on their way to a stop."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from workgym.agents.engines.engine import Request, SamplingParams
from workgym.agents.engines.sampling import choose, draw_noise

__all__ = ["Decoding"]


class Decoding:
    """What has been sampled for each request, and which request lies in which row.

    Attributes:
        step: tokens that every row that still samples has got.
        request_of: index of the request in each row [n].
        active: which of the first rows still sample [rows in the pass].

    Args:
        requests: in the order of the rows; each leaves room for at least one token.
        max_len: longest context.
        stop_ids: ids that end a turn.
        device: of the model.
    """

    def __init__(
        self, requests: Sequence[Request], max_len: int, stop_ids: Sequence[int], device: torch.device
    ) -> None:
        n = len(requests)
        self.step = 0
        self.request_of = torch.arange(n, device=device)
        self.active = torch.ones(n, dtype=torch.bool, device=device)
        self._lengths = torch.tensor([len(request.ids) for request in requests], device=device)
        self._limits = torch.tensor([min(r.max_tokens, max_len - len(r.ids)) for r in requests], device=device)
        self._stops = torch.tensor(list(stop_ids), dtype=torch.long, device=device)
        n_steps = int(self._limits.max())
        noise = np.stack([draw_noise(request, n_steps) for request in requests])
        self._noise = torch.from_numpy(noise).to(device)
        self._ids = torch.zeros((n, n_steps), dtype=torch.long, device=device)
        self._logps = torch.zeros((n, n_steps), device=device)
        self._n_sampled = torch.zeros_like(self._lengths)

    def take(self, logits: Tensor, params: SamplingParams) -> Tensor:
        """Choose one token for each row of the pass, record it, and see which rows go on.

        Args:
            logits: [rows in the pass, V].
            params: how to choose.

        Returns:
            The chosen ids [rows in the pass]; those of rows that had stopped mean nothing.
        """
        which = self.request_of[: len(self.active)]
        chosen, logps = choose(logits, self._noise[which, self.step], params)
        self._ids[which, self.step], self._logps[which, self.step] = chosen, logps
        self._n_sampled[which] += self.active
        self.step += 1
        self.active &= ~torch.isin(chosen, self._stops) & (self.step < self._limits[which])
        return chosen

    def positions(self) -> Tensor:
        """Where the token chosen last goes in each row of the pass [rows in the pass, 1]."""
        return (self._lengths[self.request_of[: len(self.active)]] + self.step - 1)[:, None]

    def swap(self) -> tuple[Tensor, Tensor]:
        """Bring the rows that still sample to the front and leave the others out of the pass.

        Returns:
            Sources and targets: what lay in row `sources[i]` belongs in row `targets[i]`.
        """
        n_active = int(self.active.sum())
        rows = torch.arange(len(self.active), device=self.active.device)
        holes = rows[:n_active][~self.active[:n_active]]
        behind = rows[n_active:][self.active[n_active:]]
        sources, targets = torch.cat((behind, holes)), torch.cat((holes, behind))
        self.request_of[targets] = self.request_of[sources]
        self.active = torch.ones(n_active, dtype=torch.bool, device=rows.device)
        return sources, targets

    def results(self) -> list[tuple[list[int], list[float]]]:
        """Ids and log-probabilities of each request, in the order of the requests."""
        counts, ids, logps = self._n_sampled.tolist(), self._ids.tolist(), self._logps.tolist()
        return [(ids[i][:count], logps[i][:count]) for i, count in enumerate(counts)]
