"""The Llama: shapes, weights from a seed, and files that transformers reads and writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from tiny_model import VOCAB, tiny_model

from workgym.agents.models import Llama, LlamaConfig, load_model, open_model, save_model
from workgym.tasks.errors import PolicyError

IDS = torch.arange(2 * 12).reshape(2, 12) % VOCAB


def logits_of(model: Llama) -> torch.Tensor:
    with torch.no_grad():
        return model.logits(model(IDS))


def test_a_seed_decides_the_weights_whatever_was_drawn_before():
    first = Llama(LlamaConfig(VOCAB, 32, 2, 2), seed=5)
    torch.manual_seed(99)
    before = torch.get_rng_state()
    second = Llama(LlamaConfig(VOCAB, 32, 2, 2), seed=5)

    assert torch.equal(before, torch.get_rng_state())
    assert all(torch.equal(one, other) for one, other in zip(first.parameters(), second.parameters(), strict=True))
    assert not torch.equal(first.embedding.weight, Llama(LlamaConfig(VOCAB, 32, 2, 2), seed=6).embedding.weight)


def test_a_fresh_model_knows_nothing():
    model = Llama(LlamaConfig(100))
    row = torch.arange(100)[torch.randperm(100, generator=torch.Generator().manual_seed(0))][None]
    with torch.no_grad():
        logps = torch.log_softmax(model.logits(model(row)), dim=-1)[0]
    of_next = logps[:-1].gather(1, row[0, 1:, None])

    assert sum(parameter.numel() for parameter in model.parameters()) == 865_920
    assert 4.6 < float(-of_next.mean()) < 8
    assert float(-(logps.exp() * logps).sum(-1).mean()) > 1


def test_padding_on_the_right_changes_nothing():
    model = tiny_model()
    with torch.no_grad():
        short, padded = model(IDS[:, :7]), model(torch.cat((IDS[:, :7], torch.zeros(2, 5, dtype=torch.long)), dim=1))

    torch.testing.assert_close(short, padded[:, :7], atol=1e-5, rtol=0)


def test_no_token_sees_what_follows_it():
    model = tiny_model()
    changed = IDS.clone()
    changed[:, 6] = 1
    with torch.no_grad():
        one, other = model(IDS), model(changed)

    torch.testing.assert_close(one[:, :6], other[:, :6], atol=1e-5, rtol=0)
    assert float((one[:, 6:] - other[:, 6:]).abs().amax(dim=-1).min()) > 1e-3, "what follows should have changed"


def test_wanted_states_are_those_of_the_whole():
    model = tiny_model()
    wanted = torch.tensor([0, 3, 11, 12, 23])
    with torch.no_grad():
        whole, some = model(IDS), model(IDS, wanted=wanted)

    torch.testing.assert_close(some, whole.flatten(0, 1)[wanted], atol=1e-5, rtol=0)


@pytest.mark.parametrize(("n_kv_heads", "tied"), [(2, True), (1, False)])
def test_a_saved_model_comes_back_bit_for_bit(tmp_path, n_kv_heads, tied):
    model = tiny_model(3, n_kv_heads=n_kv_heads, tied=tied)
    save_model(model, tmp_path / "model")
    again = open_model(tmp_path / "model")

    assert again.config == model.config
    assert torch.equal(logits_of(again), logits_of(model))


@pytest.mark.parametrize(("n_kv_heads", "tied"), [(2, True), (1, False)])
def test_transformers_computes_the_same_logits(tmp_path, n_kv_heads, tied):
    transformers = pytest.importorskip("transformers")
    model = tiny_model(3, n_kv_heads=n_kv_heads, tied=tied)
    save_model(model, tmp_path / "ours")
    theirs = transformers.LlamaForCausalLM.from_pretrained(tmp_path / "ours", attn_implementation="eager").eval()
    with torch.no_grad():
        torch.testing.assert_close(theirs(IDS).logits, logits_of(model), atol=1e-4, rtol=0)

    theirs.save_pretrained(tmp_path / "theirs")
    assert torch.equal(logits_of(load_model(tmp_path / "theirs")), logits_of(model))


@pytest.mark.parametrize("ref", ["smollm2", "org/model", "/nowhere"])
def test_an_unknown_model_is_refused_with_the_way_out(ref):
    with pytest.raises(PolicyError, match=r"name a directory that holds config.json"):
        open_model(ref)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model_type": "mistral"}, "model_type 'mistral'"),
        ({"hidden_act": "gelu"}, "hidden_act 'gelu'"),
        ({"attention_bias": True}, "attention_bias True"),
        ({"rope_parameters": {"rope_type": "yarn"}}, "rope_parameters"),
        ({"rope_parameters": None, "rope_scaling": {"type": "linear"}}, "rope_parameters"),
        ({"head_dim": 8}, "head_dim 8 is not 16"),
        ({"num_attention_heads": 3}, "even head size"),
        ({"num_hidden_layers": 1}, "no place for"),
        ({"num_hidden_layers": 3}, "do not fit"),
        ({"vocab_size": 25}, "do not fit"),
    ],
)
def test_a_model_that_this_llama_does_not_compute_is_refused(tmp_path, change, message):
    save_model(tiny_model(), tmp_path)
    path = tmp_path / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))

    with pytest.raises(PolicyError, match=message):
        load_model(tmp_path)


def _cut_weights(directory: Path) -> None:
    path = directory / "model.safetensors"
    path.write_bytes(path.read_bytes()[:100])


def _cut_config(directory: Path) -> None:
    (directory / "config.json").write_text('{"model_type": "llama"')


def _drop_a_field(directory: Path) -> None:
    (directory / "config.json").write_text('{"model_type": "llama"}')


@pytest.mark.parametrize("damage", [_cut_weights, _cut_config, _drop_a_field])
def test_damaged_files_are_named(tmp_path, damage):
    save_model(tiny_model(), tmp_path)
    damage(tmp_path)

    with pytest.raises(PolicyError, match=str(tmp_path)):
        load_model(tmp_path)


def test_a_row_longer_than_the_model_s_contexts_is_refused():
    model = Llama(LlamaConfig(20, 16, 1, 2, max_positions=8))

    with pytest.raises(PolicyError, match="a row of 9 tokens is longer than the model's contexts, 8"):
        model(torch.zeros((1, 9), dtype=torch.long))
