"""An OpenAI-compatible endpoint as a policy, against a real HTTP server."""

from __future__ import annotations

import json
import logging
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import toy_domain
from chat_server import Answer, ChatServer, Model, completion, doubler, refusal, serve, writer

from workgym.agents.play import play
from workgym.agents.policies.openai import Endpoint, OpenAIPolicy
from workgym.agents.prices import Price
from workgym.agents.rack import EnvRack, Seat
from workgym.agents.records import to_record
from workgym.agents.trajectory import Trajectory
from workgym.tasks.errors import PolicyError
from workgym.tasks.task import Budget

KEY = "sk-secret-5f2b"
ENDPOINT = Endpoint("m", api_key=KEY, retries=2, backoff_s=0.0, timeout_s=30.0)


@pytest.fixture(autouse=True)
def client(require_extra: Callable[[str], None]) -> None:
    require_extra("openai")


@pytest.fixture
def rack() -> Iterator[EnvRack]:
    with EnvRack(toy_domain.make, 4) as opened:
        yield opened


def seats(n: int, **budget: Any) -> list[Seat]:
    tasks = [toy_domain.ToyTasks().load(f"toy/2/{10 + number}") for number in range(n)]
    return [
        Seat(f"e/{number}", replace(task, budget=Budget(**{"turns": 4, **budget})), seed=number)
        for number, task in enumerate(tasks)
    ]


def played(
    rack: EnvRack, model: Model, n: int = 1, endpoint: Endpoint = ENDPOINT, **budget: Any
) -> tuple[list[Trajectory], ChatServer]:
    with serve(model) as server:
        policy = OpenAIPolicy(replace(endpoint, base_url=server.url))
        try:
            return play(policy, rack, seats(n, **budget), max_turn_tokens=50), server
        finally:
            policy.close()


# ---- what is asked, and what comes of it


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


# ---- what fails on the way


@pytest.mark.parametrize(
    "fault",
    [
        refusal(500, "boom"),
        refusal(503, "busy", **{"Retry-After": "0"}),
        refusal(429, "slow down", **{"Retry-After": "0.01"}),
        refusal(408, "timeout"),
        Answer(b"<html>gateway</html>", 502),
        Answer(b"not json"),
        Answer(b"\xff\xfe"),
        Answer(b"[" * 100_000),
        Answer([]),
        Answer({}),
        Answer({"choices": []}),
        Answer({"choices": [{"message": None}]}),
        Answer({"choices": [{"message": {"content": 3}}]}),
        Answer({"choices": [{"message": {"tool_calls": [{"function": {}}]}}]}),
        Answer({"error": {"message": "overloaded"}}),
        Answer(b"", cut=True),
    ],
    ids=lambda fault: f"{fault.status}-{'cut' if fault.cut else str(fault.body)[:30]}",
)
def test_a_fault_on_the_way_is_tried_again_and_not_scored(rack: EnvRack, fault: Answer) -> None:
    def model(request: dict[str, Any], number: int) -> Answer:
        broken = "double 11" in str(request["messages"]) or number == 1
        return fault if broken and number else doubler(request, number)

    with serve(model) as server:
        policy = OpenAIPolicy(replace(ENDPOINT, base_url=server.url))
        healed, lost = (play(policy, rack, [seat])[0] for seat in seats(2))
        policy.close()
    assert healed.success
    assert (lost.valid, lost.end_reason, lost.attempt) == (False, "infrastructure", None)
    assert "tried 3 times" in lost.error


def test_a_request_that_takes_too_long_is_a_fault(rack: EnvRack) -> None:
    hold = threading.Event()

    def slow(request: dict[str, Any], number: int) -> Answer:
        if number:
            hold.wait(20)
        return doubler(request, number)

    with serve(slow) as server:
        policy = OpenAIPolicy(replace(ENDPOINT, base_url=server.url, retries=0, timeout_s=0.3))
        (one,) = play(policy, rack, seats(1))
        policy.close()
        hold.set()
    assert (one.valid, one.end_reason) == (False, "infrastructure")
    assert "no answer within 0.3 s" in one.error


