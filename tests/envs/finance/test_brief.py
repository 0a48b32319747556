"""Short questions for small models: cells go by letters, and what is judged stays the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from workgym.envs.env import WorkEnv
from workgym.envs.finance.env import make
from workgym.envs.finance.policies import erring_oracle
from workgym.tasks.finance.source import FinanceTasks
from workgym.tasks.task import Task

SHOWN = re.compile(r"((\d{4})[a-z]) (\S+?)(?:\||$)")


@pytest.fixture
def env(require_backend: Callable[[str], None], require_extra: Callable[[str], None]) -> Iterator[WorkEnv]:
    require_backend("local")
    require_extra("finance")
    made = make(level=1, style="short")
    yield made
    made.close()


@pytest.fixture(scope="module")
def difference() -> Task:
    """A question about one line in two years."""
    source, rng = FinanceTasks("derive", "short"), np.random.default_rng(0)
    tasks = (source.sample(1, rng) for _ in range(200))
    return next(task for task in tasks if task.public["question"].startswith("difference"))


def begin(env: WorkEnv, task: Task) -> str:
    """Read the row that is asked about."""
    env.reset(options={"task": task})
    return step(env, f"g {label_of(task)}")[0]


def label_of(task: Task) -> str:
    return " ".join(task.public["question"].split()[1:-2])


def step(env: WorkEnv, action: str) -> tuple[str, float, bool, dict[str, Any]]:
    text, reward, terminated, truncated, info = env.step(action)
    return str(text), float(reward), terminated or truncated, info


def answer(env: WorkEnv, task: Task) -> str:
    """The right submission, made of what is shown alone."""
    cells = {year: (f"a{column}", int(amount)) for column, year, amount in SHOWN.findall(begin(env, task))}
    after, before = (cells[year] for year in task.public["question"].split()[-2:])
    program = f"{after[0]}-{before[0]}"
    assert int(step(env, f"p {program}")[0]) == after[1] - before[1]
    return f"s = {program}"


def test_names_of_cells_stand_for_numbers_in_the_sandbox_and_for_evidence_in_the_answer(
    env: WorkEnv, difference: Task
) -> None:
    _, reward, ended, info = step(env, answer(env, difference))
    assert (reward, ended, info["is_success"]) == (1.0, True, True)


def test_a_row_that_is_read_again_keeps_its_letter_and_another_gets_a_new_one(env: WorkEnv, difference: Task) -> None:
    row = begin(env, difference)
    assert row.startswith("a ")
    assert len(SHOWN.findall(row)) == 3
    assert step(env, f"g {label_of(difference)}")[0] == row
    assert step(env, "g per share")[0].startswith("b ")


@pytest.mark.parametrize(
    ("spoil", "reward"),
    [
        (lambda text: text.replace("=", "1"), 0.0),  # another value
        (lambda text: text.replace("-", "+"), 0.2),  # the value follows otherwise
        (lambda text: text.replace("-", "*0+1-"), 0.2),
    ],
)
def test_what_is_missing_costs_as_much_as_in_the_full_style(
    env: WorkEnv, difference: Task, spoil: Callable[[str], str], reward: float
) -> None:
    _, got, ended, info = step(env, spoil(answer(env, difference)))
    assert (got, ended, info["is_success"]) == (reward, True, False)


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ("s = a", "it has printed nothing"),
        ("s 1 b2021x", "no cell b2021x was shown"),
        ("s 1 a1999x", "no cell a1999x was shown"),
        ("s 1 a", "a"),
        ("p x", "NameError"),
        ("g no such line", "no row of"),
    ],
)
def test_what_cannot_be_understood_is_answered_and_the_episode_goes_on(
    env: WorkEnv, difference: Task, action: str, said: str
) -> None:
    begin(env, difference)
    text, _, ended, _ = step(env, action)
    assert said in text
    assert not ended


def test_letters_outlive_a_snapshot(env: WorkEnv, difference: Task) -> None:
    right = answer(env, difference)
    kept = env.snapshot()
    step(env, "s 1")
    env.restore(kept)
    assert step(env, right)[1] == 1.0
    env.restore(kept)
    (fork,) = env.fork(1)
    assert step(fork, right)[1] == 1.0


def test_a_cell_goes_by_its_year_and_its_column_together(env: WorkEnv, difference: Task) -> None:
    (first, _, _), (second, _, _), *_ = SHOWN.findall(begin(env, difference))
    assert first[-1] != second[-1]
    assert "NameError" in step(env, f"p a{first[:-1]}{second[-1]}")[0]


def test_an_oracle_that_errs_takes_other_columns(env: WorkEnv, difference: Task) -> None:
    columns = [column for column, _, _ in SHOWN.findall(begin(env, difference))]
    acted = set()
    for seed in range(20):
        player = erring_oracle(1.0, seed)
        observation, info = env.reset(options={"task": difference})
        right = env.oracle_action()
        assert player(str(observation), info, env) == right  # there is no column in the name of a line
        observation, *_, info = env.step(right)
        acted.add(player(str(observation), info, env))
    assert env.oracle_action() not in acted
    assert acted <= {f"p a{one}-a{other}" for one in columns for other in columns}
    assert len(acted) >= 3
