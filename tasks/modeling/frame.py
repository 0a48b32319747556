"""The box that pictures are fitted to. An agent may know it, so it tells no size: it is wide, and in round numbers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Final

from workgym.tasks.modeling.tree import Tree, extent

__all__ = ["frame_around"]

_MARGIN: Final = 0.15
_STEPS: Final = 8


def frame_around(tree: Tree) -> list[list[float]]:
    """A box around a part, with room: its lowest and its highest corner.

    Args:
        tree: the part.
    """
    low, high = extent(tree)
    size = max(b - a for a, b in zip(low, high, strict=True))
    step = next(one for one in _round_numbers() if one >= size / _STEPS)
    margin = _MARGIN * size
    return [
        [step * math.floor((one - margin) / step) for one in low],
        [step * math.ceil((one + margin) / step) for one in high],
    ]


def _round_numbers() -> Iterator[float]:
    """1, 2, 5, 10, 20, ..."""
    for power in itertools.count():
        yield from (float(digit * 10**power) for digit in (1, 2, 5))
