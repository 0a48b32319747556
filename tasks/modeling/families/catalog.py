"""All templates, by level, and which of them a split may draw."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import numpy as np

from workgym.tasks.modeling.families.held_out import HELD_OUT
from workgym.tasks.modeling.families.parts import PARTS
from workgym.tasks.modeling.families.patterned import PATTERNED
from workgym.tasks.modeling.families.primitives import PRIMITIVES
from workgym.tasks.modeling.template import Template

__all__ = ["TEMPLATES", "draw_template"]

TEMPLATES: Final[tuple[Template, ...]] = (*PRIMITIVES, *PARTS, *PATTERNED, *HELD_OUT)
"""Every template; some are held out."""

_SHARE_HELD_OUT: Final = 0.5


def draw_template(
    levels: Iterable[int], rng: np.random.Generator, split: str, serves: Callable[[Template], bool] = lambda _: True
) -> Template:
    """Draw a template: half of split "test" is of kinds that are held out, the other splits have none of them.

    Args:
        levels: of the text family, from which templates may come.
        rng: the only source of randomness.
        split: for which it is drawn.
        serves: whether a template can be used.
    """
    held_out = split == "test" and rng.random() < _SHARE_HELD_OUT
    wanted = tuple(levels)
    able = [t for t in TEMPLATES if t.level in wanted and t.held_out == held_out and serves(t)]
    return able[int(rng.integers(0, len(able)))]
