"""An OpenAI-compatible endpoint as a policy, against a real HTTP server: what is asked, and what comes of it."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import toy_domain
from chat_server import Answer, completion, doubler, refusal, writer
from endpoint_runs import ENDPOINT, played

from workgym.agents.prices import Price
from workgym.agents.rack import EnvRack


@pytest.fixture(autouse=True)
def client(require_extra: Callable[[str], None]) -> None:
    require_extra("openai")


@pytest.fixture
def rack() -> Iterator[EnvRack]:
    with EnvRack(toy_domain.make, 4) as opened:
        yield opened


def test_native_tool_calls_play_an_episode(rack: EnvRack) -> None:
    episodes, _ = played(rack, doubler, 3)
    assert all(one.success for one in episodes)
    assert episodes[0].steps[0].action == '{"name": "look", "arguments": {"text": "here"}}'
    assert episodes[0].policy == "openai:m"


def test_a_conversation_is_sent_as_the_protocol_wants_it(rack: EnvRack) -> None:
    _, server = played(rack, doubler)
    assert [message["role"] for message in server.requests[1]["messages"]] == ["system", "user", "assistant", "tool"]
    assert server.requests[1]["messages"][2]["tool_calls"][0]["id"] == "id-0"
    assert server.requests[1]["messages"][3] == {
        "role": "tool",
        "tool_call_id": "id-0",
        "content": "look 1: double 10",
    }
    assert {tool["function"]["name"] for tool in server.requests[0]["tools"]} == {"look", "submit", "break"}
    assert server.requests[0]["path"] == "/v1/chat/completions"


def test_plain_text_plays_an_episode_and_is_told_the_tools(rack: EnvRack) -> None:
    episodes, server = played(rack, writer, endpoint=replace(ENDPOINT, tools="text"))
    assert episodes[0].success
    assert [message["role"] for message in server.requests[1]["messages"]] == ["system", "user", "assistant", "user"]
    assert "submit TEXT" in server.requests[0]["messages"][0]["content"]
    assert "tools" not in server.requests[0]


def test_temperature_seed_and_limit_are_passed_on(rack: EnvRack) -> None:
    _, server = played(rack, doubler, 2, replace(ENDPOINT, temperature=0.25))
    assert {request["temperature"] for request in server.requests} == {0.25}
    assert {request["max_tokens"] for request in server.requests} == {50}
    assert sorted(request["seed"] for request in server.requests) == [0, 1, 1, 2]


def test_a_model_that_knows_another_name_of_the_limit_is_given_that(rack: EnvRack) -> None:
    def newer(request: dict[str, Any], number: int) -> Answer:
        if "max_tokens" in request:
            return refusal(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
        return doubler(request, number)

    episodes, server = played(rack, newer)
    assert episodes[0].success
    assert [request.get("max_completion_tokens") for request in server.requests] == [None, 50, 50]


def test_several_calls_of_a_turn_are_answered_each(rack: EnvRack) -> None:
    def eager(request: dict[str, Any], number: int) -> Answer:
        if number:
            return completion(None, ("submit", {"text": "20"}))
        return completion(None, ("look", {"text": "a"}), ("look", {"text": "b"}))

    _, server = played(rack, eager)
    answers = server.requests[1]["messages"][-2:]
    assert [answer["tool_call_id"] for answer in answers] == ["id-0", "id-1"]
    assert answers[1]["content"] == "look 1: double 10\nlook 2: double 10"


def test_arguments_that_do_not_parse_are_the_models_mistake_and_do_not_break_the_server(rack: EnvRack) -> None:
    (one,), server = played(rack, lambda request, number: completion(None, ("submit", '{"text": ')))
    assert (one.valid, one.end_reason, [step.valid for step in one.steps]) == (True, "turns", [False] * 4)
    sent = server.requests[-1]["messages"][2]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(sent) == {}
    assert one.steps[0].action == '{"name": "submit", "arguments": "{\\"text\\": "}'


def test_an_empty_answer_is_the_models_own(rack: EnvRack) -> None:
    (one,), _ = played(rack, lambda request, number: completion(None))
    assert (one.valid, one.success, one.end_reason) == (True, False, "turns")


def test_requests_of_a_wave_run_at_once(rack: EnvRack) -> None:
    together = threading.Barrier(4, timeout=60)

    def waiting(request: dict[str, Any], number: int) -> Answer:
        together.wait()
        return completion("submit 1")

    episodes, server = played(rack, waiting, 4)
    assert server.most_at_once == 4
    assert [one.end_reason for one in episodes] == ["submitted"] * 4


def test_a_text_that_is_no_unicode_can_be_sent_back(rack: EnvRack) -> None:
    def odd(request: dict[str, Any], number: int) -> Answer:
        return completion("look \ud800\x00") if number == 0 else completion("submit 20")

    (one,), _ = played(rack, odd)
    assert one.success


# ---- tokens and money


def test_tokens_are_those_of_the_usage_and_money_that_of_the_price(rack: EnvRack) -> None:
    (one,), _ = played(rack, doubler, endpoint=replace(ENDPOINT, price=Price(2.0, 10.0)))
    assert (one.cost.tokens_in, one.cost.tokens_out) == (14, 6)
    assert one.cost.money_usd == pytest.approx((14 * 2 + 6 * 10) / 1e6)


def test_money_without_a_price_is_unknown(rack: EnvRack) -> None:
    (one,), _ = played(rack, doubler)
    assert one.cost.money_usd is None


def test_cached_tokens_have_their_own_price(rack: EnvRack) -> None:
    def cached(request: dict[str, Any], number: int) -> Answer:
        answer = completion("submit 20", usage=(100, 1))
        answer.body["usage"]["prompt_tokens_details"] = {"cached_tokens": 80}
        return answer

    (one,), _ = played(rack, cached, endpoint=replace(ENDPOINT, price=Price(1.0, 0.0, cached_input=0.5)))
    assert one.cost.money_usd == pytest.approx((20 + 40) / 1e6)


def test_an_endpoint_without_usage_is_told_of_and_has_no_price(rack: EnvRack, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        (one,), _ = played(
            rack, lambda *_: completion("submit 20", usage=None), endpoint=replace(ENDPOINT, price=Price(1, 1))
        )
    assert (one.success, one.cost.money_usd) == (True, None)
    assert "reports no usage" in caplog.text


def test_the_token_budget_holds_by_usage(rack: EnvRack) -> None:
    (one,), server = played(rack, lambda *_: completion("look here", usage=(5, 10)), tokens=15)
    assert (one.end_reason, len(one.steps)) == ("tokens", 2)
    assert [request["max_tokens"] for request in server.requests] == [15, 5]


def test_a_context_that_is_full_ends_the_episode_as_out_of_tokens(rack: EnvRack) -> None:
    def small(request: dict[str, Any], number: int) -> Answer:
        if number == 0:
            return doubler(request, number)
        return refusal(400, "This model's maximum context length is 10 tokens", "context_length_exceeded")

    (one,), _ = played(rack, small)
    assert (one.valid, one.end_reason, one.reward) == (True, "tokens", 0.0)


def test_an_answer_that_is_given_less_room_may_still_fit(rack: EnvRack) -> None:
    def counting(request: dict[str, Any], number: int) -> Answer:
        if request["max_tokens"] > 30:
            return refusal(400, "maximum context length is 100 tokens; you requested 120 (70 in the messages, 50 ...)")
        return doubler(request, number)

    (one,), server = played(rack, counting)
    assert one.success
    assert [request["max_tokens"] for request in server.requests] == [50, 25, 50, 25]
