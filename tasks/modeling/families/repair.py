"""Family repair: mend a mesh whose shape is right.

Level 1 is inside out, wholly or in part, at level 2 faces are missing, level 3 has duplicate faces and T-junctions.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from workgym.tasks.modeling.draft import Draft
from workgym.tasks.modeling.families.catalog import draw_template
from workgym.tasks.modeling.half_right import spoiled
from workgym.tasks.modeling.prompts import INPUT, asked, pick

__all__ = ["draw_repair"]

_FAULTS: Final = {
    1: ("inverted", "partly inverted"),
    2: ("side missing", "triangles missing"),
    3: ("duplicates", "T-junctions", "duplicates and T-junctions"),
}
_WORDS: Final = {
    "inverted": (
        "All of its triangles face inward: the surface is inside out.",
        "It is inside out, every face winds the wrong way round.",
    ),
    "partly inverted": (
        "Some of its triangles face inward, others outward.",
        "Its faces are not wound in one sense: a part of them is turned around.",
    ),
    "side missing": (
        "One flat side of it is missing as a whole.",
        "All triangles of one of its flat sides are gone, so that it is open.",
    ),
    "triangles missing": (
        "A few triangles are missing, all of them from flat sides.",
        "It has holes in its surface: single triangles of flat sides are gone.",
    ),
    "duplicates": (
        "Some of its triangles are in the file twice.",
        "It holds duplicate faces.",
    ),
    "T-junctions": (
        "In places two triangles meet a single longer edge of a third one: there are T-junctions.",
        "It has T-junctions: vertices that lie on an edge of a neighbor which does not know of them.",
    ),
    "duplicates and T-junctions": (
        "Some triangles are in the file twice, and there are T-junctions, vertices in the middle of a neighbor's edge.",
        "It holds duplicate faces and T-junctions.",
    ),
}
_GIVEN: Final = ("The mesh in {file} is broken.", "{file} holds a part whose mesh is damaged.")
_WANTED: Final = (
    "Make a closed, consistently oriented mesh of the same part. Its shape is right and must stay as it is.",
    "Repair it: the result has to be watertight and to face outward everywhere, with the shape left alone.",
)
_PARTS_OF: Final = {1: (1,), 2: (1, 2), 3: (2, 3)}


def draw_repair(level: int, rng: np.random.Generator, split: str) -> Draft:
    """Draw a part and a fault of its mesh."""
    template = draw_template(_PARTS_OF[level], rng, split, lambda t: t.name not in ("ball", "ring"))  # no flat side
    sizes = template.draw(rng)
    tree = template.tree(sizes)
    fault = pick(_FAULTS[level], rng)
    seed = int(rng.integers(0, 2**31))
    words = pick(_WORDS[fault], rng)
    return Draft(
        template=template,
        tree=tree,
        half_right=spoiled(tree),
        full=asked([pick(_GIVEN, rng).format(file=INPUT), words, pick(_WANTED, rng)], rng),
        short=f"Repair {INPUT}: {words}",
        told={},
        variant=[fault],
        start={"tree": tree.as_json(), "fault": fault, "seed": seed},
    )
