"""How the filing of a company looks: what its software writes around the same words and amounts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from workgym.tasks.finance.structure import Structure

__all__ = ["PLAIN", "Style", "draw_style"]


@dataclass(frozen=True, slots=True)
class Style:
    """The habits of one filing.

    Attributes:
        font: of all text, as CSS writes it.
        head_tag: of the cells of a head: "th" or "td".
        has_thead: the head of a table stands in a <thead>.
        dollar_rows: where "$" stands: in "all" rows of money, or in the "first" one and in totals.
        marks_apart: `$`, `)` and `%` stand in cells of their own.
        spacers: an empty column stands before each column of amounts.
        width_row: a table begins with an empty row that gives the widths of its columns.
        caption_in_head: the scale is said in the first cell of the head, not above the table.
        indents_by_spaces: labels are indented by no-break spaces, not by padding.
        breaks_by_rule: a page ends with a rule; else each begins with a block that breaks before itself.
        running_head: pages have a head, beside the foot.
        heading_tag: of headings: "p", "div" or "h3".
        shaded: every other row has a background.
        page_lines: how many lines fit on a page.
    """

    font: str = "Arial,Helvetica,sans-serif"
    head_tag: str = "th"
    has_thead: bool = True
    dollar_rows: str = "first"
    marks_apart: bool = False
    spacers: bool = False
    width_row: bool = False
    caption_in_head: bool = False
    indents_by_spaces: bool = False
    breaks_by_rule: bool = True
    running_head: bool = False
    heading_tag: str = "p"
    shaded: bool = False
    page_lines: int = 34


PLAIN: Final = Style()
"""The style of every filing of level 1."""

_FONTS: Final = (
    "'Times New Roman',Times,serif",
    "Arial,Helvetica,sans-serif",
    "Georgia,'Times New Roman',serif",
    "Verdana,Arial,sans-serif",
)


def draw_style(structure: Structure, level: int) -> Style:
    """The style of a company's filing: at level 1 the plain one, above one of its own.

    Args:
        structure: the company; its seed decides the style.
        level: of the task, at least 1.
    """
    if level == 1:
        return PLAIN
    rng = np.random.default_rng([structure.seed, level, 2])

    def chance(share: float) -> bool:
        return bool(rng.random() < share)

    return Style(
        font=_FONTS[int(rng.integers(len(_FONTS)))],
        head_tag="th" if chance(0.4) else "td",
        has_thead=chance(0.3),
        dollar_rows="first" if chance(0.6) else "all",
        marks_apart=chance(0.75),
        spacers=chance(0.5),
        width_row=chance(0.4),
        caption_in_head=chance(0.35),
        indents_by_spaces=chance(0.3),
        breaks_by_rule=chance(0.8),
        running_head=chance(0.5),
        heading_tag=("p", "div", "h3")[int(rng.integers(3))],
        shaded=chance(0.4),
        page_lines=int(rng.integers(26, 36)),
    )
