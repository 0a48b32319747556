"""The oracle earns all, who does not read next to nothing, and who is half right something between."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from workgym.envs.finance.controls import CONTROLS, main, measure
from workgym.envs.finance.env import make


@pytest.fixture(autouse=True)
def _needs(require_backend: Callable[[str], None], require_extra: Callable[[str], None]) -> None:
    require_backend("local")
    require_extra("finance")


def total(player: str, level: int, n_tasks: int, style: str = "full") -> tuple[list[float], list[float]]:
    """The reward of each task, and the share of its turns that was used."""
    env = make(level=level, split="test", style=style)
    rewards, shares = [], []
    for seed in range(n_tasks):
        observation, info = env.reset(seed=seed)
        terminated = truncated = False
        while not (terminated or truncated):
            action = env.domain.players[player](observation, info, env)
            observation, reward, terminated, truncated, info = env.step(action)
        rewards.append(float(reward))
        shares.append(info["turn"] / env.task.budget.turns)
        assert info["reward_valid"]
    env.close()
    return rewards, shares


@pytest.mark.parametrize("level", [1, 2])
def test_players_are_ranked(level: int) -> None:
    n_tasks = 20 // level
    oracle, shares = total("oracle", level, n_tasks)
    assert (min(oracle), max(shares) < 0.6) == (1.0, True)
    assert max(total("noop", level, n_tasks)[0]) == 0.0
    assert max(total("random", level, n_tasks)[0]) == 0.0
    for half in ("half-right", "value-alone"):
        rewards, _ = total(half, level, n_tasks)
        assert 0.0 < sum(rewards) < n_tasks


def test_players_are_ranked_in_the_short_style() -> None:
    assert min(total("oracle", 1, 30, "short")[0]) == 1.0
    assert max(total("noop", 1, 10, "short")[0]) == 0.0
    assert 0.0 < sum(total("half-right", 1, 30, "short")[0]) < 30


@pytest.mark.parametrize("name", CONTROLS)
def test_a_blind_player_hits_one_of_a_few_at_most(name: str) -> None:
    for level, n_tasks in ((1, 20), (2, 8)):
        assert measure(name, level, n_tasks, make).success * n_tasks <= 1


@pytest.mark.slow
@pytest.mark.timeout(1800)  # of the clock, on a machine with much else to do
@pytest.mark.parametrize("level", [1, 2])
def test_the_oracle_earns_all_of_two_hundred_tasks(level: int) -> None:
    rewards, shares = total("oracle", level, 200)
    assert min(rewards) == 1.0
    assert max(shares) < 0.6


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_blind_players_stay_below_their_bounds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--tasks", "500"]) == 0
    assert capsys.readouterr().out.count("| 500 |") == 2 * len(CONTROLS)
