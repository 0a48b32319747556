"""Learning from rewards: policy gradients with clipped ratios."""

from __future__ import annotations

from functools import partial

import torch

from workgym.training.losses.loss import LossSum, Targets, TokenLoss

__all__ = ["clipped_policy_gradient", "make_policy_loss"]

_MAX_LOG_RATIO = 20.0
"""Bound of the log-ratio: exp of more is no better and overflows."""


def clipped_policy_gradient(targets: Targets, *, clip_low: float = 0.2, clip_high: float = 0.28) -> LossSum:
    """PPO's clipped surrogate for each token, with a bound of its own on each side.

    Equal bounds are GRPO's; a higher upper one lets unlikely tokens grow (DAPO's clip-higher). Whether every token or
    every row weighs the same is decided by the weights of the batch.

    Args:
        targets: all fields [N].
        clip_low: a ratio below `1 - clip_low` is not pushed further down.
        clip_high: a ratio above `1 + clip_high` is not pushed further up.

    Returns:
        `-sum(weight * min(ratio * advantage, clip(ratio) * advantage))`, with the metrics `clip/low`, `clip/high`
        (share of tokens whose gradient is cut), `ratio`, `mismatch/logp_abs`, `mismatch/k1`, `mismatch/k3` (nats, of
        trainer against engine before any update), `mismatch/ratio_gt_2`, `entropy`.

    Source: arXiv 1707.06347 (PPO), 2402.03300 (GRPO), 2503.14476 (DAPO).
    """
    advantage = targets.advantage
    log_ratio = (targets.logp - targets.behavior_logp).clamp(-_MAX_LOG_RATIO, _MAX_LOG_RATIO)
    ratio = log_ratio.exp()
    bounded = ratio.clamp(1 - clip_low, 1 + clip_high)
    gain = torch.minimum(ratio * advantage, bounded * advantage)
    with torch.no_grad():
        sums = {
            "clip/low": ((ratio < 1 - clip_low) & (advantage < 0)).sum(),
            "clip/high": ((ratio > 1 + clip_high) & (advantage > 0)).sum(),
            "ratio": ratio.sum(),
            "mismatch/logp_abs": log_ratio.abs().sum(),
            "mismatch/k1": -log_ratio.sum(),
            "mismatch/k3": (ratio - 1 - log_ratio).sum(),
            "mismatch/ratio_gt_2": ((ratio > 2) | (ratio < 0.5)).sum(),
            "entropy": targets.entropy.sum(),
        }
        peaks = {"mismatch/logp_abs_max": log_ratio.abs().amax() if len(log_ratio) else log_ratio.sum()}
    return LossSum(-(targets.weight * gain).sum(), sums, peaks)


def make_policy_loss(clip_low: float = 0.2, clip_high: float = 0.28) -> TokenLoss:
    """The clipped loss with its bounds filled in."""
    return partial(clipped_policy_gradient, clip_low=clip_low, clip_high=clip_high)