def test_one_episode_that_fails_does_not_touch_the_others(rack: EnvRack) -> None:
    def partial(request: dict[str, Any], number: int) -> Answer:
        return refusal(500, "boom") if "double 11" in str(request["messages"]) else doubler(request, number)

    episodes, _ = played(rack, partial, 4)
    assert [one.valid for one in episodes] == [True, False, True, True]
    assert [one.success for one in episodes] == [True, False, True, True]


def test_an_endpoint_that_always_fails_stops_the_evaluation(rack: EnvRack) -> None:
    with pytest.raises(PolicyError, match=r"127\.0\.0\.1:\d+/v1/ does not answer: 500: boom"):
        played(rack, lambda *_: refusal(500, "boom"), 4)


def test_an_endpoint_that_dies_on_the_way_stops_the_evaluation_after_a_while(rack: EnvRack) -> None:
    kept: list[Trajectory] = []
    with serve(lambda request, n: completion("submit 1") if n < 4 else refusal(500, "boom")) as server:
        policy = OpenAIPolicy(replace(ENDPOINT, base_url=server.url, retries=0))
        with pytest.raises(PolicyError, match="does not answer"):
            play(policy, rack, seats(60), on_end=kept.append)
        policy.close()
    assert [one.valid for one in kept[:4]] == [True] * 4
    assert len(kept) == 20  # the fifth wave of failures is the one that is too much


def test_nobody_at_the_url_is_told_at_once(rack: EnvRack) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    policy = OpenAIPolicy(replace(ENDPOINT, base_url=f"http://127.0.0.1:{port}/v1", retries=5, backoff_s=30.0))
    with pytest.raises(
        PolicyError, match=rf"http://127\.0\.0\.1:{port}/v1/ does not answer: no connection.*tried 1 times"
    ):
        play(policy, rack, seats(4))
    policy.close()


@pytest.mark.parametrize(
    ("status", "words", "code"),
    [
        (401, f"Incorrect API key provided: {KEY}", None),
        (404, "no model m", None),
        (429, "no money", "insufficient_quota"),
    ],
)
def test_a_refusal_stops_at_once_and_never_shows_the_key(
    rack: EnvRack, status: int, words: str, code: str | None
) -> None:
    with pytest.raises(PolicyError, match=f"refuses model 'm', {status}") as refused:
        played(rack, lambda *_: refusal(status, words, code))
    assert KEY not in str(refused.value)


def test_a_request_that_makes_no_sense_to_the_endpoint_stops_it_before_anything_was_heard(rack: EnvRack) -> None:
    with pytest.raises(PolicyError, match="refuses the request, 400: no tools here"):
        played(rack, lambda *_: refusal(400, "no tools here"))


def test_the_key_is_sent_and_kept_nowhere(rack: EnvRack, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        episodes, server = played(rack, doubler)
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert KEY not in json.dumps([to_record(one) for one in episodes]) + caplog.text


def test_a_server_of_ones_own_needs_no_key_and_the_public_one_does(rack: EnvRack) -> None:
    episodes, _ = played(rack, doubler, endpoint=replace(ENDPOINT, api_key=""))
    assert episodes[0].success
    with pytest.raises(PolicyError, match="set OPENAI_API_KEY"):
        OpenAIPolicy(Endpoint("m"))


@pytest.mark.parametrize("key", ["a\nb", "schlüssel"])
def test_a_key_that_no_header_can_hold_is_refused_unseen(key: str) -> None:
    with pytest.raises(PolicyError, match="OPENAI_API_KEY") as refused:
        OpenAIPolicy(Endpoint("m", "http://127.0.0.1:1/v1", key))
    assert key not in str(refused.value)


def test_an_endpoint_without_a_model_is_refused() -> None:
    with pytest.raises(PolicyError, match="openai:MODEL"):
        OpenAIPolicy(Endpoint("", "http://127.0.0.1:1/v1"))


def test_a_connection_that_breaks_at_the_first_request_is_tried_again(rack: EnvRack) -> None:
    (one,), server = played(rack, lambda request, n: doubler(request, n) if n else Answer(b"", cut=True))
    assert (one.success, len(server.requests)) == (True, 3)


def test_a_misspelled_form_of_tools_names_the_nearest() -> None:
    with pytest.raises(PolicyError, match="Did you mean 'native'"):
        OpenAIPolicy(Endpoint("m", "http://127.0.0.1:1/v1", tools="nativ"))
