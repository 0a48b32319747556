"""Models on disk, in Hugging Face's layout: `config.json`, `model.safetensors` and its names of parameters.

So transformers loads what was trained here, and the other way round.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor

from workgym.agents.models.llama import Llama, LlamaConfig
from workgym.tasks.errors import PolicyError

__all__ = ["load_model", "open_model", "save_model"]

_BLOCK_NAMES: Final = {
    "attention_norm.weight": ("input_layernorm.weight",),
    "qkv.weight": ("self_attn.q_proj.weight", "self_attn.k_proj.weight", "self_attn.v_proj.weight"),
    "out.weight": ("self_attn.o_proj.weight",),
    "mlp_norm.weight": ("post_attention_layernorm.weight",),
    "gate_up.weight": ("mlp.gate_proj.weight", "mlp.up_proj.weight"),
    "down.weight": ("mlp.down_proj.weight",),
}
"""Our parameter of a block -> Hugging Face's, which are its rows in this order."""

_TOP_NAMES: Final = {
    "embedding.weight": "model.embed_tokens.weight",
    "norm.weight": "model.norm.weight",
    "head.weight": "lm_head.weight",
}


def _names(config: LlamaConfig) -> dict[str, tuple[tuple[str, int], ...]]:
    """Our parameter name -> Hugging Face's names and their numbers of rows, in order."""
    q, kv = config.d_model, config.kv_heads * config.d_head
    rows = {"qkv.weight": (q, kv, kv), "gate_up.weight": (config.d_ff, config.d_ff)}
    top = {ours: theirs for ours, theirs in _TOP_NAMES.items() if not (config.tied and ours == "head.weight")}
    names: dict[str, tuple[tuple[str, int], ...]] = {ours: ((theirs, -1),) for ours, theirs in top.items()}
    for layer in range(config.n_layers):
        for ours, theirs in _BLOCK_NAMES.items():
            parts = tuple(f"model.layers.{layer}.{name}" for name in theirs)
            names[f"blocks.{layer}.{ours}"] = tuple(zip(parts, rows.get(ours, (-1,)), strict=True))
    return names


def save_model(model: Llama, directory: Path) -> None:
    """Write a model as Hugging Face's `LlamaForCausalLM` reads it.

    Args:
        model: of any device; it is written in float32.
        directory: is made if need be; gets `config.json` and `model.safetensors`.
    """
    from safetensors.torch import save_file

    directory.mkdir(parents=True, exist_ok=True)
    weights = model.state_dict()
    tensors: dict[str, Tensor] = {}
    for ours, theirs in _names(model.config).items():
        whole = weights[ours].detach().to("cpu", torch.float32)
        sizes = [len(whole) if rows < 0 else rows for _, rows in theirs]
        for (name, _), part in zip(theirs, whole.split(sizes), strict=True):
            tensors[name] = part.clone()
    save_file(tensors, directory / "model.safetensors", metadata={"format": "pt"})
    (directory / "config.json").write_text(json.dumps(_to_hugging_face(model.config), indent=2) + "\n")


def load_model(directory: Path) -> Llama:
    """Read a model that `save_model` or transformers wrote.

    Raises:
        PolicyError: a file is missing, the model is no Llama, or the weights do not fit the configuration.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        fields = json.loads((directory / "config.json").read_text())
        tensors = load_file(directory / "model.safetensors")
    except (OSError, ValueError, SafetensorError) as error:
        raise PolicyError(f"no model in {directory}: {error}. It needs config.json and model.safetensors.") from error
    config = _from_hugging_face(fields, directory)
    model = Llama(config, seed=None)
    weights: dict[str, Tensor] = {}
    try:
        for ours, theirs in _names(config).items():
            weights[ours] = torch.cat([tensors.pop(name).to(torch.float32) for name, _ in theirs])
        model.load_state_dict(weights)
    except (KeyError, RuntimeError) as error:
        raise PolicyError(f"the weights in {directory} do not fit its config.json: {error}") from error
    left = [name for name in tensors if not (config.tied and name == "lm_head.weight")]
    if left:
        raise PolicyError(f"{directory} holds weights that this Llama has no place for: {', '.join(sorted(left)[:3])}")
    return model


def open_model(ref: str | Path) -> Llama:
    """Open a model by name.

    Args:
        ref: a directory with `config.json` and `model.safetensors`.

    Raises:
        PolicyError: there is no such directory, or it holds another architecture.
    """
    directory = Path(ref)
    if not directory.is_dir():
        raise PolicyError(f"no model {str(ref)!r}: name a directory that holds config.json and model.safetensors")
    return load_model(directory)


def _to_hugging_face(config: LlamaConfig) -> dict[str, Any]:
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": config.vocab,
        "hidden_size": config.d_model,
        "intermediate_size": config.d_ff,
        "num_hidden_layers": config.n_layers,
        "num_attention_heads": config.n_heads,
        "num_key_value_heads": config.kv_heads,
        "head_dim": config.d_head,
        "hidden_act": "silu",
        "max_position_embeddings": config.max_positions,
        "rms_norm_eps": config.norm_eps,
        "rope_theta": config.rope_theta,
        "rope_parameters": {"rope_type": "default", "rope_theta": config.rope_theta},
        "tie_word_embeddings": config.tied,
        "attention_bias": False,
        "mlp_bias": False,
        "bos_token_id": None,
        "eos_token_id": None,
        "pad_token_id": None,
        "torch_dtype": "float32",
    }


def _from_hugging_face(fields: Mapping[str, Any], directory: Path) -> LlamaConfig:
    """The shape in a `config.json`; what this file does not compute is refused, not left out."""
    rope = fields.get("rope_parameters") or fields.get("rope_scaling") or {}
    refused = {
        "model_type": fields.get("model_type") != "llama",
        "hidden_act": fields.get("hidden_act", "silu") != "silu",
        "attention_bias": bool(fields.get("attention_bias")),
        "mlp_bias": bool(fields.get("mlp_bias")),
        "rope_parameters": rope.get("rope_type", rope.get("type", "default")) != "default",
    }
    for name, is_refused in refused.items():
        if is_refused:
            raise PolicyError(f"{directory}/config.json: {name} {fields.get(name)!r} is not what this Llama computes")
    try:
        config = LlamaConfig(
            vocab=fields["vocab_size"],
            d_model=fields["hidden_size"],
            n_layers=fields["num_hidden_layers"],
            n_heads=fields["num_attention_heads"],
            n_kv_heads=fields.get("num_key_value_heads") or 0,
            d_ff=fields["intermediate_size"],
            max_positions=fields.get("max_position_embeddings", 2048),
            rope_theta=float(rope.get("rope_theta", fields.get("rope_theta", 10_000.0))),
            tied=fields.get("tie_word_embeddings", False),
            norm_eps=fields.get("rms_norm_eps", 1e-6),
        )
    except KeyError as error:
        raise PolicyError(f"{directory}/config.json has no {error}") from error
    if (fields.get("head_dim") or config.d_head) != config.d_head:
        raise PolicyError(f"{directory}/config.json: head_dim {fields['head_dim']} is not {config.d_head}")
    return config
