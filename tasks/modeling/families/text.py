"""Family text_to_part: make the part that a text describes.

Level 1 is one simple solid, level 2 has two or three operations, level 3 patterns, fillets, chamfers and derived sizes.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from workgym.tasks.modeling.draft import Draft
from workgym.tasks.modeling.families.catalog import draw_template
from workgym.tasks.modeling.half_right import spoiled
from workgym.tasks.modeling.prompts import asked, pick

__all__ = ["draw_text"]

_MAKE: Final = ("Make a {noun}.", "Model this part, a {noun}.", "Build a solid: a {noun}.")


def draw_text(level: int, rng: np.random.Generator, split: str) -> Draft:
    """Draw a part and its description, which holds every size it takes to make it."""
    template = draw_template((level,), rng, split)
    sizes = template.draw(rng)
    tree = template.tree(sizes)
    told = [template.say(feature, sizes, rng) for feature in template.words]
    return Draft(
        template=template,
        tree=tree,
        half_right=spoiled(tree),
        full=asked([pick(_MAKE, rng).format(noun=template.noun), *told], rng),
        short=f"Make: {template.say_shortly(sizes)}.",
        told=sizes,
    )
