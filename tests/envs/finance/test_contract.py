"""Finance-v0 keeps the contract of the suite."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import workgym  # noqa: F401 - registers the ids
from workgym.envs.finance.policies import steps
from workgym.envs.testing import check_domain
from workgym.tasks.errors import TaskError
from workgym.tasks.finance.source import FinanceTasks
from workgym.tasks.source import distinct_tasks


@pytest.fixture(autouse=True)
def _needs(require_backend: Callable[[str], None], require_extra: Callable[[str], None]) -> None:
    require_backend("local")
    require_extra("finance")


@pytest.mark.xdist_group("alone")
@pytest.mark.parametrize("kind", [{"style": "short"}, {"family": "derive"}], ids=str)
def test_it_passes_the_conformance_test(kind: dict[str, Any]) -> None:
    check_domain("Finance-v0", kwargs=kind)


@pytest.mark.slow
@pytest.mark.timeout(1800)  # of the clock, on a machine with much else to do
@pytest.mark.xdist_group("alone")
@pytest.mark.parametrize("kind", [{}, {"family": "unanswerable", "level": 2}, {"family": "lookup"}], ids=str)
def test_every_family_passes_the_conformance_test(kind: dict[str, Any]) -> None:
    check_domain("Finance-v0", kwargs=kind)


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_it_runs_as_a_vector(mode: str) -> None:
    envs = gym.make_vec("Finance-v0", num_envs=2, vectorization_mode=mode, style="short")
    observations, infos = envs.reset(seed=[3, 4])
    assert len(observations) == 2
    observations, rewards, *_ = envs.step(("s 0", "g x"))
    assert rewards.tolist() == [0.0, 0.0]
    assert list(infos["domain"]) == ["finance", "finance"]
    envs.close()


def test_a_spoiled_gold_fails_the_oracle() -> None:
    env = gym.make("Finance-v0")
    task = FinanceTasks("derive").sample(1, np.random.default_rng(8))
    spoiled = {**task.hidden, "gold": {**task.hidden["gold"], "value": "123456789"}}
    earned = []
    for hidden in (task.hidden, spoiled):
        env.reset(options={"task": replace(task, hidden=hidden)})
        earned.append([env.step(action)[1] for action in steps(task)][-1])
    assert earned == [1.0, 0.0]
    env.close()


def test_splits_share_no_company() -> None:
    source = FinanceTasks("lookup")
    companies = {
        split: {task.public["catalog"][0]["company"] for task in distinct_tasks(source, 1, 60, split=split)}
        for split in ("train", "test")
    }
    assert not companies["train"] & companies["test"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"family": "audit"}, "family"),
        ({"style": "long"}, "style"),
        ({"level": 3}, "level"),
        ({"sandbox": "none"}, "sandbox"),
        ({"style": "short", "level": 2}, "level"),
        ({"style": "short", "family": "unanswerable"}, "short"),
        ({"family": "unanswerable", "level": 1}, "level"),
    ],
)
def test_what_does_not_exist_is_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        gym.make("Finance-v0", **arguments)


@pytest.mark.parametrize("task_id", ["finance-all-3-test-1f", "finance-derive-1-test-1f", "finance-all-1-test-x", ""])
def test_an_id_that_is_none_is_refused(task_id: str) -> None:
    with pytest.raises(TaskError):
        FinanceTasks().load(task_id)
