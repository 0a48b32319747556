"""Advantages within a group, and which groups teach nothing."""

from __future__ import annotations

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workgym.tasks.errors import PolicyError
from workgym.training.advantage import group_advantages

NAN = float("nan")


def test_an_advantage_is_the_distance_from_the_mean_in_deviations():
    found = group_advantages([1, 0, 0, 0, 0.5, 1], [True] * 6, "aaaabb")
    a, b = [1, 0, 0, 0], [0.5, 1]
    expected = [(r - statistics.mean(g)) / statistics.pstdev(g) for g in (a, b) for r in g]

    assert found.kept == (0, 1, 2, 3, 4, 5)
    assert found.advantages == pytest.approx(expected, rel=1e-5)


def test_without_normalization_it_is_the_distance_alone():
    assert group_advantages([1, 0], [True] * 2, "aa", normalize=False).advantages == (0.5, -0.5)


def test_groups_without_differences_are_left_out_and_counted():
    found = group_advantages([1, 1, 0, 0, 0, 1, 0.3, 0.3 + 1e-9], [True] * 8, "aabbccdd")

    assert found.kept == (4, 5)
    assert (found.n_groups, found.n_zero_easy, found.n_zero_hard, found.n_small) == (4, 1, 2, 0)
    assert found.metrics() == {
        "group/zero_variance_easy": 0.25,
        "group/zero_variance_hard": 0.5,
        "group/useful": 0.25,
    }


def test_an_invalid_reward_leaves_its_group_unread():
    with_it = group_advantages([1, 0, NAN, 0], [True, True, False, True], "aaaa")
    without = group_advantages([1, 0, 0], [True] * 3, "aaa")

    assert with_it.kept == (0, 1, 3)
    assert with_it.advantages == without.advantages


def test_two_valid_members_suffice_and_one_does_not():
    found = group_advantages([1, 0, 1, 0], [True, True, True, False], "aabb")

    assert found.kept == (0, 1)
    assert (found.n_groups, found.n_small) == (1, 1)


def test_a_reward_that_is_no_number_is_named():
    with pytest.raises(PolicyError, match="rollout 'e7' is nan"):
        group_advantages([0.0, NAN], [True, True], "aa", rollout_ids=["e6", "e7"])


def test_lists_of_other_lengths_are_refused():
    with pytest.raises(PolicyError, match="2 rewards, 1 valid"):
        group_advantages([0.0, 1.0], [True], "aa")


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans(), st.integers(0, 4)), max_size=40))
def test_advantages_of_a_group_sum_to_nothing_and_keep_the_order_of_rewards(episodes):
    rewards, valid, groups = ([one[i] for one in episodes] for i in range(3))
    found = group_advantages(rewards, valid, groups)
    advantage = dict(zip(found.kept, found.advantages, strict=True))

    for group in set(groups):
        members = [i for i in found.kept if groups[i] == group]
        assert math.fsum(advantage[i] for i in members) == pytest.approx(0, abs=1e-4)
        assert all((rewards[i] < rewards[j]) <= (advantage[i] <= advantage[j]) for i in members for j in members)
    assert all(valid[i] for i in found.kept)
