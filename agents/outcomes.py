"""What many episodes come to: success with its interval, reward, and what it cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from workgym.agents.trajectory import Trajectory

__all__ = ["Group", "Outcome", "group_of", "outcomes_by_group", "summarize", "wilson_interval"]

Group = tuple[str, str, int]
"""(domain, family, level)."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a set of episodes came to. Rates and means are over the valid ones alone; NaN where there is none.

    Attributes:
        n_valid: episodes with a verdict that counts.
        n_invalid: episodes where infrastructure failed; they are in no other number.
        n_success: valid episodes that succeeded.
        success: share of the valid ones that succeeded.
        low, high: 95% Wilson interval of `success`.
        reward: mean.
        turns: mean per episode.
        tokens_in, tokens_out: mean tokens fed and sampled per episode.
        wall_s, cpu_s: mean seconds per episode.
        money_usd: mean US dollars per episode.
    """

    n_valid: int
    n_invalid: int
    n_success: int
    success: float
    low: float
    high: float
    reward: float
    turns: float
    tokens_in: float
    tokens_out: float
    wall_s: float
    cpu_s: float
    money_usd: float


def wilson_interval(successes: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """The Wilson score interval of a share.

    Args:
        successes: how many succeeded, 0 to n.
        n: how many tried.
        confidence: how often such an interval holds the true share, in (0, 1).

    Returns:
        (low, high) in [0, 1]; (0, 1) where n is 0.

    Raises:
        ValueError: the numbers are not as said.

    Source: E. B. Wilson, Journal of the American Statistical Association 22 (1927) 209.
    """
    if not 0 <= successes <= n or not 0 < confidence < 1:
        raise ValueError(f"no interval for {successes} successes of {n} at confidence {confidence}")
    if n == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = successes / n
    center = (share + z * z / (2 * n)) / (1 + z * z / n)
    spread = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    low = 0.0 if successes == 0 else center - spread
    high = 1.0 if successes == n else center + spread
    return low, high


def summarize(trajectories: Sequence[Trajectory]) -> Outcome:
    """Sum up a set of episodes."""
    valid = [trajectory for trajectory in trajectories if trajectory.valid]
    n_success = sum(trajectory.success for trajectory in valid)
    low, high = wilson_interval(n_success, len(valid))

    def mean(value: Callable[[Trajectory], float]) -> float:
        return math.fsum(map(value, valid)) / len(valid) if valid else math.nan

    return Outcome(
        n_valid=len(valid),
        n_invalid=len(trajectories) - len(valid),
        n_success=n_success,
        success=mean(lambda one: one.success),
        low=low,
        high=high,
        reward=mean(lambda one: one.reward),
        turns=mean(lambda one: len(one.steps)),
        tokens_in=mean(lambda one: one.cost.tokens_in),
        tokens_out=mean(lambda one: one.cost.tokens_out),
        wall_s=mean(lambda one: one.cost.wall_s),
        cpu_s=mean(lambda one: one.cost.cpu_s),
        money_usd=mean(lambda one: one.cost.money_usd),
    )


def group_of(trajectory: Trajectory) -> Group:
    """Where an episode is counted."""
    return trajectory.domain, trajectory.family, trajectory.level


def outcomes_by_group(trajectories: Iterable[Trajectory]) -> dict[Group, Outcome]:
    """Sum up the episodes of each domain, family and level, in that order."""
    groups: dict[Group, list[Trajectory]] = {}
    for trajectory in trajectories:
        groups.setdefault(group_of(trajectory), []).append(trajectory)
    return {group: summarize(groups[group]) for group in sorted(groups)}
