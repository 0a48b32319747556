"""Losses against references of a few lines in float64, written from the papers."""

from __future__ import annotations

import math

import pytest
import torch

from workgym.training.losses.loss import Targets
from workgym.training.losses.policy import clipped_policy_gradient, make_policy_loss
from workgym.training.losses.supervised import cross_entropy


def targets(n: int = 200, seed: int = 0, spread: float = 0.4) -> Targets:
    """Random targets whose ratios lie on both sides of both bounds."""
    generator = torch.Generator().manual_seed(seed)
    behavior = -torch.rand(n, generator=generator) * 3
    return Targets(
        logp=(behavior + spread * torch.randn(n, generator=generator)).requires_grad_(),
        entropy=torch.rand(n, generator=generator),
        behavior_logp=behavior,
        advantage=torch.randn(n, generator=generator),
        weight=torch.rand(n, generator=generator),
    )


def reference_gain(ratio: float, advantage: float, low: float, high: float) -> tuple[float, float]:
    """The clipped surrogate of one token, and its derivative by the log-probability."""
    bounded = min(max(ratio, 1 - low), 1 + high)
    if ratio * advantage <= bounded * advantage:
        return ratio * advantage, ratio * advantage
    return bounded * advantage, 0.0


@pytest.mark.parametrize(("low", "high"), [(0.2, 0.28), (0.2, 0.2), (0.1, 0.5)])
def test_the_policy_loss_is_the_papers(low, high):
    given = targets()
    found = clipped_policy_gradient(given, clip_low=low, clip_high=high)
    found.total.backward()
    loss, slopes = 0.0, []
    for logp, behavior, advantage, weight in zip(
        given.logp.tolist(), given.behavior_logp.tolist(), given.advantage.tolist(), given.weight.tolist(), strict=True
    ):
        gain, slope = reference_gain(math.exp(logp - behavior), advantage, low, high)
        loss -= weight * gain
        slopes.append(-weight * slope)

    assert float(found.total.detach()) == pytest.approx(loss, rel=1e-5)
    assert given.logp.grad.tolist() == pytest.approx(slopes, rel=1e-4, abs=1e-6)
    assert 20 < slopes.count(0.0) < 180, "some gradients should be cut, and some not"


def test_the_policy_metrics_are_sums_over_tokens():
    given = targets()
    sums = clipped_policy_gradient(given).sums
    logs = [a - b for a, b in zip(given.logp.tolist(), given.behavior_logp.tolist(), strict=True)]
    signs = [a > 0 for a in given.advantage.tolist()]
    expected = {
        "clip/low": sum(math.exp(x) < 0.8 and not up for x, up in zip(logs, signs, strict=True)),
        "clip/high": sum(math.exp(x) > 1.28 and up for x, up in zip(logs, signs, strict=True)),
        "ratio": sum(map(math.exp, logs)),
        "mismatch/logp_abs": sum(map(abs, logs)),
        "mismatch/k1": -sum(logs),
        "mismatch/k3": sum(math.exp(x) - 1 - x for x in logs),
        "mismatch/ratio_gt_2": sum(abs(x) > math.log(2) for x in logs),
        "entropy": sum(given.entropy.tolist()),
    }

    assert {name: float(value) for name, value in sums.items()} == pytest.approx(expected, rel=1e-4)


def test_on_policy_the_gradient_is_that_of_weighted_log_likelihood():
    given = targets(spread=0.0)
    clipped_policy_gradient(given).total.backward()

    torch.testing.assert_close(given.logp.grad, -given.weight * given.advantage)


def test_a_ratio_out_of_all_bounds_stays_finite():
    given = targets()
    far = Targets(
        (given.logp.detach() + 500).requires_grad_(), given.entropy, given.behavior_logp, given.advantage, given.weight
    )
    found = make_policy_loss()(far)
    found.total.backward()

    assert math.isfinite(float(found.total.detach()))
    assert bool(torch.isfinite(far.logp.grad).all())


def test_the_supervised_loss_is_the_negative_log_likelihood():
    given = targets()
    found = cross_entropy(given)
    found.total.backward()
    expected = -math.fsum(w * p for w, p in zip(given.weight.tolist(), given.logp.tolist(), strict=True))

    assert float(found.total.detach()) == pytest.approx(expected, rel=1e-5)
    torch.testing.assert_close(given.logp.grad, -given.weight)


@pytest.mark.parametrize("loss", [cross_entropy, clipped_policy_gradient])
def test_no_target_is_no_loss(loss):
    empty = Targets(*(torch.zeros(0) for _ in range(5)))

    assert float(loss(empty).total) == 0.0
