"""Noise that belongs to an episode, and how it chooses tokens."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from workgym.agents.engines.engine import Request, SamplingParams

__all__ = ["choose", "draw_noise"]


def draw_noise(request: Request, n_tokens: int) -> npt.NDArray[np.float64]:
    """Draw one uniform number a token.

    A counter-based generator keyed by seed and turn: no state is kept, so the noise of a turn is the same whatever else
    is sampled, in whatever order, before or after a restart. Source: Salmon et al. 2011, Philox.

    Returns:
        Numbers in [0, 1) [n_tokens]; the first ones do not depend on how many are drawn.
    """
    key = np.array([request.seed % 2**64, request.turn], dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=key)).random(n_tokens)


def choose(logits: Tensor, noise: Tensor, params: SamplingParams) -> tuple[Tensor, Tensor]:
    """Choose a token in each row by the inverse of the cumulative distribution.

    Args:
        logits: [B, V].
        noise: uniform numbers, float64 [B].
        params: temperature, or greedy.

    Returns:
        Token ids [B] and their log-probabilities at the temperature [B]; NaN where the logits hold one.
    """
    logps = torch.log_softmax(logits.float() / params.temperature, dim=-1)
    if params.greedy:
        chosen = logps.argmax(dim=-1, keepdim=True)
    else:
        # In float64: a float32 sum over a large vocabulary would shift the tail by more than a rare token weighs.
        cumulative = logps.double().exp().cumsum(dim=-1)
        threshold = noise[:, None] * cumulative[:, -1:]
        chosen = torch.searchsorted(cumulative, threshold, right=True).clamp(max=logits.shape[-1] - 1)
    return chosen[:, 0], logps.gather(1, chosen)[:, 0]
