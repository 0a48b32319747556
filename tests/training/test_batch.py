"""Rows as tensors: what is a target, and what a cut into micro-batches keeps."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from rollouts import random_batch, random_rows

from workgym.agents.trajectory import Row, Trajectory
from workgym.tasks.errors import PolicyError
from workgym.training.batch import episode_batch, make_batch

ROW = Row((7, 8, 9, 5), (False, True, False, True), (0.0, -0.5, 0.0, -0.25), (-1, 3, -1, 4))


def test_all_that_is_said_of_a_token_stands_where_it_is_predicted():
    batch = make_batch([ROW], advantages=[2.0])

    assert batch.ids.tolist() == [[7, 8, 9, 5]]
    assert batch.target.tolist() == [[True, False, True, False]]
    assert batch.behavior_logp.tolist() == [[-0.5, 0.0, -0.25, 0.0]]
    assert batch.advantage.tolist() == [[2.0, 0.0, 2.0, 0.0]]
    assert batch.weight.tolist() == [[1.0, 0.0, 1.0, 0.0]]
    assert batch.version.tolist() == [[3, -1, 4, -1]]


def test_the_last_token_of_a_row_and_its_padding_predict_nothing():
    batch = make_batch(random_rows(30))
    last_or_padding = torch.arange(batch.ids.shape[1]) >= batch.lengths[:, None] - 1

    assert bool(last_or_padding.any())
    assert not bool((batch.target & last_or_padding).any())
    assert not bool((batch.weight != 0)[~batch.target].any())


def test_a_sampled_first_token_has_no_prediction():
    assert make_batch([Row((7, 8), (True, True), (-1.0, -1.0), (0, 0))]).n_targets == 1


@given(st.integers(1, 30), st.integers(1, 400))
def test_micro_batches_hold_every_row_once_and_stay_below_the_limit(n, max_tokens):
    batch = random_batch(n)
    parts = list(batch.split(max_tokens))

    assert sorted(name for part in parts for name in part.rollout_ids) == sorted(batch.rollout_ids)
    assert sum(part.n_targets for part in parts) == batch.n_targets
    assert all(part.ids.numel() <= max_tokens or len(part) == 1 for part in parts)


def test_a_taken_row_is_the_same_row():
    rows = random_rows(9)
    whole, alone = make_batch(rows).take([4]), make_batch([rows[4]])

    for name in ("ids", "lengths", "target", "behavior_logp", "advantage", "weight", "version"):
        assert torch.equal(getattr(whole, name), getattr(alone, name)), name


def test_rows_of_one_episode_share_its_advantage_and_weigh_one_episode():
    split = Trajectory("a")
    for _ in range(2):
        split.open_row()
        split.observe([1, 2])
        split.act([3, 4], [-1.0, -1.0], 0)
    short = Trajectory("b")
    short.observe([1])
    short.act([3], [-1.0], 0)
    batch = episode_batch([split, short], [2.0, -1.0], weigh="episodes")

    assert batch.rollout_ids == ("a", "a", "b")
    assert batch.advantage.amax(dim=1).tolist()[:2] == [2.0, 2.0]
    assert [float(batch.weight[:2].sum()), float(batch.weight[2].sum())] == [1.0, 1.0]
    assert float(episode_batch([split, short], [2.0, -1.0]).weight.sum()) == 5.0


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ([], {}, "at least one row"),
        ([Row((), (), (), ())], {}, "a token in each"),
        ([ROW], {"advantages": [1.0, 2.0]}, "2 advantages for 1 rows"),
        ([ROW], {"rollout_ids": []}, "0 rollout_ids for 1 rows"),
    ],
)
def test_lists_that_do_not_fit_are_refused(rows, options, message):
    with pytest.raises(PolicyError, match=message):
        make_batch(rows, **options)
