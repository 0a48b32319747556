"""The block of keys and values: it grows, and moves rows without losing any."""

from __future__ import annotations

import torch

from workgym.agents.engines.kv import KVBlock
from workgym.agents.models import LlamaConfig


def make_block(n_positions: int) -> KVBlock:
    """Three rows in which every stored number is another."""
    block = KVBlock(LlamaConfig(10, 8, 2, 2), 3, 300, torch.device("cpu"))
    block.reserve(n_positions)
    for tensor in (block.keys, block.values):
        tensor.copy_(torch.arange(tensor.numel()).view(tensor.shape))
    return block


def test_a_block_takes_memory_only_as_contexts_grow():
    block = KVBlock(LlamaConfig(10, 8, 2, 2), 3, 300, torch.device("cpu"))
    sizes = [block.keys.shape[3]]
    for n in (1, 64, 65, 129, 300):
        block.reserve(n)
        sizes.append(block.keys.shape[3])

    assert sizes == [0, 64, 64, 128, 256, 300]


def test_what_is_stored_stays_when_a_block_grows():
    block = make_block(64)
    before = block.keys.clone()
    block.reserve(65)

    assert torch.equal(block.keys[:, :, :, :64], before)
    assert not bool(block.keys[:, :, :, 64:].any())


def test_rows_change_places_all_at_once():
    block = make_block(4)
    before = block.values.clone()
    block.copy(torch.tensor([0, 1, 2]), torch.tensor([1, 2, 0]), 3)

    assert torch.equal(block.values[:, [1, 2, 0], :, :3], before[:, :, :, :3])
    assert torch.equal(block.values[:, :, :, 3:], before[:, :, :, 3:])


def test_a_window_stores_real_tokens_alone_and_shows_what_is_stored():
    block = KVBlock(LlamaConfig(10, 8, 2, 2), 3, 300, torch.device("cpu"))
    block.reserve(6)
    positions = torch.tensor([[2, 3], [4, 5]])
    valid = torch.tensor([[True, True], [True, False]])
    keys = torch.arange(1.0, 33.0).view(2, 2, 2, 4)
    shown, _ = block.window(1, 3, 5, positions, valid).extend(1, keys, -keys)

    assert shown.shape == (2, 2, 5, 4)
    assert torch.equal(shown[0, :, 2:4], keys[0].transpose(0, 1))
    assert torch.equal(shown[1, :, 4], keys[1, 0])
    assert int((block.keys != 0).sum()) == int((block.values != 0).sum()) == 24
