"""Native tool calls in the episode loop, and turns that are none."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
import toy_domain

from workgym.agents.message import Call, Text
from workgym.agents.play import play
from workgym.agents.policies.scripted import ScriptedPolicy
from workgym.agents.policy import Conversation, Turn
from workgym.agents.rack import EnvRack, Seat
from workgym.agents.records import from_record, to_record
from workgym.tasks.errors import PolicyError

TASK = toy_domain.ToyTasks().load("toy/1/4")


@dataclass
class Says:
    """Takes the turns it was made with, whatever they are."""

    turn: Callable[[Conversation], Any]
    name: str = "says"

    def act(self, conversations: Sequence[Conversation]) -> list[Turn]:
        return [self.turn(one) for one in conversations]

    def forget(self, rollout_ids: Sequence[str]) -> None:
        pass


@pytest.fixture
def rack() -> Iterator[EnvRack]:
    with EnvRack(toy_domain.make, 2) as opened:
        yield opened


def looking(conversation: Conversation) -> Turn:
    if conversation.info["turn"]:
        return Turn("done", calls=[Call("submit", '{"text": "8"}', "b")])
    return Turn("", calls=[Call("look", '{"text": "one"}', "a1"), Call("look", '{"text": "two"}', "a2")])


def test_native_calls_reach_the_environment_and_are_kept_readably(rack: EnvRack) -> None:
    (one,) = play(Says(looking), rack, [Seat("e", TASK)])
    assert one.success
    assert [step.observation for step in one.steps] == ["look 1: double 4\nlook 2: double 4", "thank you"]
    assert one.steps[1].action == '{"name": "submit", "arguments": {"text": "8"}}'
    assert [call["arguments"]["text"] for call in json.loads(one.steps[0].action)] == ["one", "two"]
    assert one.messages[-2].parts == (Text("done"), Call("submit", '{"text": "8"}', "b"))


def test_native_calls_come_back_from_the_archive(rack: EnvRack) -> None:
    (one,) = play(Says(looking), rack, [Seat("e", TASK)])
    assert from_record(json.loads(json.dumps(to_record(one)))) == one


@pytest.mark.parametrize("arguments", ["", "{", "[]", '{"txet": "8"}', "[" * 100_000])
def test_a_malformed_call_is_a_mistake_of_the_agent(rack: EnvRack, arguments: str) -> None:
    (one,) = play(Says(lambda _: Turn("", calls=[Call("submit", arguments)])), rack, [Seat("e", TASK)])
    assert (one.valid, one.success, one.end_reason) == (True, False, "turns")
    assert not any(step.valid for step in one.steps)


@pytest.mark.parametrize("turn", [None, "look here", Turn(None), Turn(3), Turn({"name": "look"})])  # type: ignore[arg-type]
def test_what_is_no_turn_is_refused_and_not_scored(rack: EnvRack, turn: Any) -> None:
    with pytest.raises(PolicyError, match="policy 'says'"):
        play(Says(lambda _: turn), rack, [Seat("e", TASK)])


def test_a_player_that_returns_nothing_is_refused_and_not_scored(rack: EnvRack) -> None:
    policy = ScriptedPolicy("mute", lambda observation, info, env: None)  # type: ignore[arg-type, return-value]
    with pytest.raises(PolicyError, match="policy 'mute' acted with a NoneType"):
        play(policy, rack, [Seat("e", TASK)])


def test_a_turn_that_failed_ends_its_own_episode_unscored(rack: EnvRack) -> None:
    def failing(conversation: Conversation) -> Turn:
        if conversation.trajectory.rollout_id == "bad" and conversation.info["turn"]:
            return Turn("", error="the endpoint is gone", tokens_in=5)
        return looking(conversation)

    bad, good, again = play(Says(failing), rack, [Seat("bad", TASK), Seat("good", TASK), Seat("again", TASK)])
    assert (bad.valid, bad.end_reason, bad.error) == (False, "infrastructure", "the endpoint is gone")
    assert (bad.cost.tokens_in, len(bad.steps), bad.attempt) == (5, 2, None)
    assert good.success
    assert again.success


def test_money_without_a_price_is_unknown_and_not_0(rack: EnvRack) -> None:
    def priced_once(conversation: Conversation) -> Turn:
        return Turn("look here", money_usd=None if conversation.info["turn"] == 1 else 0.5)

    (one,) = play(Says(priced_once), rack, [Seat("e", TASK)])
    assert one.cost.money_usd is None
    assert from_record(json.loads(json.dumps(to_record(one)))).cost.money_usd is None
