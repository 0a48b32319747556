"""Reads a Llama from a GGUF file, the format in which quantized models travel. Its weights are dequantized to float32.

Source: the GGUF specification and llama.cpp's converter, which stores query and key rows in the interleaved order of
rotary pairs; they are put back into the half-split order here.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor

from workgym.agents.models.llama import Llama, LlamaConfig
from workgym.tasks.errors import PolicyError

__all__ = ["load_gguf"]

_TOP: Final = {
    "embedding.weight": ("token_embd.weight",),
    "norm.weight": ("output_norm.weight",),
    "head.weight": ("output.weight",),
}
_BLOCK: Final = {
    "attention_norm.weight": ("attn_norm.weight",),
    "qkv.weight": ("attn_q.weight", "attn_k.weight", "attn_v.weight"),
    "out.weight": ("attn_output.weight",),
    "mlp_norm.weight": ("ffn_norm.weight",),
    "gate_up.weight": ("ffn_gate.weight", "ffn_up.weight"),
    "down.weight": ("ffn_down.weight",),
}
"""Our parameter of a block -> GGUF's, which are its rows in this order."""


def load_gguf(path: Path) -> Llama:
    """Read a model.

    Args:
        path: a GGUF file of architecture "llama".

    Raises:
        PolicyError: it cannot be read, is of another architecture, or tensors are missing or left over.
    """
    from gguf import GGUFReader
    from gguf.quants import dequantize

    try:
        reader = GGUFReader(str(path))
        config = _config({name: field.contents() for name, field in reader.fields.items()}, reader)
    except Exception as error:  # the reader raises whatever numpy does with half a file
        raise PolicyError(f"no Llama can be read from {path}: {error}") from error
    tensors = {tensor.name: tensor for tensor in reader.tensors}
    weights: dict[str, Tensor] = {}
    for ours, theirs in _names(config).items():
        parts = []
        for name in theirs:
            if name not in tensors:
                raise PolicyError(f"{path} holds no tensor {name}")
            found = tensors.pop(name)
            part = torch.from_numpy(np.array(dequantize(found.data, found.tensor_type), dtype=np.float32))
            parts.append(_half_split(part, name, config))
        weights[ours] = torch.cat(parts)
    left = [name for name in tensors if not name.startswith("rope_freqs")]
    if left:
        raise PolicyError(f"{path} holds tensors that this Llama has no place for: {', '.join(sorted(left)[:3])}")
    model = Llama(config, seed=None)
    model.load_state_dict(weights)
    return model


def _config(fields: Mapping[str, Any], reader: Any) -> LlamaConfig:
    if fields.get("general.architecture") != "llama":
        raise ValueError(f"its architecture is {fields.get('general.architecture')!r}, not 'llama'")
    n_heads = int(fields["llama.attention.head_count"])
    return LlamaConfig(
        vocab=len(fields["tokenizer.ggml.tokens"]),
        d_model=int(fields["llama.embedding_length"]),
        n_layers=int(fields["llama.block_count"]),
        n_heads=n_heads,
        n_kv_heads=int(fields.get("llama.attention.head_count_kv", n_heads)),
        d_ff=int(fields["llama.feed_forward_length"]),
        max_positions=int(fields["llama.context_length"]),
        rope_theta=float(fields.get("llama.rope.freq_base", 10_000.0)),
        tied=all(tensor.name != "output.weight" for tensor in reader.tensors),
        norm_eps=float(f"{fields['llama.attention.layer_norm_rms_epsilon']:.6g}"),  # stored as float32
    )


def _names(config: LlamaConfig) -> dict[str, tuple[str, ...]]:
    names: dict[str, tuple[str, ...]] = {
        ours: theirs for ours, theirs in _TOP.items() if not (config.tied and ours == "head.weight")
    }
    for layer in range(config.n_layers):
        names |= {
            f"blocks.{layer}.{ours}": tuple(f"blk.{layer}.{name}" for name in theirs) for ours, theirs in _BLOCK.items()
        }
    return names


def _half_split(weight: Tensor, name: str, config: LlamaConfig) -> Tensor:
    """Rows of queries and keys from pairs (0, D/2, 1, D/2 + 1, ...) to halves (0, 1, ..., D/2, ...)."""
    if not name.endswith(("attn_q.weight", "attn_k.weight")):
        return weight
    rows = weight.shape[0]
    return weight.view(-1, config.d_head // 2, 2, weight.shape[1]).transpose(1, 2).reshape(rows, -1)
