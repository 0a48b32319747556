"""pass@k: how often at least one of k tries succeeds, from n tries of each task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from statistics import fmean

from workgym.agents.outcomes import interval_of_mean

__all__ = ["PassAtK", "ks_for", "pass_at_k", "pass_rates"]


@dataclass(frozen=True, slots=True)
class PassAtK:
    """pass@k of a set of tasks.

    Attributes:
        k: tries.
        rate: mean over tasks of the estimate.
        low, high: its 95% interval over tasks.
        n_tasks: tasks with at least k valid episodes; only they count.
    """

    k: int
    rate: float
    low: float
    high: float
    n_tasks: int


def pass_at_k(n: int, n_success: int, k: int) -> float:
    """The unbiased estimate of the chance that at least one of k tries succeeds.

    Args:
        n: tries that were made.
        n_success: how many of them succeeded, 0 to n.
        k: tries that are asked about, 1 to n.

    Returns:
        1 - C(n - n_success, k) / C(n, k): the share of all choices of k of the n tries that hold a success.

    Raises:
        ValueError: the numbers are not as said.

    Source: M. Chen et al., Evaluating Large Language Models Trained on Code, arXiv:2107.03374, equation 1.
    """
    if not 0 <= n_success <= n or not 1 <= k <= n:
        raise ValueError(f"no pass@{k} from {n_success} successes of {n}: 0 <= successes <= n and 1 <= k <= n")
    return 1 - comb(n - n_success, k) / comb(n, k)


def ks_for(n: int) -> list[int]:
    """The k that a report shows for n tries: 1, 2, 4, ... and n."""
    return sorted({n, *(2**power for power in range(n.bit_length()))}) if n > 0 else []


def pass_rates(tasks: Sequence[Sequence[bool]], ks: Sequence[int]) -> list[PassAtK]:
    """pass@k of a set of tasks.

    Args:
        tasks: whether each valid episode of a task succeeded, task by task.
        ks: what is asked about.

    Returns:
        One for each k for which a task has enough valid episodes. Its interval takes the tasks, not their episodes,
        for independent.
    """
    rates = []
    for k in ks:
        counted = [task for task in tasks if len(task) >= k]
        if not counted:
            continue
        estimates = [pass_at_k(len(task), sum(task), k) for task in counted]
        low, high = interval_of_mean(estimates, sum(map(len, counted)))
        rates.append(PassAtK(k, fmean(estimates), low, high, len(counted)))
    return rates
