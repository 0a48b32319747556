"""What a page of a filing is made of: text, plain grids, and places for tables of amounts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["Block", "Grid", "PageBreak", "TablePlace", "Text"]

_LEADING: Final = frozenset({"item", "heading", "title", "caption", "company"})


@dataclass(frozen=True, slots=True)
class Text:
    """A line of text.

    Attributes:
        kind: "item" (a heading that the contents name), "heading", "company", "title" and "caption" (above a table),
            "under" (below one), "paragraph", "center", "head" or "foot" (of a page).
        text: its words.
    """

    kind: str
    text: str

    @property
    def leads(self) -> bool:
        """Whether it stands on one page with what follows."""
        return self.kind in _LEADING


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of words, without amounts.

    Attributes:
        rows: of cells.
        of_contents: its second column gives the pages of what stands in the first.
    """

    rows: tuple[tuple[str, ...], ...]
    of_contents: bool = False


@dataclass(frozen=True, slots=True)
class TablePlace:
    """Where a table of amounts stands.

    Attributes:
        key: which one: "income", "segments", ...
    """

    key: str


@dataclass(frozen=True, slots=True)
class PageBreak:
    """Where a page ends."""


Block = Text | Grid | TablePlace | PageBreak
