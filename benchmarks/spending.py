"""What success costs: tokens, money and seconds of an episode, and of each success."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from workgym.agents.outcomes import Group, Outcome, lacks_tokens
from workgym.agents.trajectory import Trajectory

__all__ = ["COST_COLUMNS", "NO_PRICE", "NO_USAGE", "Spent", "cost_row", "in_dollars", "spent_by"]

NO_PRICE: Final = "no price"
"""What stands in the place of money where nobody knows the price: unknown is not 0."""

NO_USAGE: Final = "no usage"
"""What stands there where the price is known, and not how many tokens were used."""

COST_COLUMNS: Final = (
    "domain", "family", "level", "success", "tokens an episode", "tokens a success", "USD an episode",
    "USD a success", "s an episode", "s a success", "CPU s a success",
)  # fmt: skip
"""Heads of the cost table. "A success": all valid episodes together, over those that succeeded."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What episodes used together.

    Attributes:
        n: episodes, valid or not.
        tokens_in, tokens_out: tokens fed and sampled; None where an episode does not say how many.
        wall_s, cpu_s: seconds; those of the wall clock overlap where episodes run at once.
        money_usd: US dollars; None where the price or the tokens of one are unknown.
    """

    n: int = 0
    tokens_in: int | None = 0
    tokens_out: int | None = 0
    wall_s: float = 0.0
    cpu_s: float = 0.0
    money_usd: float | None = 0.0

    def words(self, unknown: str = NO_PRICE) -> str:
        """One line for people.

        Args:
            unknown: says why money is unknown, where it is.
        """
        money = unknown if self.money_usd is None else f"{in_dollars(self.money_usd, 4)} USD"
        tokens = "tokens not reported"
        if self.tokens_in is not None and self.tokens_out is not None:
            tokens = f"{self.tokens_in} tokens in, {self.tokens_out} out"
        return f"{self.n} episodes, {tokens}, {money}, {self.wall_s:.0f} s of episodes, {self.cpu_s:.1f} s of CPU"


def spent_by(trajectories: Iterable[Trajectory]) -> Spent:
    """What episodes used together, those that failed with the infrastructure included."""
    episodes = list(trajectories)
    costs = [one.cost for one in episodes]
    said = not any(map(lacks_tokens, episodes))
    money = [cost.money_usd for cost in costs if cost.money_usd is not None]
    return Spent(
        n=len(costs),
        tokens_in=sum(cost.tokens_in for cost in costs) if said else None,
        tokens_out=sum(cost.tokens_out for cost in costs) if said else None,
        wall_s=math.fsum(cost.wall_s for cost in costs),
        cpu_s=math.fsum(cost.cpu_s for cost in costs),
        money_usd=math.fsum(money) if len(money) == len(costs) else None,
    )


def in_dollars(money_usd: float, digits: int) -> str:
    """An amount with so many digits after the point, or as many as it takes not to look like nothing.

    Args:
        money_usd: >= 0.
        digits: after the point.
    """
    return f"{money_usd:.{digits}f}" if money_usd == 0 or money_usd >= 10.0**-digits else f"{money_usd:.2g}"


def cost_row(group: Group, outcome: Outcome, unknown: str = NO_PRICE) -> list[str]:
    """The cells of one row, under `COST_COLUMNS`.

    Args:
        group: what it is about.
        outcome: what that came to.
        unknown: says why money is unknown, where it is.
    """
    domain, family, level = group
    tokens = outcome.tokens_in + outcome.tokens_out
    return [
        domain,
        family,
        str(level or ""),
        _cell(outcome.success, 3),
        _cell(tokens, 0),
        _cell(_per_success(tokens, outcome), 0),
        _money(outcome.money_usd, outcome, unknown),
        _money(_per_success(outcome.money_usd, outcome), outcome, unknown),
        _cell(outcome.wall_s, 2),
        _cell(_per_success(outcome.wall_s, outcome), 2),
        _cell(_per_success(outcome.cpu_s, outcome), 3),
    ]


def _per_success(mean: float, outcome: Outcome) -> float:
    return mean * outcome.n_valid / outcome.n_success if outcome.n_success else math.nan


def _money(value: float, outcome: Outcome, unknown: str) -> str:
    if outcome.n_valid and math.isnan(outcome.money_usd):
        return unknown
    return "-" if math.isnan(value) else in_dollars(value, 6)


def _cell(value: float, digits: int) -> str:
    return "-" if math.isnan(value) else f"{value:.{digits}f}"
