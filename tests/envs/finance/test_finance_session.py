"""What an agent of the finance domain can do and see, and that it can be copied."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator

import gymnasium as gym
import pytest

import workgym  # noqa: F401 - registers the ids
from workgym.envs.env import WorkEnv
from workgym.envs.finance.policies import call

TASK = "finance-all-1-train-5"


@pytest.fixture(autouse=True)
def _needs(require_backend: Callable[[str], None], require_extra: Callable[[str], None]) -> None:
    require_backend("local")
    require_extra("finance")


@pytest.fixture(scope="module")
def env() -> Iterator[WorkEnv]:
    env = gym.make("Finance-v0")
    yield env.unwrapped  # type: ignore[misc]
    env.close()


def test_the_first_observation_says_all_that_is_needed(env: WorkEnv) -> None:
    observation, _ = env.reset(options={"task_id": TASK})
    company = env.task.public["catalog"][0]["company"]
    for words in (env.task.prompt, "Answer: a number in ", "decimals", "cells cited", company, "10-K", "12 turns"):
        assert words in observation


def test_a_page_shows_numbered_lines_and_handles_of_tables(env: WorkEnv) -> None:
    env.reset(options={"task_id": TASK})
    pages = [env.step(call("open_page", doc="d1", page=page))[0] for page in range(1, 6)]
    assert all(page.startswith("1: ") for page in pages)
    assert any("[d1:t1: Consolidated Statements of Operations" in page for page in pages)


def test_a_table_shows_address_text_value_scale_and_period_of_each_cell(env: WorkEnv) -> None:
    env.reset(options={"task_id": TASK})
    shown, *_ = env.step(call("get_table", doc="d1", table="t1"))
    truth = next(iter(env.domain.source.load(TASK).files.values())).decode()
    assert "USD x 1000" in shown.splitlines()[1]
    row = shown.splitlines()[3]
    assert row.startswith("r2 ")
    text = row.split('"')[1]
    assert text.lstrip("$") in truth
    assert f"= {text.lstrip('$').replace(',', '')}" in row


def test_a_part_of_a_table_is_named_by_rows_or_by_words(env: WorkEnv) -> None:
    env.reset(options={"task_id": TASK})
    by_rows, *_ = env.step(call("get_table", doc="d1", table="d1:t1", part="r3-r4"))
    assert [line.split()[0] for line in by_rows.splitlines()[2:]] == ["r1", "r3", "r4"]
    by_words, *_ = env.step(call("get_table", doc="d1", table="d1:t1", part="per share:"))
    assert {line.split()[0] for line in by_words.splitlines()[2:]} > {"r1"}
    observation, *_, info = env.step(call("get_table", doc="d1", table="d1:t1", part="no such row"))
    assert not info["action_valid"]
    assert "no such row" in observation


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("open_page", {"doc": "d1", "page": 99}, "pages 1 to 5, not 99"),
        ("open_page", {"doc": "d9", "page": 1}, "d9"),
        ("open_page", {"doc": "d1", "page": "one"}, "integer"),
        ("open_page", {"doc": "d1", "page": 1, "line": 999}, "not 999"),
        ("get_table", {"doc": "d1", "table": "t99"}, "t99"),
        ("get_table", {"doc": "d1", "table": "d2:t1"}, "not of document"),
        ("search", {"query": "x", "k": 0}, "1 to 20"),
        ("submit", {"value": "5", "citations": [{"cell": "R2C2", "quote": "5"}]}, "addresses look like"),
        ("submit", {"value": "5", "citations": [{"cell": "d1:t1!r2c2"}]}, "quotes what stands"),
        ("submit", {"value": "5", "citations": "d1:t1!r2c2"}, "must be of type array"),
        ("submit", {"value": "5", "citations": [{"cell": "d1:t1!r2c2", "quote": "5", "why": ""}]}, "cell and quote"),
        ("submit", {"value": "5", "expression": "c1"}, "0 cells are cited"),
        ("submit", {"value": "5", "unit": "parsecs"}, "unit"),
        ("submit", {}, "value"),
        ("buy", {}, "buy"),
    ],
)
def test_a_mistake_is_answered_and_ends_nothing(env: WorkEnv, tool: str, arguments: object, words: str) -> None:
    env.reset(options={"task_id": TASK})
    observation, reward, terminated, truncated, info = env.step({"name": tool, "arguments": arguments})
    assert words in observation
    assert (reward, terminated, truncated, info["action_valid"], info["error"]) == (0.0, False, False, False, "")


def test_python_reckons_with_the_tables_that_were_fetched(env: WorkEnv) -> None:
    env.reset(options={"task_id": TASK})
    nothing, *_ = env.step("python len(tables)")
    env.step(call("get_table", doc="d1", table="t1"))
    shape, *_ = env.step("python tables['d1:t1'].shape[1]")
    assert (nothing, shape) == ("0", "3")


def test_copies_go_their_own_ways(env: WorkEnv) -> None:
    env.reset(options={"task_id": TASK})
    start = env.snapshot()
    env.step(call("get_table", doc="d1", table="t1"))
    seen = env.snapshot()
    (copy,) = env.fork(1)
    env.restore(start)
    assert copy.step("python len(tables)")[0] == "1"
    assert env.step("python len(tables)")[0] == "0"
    env.restore(seen)
    assert env.step("python len(tables)")[0] == "1"
    copy.close()


def test_a_task_of_another_domain_is_refused(env: WorkEnv) -> None:
    with pytest.raises(Exception, match="finance-all-1"):
        env.reset(options={"task_id": "coding-expression-1-test-1f"})


def test_importing_the_front_door_loads_no_package_of_the_domain() -> None:
    code = "import sys, workgym; print({'pandas', 'lxml', 'sqlite3'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "set()"


def test_what_is_too_long_to_be_judged_is_refused_when_it_is_handed_in(env: WorkEnv) -> None:
    env.reset(options={"task_id": TASK})
    long = [{"cell": "d1:p1!l1", "quote": "é" * 1900}] * 100
    answer, _, terminated, *_ = env.step({"name": "submit", "arguments": {"value": "1", "citations": long}})
    assert not terminated
    assert "at most 100000 are read" in answer


@pytest.mark.parametrize("nested", [100, 20_000])
def test_arguments_that_cannot_be_written_are_the_agents_mistake(env: WorkEnv, nested: int) -> None:
    env.reset(options={"task_id": TASK})
    value: object = 10**5000
    for _ in range(nested):
        value = [value]
    for arguments in ({"value": value}, {"value": 1, "citations": [{"cell": value, "quote": ""}]}):
        answer, _, terminated, truncated, info = env.step({"name": "submit", "arguments": arguments})
        assert answer.startswith("error: ")
        assert (terminated, truncated, info["action_valid"]) == (False, False, False)
