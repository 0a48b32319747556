"""pass@k, and intervals that do not take the repeats of a task for independent."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
from episodes import make_trajectory
from hypothesis import given
from hypothesis import strategies as st

from workgym.agents.outcomes import interval_of_mean, summarize, wilson_interval
from workgym.agents.trajectory import Trajectory
from workgym.benchmarks.pass_at_k import ks_for, pass_at_k, pass_rates
from workgym.benchmarks.report import make_report
from workgym.envs.verify import Verdict


@pytest.mark.parametrize(
    ("n", "c", "k", "value"), [(10, 3, 1, 0.3), (10, 3, 8, 1.0), (5, 1, 2, 0.4), (200, 0, 100, 0.0), (4, 2, 2, 5 / 6)]
)
def test_pass_at_k_has_known_values(n: int, c: int, k: int, value: float) -> None:
    assert pass_at_k(n, c, k) == pytest.approx(value, abs=1e-12)


@given(st.integers(1, 8).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_pass_at_k_is_the_share_of_choices_that_hold_a_success(numbers: tuple[int, int, int]) -> None:
    n, c, k = numbers
    choices = list(itertools.combinations([True] * c + [False] * (n - c), k))
    assert pass_at_k(n, c, k) == pytest.approx(sum(map(any, choices)) / len(choices))


@given(st.floats(0, 1), st.integers(1, 6))
def test_pass_at_k_is_unbiased(share: float, k: int) -> None:
    n = 6
    chance = [len(list(itertools.combinations(range(n), c))) * share**c * (1 - share) ** (n - c) for c in range(n + 1)]
    mean = sum(p * pass_at_k(n, c, k) for c, p in enumerate(chance))
    assert mean == pytest.approx(1 - (1 - share) ** k, abs=1e-9)


@pytest.mark.parametrize(("n", "c", "k"), [(3, 4, 1), (3, -1, 1), (3, 1, 0), (3, 1, 4)])
def test_impossible_numbers_are_refused(n: int, c: int, k: int) -> None:
    with pytest.raises(ValueError, match=f"no pass@{k}"):
        pass_at_k(n, c, k)


def test_a_report_shows_powers_of_two_and_n() -> None:
    assert [ks_for(n) for n in (0, 1, 2, 6, 8)] == [[], [1], [1, 2], [1, 2, 4, 6], [1, 2, 4, 8]]


def test_tasks_with_fewer_valid_episodes_are_left_out_of_larger_k() -> None:
    one, two = pass_rates([[True, False], [False], []], [1, 2, 4])
    assert (one.rate, one.n_tasks) == (0.25, 2)
    assert (two.rate, two.n_tasks) == (1.0, 1)


# ---- intervals


def test_one_episode_a_task_gives_the_plain_interval() -> None:
    for successes in (0, 1, 5, 9, 10):
        values = [1.0] * successes + [0.0] * (10 - successes)
        assert interval_of_mean(values, 10) == pytest.approx(wilson_interval(successes, 10))


def test_repeats_that_only_repeat_narrow_nothing() -> None:
    values = [1.0] * 6 + [0.0] * 4
    assert interval_of_mean(values, 10 * 16) == pytest.approx(wilson_interval(6, 10))
    assert interval_of_mean([1.0] * 10, 160) == pytest.approx(wilson_interval(10, 10))


@pytest.mark.parametrize("shape", [(0.3, 0.3), (1.0, 1.0), (5.0, 5.0), (50.0, 50.0)])
def test_the_interval_holds_the_truth_as_often_as_it_says_where_episodes_of_a_task_are_alike(
    shape: tuple[float, float],
) -> None:
    rng, n_tasks, n_repeats = np.random.default_rng(0), 32, 4
    held = naive = 0
    for _ in range(600):
        shares = rng.binomial(n_repeats, rng.beta(*shape, n_tasks)) / n_repeats
        low, high = interval_of_mean(shares.tolist(), n_tasks * n_repeats)
        held += low <= 0.5 <= high
        low, high = wilson_interval(shares.sum() * n_repeats, n_tasks * n_repeats)
        naive += low <= 0.5 <= high
    assert held / 600 == pytest.approx(0.95, abs=0.025)
    assert shape[0] > 2 or naive / 600 < 0.88  # the control: independence is the wrong thing to assume


# ---- in summaries and reports


def episodes(shares: list[list[bool]]) -> list[Trajectory]:
    """One task a row, an episode for each value."""
    return [
        replace(
            make_trajectory(2, rollout_id=f"eval/{task}-{repeat}"),
            task_id=f"t{task}",
            task_hash="h",
            verdict=Verdict(float(value), value),
        )
        for task, row in enumerate(shares)
        for repeat, value in enumerate(row)
    ]


def test_success_counts_every_task_alike_however_many_of_its_episodes_are_valid() -> None:
    outcome = summarize(episodes([[True, True, True], [False]]))
    assert (outcome.success, outcome.n_tasks, outcome.n_valid, outcome.n_success) == (0.5, 2, 4, 3)


def test_a_report_of_repeats_shows_pass_at_k() -> None:
    report = make_report(episodes([[True, False, False, False], [False] * 4]), title="t")
    assert report.columns[-3:] == ["pass@1", "pass@2", "pass@4"]
    assert [cell.split()[0] for cell in report.rows()[0][-3:]] == ["0.125", "0.250", "0.500"]
    passes = json.loads(report.json())["total"]["pass_at_k"]
    assert [(one["k"], one["rate"], one["n_tasks"]) for one in passes] == [(1, 0.125, 2), (2, 0.25, 2), (4, 0.5, 2)]
    assert report.total.success == 0.125


def test_a_report_without_repeats_shows_none() -> None:
    report = make_report(episodes([[True], [False]]), title="t")
    assert not any("pass@" in head for head in report.columns)
    assert "pass_at_k" not in json.loads(report.json())["total"]
