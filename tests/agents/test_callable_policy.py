"""An agent of one's own: any callable `(messages, tools) -> message`."""

from __future__ import annotations

import datetime
import logging
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
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


@pytest.mark.parametrize("error", [SystemExit(0), SystemExit("bye"), GeneratorExit()])
def test_an_agent_that_exits_does_not_end_the_evaluation_as_if_it_were_done(
    rack: EnvRack, error: BaseException
) -> None:
    def agent(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> str:
        raise error

    with pytest.raises(PolicyError, match=f"agent 'mine' raised {type(error).__name__} in e"):
        played(rack, agent)


def test_ctrl_c_in_an_agent_stays_ctrl_c(rack: EnvRack) -> None:
    def agent(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        played(rack, agent)


def test_a_turn_is_charged_the_time_of_its_own_call(rack: EnvRack) -> None:
    def agent(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> str:
        if messages[1]["content"] == "double 21":
            until = time.monotonic() + 0.2
            while time.monotonic() < until:
                pass
        return "submit 42"

    seats = [Seat("slow", TASK), Seat("fast", toy_domain.ToyTasks().load("toy/2/22"))]
    slow, fast = play(CallablePolicy(agent), rack, seats)
    assert slow.steps[0].policy_s >= 0.2 > 2 * fast.steps[0].policy_s


LOOP: dict[str, Any] = {}
LOOP["text"] = LOOP


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"text": {42}}, "{'text': {42}} (Object of type set is not JSON serializable)"),
        ({"text": np.int64(42)}, "int64"),
        ({"text": datetime.date(2026, 1, 2)}, "datetime.date(2026, 1, 2)"),
        (object(), "<object objec"),
        ({(1, 2): 3}, "{(1, 2): 3}"),
        (LOOP, "Circular reference"),
    ],
    ids=["set", "numpy", "date", "object", "key", "loop"],
)
def test_arguments_that_are_no_json_are_refused_with_their_value(rack: EnvRack, value: object, words: str) -> None:
    reply = {"tool_calls": [{"function": {"name": "submit", "arguments": value}}]}
    with pytest.raises(PolicyError, match="agent 'mine' returned a call of 'submit' with arguments that are no") as bad:
        played(rack, lambda messages, tools: reply)
    assert words in str(bad.value)


def test_a_reply_that_breaks_while_it_is_read_is_named(rack: EnvRack) -> None:
    class Reply:
        def model_dump(self) -> dict[str, Any]:
            raise AttributeError("half made")

    with pytest.raises(PolicyError, match="agent 'mine' returned what cannot be read: AttributeError: half made"):
        played(rack, lambda messages, tools: Reply())


@pytest.mark.parametrize(
    ("usage", "words"),
    [
        (None, "reports no usage"),
        ({"prompt_tokens": -5, "completion_tokens": 1}, "makes no sense"),
        ({"prompt_tokens": 1, "completion_tokens": 10**30}, "makes no sense"),
        ({"prompt_tokens": 1.5, "completion_tokens": 1}, "makes no sense"),
        ({"prompt_tokens": float("nan"), "completion_tokens": 1}, "makes no sense"),
        ("many", "makes no sense, 'many'"),
    ],
)
def test_a_usage_that_is_none_is_told_once(
    rack: EnvRack, caplog: pytest.LogCaptureFixture, usage: object, words: str
) -> None:
    replies = [native("look", text="x"), native("submit", text="42")]
    with caplog.at_level(logging.WARNING):
        one = played(rack, lambda messages, tools: replies.pop(0) | {"usage": usage}, Price(1.0, 2.0))
    assert (one.success, one.cost.tokens_in, one.cost.money_usd) == (True, 0, None)
    (told,) = caplog.messages
    assert words in told
    assert "agent 'mine'" in told


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
        "def leaving(): raise SystemExit\n"
        "number = 3\n"
    )
    (tmp_path / "bad_agent.py").write_text("1 / 0\n")
    (tmp_path / "gone_agent.py").write_text("raise SystemExit(0)\n")
    (tmp_path / "needy_agent.py").write_text("import no_such_package_at_all\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "own_agent"
    for name in ("own_agent", "bad_agent", "gone_agent", "needy_agent"):
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
        ("own_agent:leaving", "calling leaving() failed: SystemExit"),
        ("bad_agent:make", "ZeroDivisionError"),
        ("gone_agent:make", "importing gone_agent failed: SystemExit"),
        ("needy_agent:make", "needs no_such_package_at_all"),
        ("..:make", "importing .. failed"),
        (":make", "importing"),
    ],
)
def test_an_agent_that_cannot_be_made_is_answered_in_words(module: str, spec: str, words: str) -> None:
    with pytest.raises(PolicyError) as failed:
        load_agent(spec)
    assert words in str(failed.value)
