"""A template: a kind of part, its sizes, the features they make, and the words for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from workgym.tasks.errors import TaskError
from workgym.tasks.modeling.tree import Step, Tree

__all__ = ["Sizes", "Template", "feature_of"]

Sizes = Mapping[str, float]
"""Name of a size -> millimetres, or a count."""

_DRAWS: Final = 10_000


@dataclass(frozen=True)
class Template:
    """A kind of part.

    Attributes:
        name: unique among all templates.
        level: of the text family to which it belongs.
        ranges: each size -> lowest, highest, step between the values that it may have.
        fits: whether sizes go together: features lie within the part and apart from each other.
        steps: the features that sizes make.
        noun: what such a part is called.
        words: feature -> phrasings of it, each of which holds all its sizes in braces; the first feature is the body.
        short: the whole part in few words, with all its sizes in braces.
        labels: a size that may be edited -> what it is called.
        optional: features that a part may lack.
        counts: sizes that count copies, and may be edited.
        mirrors: features that may be repeated in the middle of the part -> the axis (0, 1) across which the mirror
            stands and the size of the part along it.
        held_out: only split "test" has it.
    """

    name: str
    level: int
    ranges: Mapping[str, tuple[float, float, float]]
    fits: Callable[[Sizes], bool]
    steps: Callable[[Sizes], Sequence[Step]]
    noun: str
    words: Mapping[str, Sequence[str]]
    short: str
    labels: Mapping[str, str] = field(default_factory=dict)
    optional: Sequence[str] = ()
    counts: Sequence[str] = ()
    mirrors: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    held_out: bool = False

    def draw(self, rng: np.random.Generator) -> dict[str, float]:
        """Draw sizes that fit.

        Raises:
            TaskError: the ranges hold hardly any.
        """
        for _ in range(_DRAWS):
            sizes = {name: self.draw_one(name, rng) for name in self.ranges}
            if self.fits(sizes):
                return sizes
        raise TaskError(f"template {self.name!r} found no sizes that fit in {_DRAWS} draws. Widen its ranges.")

    def draw_one(self, name: str, rng: np.random.Generator) -> float:
        """Draw one size from its range, whether it fits or not; a whole number is an int."""
        low, high, step = self.ranges[name]
        value = low + step * int(rng.integers(0, round((high - low) / step) + 1))
        return int(value) if value == int(value) else float(value)

    def tree(self, sizes: Sizes) -> Tree:
        """The part with these sizes."""
        return Tree(tuple(self.steps(sizes)))

    def say(self, feature: str, sizes: Sizes, rng: np.random.Generator) -> str:
        """A feature in words, in one of its phrasings."""
        phrasings = self.words[feature]
        return phrasings[int(rng.integers(0, len(phrasings)))].format_map(_shown(sizes))

    def say_shortly(self, sizes: Sizes) -> str:
        """The whole part in few words."""
        return self.short.format_map(_shown(sizes))


def feature_of(step: Step) -> str:
    """The feature to which a step belongs: a counterbore "hole.head" is a part of the feature "hole"."""
    return step.name.partition(".")[0]


def _shown(sizes: Sizes) -> dict[str, str]:
    return {name: f"{value:g}" for name, value in sizes.items()}
