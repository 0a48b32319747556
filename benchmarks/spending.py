"""What success costs: tokens, money and seconds of an episode, and of each success."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from workgym.agents.outcomes import Group, Outcome
from workgym.agents.trajectory import Trajectory

__all__ = ["COST_COLUMNS", "NO_PRICE", "Spent", "cost_row", "spent_by"]

NO_PRICE: Final = "no price"
"""What stands in the place of money where nobody knows the price: unknown is not 0."""

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
        tokens_in, tokens_out: tokens fed and sampled.
        wall_s, cpu_s: seconds; those of the wall clock overlap where episodes run at once.
        money_usd: US dollars; None where the price of one is unknown.
    """

    n: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    wall_s: float = 0.0
    cpu_s: float = 0.0
    money_usd: float | None = 0.0

    def words(self) -> str:
        """One line for people."""
        money = NO_PRICE if self.money_usd is None else f"{self.money_usd:.4f} USD"
        return (
            f"{self.n} episodes, {self.tokens_in} tokens in, {self.tokens_out} out, {money}, "
            f"{self.wall_s:.0f} s of episodes, {self.cpu_s:.1f} s of CPU"
        )


def spent_by(trajectories: Iterable[Trajectory]) -> Spent:
    """What episodes used together, those that failed with the infrastructure included."""
    costs = [one.cost for one in trajectories]
    money = [cost.money_usd for cost in costs if cost.money_usd is not None]
    return Spent(
        n=len(costs),
        tokens_in=sum(cost.tokens_in for cost in costs),
        tokens_out=sum(cost.tokens_out for cost in costs),
        wall_s=math.fsum(cost.wall_s for cost in costs),
        cpu_s=math.fsum(cost.cpu_s for cost in costs),
        money_usd=math.fsum(money) if len(money) == len(costs) else None,
    )


def cost_row(group: Group, outcome: Outcome) -> list[str]:
    """The cells of one row, under `COST_COLUMNS`."""
    domain, family, level = group
    tokens = outcome.tokens_in + outcome.tokens_out
    return [
        domain,
        family,
        str(level or ""),
        _cell(outcome.success, 3),
        _cell(tokens, 0),
        _cell(_per_success(tokens, outcome), 0),
        _money(outcome.money_usd, outcome),
        _money(_per_success(outcome.money_usd, outcome), outcome),
        _cell(outcome.wall_s, 2),
        _cell(_per_success(outcome.wall_s, outcome), 2),
        _cell(_per_success(outcome.cpu_s, outcome), 3),
    ]


def _per_success(mean: float, outcome: Outcome) -> float:
    return mean * outcome.n_valid / outcome.n_success if outcome.n_success else math.nan


def _money(value: float, outcome: Outcome) -> str:
    if outcome.n_valid and math.isnan(outcome.money_usd):
        return NO_PRICE
    return _cell(value, 6)


def _cell(value: float, digits: int) -> str:
    return "-" if math.isnan(value) else f"{value:.{digits}f}"
