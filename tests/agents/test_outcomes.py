"""Success, its interval, and means over what counts."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from episodes import make_trajectory
from hypothesis import given
from hypothesis import strategies as st

from workgym.agents.outcomes import outcomes_by_group, summarize, wilson_interval
from workgym.envs.verify import Verdict


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [  # roots of (n + z^2) x^2 - (2 k + z^2) x + k^2 / n, worked out with 50 digits
        (0, 10, 0.0, 0.277533),
        (5, 10, 0.236593, 0.763407),
        (10, 10, 0.722467, 1.0),
        (81, 263, 0.255289, 0.366210),
    ],
)
def test_the_interval_has_known_values(successes: int, n: int, low: float, high: float) -> None:
    assert wilson_interval(successes, n) == pytest.approx((low, high), abs=2e-6)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(0.01, 0.999))
def test_the_interval_holds_the_share_and_mirrors(counts: tuple[int, int], confidence: float) -> None:
    successes, n = counts
    low, high = wilson_interval(successes, n, confidence)
    assert 0 <= low <= successes / n <= high <= 1
    mirrored = wilson_interval(n - successes, n, confidence)
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-9)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.9])
def test_the_interval_holds_the_truth_as_often_as_it_says(share: float) -> None:
    n = 256
    held = sum(
        math.comb(n, k) * share**k * (1 - share) ** (n - k)
        for k in range(n + 1)
        if wilson_interval(k, n)[0] <= share <= wilson_interval(k, n)[1]
    )
    assert held == pytest.approx(0.95, abs=0.02)


def test_no_tries_leave_everything_open() -> None:
    assert wilson_interval(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(("successes", "n", "confidence"), [(-1, 3, 0.95), (4, 3, 0.95), (1, 3, 1.0), (1, 3, 0.0)])
def test_impossible_numbers_are_refused(successes: int, n: int, confidence: float) -> None:
    with pytest.raises(ValueError, match="no interval"):
        wilson_interval(successes, n, confidence)


def test_an_invalid_episode_is_counted_apart_and_in_no_mean() -> None:
    good = [make_trajectory(number) for number in (1, 3)]
    bad = replace(make_trajectory(5), verdict=Verdict.invalid(), steps=[])
    outcome = summarize([*good, bad])
    assert (outcome.n_valid, outcome.n_invalid, outcome.n_success, outcome.success) == (2, 1, 2, 1.0)
    assert replace(outcome, n_invalid=0) == summarize(good)


def test_nothing_valid_has_no_mean() -> None:
    outcome = summarize([replace(make_trajectory(1), verdict=None)])
    assert (outcome.n_valid, outcome.n_invalid) == (0, 1)
    assert math.isnan(outcome.success)
    assert math.isnan(outcome.wall_s)


def test_episodes_are_grouped_by_domain_family_and_level() -> None:
    episodes = [make_trajectory(number) for number in range(60)]
    groups = outcomes_by_group(episodes)
    assert list(groups) == sorted({(one.domain, one.family, one.level) for one in episodes})
    assert sum(outcome.n_valid for outcome in groups.values()) == 60
    assert groups["toy", "even", 1] == summarize([one for one in episodes if one.family == "even" and one.level == 1])
