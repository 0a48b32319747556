"""Which triangles are near one another: a tree of boxes, gone down breadth first with numpy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from workgym.envs.modeling.mesh import Floats, Ints

__all__ = ["BoxTree"]

_CHUNK: Final = 400_000
_FIRST_LEVEL: Final = 5  # 32 boxes: from there all pairs are tried at once


class BoxTree:
    """A binary tree over boxes, in the order of a curve that keeps neighbors together.

    Args:
        low: the lowest corners, [N, 3].
        high: the highest corners, [N, 3].
    """

    def __init__(self, low: Floats, high: Floats) -> None:
        order = np.argsort(_curve((low + high) / 2), kind="stable")
        n_leaves = 1 << max(_FIRST_LEVEL, int(len(order) - 1).bit_length())
        self._order = order
        lows = np.full((n_leaves, 3), np.inf)
        highs = np.full((n_leaves, 3), -np.inf)
        lows[: len(order)], highs[: len(order)] = low[order], high[order]
        self._levels = [(lows, highs)]  # the leaves first
        while len(lows) > 1 << _FIRST_LEVEL:
            lows, highs = np.minimum(lows[::2], lows[1::2]), np.maximum(highs[::2], highs[1::2])
            self._levels.append((lows, highs))

    def pairs(self, margin: float) -> Iterator[tuple[Ints, Ints]]:
        """All pairs of boxes that come within `margin` of one another, each pair once, in chunks."""
        top = len(self._levels) - 1
        a, b = np.triu_indices(1 << _FIRST_LEVEL)
        waiting = [(top, a, b)]
        while waiting:
            level, a, b = waiting.pop()
            a, b = self._overlapping(level, a, b, margin)
            if level == 0:
                apart = a != b
                if apart.any():
                    yield self._order[a[apart]], self._order[b[apart]]
                continue
            for begin in range(0, len(a), _CHUNK):
                waiting.append((level - 1, *_children(a[begin : begin + _CHUNK], b[begin : begin + _CHUNK])))

    def _overlapping(self, level: int, a: Ints, b: Ints, margin: float) -> tuple[Ints, Ints]:
        lows, highs = self._levels[level]
        for axis in range(3):
            low, high = lows[:, axis], highs[:, axis] + margin
            keep = (low[a] <= high[b]) & (low[b] <= high[a])
            a, b = a[keep], b[keep]
        return a, b

    def hit_by_lines(self, points: Floats, axis: int) -> tuple[Ints, Ints]:
        """Which boxes lines along an axis pass through.

        Args:
            points: one on each line, [L, 3].
            axis: 0, 1 or 2.

        Returns:
            Numbers of lines and of boxes, a pair for each meeting.
        """
        across = [one for one in range(3) if one != axis]
        first = 1 << _FIRST_LEVEL
        line: Ints = np.repeat(np.arange(len(points)), first)
        node: Ints = np.tile(np.arange(first), len(points))
        for level in range(len(self._levels) - 1, -1, -1):
            lows, highs = self._levels[level]
            for one in across:
                place = points[line, one]
                keep = (lows[node, one] <= place) & (place <= highs[node, one])
                line, node = line[keep], node[keep]
            if level:
                line, node = np.repeat(line, 2), np.repeat(2 * node, 2)
                node[1::2] += 1
        return line, self._order[node]


def _children(a: Ints, b: Ints) -> tuple[Ints, Ints]:
    """The pairs of children of pairs of nodes; a node with itself has three."""
    twin = a == b
    one, other = a[~twin], b[~twin]
    same = a[twin]
    return (
        np.concatenate([2 * one, 2 * one, 2 * one + 1, 2 * one + 1, 2 * same, 2 * same, 2 * same + 1]),
        np.concatenate([2 * other, 2 * other + 1, 2 * other, 2 * other + 1, 2 * same, 2 * same + 1, 2 * same + 1]),
    )


def _curve(centers: Floats) -> Ints:
    """Numbers along a Z-order curve, 16 bits an axis."""
    low = centers.min(axis=0)
    width = np.maximum(centers.max(axis=0) - low, 1e-300)
    cells = ((centers - low) / width * 65535).astype(np.int64)
    for shift, mask in ((16, 0x0000FF0000FF), (8, 0x00F00F00F00F), (4, 0x0C30C30C30C3), (2, 0x249249249249)):
        cells = (cells | (cells << shift)) & mask
    numbers: Ints = cells[:, 0] | (cells[:, 1] << 1) | (cells[:, 2] << 2)
    return numbers
