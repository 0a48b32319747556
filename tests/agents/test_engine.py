"""The local engine: what it samples, what it keeps, what it refuses."""

from __future__ import annotations

import math
import random
import threading
from collections import Counter

import pytest
import torch
from tiny_model import STOPS, VOCAB, Episodes, fresh_logps, prompts, tiny_model

from workgym.agents.engines.engine import Request, SamplingParams
from workgym.agents.engines.local import LocalEngine
from workgym.agents.models import Llama
from workgym.tasks.errors import PolicyError

SAMPLE = SamplingParams()


def count_fed_tokens(model: Llama) -> list[int]:
    """A list that grows by the number of tokens of each forward pass of the model and of its copies."""
    fed: list[int] = []
    model.register_forward_pre_hook(lambda module, args: fed.append(args[0].numel()))
    return fed


# ---- what is sampled


@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_logps_are_those_of_a_plain_forward_pass_over_ragged_turns(temperature):
    model = tiny_model()
    episodes = Episodes(model, LocalEngine(model, max_rows=8), temperature)
    rng = random.Random(1)
    group = {f"g{i}": [5, 6, 7, 8] for i in range(3)}

    first = episodes.turn(group | {f"e{i}": ids for i, ids in enumerate(prompts(5))})
    for _ in range(3):
        episodes.turn({name: prompts(1, seed=rng.randrange(99), longest=5)[0] for name in first if rng.random() < 0.8})

    assert len({len(answer.ids) for answer in first.values()}) > 2, "the rows should have been ragged"


def test_every_mix_of_episodes_evictions_and_new_weights_gives_the_same_logps_as_a_plain_pass():
    model = tiny_model()
    engine = LocalEngine(model, max_rows=5)
    episodes, rng = Episodes(model, engine), random.Random(3)
    for wave in range(40):
        names = rng.sample([f"e{i}" for i in range(9)], rng.randint(1, 9))
        for name in names:
            if len(episodes.ids.get(name, [])) > 40 or rng.random() < 0.1:
                engine.forget([name])
                episodes.ids.pop(name, None)
        episodes.turn({name: prompts(1, seed=rng.randrange(4), longest=6)[0] for name in names}, rng.randint(1, 7))
        if wave % 8 == 7:
            with torch.no_grad():
                model.blocks[0].qkv.weight.mul_(1.1)
            engine.publish(model.state_dict(), wave)


def test_what_is_sampled_does_not_depend_on_the_other_rows_or_their_order():
    model = tiny_model()
    requests = [Request(f"e{i}", ids, i, 0, 10) for i, ids in enumerate(prompts(9))]
    together = LocalEngine(model).sample(requests, SAMPLE, STOPS)
    reversed_ = LocalEngine(model).sample(requests[::-1], SAMPLE, STOPS)[::-1]
    alone = [LocalEngine(model).sample([request], SAMPLE, STOPS)[0] for request in requests]

    for one, other, third in zip(together, reversed_, alone, strict=True):
        assert one.ids == other.ids == third.ids
        assert one.logps == pytest.approx(other.logps, abs=1e-5)
        assert one.logps == pytest.approx(third.logps, abs=1e-5)


def test_a_larger_limit_only_lengthens_a_turn():
    engine = LocalEngine(tiny_model())
    short, long = (engine.sample([Request(f"e{n}", [5, 6], 7, 0, n)], SAMPLE, ())[0] for n in (3, 20))

    assert long.ids[:3] == short.ids


def test_seed_and_turn_decide_the_noise():
    engine = LocalEngine(tiny_model())
    requests = [Request("a", [5], 1, 0, 20), Request("b", [5], 2, 0, 20), Request("c", [5], 1, 1, 20)]
    sampled = [answer.ids for answer in engine.sample(requests, SAMPLE, ())]

    assert len(set(sampled)) == 3


def test_tokens_are_as_frequent_as_they_are_likely():
    model = tiny_model()
    n = 4000
    engine = LocalEngine(model, max_rows=n)
    counts = Counter(a.ids[0] for a in engine.sample([Request(str(i), [5, 9], i, 0, 1) for i in range(n)], SAMPLE, ()))
    with torch.no_grad():
        probabilities = torch.softmax(model.logits(model(torch.tensor([[5, 9]])))[0, -1], dim=-1).tolist()

    for token, p in enumerate(probabilities):
        assert abs(counts[token] - n * p) <= 5 * math.sqrt(n * p * (1 - p)) + 1


