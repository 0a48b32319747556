"""How much better an episode was than its fellows."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final

from workgym.tasks.errors import PolicyError

__all__ = ["GroupAdvantages", "group_advantages"]

_FLAT: Final = 1e-6
"""Rewards of a group that lie closer together than this are the same: float noise must not become an advantage."""

_EPSILON: Final = 1e-6


@dataclass(frozen=True, slots=True)
class GroupAdvantages:
    """What there is to learn from groups of episodes.

    Attributes:
        kept: indices of the episodes to train on, ascending.
        advantages: of those, in the same order.
        n_groups: groups with at least two valid members.
        n_zero_easy, n_zero_hard: of those, the ones without differences, of mean reward above a half, and not.
        n_small: groups left with fewer than two valid members.
    """

    kept: tuple[int, ...]
    advantages: tuple[float, ...]
    n_groups: int
    n_zero_easy: int
    n_zero_hard: int
    n_small: int

    def metrics(self) -> dict[str, float]:
        """Shares of all groups with two valid members."""
        n = max(1, self.n_groups)
        return {
            "group/zero_variance_easy": self.n_zero_easy / n,
            "group/zero_variance_hard": self.n_zero_hard / n,
            "group/useful": (self.n_groups - self.n_zero_easy - self.n_zero_hard) / n,
        }


def group_advantages(
    rewards: Sequence[float],
    valid: Sequence[bool],
    groups: Sequence[Hashable],
    *,
    normalize: bool = True,
    rollout_ids: Sequence[str] | None = None,
) -> GroupAdvantages:
    """Compare each episode with the others of its group: (reward - mean) / (standard deviation + epsilon).

    Groups without differences teach nothing and are left out, before any forward pass. An invalid reward leaves its
    group.

    Args:
        rewards: of each episode.
        valid: false where infrastructure failed; that reward is not read.
        groups: which group each episode is of.
        normalize: divide by the standard deviation (of the population); without, Dr. GRPO's advantage.
        rollout_ids: names of the episodes, for messages.

    Raises:
        PolicyError: a valid reward is not finite, or the lists differ in length.

    Source: arXiv 2402.03300 (GRPO), 2503.20783 (Dr. GRPO).
    """
    if not len(rewards) == len(valid) == len(groups):
        raise PolicyError(
            f"{len(rewards)} rewards, {len(valid)} valid marks and {len(groups)} groups; they must be as many"
        )
    members: dict[Hashable, list[int]] = {group: [] for group in groups}
    for i, group in enumerate(groups):
        if valid[i] and not math.isfinite(rewards[i]):
            name = rollout_ids[i] if rollout_ids is not None else i
            raise PolicyError(f"the reward of rollout {name!r} is {rewards[i]}: its verifier is broken")
        if valid[i]:
            members[group].append(i)
    advantage_of: dict[int, float] = {}
    n_easy = n_hard = n_small = 0
    for indices in members.values():
        values = [rewards[i] for i in indices]
        if len(values) < 2:
            n_small += 1
            continue
        mean = math.fsum(values) / len(values)
        if max(values) - min(values) <= _FLAT:
            n_easy, n_hard = n_easy + (mean > 0.5), n_hard + (mean <= 0.5)
            continue
        deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
        scale = deviation + _EPSILON if normalize else 1.0
        advantage_of.update({i: (rewards[i] - mean) / scale for i in indices})
    kept = tuple(sorted(advantage_of))
    return GroupAdvantages(kept, tuple(advantage_of[i] for i in kept), len(members) - n_small, n_easy, n_hard, n_small)
