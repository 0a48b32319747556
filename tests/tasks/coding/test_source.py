"""The tasks of family `expression`: seeded, split by function, and worth nothing to who does nothing."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from workgym.tasks.coding.expression import Expression, draw_puzzle
from workgym.tasks.coding.source import CodingTasks
from workgym.tasks.errors import TaskError
from workgym.tasks.source import SPLITS, distinct_tasks, split_of
from workgym.tasks.task import LEVELS, Task

TRIVIAL = ("x", "0", "1", "-1", "None", "''", "[]", "{}", "True", "False", "-x", "x*x")


def draw(level: int, n: int, split: str = "train", seed: int = 0) -> list[Task]:
    rng = np.random.default_rng(seed)
    source = CodingTasks()
    return [source.sample(level, rng, split) for _ in range(n)]


@pytest.mark.parametrize("level", LEVELS)
def test_the_reference_has_the_values_that_are_shown_and_hidden(level: int) -> None:
    for task in draw(level, 50):
        code = compile(task.hidden["reference"], "<reference>", "eval")
        pairs = [*task.public["examples"], *task.hidden["cases"]]
        assert [eval(code, {"x": x}) for x, _ in pairs] == [value for _, value in pairs]


@pytest.mark.parametrize("level", LEVELS)
def test_hidden_inputs_are_eight_and_none_is_shown(level: int) -> None:
    for task in draw(level, 50):
        hidden = [x for x, _ in task.hidden["cases"]]
        assert len(set(hidden)) == 8
        assert not set(hidden) & {x for x, _ in task.public["examples"]}


@pytest.mark.parametrize("level", LEVELS)
def test_a_trivial_expression_is_right_at_no_hidden_input(level: int) -> None:
    for task in draw(level, 50):
        shown = [str(value) for _, value in task.public["examples"]]
        for text in (*TRIVIAL[:10], *shown, str(dict(task.public["examples"])) + ".get(x)"):
            assert not [x for x, value in task.hidden["cases"] if eval(text, {"x": x}) == value], (text, task.id)


@pytest.mark.parametrize("level", LEVELS)
def test_the_splits_share_no_function_over_10000_samples(level: int) -> None:
    seen = {split: {task.structure for task in draw(level, 10_000 // 15, split)} for split in SPLITS}
    assert not seen["train"] & seen["test"]
    assert not seen["train"] & seen["validation"]
    assert not seen["validation"] & seen["test"]


@pytest.mark.parametrize("level", LEVELS)
def test_functions_of_different_texts_have_different_values(level: int) -> None:
    texts: dict[tuple[int, ...], str] = {}
    for split in SPLITS:
        for task in draw(level, 2000, split):
            text = task.hidden["reference"]
            code = compile(text, "<reference>", "eval")
            assert texts.setdefault(tuple(eval(code, {"x": x}) for x in range(-30, 31)), text) == text


def test_a_function_that_the_input_itself_equals_is_never_asked() -> None:
    assert draw_puzzle(Expression("1*x+0", (0, 1, 10), lambda x: x), np.random.default_rng(0)) is None
    texts = {task.hidden["reference"] for split in SPLITS for task in draw(1, 2000, split)}
    assert "1*x+0" not in texts
    assert {"1*x+1", "2*x+0"} <= texts


def test_level_1_holds_a_third_of_its_functions_out_and_has_256_of_them() -> None:
    splits = [split_of(f"{a}*x+{b}") for a in range(1, 100) for b in range(10)]
    assert 0.28 < splits.count("test") / len(splits) < 0.38
    tasks = distinct_tasks(CodingTasks(), 1, 256)
    assert len({task.structure for task in tasks}) == 256
    assert len({task.hidden["reference"] for task in tasks}) == 256


def test_asking_for_more_functions_than_there_are_is_refused() -> None:
    with pytest.raises(TaskError, match="no 991 distinct tasks"):
        distinct_tasks(CodingTasks(), 1, 991)


@pytest.mark.parametrize("level", LEVELS)
def test_an_id_loads_the_same_task(level: int) -> None:
    for split in SPLITS:
        for task in draw(level, 5, split):
            assert CodingTasks().load(task.id) == task


@pytest.mark.parametrize(
    "task_id",
    [
        "",
        "coding-expression-1-test",
        "coding-function-1-test-1",
        "coding-expression-7-test-1",
        "coding-expression-1-exam-1",
        None,
    ],
)
def test_an_id_that_is_none_is_refused(task_id: str) -> None:
    with pytest.raises(TaskError, match=r"no task|unknown level"):
        CodingTasks().load(task_id)


def test_an_unknown_level_or_split_is_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(TaskError, match="unknown level 6"):
        CodingTasks().sample(6, rng)
    with pytest.raises(TaskError, match="unknown split 'tset'. Did you mean 'test'"):
        CodingTasks().sample(1, rng, "tset")
    with pytest.raises(ValueError, match="unknown family 'expresion'. Did you mean 'expression'"):
        CodingTasks("expresion")


GOLDEN = {
    1: "ee155471ecff4aa3da5932a8909f6d3f",
    2: "f64270f9e67813c71f2afaf44cc0d56e",
    3: "3a3730f1e4239182564167256aff109d",
    4: "e6f24b0e41dd9adfe671638d1cefc1b9",
    5: "c0787a7c61b1c2731f1cced52e7d520b",
}


def test_tasks_are_the_same_in_a_fresh_process_with_another_hash_seed() -> None:
    code = (
        "from workgym.tasks.coding.source import CodingTasks\n"
        "for level in range(1, 6): print(CodingTasks().load(f'coding-expression-{level}-test-2a').content_hash())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "77"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == list(GOLDEN.values())


def test_the_prompt_and_what_is_public_do_not_hold_the_answer() -> None:
    for level in LEVELS:
        for task in draw(level, 20):
            shown = task.prompt + repr(task.public) + repr(task)
            assert task.hidden["reference"] not in shown
