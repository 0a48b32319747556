"""Statistics of pairs: two policies on the same tasks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import fmean
from typing import Final

import numpy as np

from workgym.agents.outcomes import interval_of_mean

__all__ = ["PairedDifference", "paired_difference", "paired_interval", "sign_flip_p"]

_MAX_STEPS: Final = 50_000_000
_N_FLIPS: Final = 100_000


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """How much better B is than A on the same tasks.

    Attributes:
        n_tasks: pairs.
        a, b: success of each.
        difference: b - a.
        low, high: its 95% interval.
        p: chance of a difference as large, either way, if A and B were the same.
        n_better, n_worse: tasks on which B succeeded more, or less, often.
    """

    n_tasks: int
    a: float
    b: float
    difference: float
    low: float
    high: float
    p: float
    n_better: int
    n_worse: int

    @property
    def is_more_than_noise(self) -> bool:
        """The test and the interval both say so: p < 0.05, and 0 is outside."""
        return self.p < 0.05 and not self.low <= 0 <= self.high

    def words(self, a: str = "A", b: str = "B") -> str:
        """The verdict in a sentence."""
        interval = f"[{self.low:.2f}, {self.high:.2f}]"
        if self.is_more_than_noise:
            better, low, high = (b, self.low, self.high) if self.difference > 0 else (a, -self.high, -self.low)
            return f"{better} is better by {abs(self.difference):.2f} [{low:.2f}, {high:.2f}], more than noise"
        words = f"no difference beyond noise: {b} - {a} = {self.difference:+.2f} {interval}"
        if self.low <= 0 <= self.high:
            return words
        return f"{words}; 0 is outside the interval, but {self.n_better + self.n_worse} tasks that differ are too few"


def paired_difference(a: Sequence[Sequence[bool]], b: Sequence[Sequence[bool]]) -> PairedDifference:
    """Compare two policies.

    Args:
        a: whether each valid episode succeeded, task by task; at least one episode each.
        b: the same of the other policy, on the same tasks in the same order.

    Raises:
        ValueError: there is no task, or not as many of one as of the other.
    """
    if not a or len(a) != len(b):
        raise ValueError(f"nothing to compare: {len(a)} tasks and {len(b)} tasks; as many of both, and at least one")
    shares_a, shares_b = [_share(task) for task in a], [_share(task) for task in b]
    flips = [y - x for x, y in zip(shares_a, shares_b, strict=True)]
    values_a, values_b = [float(x) for x in shares_a], [float(y) for y in shares_b]
    low, high = paired_interval(values_a, values_b, sum(map(len, a)), sum(map(len, b)))
    return PairedDifference(
        n_tasks=len(a),
        a=fmean(values_a),
        b=fmean(values_b),
        difference=float(sum(flips) / len(flips)),
        low=low,
        high=high,
        p=sign_flip_p(flips),
        n_better=sum(flip > 0 for flip in flips),
        n_worse=sum(flip < 0 for flip in flips),
    )


def paired_interval(
    a: Sequence[float], b: Sequence[float], n_episodes_a: int, n_episodes_b: int
) -> tuple[float, float]:
    """The 95% interval of the mean difference b - a of paired shares.

    The intervals of both means are put together with their correlation, so that the interval is sound where all or
    none succeed, too. The correlation is taken with the correction for few pairs.

    Args:
        a: shares in [0, 1], one for each task.
        b: the same of the other policy.
        n_episodes_a: episodes behind `a`.
        n_episodes_b: episodes behind `b`.

    Returns:
        (low, high) in [-1, 1].

    Source: R. G. Newcombe, Statistics in Medicine 17 (1998) 2635, method 10, with clustered intervals for the plain.
    """
    mean_a, mean_b = fmean(a), fmean(b)
    low_a, high_a = interval_of_mean(a, n_episodes_a)
    low_b, high_b = interval_of_mean(b, n_episodes_b)
    alike = _correlation(a, b)

    def reach(one: float, other: float) -> float:
        return math.sqrt(max(0.0, one * one - 2 * alike * one * other + other * other))

    difference = mean_b - mean_a
    low = difference - reach(mean_b - low_b, high_a - mean_a)
    high = difference + reach(high_b - mean_b, mean_a - low_a)
    return max(-1.0, low), min(1.0, high)


def sign_flip_p(differences: Sequence[Fraction]) -> float:
    """Two-sided p of a mean difference of pairs, if either of a pair might have been the other's.

    Exact: every way to give the differences their signs is counted, by the distribution of their sum. With one episode
    a task it is McNemar's exact test. Where the differences have no common step that is coarse enough to count with,
    signs are drawn 100,000 times from a fixed seed.

    Args:
        differences: one for each task.

    Returns:
        p in (0, 1]; 1 where nothing differs.
    """
    parts = [abs(one) for one in differences if one]
    if not parts:
        return 1.0
    step = math.lcm(*(one.denominator for one in parts))
    whole = [int(one * step) for one in parts]
    seen = abs(int(sum(differences, Fraction(0)) * step))
    if sum(whole) * len(whole) <= _MAX_STEPS:
        return _exact_p(whole, seen)
    rng = np.random.default_rng(0)
    sizes = np.array([float(one) for one in parts])
    observed = abs(float(sum(differences, Fraction(0)))) - 1e-9
    hits = sum(
        int((np.abs(rng.choice((-1.0, 1.0), (1000, len(sizes))) @ sizes) >= observed).sum())
        for _ in range(_N_FLIPS // 1000)
    )
    return (hits + 1) / (_N_FLIPS + 1)


def _exact_p(sizes: Sequence[int], seen: int) -> float:
    """The share of all sign choices whose sum is at least as far from 0."""
    total = sum(sizes)
    chance = np.zeros(2 * total + 1)
    chance[total] = 1.0  # index total + s holds the chance of the sum s
    for size in sizes:
        chance = (np.roll(chance, size) + np.roll(chance, -size)) / 2  # what would wrap round is still 0
    p = float(chance[: total - seen + 1].sum() + chance[total + seen :].sum())
    return min(1.0, p if seen else 1.0)


def _share(task: Sequence[bool]) -> Fraction:
    if not task:
        raise ValueError("a task without a valid episode cannot be compared: leave it out")
    return Fraction(sum(task), len(task))


def _correlation(a: Sequence[float], b: Sequence[float]) -> float:
    """Of paired shares; a positive one is taken half a pair smaller, 0 where one of them never changes."""
    n, mean_a, mean_b = len(a), fmean(a), fmean(b)
    common = fmean((x - mean_a) * (y - mean_b) for x, y in zip(a, b, strict=True))
    spread = math.sqrt(fmean((x - mean_a) ** 2 for x in a) * fmean((y - mean_b) ** 2 for y in b))
    if spread == 0:
        return 0.0
    if common > 0:
        common = max(0.0, common - 1 / (2 * n))
    return max(-1.0, min(1.0, common / spread))
