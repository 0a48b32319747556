"""Token in, token out: what a model sampled is what the trajectory holds and what the model is fed again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
import toy_domain
from tiny_model import fresh_logps

from workgym.agents.engines.engine import Completion, Request, SamplingParams
from workgym.agents.engines.local import LocalEngine
from workgym.agents.message import Message
from workgym.agents.models import Llama, LlamaConfig
from workgym.agents.play import play
from workgym.agents.policies.model import ModelPolicy, open_policy, save_policy
from workgym.agents.rack import EnvRack, Seat
from workgym.agents.renderer import CharRenderer
from workgym.agents.tokenizer import CharTokenizer
from workgym.agents.trajectory import Trajectory
from workgym.tasks.errors import PolicyError

TOKENIZER = CharTokenizer()


@dataclass
class ScriptedEngine:
    """Says given token ids, one turn after another, and keeps what it was asked."""

    turns: list[tuple[int, ...]]
    stops: tuple[int, ...] = (2,)
    version: int = 0
    asked: list[Request] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)

    def sample(self, requests: Sequence[Request], params: SamplingParams, stop_ids: Sequence[int]) -> list[Completion]:
        answers = []
        for request in requests:
            ids = self.turns[request.turn]
            self.asked.append(request)
            finish = "stop" if ids and ids[-1] in stop_ids else "length"
            answers.append(Completion(ids, (-0.5,) * len(ids), self.version, finish))
        self.version += 1
        return answers

    def publish(self, weights: Mapping[str, torch.Tensor], version: int) -> None:
        self.version = version

    def forget(self, rollout_ids: Sequence[str]) -> None:
        self.forgotten += rollout_ids


class PieceRenderer:
    """Pieces of words: "hello" has an id of its own, and can also be said as "he" and "llo"."""

    pieces = ("<bos>", "<act>", "<end>", "hello", "he", "llo", "look", " ", "submit")
    stop_ids = (2,)

    def __init__(self, bridges: bool = True) -> None:
        self.bridges = bridges

    def encode(self, text: str) -> list[int]:
        ids = []
        while text:
            longest = max((p for p in self.pieces[3:] if text.startswith(p)), key=len, default="")
            ids.append(self.pieces.index(longest) if longest else 0)
            text = text[len(longest) or 1 :]
        return ids

    def open(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> list[int]:
        return [0, *(i for said in messages for i in self.encode(said.text)), 1]

    def bridge(self, messages: Sequence[Message], *, ended: bool = True) -> list[int] | None:
        if not self.bridges:
            return None
        return [*([] if ended else [2]), *(i for said in messages for i in self.encode(said.text)), 1]

    def parse(self, ids: Sequence[int]) -> str:
        return "".join(self.pieces[i] for i in ids if i > 2)

    def action(self, text: str) -> list[int]:
        return [*self.encode(text), 2]


LOOK_HE_LLO = (6, 7, 4, 5, 2)


def play_toy(policy: ModelPolicy, n: int = 1, **options: Any) -> list[Trajectory]:
    source = toy_domain.ToyTasks(turns=3)
    seats = [Seat(f"e{i}", source.load(f"toy/2/{40 + i // 2}"), i % 2) for i in range(n)]
    with EnvRack(lambda: toy_domain.make(level=2), n, 1) as rack:
        return play(policy, rack, seats, **options)


def test_sampled_ids_stay_as_they_are_where_the_text_would_be_tokenized_otherwise():
    renderer = PieceRenderer()
    engine = ScriptedEngine([LOOK_HE_LLO] * 3)
    (trajectory,) = play_toy(ModelPolicy(engine, renderer))

    assert renderer.encode("look hello") == [6, 7, 3], "the text should have another form in tokens"
    assert [step.action for step in trajectory.steps] == ["look hello"] * 3
    sampled = [i for i, is_action in zip(trajectory.ids, trajectory.action, strict=True) if is_action]
    assert tuple(sampled) == LOOK_HE_LLO * 3
    assert trajectory.n_splits == 0


def test_every_turn_is_fed_the_trajectory_and_what_is_new():
    engine = ScriptedEngine([LOOK_HE_LLO] * 3)
    (trajectory,) = play_toy(ModelPolicy(engine, PieceRenderer()))

    for request, step in zip(engine.asked, trajectory.steps, strict=True):
        assert list(request.ids) == trajectory.ids[: step.start]


def test_logps_and_versions_lie_on_sampled_tokens_alone():
    (trajectory,) = play_toy(ModelPolicy(ScriptedEngine([LOOK_HE_LLO] * 3), PieceRenderer()))

    assert [logp == -0.5 for logp in trajectory.logp] == trajectory.action
    assert [version >= 0 for version in trajectory.version] == trajectory.action
    assert [trajectory.version[step.start] for step in trajectory.steps] == [0, 1, 2]


def test_a_sampled_end_is_trained_and_an_added_end_is_not():
    engine = ScriptedEngine([LOOK_HE_LLO, LOOK_HE_LLO[:-1], LOOK_HE_LLO])
    (trajectory,) = play_toy(ModelPolicy(engine, PieceRenderer()))
    ends = [is_action for i, is_action in zip(trajectory.ids, trajectory.action, strict=True) if i == 2]

    assert ends == [True, False, True]
    assert [step.finish for step in trajectory.steps] == ["stop", "length", "stop"]


def test_where_no_bridge_is_possible_a_new_row_holds_exactly_what_was_fed():
    engine = ScriptedEngine([LOOK_HE_LLO] * 3)
    (trajectory,) = play_toy(ModelPolicy(engine, PieceRenderer(bridges=False)))
    rows = list(trajectory.rows())

    assert trajectory.n_splits == 2
    assert [list(row.ids) for row in rows] == [[*request.ids, *LOOK_HE_LLO] for request in engine.asked]
    assert all(row.action[-5:] == (True,) * 5 and not any(row.action[:-5]) for row in rows)


def test_the_shorter_limit_of_a_turn_holds():
    engine = ScriptedEngine([LOOK_HE_LLO] * 3)
    play_toy(ModelPolicy(engine, PieceRenderer(), max_tokens=7), max_turn_tokens=9)
    play_toy(ModelPolicy(engine, PieceRenderer()), max_turn_tokens=9)

    assert [request.max_tokens for request in engine.asked] == [7] * 3 + [9] * 3


def test_ended_episodes_are_forgotten():
    engine = ScriptedEngine([LOOK_HE_LLO] * 3)
    play_toy(ModelPolicy(engine, PieceRenderer()), n=2)

    assert engine.forgotten == ["e0", "e1"]


def test_equal_seeds_draw_other_noise_for_other_tasks():
    engine = ScriptedEngine([LOOK_HE_LLO] * 3)
    play_toy(ModelPolicy(engine, PieceRenderer()), n=4)

    assert len({request.seed for request in engine.asked}) == 4
    assert len({request.seed for request in engine.asked if request.rollout_id == "e0"}) == 1


def make_model(max_positions: int = 200) -> Llama:
    return Llama(LlamaConfig(TOKENIZER.n_ids, 32, 2, 2, d_ff=48, max_positions=max_positions), seed=1)


@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_episodes_of_a_real_model_hold_the_logps_of_a_plain_forward_pass(temperature):
    model = make_model()
    policy = ModelPolicy(LocalEngine(model), CharRenderer(TOKENIZER), SamplingParams(temperature), max_tokens=9)
    trajectories = play_toy(policy, n=4)

    for trajectory in trajectories:
        (row,) = trajectory.rows()
        expected = fresh_logps(model, row.ids, temperature)
        sampled = torch.tensor(row.action[1:])
        torch.testing.assert_close(torch.tensor(row.logp[1:])[sampled], expected[sampled], atol=1e-5, rtol=0)
        for step in trajectory.steps:
            assert policy.renderer.parse(trajectory.ids[step.start : step.stop]) == step.action


def test_an_episode_ends_where_its_context_is_full():
    policy = ModelPolicy(LocalEngine(make_model(max_positions=24)), CharRenderer(TOKENIZER), max_tokens=9)
    (trajectory,) = play_toy(policy)

    assert trajectory.steps[-1].start == trajectory.steps[-1].stop, "the context should have been full"
    assert trajectory.end_reason == "tokens"


def test_the_same_seats_are_played_the_same_way_again():
    policy = ModelPolicy(LocalEngine(make_model()), CharRenderer(TOKENIZER), max_tokens=9)
    first, again = ([(t.ids, t.logp) for t in play_toy(policy, n=4)] for _ in range(2))

    assert first == again


def test_a_saved_policy_plays_as_the_one_that_was_saved(tmp_path):
    model = make_model()
    save_policy(model, TOKENIZER, tmp_path / "tiny")
    opened = open_policy(tmp_path / "tiny", max_tokens=9)
    policy = ModelPolicy(LocalEngine(model), CharRenderer(TOKENIZER), max_tokens=9)

    assert opened.name == "tiny"
    assert [t.ids for t in play_toy(opened, n=2)] == [t.ids for t in play_toy(policy, n=2)]


def test_a_tokenizer_that_the_model_does_not_know_is_refused(tmp_path):
    save_policy(Llama(LlamaConfig(50, 32, 1, 2)), TOKENIZER, tmp_path)

    with pytest.raises(PolicyError, match="the tokenizer has 101 ids, the model knows 50"):
        open_policy(tmp_path)


def test_a_directory_without_a_tokenizer_is_refused(tmp_path):
    save_policy(make_model(), TOKENIZER, tmp_path)
    (tmp_path / "char_tokenizer.json").unlink()

    with pytest.raises(PolicyError, match="no tokenizer in"):
        open_policy(tmp_path)
