"""A task that is broken is a named error, and never a reward of 0."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import workgym  # noqa: F401 - registers the ids
from workgym.envs.env import WorkEnv
from workgym.envs.finance.policies import steps
from workgym.tasks.errors import TaskError
from workgym.tasks.finance.case import case_of
from workgym.tasks.finance.source import FinanceTasks
from workgym.tasks.task import Task

TASK = FinanceTasks("derive").sample(1, np.random.default_rng(8))


@pytest.fixture(autouse=True)
def _needs(require_backend: Callable[[str], None], require_extra: Callable[[str], None]) -> None:
    require_backend("local")
    require_extra("finance")


@pytest.fixture(scope="module")
def env() -> Iterator[WorkEnv]:
    env = gym.make("Finance-v0")
    yield env.unwrapped  # type: ignore[misc]
    env.close()


def _with_question(**changes: Any) -> Task:
    return replace(TASK, hidden={**TASK.hidden, "question": {**TASK.hidden["question"], **changes}})


@pytest.mark.parametrize(
    "changes",
    [
        {"program": "1/0"},
        {"program": None},
        {"program": "c9"},
        {"operands": []},
        {"operands": ["nothing@1999"]},
        {"scale": "1/0"},
        {"scale": "x"},
        {"decimals": 10**30},
        {"decimals": "1"},
        {"condition": "c1 >"},
    ],
    ids=str,
)
def test_a_question_that_cannot_be_asked_is_an_error(changes: dict[str, Any]) -> None:
    with pytest.raises(TaskError, match="is not that of a finance task|does not show"):
        case_of(_with_question(**changes))


@pytest.mark.parametrize("name", ["structure_seed", "value_seed"])
@pytest.mark.parametrize("seed", [-1, "x", None])
def test_a_seed_that_is_none_is_an_error(name: str, seed: object) -> None:
    with pytest.raises(TaskError, match="is not that of a finance task"):
        case_of(replace(TASK, hidden={**TASK.hidden, name: seed}))


def test_books_that_do_not_give_the_gold_are_an_error_and_no_reward_of_0(env: WorkEnv) -> None:
    drifted = replace(TASK, hidden={**TASK.hidden, "value_seed": TASK.hidden["value_seed"] + 1})
    env.reset(options={"task": drifted})
    *_, truncated, info = [env.step(action) for action in steps(TASK)][-1]
    assert (truncated, info["reward_valid"], info["end_reason"]) == (True, False, "infrastructure")
    assert "made by another version, or changed" in info["error"]


@pytest.mark.parametrize(
    "public",
    [
        {},
        {"answer": {"kind": "number", "unit": "USD"}},
        {"answer": {"kind": "number", "unit": "USD", "citation_budget": "4"}, "catalog": []},
        {"answer": {"kind": "number", "unit": "USD", "decimals": 0.5}, "catalog": []},
        {"answer": {"kind": "number", "unit": []}, "catalog": []},
        {"answer": {"kind": "number", "unit": "USD"}, "catalog": [{"id": "d1"}]},
    ],
    ids=str,
)
def test_a_public_part_that_says_too_little_is_an_error(env: WorkEnv, public: dict[str, Any]) -> None:
    with pytest.raises(TaskError):
        env.reset(options={"task": replace(TASK, public=public)})


@pytest.mark.parametrize("files", [{}, {"d1.txt": b"<p>a</p>"}, {"../d1.html": b"<p>a</p>"}, {"d1.html": b""}], ids=str)
def test_files_that_are_no_documents_are_an_error(env: WorkEnv, files: dict[str, bytes]) -> None:
    with pytest.raises(TaskError):
        env.reset(options={"task": replace(TASK, files=files)})
