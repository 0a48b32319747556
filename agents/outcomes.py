"""What many episodes come to: success with its interval, reward, and what it cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, variance

from workgym.agents.trajectory import Trajectory

__all__ = [
    "Group",
    "Outcome",
    "TaskKey",
    "group_of",
    "interval_of_mean",
    "lacks_tokens",
    "outcomes_by_group",
    "successes_by_task",
    "summarize",
    "wilson_interval",
]

Group = tuple[str, str, int]
"""(domain, family, level)."""

TaskKey = tuple[str, str]
"""(task id, hash of the task)."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a set of episodes came to. Rates and means are over the valid ones alone; NaN where there is none.

    Attributes:
        n_valid: episodes with a verdict that counts.
        n_invalid: episodes where infrastructure failed; they are in no other number.
        n_success: valid episodes that succeeded.
        n_tasks: tasks with a valid episode.
        success: mean over tasks of the share of its valid episodes that succeeded.
        low, high: 95% interval of `success`; the episodes of one task are not taken for independent.
        reward: mean.
        turns: mean per episode.
        tokens_in, tokens_out: mean tokens fed and sampled per episode; NaN where one does not say how many.
        wall_s, cpu_s: mean seconds per episode.
        money_usd: mean US dollars per episode; NaN where the price of one is unknown.
    """

    n_valid: int
    n_invalid: int
    n_success: int
    n_tasks: int
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


def wilson_interval(successes: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """The Wilson score interval of a share.

    Args:
        successes: how many succeeded, 0 to n.
        n: how many tried; either may be an effective number.
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


def interval_of_mean(values: Sequence[float], n_episodes: int, confidence: float = 0.95) -> tuple[float, float]:
    """The interval of a mean of values in [0, 1], one for each task.

    It is the Wilson interval at the effective number of episodes: the number of independent ones that would scatter as
    the tasks do, and at least one and at most all of a task's. With one episode a task it is the plain interval.

    Args:
        values: of the tasks, such as the share of a task's episodes that succeeded.
        n_episodes: of all tasks together.
        confidence: how often such an interval holds the true mean, in (0, 1).

    Returns:
        (low, high) in [0, 1]; (0, 1) where there is no task.

    Source: E. L. Korn and B. I. Graubard, Survey Methodology 24 (1998) 193, with the interval of Wilson for theirs.
    """
    n_tasks = len(values)
    if n_tasks < 2:
        return wilson_interval(sum(values), n_tasks, confidence)
    mean, scatter = fmean(values), variance(values)
    n = float(n_episodes)
    if scatter > 0:
        n = min(n, mean * (1 - mean) * n_tasks / scatter)
    if not 0 < mean < 1:  # always or never: how alike the episodes of a task are cannot be seen
        n = n_tasks
    n = max(n, n_tasks)
    return wilson_interval(min(mean * n, n), n, confidence)


def successes_by_task(trajectories: Iterable[Trajectory]) -> dict[TaskKey, list[bool]]:
    """Whether each valid episode succeeded, by task, in the order in which they come."""
    tasks: dict[TaskKey, list[bool]] = {}
    for one in trajectories:
        if one.valid:
            tasks.setdefault((one.task_id, one.task_hash), []).append(one.success)
    return tasks


def lacks_tokens(trajectory: Trajectory) -> bool:
    """Whether an episode counts, and who acted in it did not say what it used: that is not 0 tokens.

    Who uses none, as a scripted player, costs nothing, and the money then is known. A turn that a full context cut off
    before it said anything used none either.
    """
    cost = trajectory.cost
    said = cost.tokens_in or cost.tokens_out or cost.money_usd is not None
    acted = any(step.action or step.finish != "length" for step in trajectory.steps)
    return trajectory.valid and acted and not said


def summarize(trajectories: Sequence[Trajectory]) -> Outcome:
    """Sum up a set of episodes."""
    valid = [trajectory for trajectory in trajectories if trajectory.valid]
    shares = [fmean(task) for task in successes_by_task(valid).values()]
    low, high = interval_of_mean(shares, len(valid))
    unsaid = math.nan if any(map(lacks_tokens, valid)) else 0.0

    def mean(value: Callable[[Trajectory], float]) -> float:
        return math.fsum(map(value, valid)) / len(valid) if valid else math.nan

    return Outcome(
        n_valid=len(valid),
        n_invalid=len(trajectories) - len(valid),
        n_success=sum(one.success for one in valid),
        n_tasks=len(shares),
        success=fmean(shares) if shares else math.nan,
        low=low,
        high=high,
        reward=mean(lambda one: one.reward),
        turns=mean(lambda one: len(one.steps)),
        tokens_in=mean(lambda one: one.cost.tokens_in) + unsaid,
        tokens_out=mean(lambda one: one.cost.tokens_out) + unsaid,
        wall_s=mean(lambda one: one.cost.wall_s),
        cpu_s=mean(lambda one: one.cost.cpu_s),
        money_usd=mean(lambda one: math.nan if one.cost.money_usd is None else one.cost.money_usd),
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
