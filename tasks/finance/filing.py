"""A filing without amounts: its pages, their lines, and its tables with addresses.

    filing = plan_filing(draw_structure(7), level=2)
    filing.tables[0].cells, filing.lines("Form 10-K")

Everything is planned from a structure, so whatever is cited stands at the same address for all amounts. A block is one
line of its page, as a reader counts them: a paragraph, a heading, the head or foot of a page, or a table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from workgym.tasks.errors import TaskError
from workgym.tasks.finance.blocks import Block, Grid, PageBreak, TablePlace, Text
from workgym.tasks.finance.sections import write_filing
from workgym.tasks.finance.statements import Statement, lay_out
from workgym.tasks.finance.structure import Structure
from workgym.tasks.finance.styles import Style, draw_style

__all__ = ["Filing", "FilingPage", "plan_filing"]

_LEVELS: Final = (1, 2)
_WORDS_OF_A_LINE: Final = 92
"""Characters that stand in a line of a paragraph, for telling how high it is."""


@dataclass(frozen=True, slots=True)
class FilingPage:
    """A page.

    Attributes:
        number: from 1.
        blocks: its lines from 1 on; a table is one line.
    """

    number: int
    blocks: tuple[Block | Statement, ...]


@dataclass(frozen=True, slots=True)
class Filing:
    """A filing without amounts.

    Attributes:
        structure: whose it is.
        level: of the task that it was planned for.
        document: the beginning of every address: "d1".
        style: how it looks.
        pages: in order.
        tables: those that show amounts, in the order of the document.
    """

    structure: Structure
    level: int
    document: str
    style: Style
    pages: tuple[FilingPage, ...]
    tables: tuple[Statement, ...]

    @property
    def title(self) -> str:
        """What the document is called."""
        return f"{self.structure.company} {self.structure.years[-1]} Form 10-K"

    @property
    def blanks(self) -> frozenset[str]:
        """The addresses of the cells that are left blank: what they would show is not reported."""
        return frozenset(address for table in self.tables for address in table.blanks)

    def catalog(self) -> dict[str, Any]:
        """What may be told of the document to one who has not opened it."""
        structure = self.structure
        return {
            "id": self.document,
            "title": self.title,
            "company": structure.company,
            "form": "10-K",
            "period": f"fiscal year ended {structure.year_end}, {structure.years[-1]}",
            "pages": len(self.pages),
        }

    def lines(self, words: str) -> tuple[str, ...]:
        """The addresses of all lines of text that hold these words: ("d1:p1!l3", ...)."""
        return tuple(
            f"{self.document}:p{page.number}!l{number}"
            for page in self.pages
            for number, block in enumerate(page.blocks, 1)
            if isinstance(block, Text) and words in block.text
        )


def plan_filing(structure: Structure, level: int, document: str = "d1") -> Filing:
    """Plan the filing of a company.

    Args:
        structure: the company, with the tables that are to be shown: see `Structure.at_level`.
        level: 1 (up to 5 pages, plain) or 2 (15 to 30 pages, as filings look).
        document: the beginning of every address.

    Raises:
        TaskError: there is no such level yet.
    """
    if level not in _LEVELS:
        raise TaskError(f"filings have the levels 1 and 2, not {level!r}")
    style = draw_style(structure, level)
    heights = {table.key: len(table.rows) + 2 for table in lay_out(structure)}
    blocks = write_filing(structure, level, captions_apart=not style.caption_in_head)
    pages = [
        _with_margins(page, structure, style, number)
        for number, page in enumerate(_paged(blocks, style.page_lines, heights), 1)
    ]
    numbers = _numbers(pages)
    tables = {table.key: table for table in lay_out(structure, document, numbers=numbers)}
    contents = _contents(pages)
    return Filing(
        structure=structure,
        level=level,
        document=document,
        style=style,
        pages=tuple(
            FilingPage(number, tuple(_settled(block, tables, contents) for block in page))
            for number, page in enumerate(pages, 1)
        ),
        tables=tuple(sorted(tables.values(), key=lambda table: numbers[table.key])),
    )


def _paged(blocks: Sequence[Block], most: int, heights: Mapping[str, int]) -> Iterator[list[Block]]:
    """Put blocks on pages; what stands above or under a table, and a heading above its text, go with it."""
    page: list[Block] = []
    used = 0
    for group in _groups(blocks):
        height = sum(_height(block, heights) for block in group)
        if page and (isinstance(group[0], PageBreak) or used + height > most):
            yield page
            page, used = [], 0
        page += [block for block in group if not isinstance(block, PageBreak)]
        used += height
    yield page


def _groups(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """Blocks that may not be parted."""
    group: list[Block] = []
    for block in blocks:
        if group and not _leads(group[-1]) and not (isinstance(block, Text) and block.kind == "under"):
            yield group
            group = []
        group.append(block)
    if group:
        yield group


def _leads(block: Block) -> bool:
    return isinstance(block, PageBreak) or (isinstance(block, Text) and block.leads)


def _height(block: Block, heights: Mapping[str, int]) -> int:
    match block:
        case TablePlace(key):
            return heights[key]
        case Grid(rows=rows):
            return len(rows) + 1
        case Text(text=text):
            return 2 + len(text) // _WORDS_OF_A_LINE
    return 0


def _with_margins(page: list[Block], structure: Structure, style: Style, number: int) -> list[Block]:
    if number == 1:  # the cover
        return page
    year = structure.years[-1]
    head = [Text("head", f"{structure.company} Annual Report")] if style.running_head else []
    return [*head, *page, Text("foot", f"{structure.company} | {year} Form 10-K | {number}")]


def _numbers(pages: Sequence[Sequence[Block]]) -> dict[str, int]:
    """Table of amounts -> its number among all tables of the document."""
    tables = [block for page in pages for block in page if isinstance(block, (TablePlace, Grid))]
    return {block.key: number for number, block in enumerate(tables, 1) if isinstance(block, TablePlace)}


def _contents(pages: Sequence[Sequence[Block]]) -> dict[str, str]:
    """Item -> the page that it begins on."""
    return {
        block.text: str(number)
        for number, page in enumerate(pages, 1)
        for block in page
        if isinstance(block, Text) and block.kind == "item"
    }


def _settled(block: Block, tables: Mapping[str, Statement], contents: Mapping[str, str]) -> Block | Statement:
    """A block with its table in its place, and page numbers in a table of contents."""
    if isinstance(block, TablePlace):
        return tables[block.key]
    if isinstance(block, Grid) and block.of_contents:
        return replace(block, rows=tuple((item, contents[item]) for item, _ in block.rows))
    return block
