"""The Llama architecture in one file.

Projections that read the same input are fused: one matrix for q, k and v, one for gate and up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from workgym.tasks.errors import PolicyError

__all__ = ["Attend", "KeysValues", "Llama", "LlamaConfig"]


@dataclass(frozen=True, slots=True)
class LlamaConfig:
    """Shape of a Llama.

    Attributes:
        vocab: number of token ids.
        d_model: width of the residual stream.
        n_layers: number of blocks.
        n_heads: query heads; the head size is `d_model / n_heads`, an even number.
        n_kv_heads: key and value heads; divides `n_heads`; 0 for as many as query heads.
        d_ff: width of the gated feed-forward layer.
        max_positions: longest context in tokens.
        rope_theta: base of the rotary frequencies.
        tied: the output matrix is the embedding.
        norm_eps: added to the mean square before the root.

    Raises:
        PolicyError: the numbers do not fit each other.
    """

    vocab: int
    d_model: int = 128
    n_layers: int = 4
    n_heads: int = 4
    n_kv_heads: int = 0
    d_ff: int = 384
    max_positions: int = 256
    rope_theta: float = 10_000.0
    tied: bool = True
    norm_eps: float = 1e-5

    def __post_init__(self) -> None:
        if self.d_model % self.n_heads or self.d_head % 2:
            raise PolicyError(f"d_model {self.d_model} over {self.n_heads} heads gives no even head size")
        if self.n_heads % self.kv_heads:
            raise PolicyError(f"{self.n_heads} query heads cannot share {self.kv_heads} key heads evenly")

    @property
    def d_head(self) -> int:
        """Size of one head."""
        return self.d_model // self.n_heads

    @property
    def kv_heads(self) -> int:
        """Key and value heads, never 0."""
        return self.n_kv_heads or self.n_heads


class KeysValues(Protocol):
    """Where an engine keeps keys and values between forward passes."""

    def extend(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Store what is new and return all that may be attended to.

        Args:
            layer: index of the block.
            keys: [B, T, Hk, D], already rotated.
            values: [B, T, Hk, D].

        Returns:
            Keys and values, each [B, Hk, L, D].
        """
        ...


@dataclass(frozen=True, slots=True)
class Attend:
    """A forward pass that is not plainly causal: it continues stored contexts, or its rows hold several texts.

    Attributes:
        positions: position of each fed token [B, T].
        mask: true where a query may see a stored position [B, 1, T, L], or without a store one of its row [B, 1, T, T].
        store: takes the new keys and values and gives back all; None where nothing is stored.
    """

    positions: Tensor
    mask: Tensor
    store: KeysValues | None = None


class RMSNorm(nn.Module):
    """Scales each vector to a root mean square of 1, then by learned weights. Source: arXiv 1910.07467."""

    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """Normalize the last dimension."""
        return F.rms_norm(x, self.weight.shape, self.weight, self.eps)


class Block(nn.Module):
    """Attention, then a gated feed-forward layer, each on a normalized copy of the residual stream."""

    def __init__(self, config: LlamaConfig, layer: int) -> None:
        super().__init__()
        self.layer = layer
        self.n_heads, self.kv_heads, self.d_head = config.n_heads, config.kv_heads, config.d_head
        width = (config.n_heads + 2 * config.kv_heads) * config.d_head
        self.attention_norm = RMSNorm(config.d_model, config.norm_eps)
        self.qkv = nn.Linear(config.d_model, width, bias=False)
        self.out = nn.Linear(config.d_model, config.d_model, bias=False)
        self.mlp_norm = RMSNorm(config.d_model, config.norm_eps)
        self.gate_up = nn.Linear(config.d_model, 2 * config.d_ff, bias=False)
        self.down = nn.Linear(config.d_ff, config.d_model, bias=False)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, attend: Attend | None, wanted: Tensor | None) -> Tensor:
        """One block of x [B, T, d_model]; cos and sin [B or 1, T, 1, d_head / 2].

        Returns:
            [B, T, d_model], or the states `wanted` [N] of them alone [N, d_model].
        """
        x = x + self.attention(self.attention_norm(x), cos, sin, attend)
        if wanted is not None:
            x = x.flatten(0, 1).index_select(0, wanted)
        gate, up = self.gate_up(self.mlp_norm(x)).chunk(2, dim=-1)
        return x + self.down(F.silu(gate) * up)  # type: ignore[no-any-return]

    def attention(self, x: Tensor, cos: Tensor, sin: Tensor, attend: Attend | None) -> Tensor:
        """Causal attention over the row itself, or over what an engine has stored of it."""
        batch, length, width = x.shape
        heads = self.qkv(x).view(batch, length, -1, self.d_head)
        n_rotated = self.n_heads + self.kv_heads
        rotated, values = rotate(heads[:, :, :n_rotated], cos, sin), heads[:, :, n_rotated:]
        queries, keys = rotated[:, :, : self.n_heads], rotated[:, :, self.n_heads :]
        if attend is not None and attend.store is not None:
            mixed = self._attend_stored(queries, keys, values, attend.mask, attend.store)
        else:
            mixed = F.scaled_dot_product_attention(
                queries.transpose(1, 2),
                keys.transpose(1, 2),
                values.transpose(1, 2),
                attn_mask=attend.mask if attend else None,
                is_causal=attend is None,
                enable_gqa=self.kv_heads != self.n_heads,
            ).transpose(1, 2)
        return self.out(mixed.reshape(batch, length, width))  # type: ignore[no-any-return]

    def _attend_stored(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor, store: KeysValues) -> Tensor:
        """Query heads that share a key head are folded into the query length: no key is copied."""
        batch, length = queries.shape[:2]
        group = self.n_heads // self.kv_heads
        keys, values = store.extend(self.layer, keys, values)
        folded = queries.view(batch, length, self.kv_heads, group, self.d_head).permute(0, 2, 3, 1, 4)
        folded = folded.reshape(batch, self.kv_heads, group * length, self.d_head)
        mask = mask.repeat(1, 1, group, 1) if group > 1 and length > 1 else mask
        mixed = F.scaled_dot_product_attention(folded, keys, values, attn_mask=mask)
        return mixed.view(batch, self.kv_heads, group, length, self.d_head).permute(0, 3, 1, 2, 4)


