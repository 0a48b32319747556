"""Keys and values of many rows in one block of memory, written in place."""

from __future__ import annotations

from typing import Final

import torch
from torch import Tensor

from workgym.agents.models import LlamaConfig

__all__ = ["KVBlock", "KVWindow"]

_FIRST_POSITIONS: Final = 64


class KVBlock:
    """Keys and values, each [layers, rows, Hk, positions, D].

    Rows that are computed together lie side by side, so that a forward pass works on a view and copies nothing.
    Positions are added when they are needed: most episodes stay far below the longest context.

    Args:
        config: the model's shape.
        n_rows: rows.
        most_positions: positions that a row may come to have.
        device: where it lies.
        dtype: precision.
    """

    def __init__(
        self,
        config: LlamaConfig,
        n_rows: int,
        most_positions: int,
        device: torch.device,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.most_positions: Final = most_positions
        shape = (config.n_layers, n_rows, config.kv_heads, 0, config.d_head)
        self.keys = torch.zeros(shape, device=device, dtype=dtype)
        self.values = torch.zeros(shape, device=device, dtype=dtype)

    def reserve(self, n_positions: int) -> None:
        """Have room for at least so many positions a row; what is stored stays."""
        room = self.keys.shape[3]
        if n_positions > room:
            room = min(self.most_positions, max(n_positions, 2 * room, _FIRST_POSITIONS))
            self.keys, self.values = _widen(self.keys, room), _widen(self.values, room)

    def copy(self, sources: Tensor, targets: Tensor, length: int) -> None:
        """Copy the first `length` positions of rows [N] to other rows [N]; all are read before one is written."""
        for block in (self.keys, self.values):
            for layer in block:
                used = layer[:, :, :length]
                used[targets] = used[sources]

    def clear(self) -> None:
        """Overwrite all with zeros."""
        self.keys.zero_()
        self.values.zero_()

    def window(self, start: int, stop: int, length: int, positions: Tensor, valid: Tensor | None = None) -> KVWindow:
        """The rows `start` to `stop`, for one forward pass.

        Args:
            start: first row.
            stop: row after the last.
            length: positions that may be attended to.
            positions: where each fed token goes [B, T].
            valid: false for filler tokens, which are not stored [B, T]; None where there are none.
        """
        rows = torch.arange(stop - start, device=positions.device)[:, None].expand_as(positions)
        if valid is None:
            return KVWindow(self, slice(start, stop), length, rows.flatten(), positions.flatten(), None)
        return KVWindow(self, slice(start, stop), length, rows[valid], positions[valid], valid)


class KVWindow:
    """Neighboring rows of a block during one forward pass."""

    def __init__(
        self, block: KVBlock, rows: slice, length: int, row_of: Tensor, position_of: Tensor, valid: Tensor | None
    ) -> None:
        self.block, self.rows, self.length = block, rows, length
        self.row_of, self.position_of, self.valid = row_of, position_of, valid

    def extend(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Store keys and values [B, T, Hk, D]; return views of all of them [B, Hk, length, D]."""
        return self._put(self.block.keys[layer, self.rows], keys), self._put(
            self.block.values[layer, self.rows], values
        )

    def _put(self, stored: Tensor, new: Tensor) -> Tensor:
        stored[self.row_of, :, self.position_of] = new.flatten(0, 1) if self.valid is None else new[self.valid]
        return stored[:, :, : self.length]


def _widen(block: Tensor, n_positions: int) -> Tensor:
    """The same contents with more positions."""
    # Zeros, not empty: a masked position weighs 0, and 0 times a stray NaN is NaN.
    wider = block.new_zeros((*block.shape[:3], n_positions, block.shape[4]))
    wider[:, :, :, : block.shape[3]] = block
    return wider
