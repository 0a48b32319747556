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

SHOWN = re.compile(r"(\d{4}) (\S+?)(?:\||$)")


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
    amounts = dict(SHOWN.findall(begin(env, task)))
    after, before = task.public["question"].split()[-2:]
    program = f"a{after}-a{before}"
    assert int(step(env, f"p {program}")[0]) == int(amounts[after]) - int(amounts[before])
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
        ("s 1 b2021", "no cell b2021 was shown"),
        ("s 1 a1999", "no cell a1999 was shown"),
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


def test_an_oracle_that_errs_takes_other_years(env: WorkEnv, difference: Task) -> None:
    after, before = map(int, difference.public["question"].split()[-2:])
    wrong = {f"p a{after + one}-a{before}" for one in (-1, 1)} | {f"p a{after}-a{before + one}" for one in (-1, 1)}
    acted = set()
    for seed in range(20):
        player = erring_oracle(1.0, seed)
        observation, info = env.reset(options={"task": difference})
        right = env.oracle_action()
        assert player(str(observation), info, env) == right  # there is no year in the name of a line
        observation, *_, info = env.step(right)
        acted.add(player(str(observation), info, env))
    assert acted <= wrong
    assert len(acted) >= 3