def rotate(heads: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary position embedding in the half-split layout. Source: arXiv 2104.09864, transformers' Llama.

    Args:
        heads: [B, T, H, D].
        cos: [B or 1, T, 1, D / 2].
        sin: [B or 1, T, 1, D / 2].

    Returns:
        [B, T, H, D], in the precision of `heads`; computed in that of cos and sin, which is float32.
    """
    first, second = heads.chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1).to(heads.dtype)


class Llama(nn.Module):
    """The Llama architecture: RMSNorm, rotary positions, grouped queries, SwiGLU. Source: arXiv 2302.13971, 2307.09288.

    Args:
        config: its shape.
        seed: decides the weights; no global random state is read or changed. None leaves them for a loader to fill in.
    """

    def __init__(self, config: LlamaConfig, *, seed: int | None = 0) -> None:
        super().__init__()
        self.config = config
        with torch.device("meta"):
            self.embedding = nn.Embedding(config.vocab, config.d_model)
            self.blocks = nn.ModuleList(Block(config, layer) for layer in range(config.n_layers))
            self.norm = RMSNorm(config.d_model, config.norm_eps)
            self.head = None if config.tied else nn.Linear(config.d_model, config.vocab, bias=False)
        self.to_empty(device="cpu")
        angles = _rope_angles(config)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)
        self.cos: Tensor
        self.sin: Tensor
        if seed is not None:
            self._draw_weights(seed)

    def forward(self, ids: Tensor, attend: Attend | None = None, wanted: Tensor | None = None) -> Tensor:
        """Hidden states of rows.

        Args:
            ids: token ids [B, T]. Rows may be padded on the right: no token sees what follows it.
            attend: what the tokens see; None for rows of one text that start at position 0.
            wanted: flat indices into [B * T] of the states that are asked for [N]; the last feed-forward layer is
                computed for them alone. None for all.

        Returns:
            Hidden states, ready for `logits`: [B, T, d_model], or [N, d_model] with `wanted`.

        Raises:
            PolicyError: a row is longer than the model's contexts.
        """
        if attend is None:
            if ids.shape[1] > self.config.max_positions:
                raise PolicyError(
                    f"a row of {ids.shape[1]} tokens is longer than the model's contexts, {self.config.max_positions}"
                )
            cos, sin = self.cos[None, : ids.shape[1], None], self.sin[None, : ids.shape[1], None]
        else:
            cos, sin = self.cos[attend.positions][:, :, None], self.sin[attend.positions][:, :, None]
        x = self.embedding(ids)
        for block in self.blocks:
            x = block(x, cos, sin, attend, wanted if block.layer == len(self.blocks) - 1 else None)
        return self.norm(x)  # type: ignore[no-any-return]

    def logits(self, hidden: Tensor) -> Tensor:
        """Unnormalized log-probabilities [..., vocab] of the token after each hidden state [..., d_model]."""
        return F.linear(hidden, self.embedding.weight if self.head is None else self.head.weight)

    def cast_(self, dtype: torch.dtype) -> Self:
        """Bring the weights to another precision, in place; the table of rotary angles stays in float32."""
        for parameter in self.parameters():
            parameter.data = parameter.data.to(dtype)
        return self

    @torch.no_grad()
    def _draw_weights(self, seed: int) -> None:
        """Normal weights of a variance that keeps activations level; what writes to the residual stream is smaller.

        The embedding is large: beside small vectors (0.02 is usual) the first blocks' output hides which token is
        which, and a model of a million weights took three times as many steps to the same loss.
        """
        generator = torch.Generator().manual_seed(seed)
        residual = (2 * self.config.n_layers) ** -0.5
        for name, parameter in self.named_parameters():
            if parameter.dim() < 2:
                parameter.fill_(1.0)
                continue
            scale = parameter.shape[1] ** -0.5
            if name.startswith("embedding"):
                scale *= 2
            if name.endswith(("out.weight", "down.weight")):
                scale *= residual
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * scale)


def _rope_angles(config: LlamaConfig) -> Tensor:
    """Angle of each position and frequency [max_positions, d_head / 2], float32 as transformers computes it."""
    exponents = torch.arange(0, config.d_head, 2, dtype=torch.float32) / config.d_head
    frequencies = 1.0 / (config.rope_theta**exponents)
    return torch.outer(torch.arange(config.max_positions, dtype=torch.float32), frequencies)
