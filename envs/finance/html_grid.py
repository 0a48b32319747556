"""The cells of an HTML table where they stand: rows of cells with the physical columns that each of them covers.

A plain walk over the tree. Only cells that hold something are kept, so that a span of a thousand columns costs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple

from workgym.envs.finance.cell_reader import seen_text
from workgym.tasks.errors import TaskError

__all__ = ["MARK", "GridCell", "Style", "grid_rows", "is_hidden", "style_of", "text_of"]

MARK: Final = "\ue000"  # stands around a footnote mark that is written raised; no document holds it

_MAX_SPAN: Final = 1000  # as browsers have it
_MAX_ROWS: Final = 65534
_MAX_REACHING: Final = 2000
_SPAN: Final = re.compile(r"\s*\+?([0-9]{1,9})")
_UNSEEN_TAGS: Final = frozenset(
    ("script", "style", "template", "noscript", "head", "title", "ix:header", "ix:hidden", "object", "iframe", "select")
)
_UNSEEN_STYLE: Final = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?:\.0+)?(?:pt|px|em|%)?\s*(?:;|$)"
)
_RAISED: Final = re.compile(r"vertical-align\s*:\s*(?:super|text-top)|position\s*:\s*relative\s*;\s*top\s*:\s*-[0-9]")
_FOOTNOTE: Final = re.compile(
    r"(?:[(\[]?(?:[0-9]{1,2}|[a-zA-Z]|[ivx]{1,4}|[*†‡§¶#^]{1,3})[)\]]?[,; ]*)+", re.IGNORECASE
)
_LONGEST_MARK: Final = 12
_BREAK: Final = re.compile(r"(?:page-)?break-(before|after)\s*:\s*(?:always|page|left|right|recto|verso)")
_LONGEST_STYLE: Final = 1000  # characters of a style that is remembered
_LENGTH: Final = re.compile(r"(-?[0-9]*\.?[0-9]+)\s*(pt|px|em|in|cm|mm|%)?")
_POINTS: Final = {"pt": 1.0, "px": 0.75, "em": 10.0, "in": 72.0, "cm": 28.3, "mm": 2.83, "%": 5.0}
_EMPTY_CELL: Final = 10.0  # points by which an empty cell before a label sets it in
_BREAKS: Final = frozenset(("br", "p", "div", "li", "tr", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6"))


@dataclass(slots=True)
class GridCell:
    """A cell that holds something.

    Attributes:
        start: its first physical column, from 0.
        end: the column after its last one.
        text: its words; a raised footnote mark stands between two `MARK`.
        head: it is a `th`, or stands in a `thead`.
        indent: of the first cell of a row, how far its text is set in, in points.
        inner: there is a table within it.
    """

    start: int
    end: int
    text: str
    head: bool = False
    indent: float = 0.0
    inner: bool = False


class Style(NamedTuple):
    """What a style does: it hides, it raises as footnote marks are, it sets in by points, it breaks pages."""

    hidden: bool = False
    raised: bool = False
    inset: float = 0.0
    breaks: tuple[str, ...] = ()


_NO_STYLE: Final = Style()


def style_of(element: Any) -> Style:
    """What the style of an element does. Styles repeat, and each is read once."""
    written = element.get("style")
    if not written:
        return _NO_STYLE
    return _known_style(written) if len(written) <= _LONGEST_STYLE else _read_style(written)


def _read_style(written: str) -> Style:
    lower = written.lower()
    breaks = tuple(_BREAK.findall(lower)) if "break" in lower else ()
    return Style(bool(_UNSEEN_STYLE.search(lower)), bool(_RAISED.search(lower)), _inset(lower), breaks)


_known_style: Final = lru_cache(maxsize=4096)(_read_style)


def is_hidden(element: Any) -> bool:
    """Whether nobody sees the element: scripts, the header of inline XBRL, what a style hides."""
    tag = element.tag
    if tag in _UNSEEN_TAGS or not isinstance(tag, str):
        return True
    return style_of(element).hidden or element.get("hidden") is not None


def text_of(element: Any) -> str:
    """The words that are seen within an element, tables within it left out; spaces are not folded."""
    parts: list[str] = []
    _gather(element, parts)
    return "".join(parts)


def _gather(element: Any, parts: list[str]) -> None:
    """Depth is bounded by the parser, which refuses trees deeper than 256."""
    if element.text:
        parts.append(element.text)
    for child in element:
        tag = child.tag
        if tag == "br":
            parts.append("\n")
        elif tag != "table" and not is_hidden(child):
            _gather_child(child, tag, parts)
        if child.tail:
            parts.append(child.tail)


def _gather_child(child: Any, tag: str, parts: list[str]) -> None:
    if tag in _BREAKS:
        parts.append("\n")
        _gather(child, parts)
        parts.append("\n")
    elif tag == "sup" or style_of(child).raised:
        raised = text_of(child)
        mark = raised.strip()
        is_mark = len(mark) <= _LONGEST_MARK and _FOOTNOTE.fullmatch(mark) and MARK not in raised
        parts.append(f"{MARK}{mark}{MARK}" if is_mark else raised)
    else:
        _gather(child, parts)


def grid_rows(table: Any) -> Iterator[list[GridCell]]:
    """The rows of a table that hold something, in order; rows of tables within it are not its rows.

    Raises:
        TaskError: more cells reach into one row than a table has.
    """
    reaching: list[tuple[int, int, int]] = []  # cells from rows above: first column, column after the last, rows left
    for row, in_head in _rows(table):
        cells: list[GridCell] = []
        new: list[tuple[int, int, int]] = []
        column = 0
        for element in row:
            tag = element.tag
            if tag not in ("td", "th") or is_hidden(element):
                continue
            if reaching:
                column = _free_column(column, reaching)
            width = _span(element, "colspan", _MAX_SPAN)
            height = _span(element, "rowspan", _MAX_ROWS)
            cell = _cell(element, column, column + width, in_head or tag == "th", is_first=not cells)
            if cell is not None:
                cells.append(cell)
            if height > 1:
                new.append((column, column + width, height - 1))
            column += width
        if len(reaching) + len(new) > _MAX_REACHING:
            raise TaskError(f"a table has more than {_MAX_REACHING} cells that reach into one row: it is no table")
        reaching = [(first, last, left - 1) for first, last, left in reaching if left > 1] + new
        if cells:
            yield cells


def _rows(table: Any) -> Iterator[tuple[Any, bool]]:
    for child in table:
        tag = child.tag
        if tag == "tr":
            if not is_hidden(child):
                yield child, False
        elif tag in ("thead", "tbody", "tfoot") and not is_hidden(child):
            for row in child:
                if row.tag == "tr" and not is_hidden(row):
                    yield row, tag == "thead"


def _free_column(column: int, reaching: list[tuple[int, int, int]]) -> int:
    for first, last, _ in sorted(reaching):
        if first <= column < last:
            column = last
    return column


def _span(element: Any, name: str, most: int) -> int:
    """A span as browsers read it: `2;` is 2, and what is no number is 1."""
    given = element.get(name)
    if given is None:
        return 1
    found = _SPAN.match(given)
    return min(max(int(found[1]), 1), most) if found else 1


def _cell(element: Any, start: int, end: int, head: bool, *, is_first: bool) -> GridCell | None:
    has_children = len(element)
    text = text_of(element) if has_children else element.text or ""
    inner = bool(has_children) and next(element.iter("table"), None) is not None
    text = seen_text(text)
    if not inner and (not text or text.isspace()):
        return None
    return GridCell(start, end, text, head, _indent(element, text) + _EMPTY_CELL * start if is_first else 0.0, inner)


def _indent(element: Any, text: str) -> float:
    """How far the text is set in: paddings and margins on the way to it, and the fixed spaces that it begins with."""
    points = 0.0
    while True:
        points += style_of(element).inset
        if (element.text or "").strip(" \t\r\n") or not len(element):
            break
        element = element[0]
    blanks = len(text) - len(text.lstrip())
    return points + 2.5 * sum(character not in " \r\n\t" for character in text[:blanks])


def _inset(style: str) -> float:
    points = 0.0
    for declaration in style.split(";"):
        name, _, value = declaration.partition(":")
        name = name.strip()
        if name in ("padding", "margin"):
            sides = value.split()
            points += _points(sides[3] if len(sides) == 4 else sides[1] if len(sides) > 1 else sides[0]) if sides else 0
        elif name in ("padding-left", "margin-left", "text-indent"):
            points += _points(value)
    return points


def _points(length: str) -> float:
    found = _LENGTH.match(length.strip())
    return float(found[1]) * _POINTS[found[2] or "px"] if found and len(found[1]) < 9 else 0.0
