"""What scripted players share: the words of a call, chance without state, errors at a rate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from workgym.envs.calculator.env import make
from workgym.envs.env import WorkEnv
from workgym.envs.playing import chance, check_rate, erring, say


@pytest.fixture
def env() -> Iterator[WorkEnv]:
    env = make()
    env.reset(seed=0)
    yield env
    env.close()


def right(observation: str, info: dict[str, Any], env: WorkEnv) -> str:
    return "right"


def n_wrong(env: WorkEnv, rate: float, seed: int = 0) -> list[int]:
    """The turns at which it errs."""
    player = erring(right, lambda action, rng: "wrong", rate, seed)
    return [turn for turn in range(200) if player("", {"turn": turn}, env) == "wrong"]


def test_a_call_has_the_short_name_where_the_environment_is_brief(env: WorkEnv) -> None:
    assert say(env, "submit", "7") == "submit 7"
    brief = make(style="short")
    brief.reset(seed=0)
    assert say(brief, "submit", "7") == "s 7"
    brief.close()


def test_chance_is_of_the_task_the_seed_and_the_moment_alone(env: WorkEnv) -> None:
    drawn = [chance(env, seed, salt).random() for seed, salt in ((0, b"a"), (0, b"b"), (1, b"a"), (0, b"a"))]
    assert drawn[0] == drawn[3]
    assert len({*drawn}) == 3
    env.reset(seed=1)
    assert chance(env, 0, b"a").random() != drawn[0]


def test_a_player_errs_at_its_rate_and_at_the_same_turns_again(env: WorkEnv) -> None:
    assert n_wrong(env, 0.0) == []
    assert n_wrong(env, 1.0) == list(range(200))
    assert 70 < len(n_wrong(env, 0.5)) < 130
    assert n_wrong(env, 0.5) == n_wrong(env, 0.5) != n_wrong(env, 0.5, seed=1)


@pytest.mark.parametrize("rate", [-0.1, 1.1, float("nan")])
def test_a_rate_that_is_no_share_is_refused(rate: float) -> None:
    with pytest.raises(ValueError, match=r"rate must be in \[0, 1\]"):
        check_rate(rate)
    with pytest.raises(ValueError, match="rate must be in"):
        erring(right, lambda action, rng: action, rate)
