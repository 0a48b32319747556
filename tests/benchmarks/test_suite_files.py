"""Suites as TOML files."""

from __future__ import annotations

from pathlib import Path

import pytest
import toy_domain

from workgym.benchmarks.suite import SUITES, Suite, TaskSet, find_suite, read_suite, suite_of
from workgym.tasks.errors import TaskError
from workgym.tasks.task import Budget

assert toy_domain.make, "importing it registers Toy-v0"

FULL = """
name = "toys"
summary = "Doubling."
repeats = 2
seed = 5

[budget]
turns = 3
wall_s = 2.5

[[tasks]]
env = "Toy-v0"
levels = [1, 2]
n = 3

[[tasks]]
env = "Toy-v0"
family = "double"
kwargs = { tokens = 9 }
levels = [3]
n = 2
split = "train"
seed = 7
budget = { turns = 1, tokens = 50 }
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "own.toml"
    path.write_text(text)
    return path


def test_a_file_says_all_that_a_suite_is(tmp_path: Path) -> None:
    assert read_suite(write(tmp_path, FULL)) == Suite(
        "toys",
        (
            TaskSet("Toy-v0", {}, (1, 2), 3, "test", 5, Budget(3, 0, 2.5)),
            TaskSet("Toy-v0", {"tokens": 9, "family": "double"}, (3,), 2, "train", 7, Budget(1, 50, 2.5)),
        ),
        n_repeats=2,
        seed=5,
        summary="Doubling.",
    )


def test_a_short_file_is_named_after_itself(tmp_path: Path) -> None:
    suite = read_suite(write(tmp_path, '[[tasks]]\nenv = "Toy-v0"\nlevels = [1]\nn = 2\n'))
    assert suite == Suite("own", (TaskSet("Toy-v0", levels=(1,), n_tasks=2),))


def test_a_suite_comes_back_from_its_record(tmp_path: Path) -> None:
    suite = read_suite(write(tmp_path, FULL))
    assert suite_of(suite.as_record()) == suite


def test_tasks_may_be_named_by_id() -> None:
    content = {"name": "s", "tasks": [{"env": "Toy-v0", "ids": ["toy/2/21", "toy/1/4"], "budget": {"turns": 2}}]}
    suite = suite_of(content)
    ((first, second),) = suite.draw()
    assert (first.id, second.id, first.budget.turns) == ("toy/2/21", "toy/1/4", 2)
    assert suite_of(suite.as_record()) == suite
    with pytest.raises(TaskError, match="no toy task 'toy/x'"):
        suite_of({"name": "s", "tasks": [{"env": "Toy-v0", "ids": ["toy/x"]}]}).draw()


def test_a_budget_replaces_that_of_the_tasks_where_it_says_something() -> None:
    (tasks,) = suite_of(
        {"name": "s", "tasks": [{"env": "Toy-v0", "levels": [1], "n": 2, "budget": {"tokens": 7}}]}
    ).draw()
    assert {task.budget for task in tasks} == {Budget(turns=4, tokens=7)}


def test_a_budget_leaves_the_task_what_it_was() -> None:
    plain = TaskSet("Toy-v0", n_tasks=2)
    assert [task.content_hash() for task in plain.with_budget(Budget(turns=1)).tasks()] == [
        task.content_hash() for task in plain.tasks()
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[tasks]", "is no TOML"),
        ("", "tasks is missing"),
        ("tasks = []", "[[tasks]] is empty"),
        ("tasks = 3", "write [[tasks]]"),
        ("tasks = [3]", "[[tasks]] 1 must be a table"),
        ('[[tasks]]\nenv = "Toy-v0"\nids = []\n', "a list of task ids"),
        ('[[tasks]]\nenv = "Toy-v0"\nids = ["toy/1/4"]\nlevels = [1]\n', "unknown key 'levels'"),
        (FULL.replace("repeats", "repeat"), "Did you mean 'repeats'"),
        (FULL.replace("repeats = 2", "repeats = 0"), "a whole number > 0, not 0"),
        (FULL.replace("repeats = 2", "repeats = true"), "not True"),
        (FULL.replace("seed = 5", "seed = -1"), "a whole number >= 0"),
        (FULL.replace("turns = 3", "turn = 3"), "[budget]: unknown key 'turn'. Did you mean 'turns'"),
        (FULL.replace("wall_s = 2.5", "wall_s = nan"), "a number of seconds"),
        (FULL.replace("wall_s = 2.5", "wall_s = inf"), "a number of seconds"),
        (FULL.replace("tokens = 50", "token = 50"), "[[tasks]] 2 budget: unknown key 'token'"),
        (FULL.replace("levels = [3]", "level = 3"), "[[tasks]] 2: unknown key 'level'. Did you mean 'levels'"),
        (FULL.replace("levels = [3]", "levels = 3"), "a list of levels"),
        (FULL.replace("levels = [3]", "levels = []"), "a list of levels"),
        (FULL.replace("levels = [3]", 'levels = ["3"]'), "a list of levels"),
        (FULL.replace("levels = [3]\n", ""), "levels is missing"),
        (FULL.replace("n = 2\n", ""), "n is missing"),
        (FULL.replace("n = 2", "n = 0"), "a whole number > 0"),
        (FULL.replace('env = "Toy-v0"\nfamily', "family"), "[[tasks]] 2: env is missing"),
        (FULL.replace("{ tokens = 9 }", "{ split = 'test' }"), "kwargs.split is said beside the kwargs, as split"),
        (FULL.replace("{ tokens = 9 }", "{ level = 1 }"), "as levels"),
        (FULL.replace('split = "train"', "split = 1"), "split must be"),
        (
            FULL.replace("levels = [1, 2]", "levels = [1, 1]"),
            "[[tasks]] 1 asks twice for level 1 of Toy-v0, split test",
        ),
        ('[[tasks]]\nenv = "Toy-v0"\nids = ["toy/1/4", "toy/1/4"]\n', "asks twice for task 'toy/1/4' of Toy-v0"),
        (
            FULL + '[[tasks]]\nenv = "Toy-v0"\nlevels = [4, 2]\nn = 1\nbudget = { turns = 1 }\n',
            "[[tasks]] 1 and 3 ask both for level 2 of Toy-v0, split test, seed 5",
        ),
        (FULL.replace('name = "toys"', "name = ''"), "name must be a text that is not empty"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused_in_words(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(TaskError) as refused:
        read_suite(write(tmp_path, text))
    assert words in str(refused.value)
    assert "own.toml" in str(refused.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=r"cannot read the suite .*nowhere\.toml: No such file"):
        find_suite(str(tmp_path / "nowhere.toml"))
    (tmp_path / "latin.toml").write_bytes(b'name = "\xff"')
    with pytest.raises(TaskError, match="is no TOML"):
        find_suite(str(tmp_path / "latin.toml"))


def test_the_same_level_of_other_tasks_is_no_repetition(tmp_path: Path) -> None:
    others = "".join(
        f'[[tasks]]\nenv = "Toy-v0"\nlevels = [1]\nn = 3\n{change}\n'
        for change in ("seed = 6", "split = 'train'", "kwargs = { turns = 2 }")
    )
    assert len(read_suite(write(tmp_path, FULL + others)).sets) == 5


def test_an_environment_of_somebody_else_is_told_as_that() -> None:
    for arguments in ({}, {"sutton_barto_reward": True}):
        with pytest.raises(TaskError, match="CartPole-v1 is no environment of workgym"):
            TaskSet("CartPole-v1", arguments).make_env()


def test_a_suite_whose_split_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Did you mean 'test'"):
        read_suite(
            write(tmp_path, FULL.replace('split = "train"', 'split = "tset"').replace('family = "double"\n', ""))
        ).draw()


@pytest.mark.parametrize("name", sorted(SUITES))
def test_the_suites_that_come_with_workgym_can_be_drawn(name: str) -> None:
    suite = SUITES[name]
    assert suite.name == name
    assert suite.summary
    assert all(task.split == "test" for tasks in suite.draw() for task in tasks)
