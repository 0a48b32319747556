"""Learning by imitation."""

from __future__ import annotations

from workgym.training.losses.loss import LossSum, Targets

__all__ = ["cross_entropy"]


def cross_entropy(targets: Targets) -> LossSum:
    """Negative log-likelihood of the tokens to imitate.

    Args:
        targets: logp [N], weight [N]; the rest is not read.

    Returns:
        `-sum(weight * logp)`.
    """
    return LossSum(-(targets.weight * targets.logp).sum(), {"entropy": targets.entropy.sum()})
