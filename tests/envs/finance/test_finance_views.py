"""What an agent sees holds nothing hidden, and what it asks or hands in that makes no sense is answered alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import gymnasium as gym
import pytest
from filings_at_hand import answered, find, right

import workgym  # noqa: F401 - registers the ids
from workgym.envs.env import WorkEnv
from workgym.envs.finance.policies import call
from workgym.tasks.finance.case import case_of


@pytest.fixture(autouse=True)
def _needs(require_backend: Callable[[str], None], require_extra: Callable[[str], None]) -> None:
    require_backend("local")
    require_extra("finance")


@pytest.fixture(scope="module")
def env() -> Iterator[WorkEnv]:
    env = gym.make("Finance-v0")
    yield env.unwrapped  # type: ignore[misc]
    env.close()


@pytest.mark.parametrize("level", [1, 2])
def test_no_view_holds_what_is_hidden(env: WorkEnv, level: int) -> None:
    """No tag, context, id, comment or fact is in any page, table or file that the agent can see."""
    task = answered(level)[0]
    env.reset(options={"task": task})
    seen = [env.step(call("search", query="net income total"))[0]]
    document = task.files["d1.html"].decode()
    for page in range(1, task.public["catalog"][0]["pages"] + 1):
        seen.append(env.step(call("open_page", doc="d1", page=page))[0])
        if env.attempt is not None:
            env.reset(options={"task": task})
    for text in [document, *seen]:
        for hidden in ("ix:", "contextRef", "<!--", "hidden", "display:none", "data-", " id=", "seed", "gold", "@20"):
            assert hidden not in text, hidden
    case = case_of(task)
    for fact in case.reported.ledger.amounts:
        assert fact.line not in document or "_" not in fact.line
    canary = replace(task, files={"d1.html": task.files["d1.html"].replace(b"</body>", b"<!-- gold --></body>")})
    assert "<!--" in canary.files["d1.html"].decode()  # what is looked for would be found


def test_the_exact_amount_stands_nowhere_but_in_cells(env: WorkEnv) -> None:
    """A quotient that the filing does not show, is not in it."""
    task = find(2, "growth")
    gold = right(task)["value"]
    text = task.files["d1.html"].decode()
    n_cells = sum(
        cell.text(case_of(task).reported.ledger).strip("()%") == gold for cell in case_of(task).reported.cells.values()
    )
    assert text.count(f">{gold}") <= n_cells


@pytest.mark.parametrize(
    "query",
    [
        "10-K",
        "$1,234",
        "(1,234)",
        "NEAR(",
        "a AND",
        '"',
        "*",
        "col:x",
        "'; DROP TABLE pages; --",
        "\x00",
        "\ud800",
        "^",
    ],
)
def test_a_query_is_words_and_nothing_else(env: WorkEnv, query: str) -> None:
    env.reset(seed=1)
    observation, _, _, _, info = env.step({"name": "search", "arguments": {"query": query}})
    assert info["error"] == ""
    assert not any(word in observation for word in ("syntax", "SQL", "no such"))


def test_a_huge_query_is_an_observation(env: WorkEnv) -> None:
    env.reset(seed=1)
    *_, info = env.step({"name": "search", "arguments": {"query": "a " * 500_000}})
    assert (info["action_valid"], info["error"]) == (False, "")


@pytest.mark.parametrize("value", ["1,234 or 1,300", "", "nan", "about 5", "5 apples", "1e999999999", None, [1], True])
def test_a_refusal_is_the_same_whatever_the_gold(env: WorkEnv, value: object) -> None:
    said = set()
    for start in (0, 60, 120):
        task = find(1, "difference", start=start)
        public = {**task.public, "answer": {**task.public["answer"], "scale": "millions"}}
        env.reset(options={"task": replace(task, public=public)})
        observation, *_, info = env.step({"name": "submit", "arguments": {"value": value}})
        assert info["action_valid"] is False
        said.add(observation)
    assert len(said) == 1


def test_tools_are_used_until_the_turns_run_out_for_nothing(env: WorkEnv) -> None:
    env.reset(seed=5)
    truncated = terminated = False
    while not (truncated or terminated):
        _, reward, terminated, truncated, info = env.step(call("search", query="revenue"))
    assert (reward, truncated, info["end_reason"], info["reward_valid"]) == (0.0, True, "turns", True)
