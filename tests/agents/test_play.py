"""The episode loop: order, budgets, tokens, faults."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import toy_domain
from gymnasium.wrappers import TimeLimit

from workgym.agents.message import message
from workgym.agents.play import play
from workgym.agents.policies.scripted import ScriptedPolicy, named_policy
from workgym.agents.policy import Conversation, Turn
from workgym.agents.rack import EnvRack, Seat
from workgym.agents.records import fingerprint
from workgym.envs.env import WorkEnv
from workgym.tasks.errors import PolicyError, SandboxError
from workgym.tasks.task import Task


@dataclass
class TokenPolicy:
    """Says the same text in every turn, in tokens; notes what it was given."""

    text: str = "look here"
    finish: str = "stop"
    name: str = "tokens"
    n_tokens: int = 3
    own_s: float | None = None
    waves: list[list[str]] = field(default_factory=list)
    unread: list[list[str]] = field(default_factory=list)
    max_tokens: list[int] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)

    def act(self, conversations: Sequence[Conversation]) -> list[Turn]:
        self.waves.append([one.trajectory.rollout_id for one in conversations])
        self.unread += [[said.role for said in one.unread] for one in conversations]
        self.max_tokens += [one.max_tokens for one in conversations]
        n = min(self.n_tokens, min(self.max_tokens[-len(conversations) :]))
        return [
            Turn(self.text, (7, 8), tuple(range(n)), (-0.5,) * n, 4, self.finish, own_s=self.own_s)
            for _ in conversations
        ]

    def forget(self, rollout_ids: Sequence[str]) -> None:
        self.forgotten += rollout_ids


def tasks(n: int, **budget: Any) -> list[Task]:
    source, rng = toy_domain.ToyTasks(**budget), np.random.default_rng(0)
    return [source.sample(2, rng) for _ in range(n)]


def seats(n: int, **budget: Any) -> list[Seat]:
    return [Seat(f"e/{number}", task, number) for number, task in enumerate(tasks(n, **budget))]


@pytest.fixture
def rack() -> Iterator[EnvRack]:
    with EnvRack(toy_domain.make, 3) as opened:
        yield opened


def player(name: str) -> ScriptedPolicy:
    return ScriptedPolicy(name, toy_domain.DOMAIN.players[name])


def test_trajectories_come_in_the_order_of_the_seats(rack: EnvRack) -> None:
    played = play(player("oracle"), rack, seats(10))
    assert [one.rollout_id for one in played] == [f"e/{number}" for number in range(10)]
    assert [one.task_id for one in played] == [task.id for task in tasks(10)]
    assert all(one.success and one.end_reason == "submitted" for one in played)


def test_no_seats_make_no_trajectories(rack: EnvRack) -> None:
    assert play(player("oracle"), rack, []) == []


def test_a_trajectory_says_what_was_asked_done_and_judged() -> None:
    with EnvRack(lambda: gym.make("Toy-v0", level=2), 1) as rack:
        (one,) = play(player("oracle"), rack, [Seat("e/0", toy_domain.ToyTasks().load("toy/2/21"), 5)])
    assert one.messages == [
        message("system", "You double numbers."),
        message("user", "double 21"),
        message("assistant", "look here"),
        message("tool", "look 1: double 21"),
        message("assistant", "submit 42"),
        message("tool", "thank you"),
    ]
    assert [(step.action, step.observation, step.reward, step.valid) for step in one.steps] == [
        ("look here", "look 1: double 21", 0.0, True),
        ("submit 42", "thank you", 1.0, True),
    ]
    assert one.attempt is not None
    assert one.attempt.submission == "42"
    assert (one.domain, one.family, one.level, one.seed, one.policy) == ("toy", "double", 2, 5, "oracle")
    assert one.env == '{"entry_point": "toy_domain:make", "id": "Toy-v0", "kwargs": {"level": 2}}'
    assert one.task_hash == toy_domain.ToyTasks().load("toy/2/21").content_hash()
    assert (one.versions.task, one.versions.verifier) == ("toy-1", "verifier-1")
    assert one.cost.wall_s > 0
    assert one.cost.cpu_s >= 0


def test_an_action_that_could_not_be_carried_out_is_marked(rack: EnvRack) -> None:
    (one,) = play(TokenPolicy("look away"), rack, seats(1))
    assert [step.valid for step in one.steps] == [False] * 4


def test_a_free_place_takes_the_next_seat_and_waves_go_by_place(rack: EnvRack) -> None:
    policy = TokenPolicy("submit 1")
    play(policy, rack, seats(7))
    assert policy.waves == [["e/0", "e/1", "e/2"], ["e/3", "e/4", "e/5"], ["e/6"]]


def test_episodes_of_different_length_keep_their_places() -> None:
    def act(observation: str, info: dict[str, Any], env: WorkEnv) -> str:
        wanted = int(env.task.id.rsplit("/", 1)[1]) % 4
        return "submit 1" if info["turn"] >= wanted else "look here"

    source = toy_domain.ToyTasks(turns=9)
    order: list[str] = []
    policy = ScriptedPolicy("waiting", act)
    with EnvRack(toy_domain.make, 2) as rack:
        numbered = [Seat(f"e/{number}", source.load(f"toy/1/{number}")) for number in (3, 0, 1, 2)]
        play(policy, rack, numbered, on_end=lambda one: order.append(one.rollout_id))
    assert order == ["e/0", "e/1", "e/3", "e/2"]


@pytest.mark.parametrize("n_threads", [1, 8])
def test_nothing_but_clocks_depends_on_threads(n_threads: int) -> None:
    def run(n_threads: int) -> list[str]:
        ended: list[str] = []
        with EnvRack(toy_domain.make, 8, n_threads) as rack:
            policy = TokenPolicy("look here")
            play(policy, rack, seats(40), on_end=lambda one: ended.append(fingerprint(one)))
        return ended

    assert run(n_threads) == run(3)


def test_a_policy_reads_only_what_is_new_and_forgets_what_has_ended(rack: EnvRack) -> None:
    policy = TokenPolicy()
    play(policy, rack, seats(1))
    assert policy.unread == [["system", "user"], ["tool"], ["tool"], ["tool"]]
    assert policy.forgotten == ["e/0"]


def test_the_tokens_of_a_turn_are_kept_as_they_were_sampled(rack: EnvRack) -> None:
    (one,) = play(TokenPolicy(), rack, seats(1))
    assert one.ids == [7, 8, 0, 1, 2] * 4
    assert one.action == [False, False, True, True, True] * 4
    assert one.logp == [0.0, 0.0, -0.5, -0.5, -0.5] * 4
    assert one.version == [-1, -1, 4, 4, 4] * 4
    assert [(step.start, step.stop, step.finish) for step in one.steps] == [
        (5 * n + 2, 5 * n + 5, "stop") for n in range(4)
    ]
    assert (one.cost.tokens_in, one.cost.tokens_out) == (8, 12)


def test_a_turn_from_another_context_opens_a_row(rack: EnvRack) -> None:
    class Splitting(TokenPolicy):
        def act(self, conversations: Sequence[Conversation]) -> list[Turn]:
            split = bool(conversations[0].trajectory.steps)
            return [replace(turn, split=split) for turn in super().act(conversations)]

    (one,) = play(Splitting(), rack, seats(1))
    assert one.row_starts == [0, 5, 10, 15]


def test_a_policy_without_token_ids_counts_its_tokens_and_money(rack: EnvRack) -> None:
    class Remote(TokenPolicy):
        def act(self, conversations: Sequence[Conversation]) -> list[Turn]:
            return [Turn("look here", tokens_in=10, tokens_out=2, money_usd=0.25) for _ in conversations]

    (one,) = play(Remote(), rack, seats(1))
    assert (one.cost.tokens_in, one.cost.tokens_out, one.cost.money_usd) == (40, 8, 1.0)


# ---- budgets


def test_turns_that_run_out_are_judged_as_they_stand(rack: EnvRack) -> None:
    (one,) = play(player("looker"), rack, seats(1))
    assert (one.end_reason, one.valid, one.reward, len(one.steps)) == ("turns", True, 0.0, 4)


def test_tokens_that_are_used_up_end_the_episode_after_the_turn(rack: EnvRack) -> None:
    policy = TokenPolicy()
    (one,) = play(policy, rack, seats(1, tokens=6))
    assert (one.end_reason, one.valid, len(one.steps), one.cost.tokens_out) == ("tokens", True, 2, 6)
    assert policy.max_tokens == [6, 3]
    assert [step.valid for step in one.steps] == [True, True]
    assert one.attempt is not None
    assert one.attempt.state == {"looks": 2}


def test_a_turn_that_the_token_budget_cut_off_is_not_carried_out(rack: EnvRack) -> None:
    (one,) = play(TokenPolicy("submit 1", finish="length"), rack, seats(1, tokens=3))
    assert (one.end_reason, one.reward, one.steps[0].valid) == ("tokens", 0.0, False)
    assert one.attempt is not None
    assert one.attempt.submission is None
    assert one.cost.tokens_out == 3


def test_a_turn_that_its_own_limit_cut_off_is_carried_out(rack: EnvRack) -> None:
    policy = TokenPolicy("submit 1", finish="length")
    (one,) = play(policy, rack, seats(1), max_turn_tokens=2)
    assert (one.end_reason, one.reward, policy.max_tokens) == ("submitted", 0.5, [2])


def test_a_policy_whose_context_is_full_ends_the_episode(rack: EnvRack) -> None:
    (one,) = play(TokenPolicy("", finish="length", n_tokens=0), rack, seats(1))
    assert (one.end_reason, one.valid, len(one.steps)) == ("tokens", True, 1)


def test_a_policy_that_gives_up_is_judged_as_it_stands(rack: EnvRack) -> None:
    (one,) = play(TokenPolicy("submit 1", finish="gave_up"), rack, seats(1))
    assert (one.end_reason, one.steps[0].valid, one.valid, one.reward) == ("gave_up", False, True, 0.0)


def test_a_turn_that_comes_too_late_is_not_carried_out(rack: EnvRack) -> None:
    (one,) = play(TokenPolicy("submit 1"), rack, seats(1, wall_s=1e-9))
    assert (one.end_reason, one.valid, one.reward, one.steps[0].valid) == ("wall", True, 0.0, False)


@pytest.mark.parametrize(("own_s", "n_turns", "end"), [(5.0, 3, "wall"), (2.0, 4, "turns")])
def test_an_episode_is_charged_the_time_of_its_own_turns(rack: EnvRack, own_s: float, n_turns: int, end: str) -> None:
    for one in play(TokenPolicy(own_s=own_s), rack, seats(3, wall_s=12.0)):
        assert (len(one.steps), one.end_reason) == (n_turns, end)
        assert n_turns * own_s <= one.cost.wall_s < n_turns * own_s + 1


def test_turns_that_were_taken_together_share_their_time(rack: EnvRack) -> None:
    together = play(TokenPolicy(), rack, seats(3))
    assert len({one.steps[0].policy_s for one in together}) == 1
    assert sum(one.cost.wall_s for one in together) < 3  # three times the clock, were each charged for all


def test_a_budget_that_does_not_run_out_changes_nothing(rack: EnvRack) -> None:
    (one,) = play(TokenPolicy("submit 1"), rack, seats(1, wall_s=1e6, tokens=10**6))
    assert (one.end_reason, one.reward) == ("submitted", 0.5)


@pytest.mark.parametrize("budget", [{}, {"tokens": 6}, {"tokens": 4}, {"wall_s": 1e-9}])
@pytest.mark.parametrize("text", ["look here", "submit 1", "nonsense"])
def test_the_rewards_of_the_steps_sum_to_the_verdict(rack: EnvRack, text: str, budget: dict[str, Any]) -> None:
    for one in play(TokenPolicy(text), rack, seats(4, **budget)):
        assert sum(step.reward for step in one.steps) == one.reward


# ---- faults


@pytest.mark.filterwarnings("ignore")
def test_an_infrastructure_failure_ends_as_invalid_not_as_zero(rack: EnvRack) -> None:
    played = play(player("breaker"), rack, seats(5))
    assert [(one.valid, one.end_reason) for one in played] == [(False, "infrastructure")] * 5
    assert played[0].error == "SandboxError: the toy broke"


def test_a_reset_that_fails_is_raised() -> None:
    def broken(task: Task, pools: object) -> Any:
        raise SandboxError("no isolation here")

    with (
        EnvRack(lambda: WorkEnv(replace(toy_domain.DOMAIN, open_session=broken)), 2) as rack,
        pytest.raises(SandboxError, match="no isolation"),
    ):
        play(player("oracle"), rack, seats(3))


def test_a_wrapper_that_cuts_an_episode_off_makes_it_invalid() -> None:
    with EnvRack(lambda: TimeLimit(toy_domain.make(), 2), 1) as rack:
        played = play(player("looker"), rack, seats(2))
    assert [(one.valid, one.end_reason, len(one.steps)) for one in played] == [(False, "infrastructure", 2)] * 2
    assert "wrapper" in played[0].error


def test_a_policy_that_skips_a_conversation_is_refused_and_made_to_forget(rack: EnvRack) -> None:
    class Lazy(TokenPolicy):
        def act(self, conversations: Sequence[Conversation]) -> list[Turn]:
            return super().act(conversations)[1:]

    policy = Lazy()
    with pytest.raises(PolicyError, match="2 turns in 3 conversations"):
        play(policy, rack, seats(5))
    assert policy.forgotten == ["e/0", "e/1", "e/2"]


def test_two_seats_of_one_id_are_refused(rack: EnvRack) -> None:
    with pytest.raises(ValueError, match="not distinct"):
        play(player("oracle"), rack, [*seats(2), *seats(1)])


def test_another_environment_than_ours_is_refused() -> None:
    class Other(gym.Env[int, int]):
        def reset(
            self, *, seed: int | None = None, options: dict[str, Any] | None = None
        ) -> tuple[int, dict[str, Any]]:
            return 0, {}

    with EnvRack(Other, 1) as rack, pytest.raises(TypeError, match="Other is no WorkEnv"):
        play(player("oracle"), rack, seats(1))


def test_a_rack_makes_no_more_environments_than_it_needs_and_closes_them() -> None:
    made: list[WorkEnv] = []
    closed: list[WorkEnv] = []

    class Noted(WorkEnv):
        def close(self) -> None:
            closed.append(self)
            super().close()

    def make() -> WorkEnv:
        made.append(Noted(toy_domain.DOMAIN))
        return made[-1]

    with EnvRack(make, 5) as rack:
        play(player("oracle"), rack, seats(2))
        play(player("oracle"), rack, seats(2))
        assert len(made) == 2
    assert {id(env) for env in closed} == {id(env) for env in made}


def test_a_rack_without_places_is_refused() -> None:
    with pytest.raises(ValueError, match="n_envs must be > 0"):
        EnvRack(toy_domain.make, 0)


# ---- scripted policies


@pytest.mark.parametrize(("name", "reward"), [("oracle", 1.0), ("noop", 0.0), ("random", 0.5)])
def test_a_player_is_found_by_name_and_plays(rack: EnvRack, name: str, reward: float) -> None:
    policy = named_policy(rack.env(0), name)
    assert [one.reward for one in play(policy, rack, seats(2))] == [reward, reward]


def test_an_unknown_player_names_the_nearest(rack: EnvRack) -> None:
    with pytest.raises(PolicyError, match=r"domain 'toy': unknown player 'orcale'. Did you mean 'oracle'"):
        named_policy(rack.env(0), "orcale")
