"""An agent of one's own: any callable `(messages, tools) -> message`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import toy_domain

from workgym.agents.play import play
from workgym.agents.policies.callable import CallablePolicy, load_agent
from workgym.agents.prices import Price
from workgym.agents.rack import EnvRack, Seat
from workgym.agents.trajectory import Trajectory
from workgym.tasks.errors import PolicyError

TASK = toy_domain.ToyTasks().load("toy/2/21")


@pytest.fixture
def rack() -> Iterator[EnvRack]:
    with EnvRack(toy_domain.make, 2) as opened:
        yield opened


def played(rack: EnvRack, agent: Any, price: Price | None = None) -> Trajectory:
    (one,) = play(CallablePolicy(agent, "mine", price), rack, [Seat("e", TASK)])
    return one


def native(name: str, **arguments: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": name, "arguments": arguments}}]}


def test_an_agent_that_returns_text_plays(rack: EnvRack) -> None:
    assert played(rack, lambda messages, tools: "submit 42").success


def test_an_agent_that_returns_native_calls_plays_and_reads_the_answers(rack: EnvRack) -> None:
    seen: list[list[dict[str, Any]]] = []

    def agent(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> dict[str, Any]:
        seen.append(messages)
        return native("submit", text="42") if len(seen) == 2 else native("look", text="x")

    assert played(rack, agent).success
    assert seen[0] == [
        {"role": "system", "content": "You double numbers."},
        {"role": "user", "content": "double 21"},
    ]
    assert [message["role"] for message in seen[1]] == ["system", "user", "assistant", "tool"]
    assert seen[1][2]["tool_calls"][0]["function"] == {"name": "look", "arguments": '{"text": "x"}'}
    assert seen[1][3] == {"role": "tool", "tool_call_id": "call_0", "content": "look 1: double 21"}


def test_an_agent_is_given_the_tools(rack: EnvRack) -> None:
    names: list[str] = []

    def agent(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> str:
        names.extend(tool["function"]["name"] for tool in tools)
        return "submit 42"

    played(rack, agent)
    assert names == ["look", "submit", "break"]


def test_an_agent_may_change_what_it_is_given(rack: EnvRack) -> None:
    def vandal(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> str:
        n = len(messages)
        messages.clear()
        tools.clear()
        return "submit 42" if n > 2 else "look here"

    assert played(rack, vandal).success


def test_a_client_s_own_message_object_is_read(rack: EnvRack) -> None:
    class Reply:
        def model_dump(self) -> dict[str, Any]:
            return native("submit", text="42")

    assert played(rack, lambda messages, tools: Reply()).success


def test_the_usage_of_an_agent_is_counted_and_priced(rack: EnvRack) -> None:
    def agent(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> dict[str, Any]:
        return native("submit", text="42") | {"usage": {"prompt_tokens": 1000, "completion_tokens": 500}}

    one = played(rack, agent, Price(1.0, 2.0))
    assert (one.cost.tokens_in, one.cost.tokens_out, one.cost.money_usd) == (1000, 500, pytest.approx(0.002))
    assert played(rack, agent).cost.money_usd is None


def test_an_agent_that_raises_is_named_and_its_error_kept(rack: EnvRack) -> None:
    def agent(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> str:
        raise KeyError("lost")

    with pytest.raises(PolicyError, match=r"agent 'mine' raised KeyError in e: 'lost'") as failed:
        played(rack, agent)
    assert isinstance(failed.value.__cause__, KeyError)


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (None, "a NoneType"),
        (3, "a int"),
        ([], "a list"),
        ({}, "neither content nor tool_calls"),
        ({"content": None}, "neither content nor tool_calls"),
        ({"contents": "submit 42"}, "its keys are ['contents']"),
        ({"content": 42}, "content is a int"),
        ({"tool_calls": "submit"}, "tool_calls are a str"),
        ({"tool_calls": {"name": "submit"}}, "tool_calls are a dict"),
        ({"tool_calls": ["submit"]}, "a tool call without"),
        ({"tool_calls": [{"name": "submit", "arguments": {}}]}, "a tool call without"),
    ],
)
def test_a_reply_that_is_no_message_is_refused_in_words_and_not_scored(
    rack: EnvRack, reply: object, words: str
) -> None:
    with pytest.raises(PolicyError, match="agent 'mine' returned") as failed:
        played(rack, lambda messages, tools: reply)
    assert words in str(failed.value)


# ---- module:factory


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    (tmp_path / "own_agent.py").write_text(
        "class Doubler:\n"
        "    def __call__(self, messages, tools):\n"
        "        return f\"submit {2 * int(messages[1]['content'].split()[-1])}\"\n"
        "class Kinds:\n"
        "    doubler = Doubler\n"
        "def agent(messages, tools): return 'submit 1'\n"
        "def broken(): raise OSError('no weights')\n"
        "def nothing(): pass\n"
        "number = 3\n"
    )
    (tmp_path / "bad_agent.py").write_text("1 / 0\n")
    (tmp_path / "needy_agent.py").write_text("import no_such_package_at_all\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "own_agent"
    for name in ("own_agent", "bad_agent", "needy_agent"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("attribute", ["Doubler", "Kinds.doubler"])
def test_a_factory_makes_the_agent(rack: EnvRack, module: str, attribute: str) -> None:
    assert played(rack, load_agent(f"{module}:{attribute}")).success


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("no_such_agent:make", "no module 'no_such_agent'"),
        ("own_agent:Dubler", "Did you mean 'Doubler'"),
        ("own_agent:", "no such name"),
        ("own_agent:number", "is a int, not a function"),
        ("own_agent:agent", "names a factory"),
        ("own_agent:broken", "OSError: no weights"),
        ("own_agent:nothing", "returned a NoneType"),
        ("bad_agent:make", "ZeroDivisionError"),
        ("needy_agent:make", "needs no_such_package_at_all"),
        ("..:make", "importing .. failed"),
        (":make", "importing"),
    ],
)
def test_an_agent_that_cannot_be_made_is_answered_in_words(module: str, spec: str, words: str) -> None:
    with pytest.raises(PolicyError) as failed:
        load_agent(spec)
    assert words in str(failed.value)
