"""Rows with the same prompt, laid out so that the prompt is computed once.

A group of episodes of one task is `[prompt | first continuation | second | ...]`. A token sees the prompt and what came
before it in its own continuation, at the positions it would have in a row of its own: the same losses and gradients as
from separate rows, for a fraction of the tokens.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np
import torch

from workgym.training.batch import Batch, Layout

__all__ = ["share_prompts"]

_SHORTEST: Final = 8
"""Prompts below this length are not worth a mask."""


def share_prompts(batch: Batch, max_tokens: int) -> Batch:
    """Merge rows that have the same tokens before the first sampled one.

    The last token of the prompt predicts the first token of every continuation, so it is repeated before each.

    Args:
        batch: rows of one text each.
        max_tokens: longest merged row; a group that is longer becomes several rows.

    Returns:
        A batch with the same targets in fewer tokens; the batch as it is where no two rows share a prompt.
    """
    lengths = batch.lengths.tolist()
    prompts = [int(row.float().argmax()) if bool(row.any()) else -1 for row in batch.target]
    groups: dict[object, list[int]] = {}
    for row, last in enumerate(prompts):
        key = batch.ids[row, : last + 1].numpy().tobytes() if last >= _SHORTEST else row
        groups.setdefault(key, []).append(row)
    if len(groups) == len(batch):
        return batch
    strips = [
        _lay(part, prompts[part[0]], lengths, batch.ids.shape[1])
        for rows in groups.values()
        for part in _parts(rows, prompts[rows[0]], lengths, max_tokens)
    ]
    return _gather(batch, strips)


_Strip = tuple[list[int], list[list[int]]]
"""The rows that a merged row is made of, and for each of its tokens: where it comes from, its position, its text."""


def _parts(rows: list[int], last: int, lengths: list[int], max_tokens: int) -> Iterator[list[int]]:
    """Cut a group so that each part fits."""
    part: list[int] = []
    used = last
    for row in rows:
        if part and used + lengths[row] - last > max_tokens:
            yield part
            part, used = [], last
        part.append(row)
        used += lengths[row] - last
    yield part


def _lay(rows: list[int], last: int, lengths: list[int], width: int) -> _Strip:
    """Text 0 is the prompt without its last token; the continuations are 1, 2, ..."""
    if len(rows) == 1:
        row = rows[0]
        return rows, [[row * width + at, at, 0] for at in range(lengths[row])]
    tokens = [[rows[0] * width + at, at, 0] for at in range(last)]
    for number, row in enumerate(rows, 1):
        tokens += [[row * width + at, at, number] for at in range(last, lengths[row])]
    return rows, tokens


def _gather(batch: Batch, strips: list[_Strip]) -> Batch:
    sizes = np.array([len(tokens) for _, tokens in strips])
    table = np.zeros((len(strips), int(sizes.max()), 3), np.int64)
    for i, (_, tokens) in enumerate(strips):
        table[i, : len(tokens)] = tokens
    source, positions, texts = torch.from_numpy(table).unbind(-1)
    filler = torch.arange(table.shape[1])[None] >= torch.from_numpy(sizes)[:, None]

    def take(tensor: torch.Tensor, empty: float) -> torch.Tensor:
        return tensor.flatten()[source].masked_fill(filler, empty)

    return replace(
        batch,
        ids=take(batch.ids, 0),
        lengths=torch.from_numpy(sizes),
        target=take(batch.target, False),
        behavior_logp=take(batch.behavior_logp, 0),
        advantage=take(batch.advantage, 0),
        weight=take(batch.weight, 0),
        version=take(batch.version, -1),
        rollout_ids=tuple(" + ".join(batch.rollout_ids[row] for row in rows) for rows, _ in strips),
        layout=Layout(positions.contiguous(), texts.contiguous()),
    )
