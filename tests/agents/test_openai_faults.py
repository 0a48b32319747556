"""What fails on the way to an endpoint is tried again, never scored, and told in words; keys are never told."""

from __future__ import annotations

import json
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import toy_domain
from chat_server import Answer, completion, doubler, refusal, serve
from endpoint_runs import ENDPOINT, KEY, played, seats

from workgym.agents.play import play
from workgym.agents.policies.openai import Endpoint, OpenAIPolicy
from workgym.agents.rack import EnvRack
from workgym.agents.records import to_record
from workgym.agents.trajectory import Trajectory
from workgym.tasks.errors import PolicyError


@pytest.fixture(autouse=True)
def client(require_extra: Callable[[str], None]) -> None:
    require_extra("openai")


@pytest.fixture
def rack() -> Iterator[EnvRack]:
    with EnvRack(toy_domain.make, 4) as opened:
        yield opened


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


@pytest.mark.xdist_group("alone")
@pytest.mark.parametrize("what", ["headers", "body"])
def test_an_answer_that_drips_in_is_not_waited_for(rack: EnvRack, what: str) -> None:
    def dripping(request: dict[str, Any], number: int) -> Answer:
        return Answer(None, drip=what) if number else doubler(request, number)

    began_s = time.monotonic()
    with serve(dripping) as server:
        policy = OpenAIPolicy(replace(ENDPOINT, base_url=server.url, retries=1, timeout_s=0.5))
        (one,) = play(policy, rack, seats(1))
        policy.close()
    assert (one.valid, one.end_reason) == (False, "infrastructure")
    assert "no answer within 0.5 s (tried 2 times)" in one.error
    assert 1.0 <= time.monotonic() - began_s < 15


@pytest.mark.xdist_group("alone")
def test_a_drip_that_nobody_waits_for_is_cut_off(rack: EnvRack) -> None:
    with serve(lambda request, n: Answer(None, drip="body") if n == 1 else doubler(request, n)) as server:
        policy = OpenAIPolicy(replace(ENDPOINT, base_url=server.url, timeout_s=0.5))
        (one,) = play(policy, rack, seats(1))
        until = time.monotonic() + 15
        while not server.n_hung_up and time.monotonic() < until:
            server.done.wait(0.02)
        policy.close()
    assert (one.success, server.n_hung_up) == (True, 1)


@pytest.mark.xdist_group("alone")
def test_a_turn_is_charged_its_last_request_and_no_pause_before_it(rack: EnvRack) -> None:
    def moody(request: dict[str, Any], number: int) -> Answer:
        return refusal(500, "boom") if number == 1 else doubler(request, number)

    began_s = time.monotonic()
    with serve(moody) as server:
        policy = OpenAIPolicy(replace(ENDPOINT, base_url=server.url, backoff_s=2.0))
        (one,) = play(policy, rack, seats(1))
        policy.close()
    assert one.success
    assert time.monotonic() - began_s >= 1.0
    assert one.cost.wall_s < 1.0


@pytest.mark.parametrize(
    ("location", "told"),
    [
        ("/v2/chat/completions", r"/v2/chat/completions:"),
        ("https://other.invalid:8443/v1/x", "https://other.invalid:8443/v1/x:"),
        (f"https://other.invalid/{KEY}", r"https://other.invalid/\*\*\*:"),
        ("https://me:hush@other.invalid/v1?token=hush", r"https://other.invalid/\.\.\.:"),
        ("http://[::1", "that leads nowhere"),
        ("", "that leads nowhere"),
    ],
)
@pytest.mark.parametrize("status", [302, 308])
def test_a_redirect_is_told_with_where_it_leads_and_not_followed(
    rack: EnvRack, status: int, location: str, told: str
) -> None:
    with serve(lambda *_: Answer(b"", status, {"Location": location} if location else {})) as server:
        policy = OpenAIPolicy(replace(ENDPOINT, base_url=server.url))
        with pytest.raises(PolicyError, match=rf"answers with a redirect \({status}\) .*{told}") as redirected:
            play(policy, rack, seats(1))
        policy.close()
    assert len(server.requests) == 1
    assert "hush" not in str(redirected.value)
    assert "refuses model" not in str(redirected.value)


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