def test_greedy_takes_the_likeliest_token_whatever_the_seed():
    model = tiny_model()
    engine = LocalEngine(model)
    greedy = SamplingParams(temperature=0.5, greedy=True)
    one, other = engine.sample([Request("a", [5, 6], 1, 0, 6), Request("b", [5, 6], 2, 0, 6)], greedy, ())

    with torch.no_grad():
        logits = model.logits(model(torch.tensor([[5, 6, *one.ids]])))[0, 1:-1]
    assert one.ids == other.ids == tuple(logits.argmax(dim=-1).tolist())
    torch.testing.assert_close(torch.tensor(one.logps), fresh_logps(model, [5, 6, *one.ids], 0.5)[1:])


def test_a_sampled_stop_id_belongs_to_the_turn_and_ends_it():
    engine = LocalEngine(tiny_model())
    stops = tuple(range(0, VOCAB, 2))
    answers = engine.sample([Request(str(i), [5], i, 0, 30) for i in range(20)], SAMPLE, stops)

    assert {answer.finish for answer in answers} == {"stop"}
    assert all(answer.ids[-1] in stops for answer in answers)
    assert not any(set(answer.ids[:-1]) & set(stops) for answer in answers)


def test_sampling_leaves_the_global_generators_alone():
    torch.manual_seed(0)
    before = torch.get_rng_state()
    LocalEngine(tiny_model()).sample([Request("a", [5], 1, 0, 5)], SAMPLE, ())

    assert torch.equal(before, torch.get_rng_state())


# ---- what is kept


def test_identical_fresh_contexts_are_computed_once():
    model = tiny_model()
    fed = count_fed_tokens(model)
    LocalEngine(model).sample([Request(str(i), [5, 6, 7, 8], i, 0, 1) for i in range(6)], SAMPLE, ())

    assert fed == [4]


def test_a_later_turn_computes_the_last_sampled_token_and_what_is_new():
    model = tiny_model()
    fed = count_fed_tokens(model)
    episodes = Episodes(model, LocalEngine(model))
    answer = episodes.turn({"a": [5, 6, 7]}, max_tokens=4)["a"]
    kept = episodes.engine.n_stored("a")
    fed.clear()
    episodes.engine.sample([Request("a", [*episodes.ids["a"], 8, 9], 0, 1, 1)], SAMPLE, ())

    assert kept == 3 + len(answer.ids) - 1
    assert fed == [3]


def test_a_context_that_changed_is_computed_from_where_it_differs():
    model = tiny_model()
    fed = count_fed_tokens(model)
    engine = LocalEngine(model)
    engine.sample([Request("a", [5, 6, 7, 8, 9], 0, 0, 1)], SAMPLE, ())
    fed.clear()
    changed = [5, 6, 7, 11, 9, 10]
    (answer,) = engine.sample([Request("a", changed, 0, 1, 1)], SAMPLE, ())

    assert fed == [3]
    assert answer.logps[0] == pytest.approx(float(fresh_logps(model, [*changed, *answer.ids])[-1]), abs=1e-5)


def test_new_weights_drop_what_was_computed_with_the_old_ones():
    old, new = tiny_model(0), tiny_model(1)
    engine = LocalEngine(old)
    before = Episodes(old, engine)
    before.turn({"a": [5, 6], "b": [7]})
    engine.publish(new.state_dict(), 1)
    stored = engine.n_stored("a")
    after = Episodes(new, engine)
    after.ids, after.n_turns = before.ids, before.n_turns
    answers = after.turn({"a": [8], "b": [9, 10]})

    assert stored == 0
    assert {answer.version for answer in answers.values()} == {1}


def test_an_engine_sees_no_change_of_the_model_before_it_is_published():
    model = tiny_model()
    engine = LocalEngine(model)
    request = Request("a", [5, 6], 0, 0, 5)
    before = engine.sample([request], SAMPLE, ())
    with torch.no_grad():
        model.embedding.weight.mul_(3)
    engine.forget(["a"])

    assert engine.sample([request], SAMPLE, ()) == before


def test_weights_published_during_a_sample_wait_for_its_end():
    model, new = tiny_model(0), tiny_model(1)
    publishers: list[threading.Thread] = []

    def publish_once(module: torch.nn.Module, args: tuple[torch.Tensor, ...]) -> None:
        if not publishers:
            publishers.append(threading.Thread(target=engine.publish, args=(new.state_dict(), 1)))
            publishers[0].start()

    model.register_forward_pre_hook(publish_once)
    engine = LocalEngine(model)
    (answer,) = engine.sample([Request("a", [5, 6], 0, 0, 30)], SAMPLE, ())
    publishers[0].join()

    assert (answer.version, engine.version, engine.n_stored("a")) == (0, 1, 0)
    expected = fresh_logps(model, [5, 6, *answer.ids])[-len(answer.ids) :]
    torch.testing.assert_close(torch.tensor(answer.logps), expected, atol=1e-5, rtol=0)


