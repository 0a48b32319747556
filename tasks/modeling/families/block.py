"""The rectangular block that many parts begin with."""

from __future__ import annotations

from typing import Final

from workgym.tasks.modeling.shape import box
from workgym.tasks.modeling.template import Sizes
from workgym.tasks.modeling.tree import Step

__all__ = ["BLOCK_WORDS", "block", "within"]

BLOCK_WORDS: Final = (
    "The body is a block {length} along x, {width} along y and {height} along z, its lowest corner at the origin.",
    "Its body is a rectangular block that fills x = 0 to {length}, y = 0 to {width}, z = 0 to {height}.",
)
"""How the block is told; its sizes are length, width and height."""


def block(s: Sizes) -> Step:
    """The feature "body": a block whose lowest corner is the origin."""
    return Step("body", "add", box((0, 0, 0), (s["length"], s["width"], s["height"])))


def within(at: float, reach: float, size: float, wall: float = 3) -> bool:
    """Whether what reaches so far to both sides leaves a wall at both ends of a size."""
    return reach + wall <= at <= size - reach - wall
