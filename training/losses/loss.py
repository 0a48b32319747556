"""What a loss is given and what it returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from torch import Tensor

__all__ = ["LossSum", "Targets", "TokenLoss"]


@dataclass(frozen=True, slots=True, eq=False)
class Targets:
    """The predicted tokens of a micro-batch, without padding, in one flat order; N of them.

    Attributes:
        logp: log-probability under the model that is trained, with gradient [N].
        entropy: of the distribution that it comes from, without gradient, nats [N].
        behavior_logp: log-probability under the policy that sampled the token [N].
        advantage: [N].
        weight: [N].
    """

    logp: Tensor
    entropy: Tensor
    behavior_logp: Tensor
    advantage: Tensor
    weight: Tensor


@dataclass(frozen=True, slots=True, eq=False)
class LossSum:
    """A loss as a sum, so that any cut into micro-batches adds up to the same.

    Attributes:
        total: sum over tokens of weight times loss; the trainer divides by the sum of all weights of the step [].
        sums: metrics as sums over tokens; the trainer divides by the number of tokens [].
        peaks: metrics of which the largest counts [].
    """

    total: Tensor
    sums: Mapping[str, Tensor] = field(default_factory=dict)
    peaks: Mapping[str, Tensor] = field(default_factory=dict)


TokenLoss = Callable[[Targets], LossSum]
"""A loss: a pure function of the predicted tokens."""