def test_more_episodes_than_rows_are_sampled_in_waves():
    model = tiny_model()
    requests = [Request(f"e{i}", ids, i, 0, 10) for i, ids in enumerate(prompts(11))]
    few, many = LocalEngine(model, max_rows=3), LocalEngine(model, max_rows=11)

    assert [a.ids for a in few.sample(requests, SAMPLE, STOPS)] == [a.ids for a in many.sample(requests, SAMPLE, STOPS)]
    assert [few.n_stored(f"e{i}") > 0 for i in range(11)] == [False] * 8 + [True] + [True] * 2


def test_forgotten_episodes_make_room():
    engine = LocalEngine(tiny_model(), max_rows=2)
    engine.sample([Request("a", [5], 0, 0, 3), Request("b", [5], 1, 0, 3)], SAMPLE, ())
    engine.forget(["a", "unknown"])
    engine.sample([Request("c", [5], 2, 0, 3)], SAMPLE, ())

    assert [engine.n_stored(name) for name in "abc"] == [0, 3, 3]


# ---- limits and refusals


def test_a_turn_that_fills_the_context_is_cut_by_length():
    engine = LocalEngine(tiny_model(), max_len=10)
    long, short = engine.sample([Request("a", [5] * 7, 0, 0, 99), Request("b", [6] * 2, 0, 0, 4)], SAMPLE, ())

    assert (len(long.ids), long.finish, len(short.ids), short.finish) == (3, "length", 4, "length")


def test_a_full_context_gets_no_token():
    engine = LocalEngine(tiny_model(), max_len=10)
    full, over, other = engine.sample(
        [Request("a", [5] * 10, 0, 0, 9), Request("b", [5] * 11, 0, 0, 9), Request("c", [5], 0, 0, 2)], SAMPLE, ()
    )

    assert (full.ids, full.finish, over.ids, over.finish) == ((), "length", (), "length")
    assert len(other.ids) == 2


def test_the_longest_context_of_the_model_can_be_filled():
    model = tiny_model(max_positions=16)
    answers = Episodes(model, LocalEngine(model)).turn({"a": [5] * 3, "b": [6] * 14, "c": [7] * 15}, max_tokens=99)

    assert [len(answer.ids) for answer in answers.values()] == [13, 2, 1]


def test_broken_weights_are_named_and_leave_nothing_behind():
    model = tiny_model()
    engine = LocalEngine(model)
    good = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    with torch.no_grad():
        model.blocks[1].qkv.weight[0, 0] = float("nan")
    engine.publish(model.state_dict(), 1)
    with pytest.raises(PolicyError, match=r"episode 'a', turn 4, are not finite.* version 1 "):
        engine.sample([Request("a", [5] * 20, 0, 4, 5)], SAMPLE, ())
    engine.publish(good, 2)

    model.load_state_dict(good)
    Episodes(model, engine).turn({"a": [5], "b": [6, 7]})


@pytest.mark.parametrize(
    ("requests", "message"),
    [
        ([Request("a", [], 0, 0, 5)], "feeds 0 tokens"),
        ([Request("a", [5], 0, 0, 0)], "may sample 0"),
        ([Request("a", [VOCAB], 0, 0, 5)], "outside 0 to 23"),
        ([Request("a", [-1, 5], 0, 0, 5)], "outside 0 to 23"),
        ([Request("a", [5], 0, 0, 5), Request("a", [6], 0, 0, 5)], "same episode"),
    ],
)
def test_requests_that_make_no_sense_are_refused(requests, message):
    with pytest.raises(PolicyError, match=message):
        LocalEngine(tiny_model()).sample(requests, SAMPLE, ())


@pytest.mark.parametrize("temperature", [0.0, -1.0, float("nan")])
def test_a_temperature_that_is_not_above_0_is_refused(temperature):
    with pytest.raises(PolicyError, match="greedy=True"):
        SamplingParams(temperature)


def test_versions_must_rise():
    model = tiny_model()
    engine = LocalEngine(model, version=3)
    with pytest.raises(PolicyError, match="version 3 was published after 3"):
        engine.publish(model.state_dict(), 3)


def test_weights_of_another_model_are_refused_as_a_whole():
    engine = LocalEngine(tiny_model())
    before = engine.sample([Request("a", [5], 0, 0, 5)], SAMPLE, ())
    with pytest.raises(PolicyError, match="another model"):
        engine.publish(tiny_model(1, n_kv_heads=2).state_dict(), 1)
    engine.forget(["a"])

    assert engine.version == 0
    assert engine.sample([Request("a", [5], 0, 0, 5)], SAMPLE, ()) == before


def test_a_context_longer_than_the_models_positions_is_refused():
    with pytest.raises(PolicyError, match="1 to 64 tokens"):
        LocalEngine(tiny_model(), max_len=65)


def test_no_request_gives_no_answer():
    assert LocalEngine(tiny_model()).sample([], SAMPLE, ()) == []
