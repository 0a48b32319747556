"""Calculator tasks: named for ever, and split by the sum itself."""

from __future__ import annotations

import numpy as np
import pytest

from workgym.tasks.calculator.source import CalculatorTasks
from workgym.tasks.errors import TaskError
from workgym.tasks.source import SPLITS, distinct_tasks, split_of
from workgym.tasks.task import LEVELS


@pytest.mark.parametrize("level", LEVELS)
def test_a_sum_lies_in_one_split_by_its_text_alone(level: int) -> None:
    rng = np.random.default_rng(0)
    for split in SPLITS:
        for _ in range(300):
            task = CalculatorTasks().sample(level, rng, split)
            assert split_of(task.public["sum"]) == split == task.split


def test_level_1_has_sums_in_every_split() -> None:
    sums = {f"{a}+{b}" for a in range(1, 10) for b in range(a, 10)}
    assert {split: sum(split_of(text) == split for text in sums) for split in SPLITS} == {
        "train": 30, "validation": 4, "test": 11,
    }  # fmt: skip


def test_level_2_has_more_sums_than_anybody_evaluates() -> None:
    assert len(distinct_tasks(CalculatorTasks(), level=2, n_tasks=1000)) == 1000


def test_a_style_changes_what_is_said_and_not_what_is_asked() -> None:
    full, short = (CalculatorTasks(style).load("calculator-3-test-2a") for style in ("full", "short"))
    assert full.public == short.public
    assert full.hidden == short.hidden
    assert (bool(full.prompt), bool(short.prompt)) == (True, False)


@pytest.mark.parametrize(
    "task_id",
    ["", "calculator-1-test", "calculator-1-test-xyz", "coding-expression-1-test-1", None, "calculator-1-te-1"],
)
def test_an_id_that_names_no_task_is_refused(task_id: str) -> None:
    with pytest.raises(TaskError, match="ids look like calculator-1-test-1f|unknown split"):
        CalculatorTasks().load(task_id)


def test_names_that_do_not_exist_are_refused() -> None:
    with pytest.raises(TaskError, match="unknown level '?7"):
        CalculatorTasks().load("calculator-7-test-1")
    with pytest.raises(TaskError, match="Did you mean 'test'"):
        CalculatorTasks().sample(1, np.random.default_rng(0), "tset")
    with pytest.raises(ValueError, match="Did you mean 'short'"):
        CalculatorTasks("shrot")
