"""The frame of every prompt: units, axes, curves, and where the result belongs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

__all__ = ["INPUT", "asked", "pick"]

INPUT: Final = "input.stl"
"""Name of the file that holds the part to be changed or repaired."""

_FRAME: Final = (
    "Sizes are in millimetres. x points right, y away from you, z up. A full circle has 64 segments.",
    "Units: mm. Axes: x to the right, y to the back, z upward. Draw circles with 64 segments.",
    "All numbers are millimetres in a frame with x right, y back, z up; use 64 segments for a full circle.",
)
_PLACE: Final = (
    "The place counts: neither move nor turn the part.",
    "Keep exactly to this position and orientation.",
    "It is judged where it lies, so keep to these coordinates.",
)


def asked(request: Sequence[str], rng: np.random.Generator) -> str:
    """A full prompt: what is wanted, then units and axes, then a reminder that the place counts."""
    return "\n".join([" ".join(request), pick(_FRAME, rng), pick(_PLACE, rng)])


def pick(phrasings: Sequence[str], rng: np.random.Generator) -> str:
    """One of several ways to say the same."""
    return phrasings[int(rng.integers(0, len(phrasings)))]
