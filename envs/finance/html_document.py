"""A document from an HTML file: its pages, its lines, and its tables.

    document = read_html(data)
    document.tables["d1:t3"].cells["d1:t3!r5c2"].value

It reads what is displayed: tags of inline XBRL are passed over, and what is hidden is in no line and in no table.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from workgym.envs.finance.cell_reader import seen_text
from workgym.envs.finance.document import Document, Page, Table
from workgym.envs.finance.html_grid import MARK, grid_rows, is_hidden, style_of, text_of
from workgym.envs.finance.html_tables import ReadTable, Surroundings, read_table
from workgym.envs.finance.table_periods import ends_of_years
from workgym.envs.finance.table_scales import NO_PHRASE, Phrase, read_phrase
from workgym.tasks.errors import TaskError

__all__ = ["MAX_BYTES", "read_html"]

MAX_BYTES: Final = 64 * 1024 * 1024

_CHARSET: Final = re.compile(rb"(?:encoding|charset)\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE)
_BLOCKS: Final = frozenset(
    ("p", "div", "li", "ul", "ol", "dl", "dt", "dd", "h1", "h2", "h3", "h4", "h5", "h6", "center", "blockquote", "pre")
).union(
    ("section", "article", "header", "footer", "address", "main", "nav", "aside", "tr", "td", "th", "body", "form"),
    ("fieldset", "hr", "br", "figure", "figcaption", "caption"),
)
_N_ABOVE: Final = 8  # lines above a table that may speak of it
_ALL_TABLES: Final = re.compile(
    r"tabular (?:dollar |dollars |amounts |data )*[^()]{0,30}\bin (?:thousands|millions|billions)"
)


@dataclass(slots=True)
class _Item:
    """A line of a page, or a table that stands there."""

    page: int
    words: str
    table: Any = None


def read_html(data: bytes, name: str = "d1", *, european: bool = False, negative_side: str = "") -> Document:
    """Read a document.

    Args:
        data: the file.
        name: of the document, with which every address begins.
        european: its numbers are written 1.234.567,89.
        negative_side: the side, "CR" or "DR", whose amounts are negative; or "".

    Returns:
        Its pages and tables. A cell that looks like a number and is none has the kind "unreadable".

    Raises:
        TaskError: the file is empty, too large, in an unknown encoding, no HTML, or built to exhaust a reader.
    """
    root = _parse(data)
    items = list(_items(root))
    title = " ".join("".join(root.xpath("//head/title//text()")[:1]).split())
    tables = _tables(items, name, european, negative_side)
    return Document(name, title, tuple(_pages(items, tables)), {table.address: table for table in tables.values()})


def _parse(data: bytes) -> Any:
    if not isinstance(data, bytes):
        raise TaskError(f"a document is read from bytes, not from {type(data).__name__}: open the file with 'rb'")
    if not data.strip():
        raise TaskError("the document is empty: it holds no bytes")
    if len(data) > MAX_BYTES:
        raise TaskError(f"the document has {len(data)} bytes; at most {MAX_BYTES} are read")
    text = _decoded(data)
    if "<!entity" in text[:100_000].lower():
        raise TaskError("the document declares entities of its own, which HTML has not: it is not read")
    if not re.search(r"<(?:html|body|div|p|table|span|font|h[1-6])\b", text[:200_000], re.IGNORECASE):
        raise TaskError("the document is no HTML: there is no element in it that holds text")
    from lxml import etree

    parser = etree.HTMLParser(encoding="utf-8", no_network=True, huge_tree=False, remove_comments=True, remove_pis=True)
    try:
        root = etree.fromstring(text.encode(), parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise TaskError(f"the document cannot be read as HTML: {error}") from error
    if root is None:
        raise TaskError("the document cannot be read as HTML: nothing is in it")
    for entry in parser.error_log:
        if entry.type_name == "ERR_RESOURCE_LIMIT" or "XML_PARSE_HUGE" in entry.message:
            raise TaskError(f"the document is nested too deeply or too large to be read: {entry.message}")
    return root


def _decoded(data: bytes) -> str:
    """The text of a file: by its mark of byte order, as UTF-8, as it declares itself, and else as Windows writes it.

    What cannot be read in the encoding that a file declares becomes U+FFFD, and a cell with it in it is unreadable.
    """
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if data.startswith(mark):
            return _checked(data.decode(encoding, errors="replace"))
    declared = _CHARSET.search(data[:4096])
    encoding = declared[1].decode("ascii").lower() if declared else ""
    try:
        return _checked(data.decode("utf-8"))
    except UnicodeDecodeError:
        pass
    if encoding in ("", "ascii", "us-ascii", "iso-8859-1", "latin-1", "latin1"):
        encoding = "windows-1252"
    try:
        return _checked(data.decode(encoding, errors="replace"))
    except LookupError as error:
        raise TaskError(f"the document declares the encoding {encoding!r}, which is not known") from error


def _checked(text: str) -> str:
    if "\x00" in text:
        raise TaskError("the document holds NUL characters: it is a binary file, or in another encoding than it says")
    return text.replace(MARK, "\ufffd")


def _items(root: Any) -> Iterator[_Item]:
    """The lines and tables of a document in order, tables within tables after the one that holds them."""
    return iter(_Walk().through(root))


class _Walk:
    """One walk through a document: words gather until an element of its own line begins or ends."""

    def __init__(self) -> None:
        self._page = 1
        self._words: list[str] = []
        self._items: list[_Item] = []
        self._fresh = True  # nothing stands on the page yet: another break makes no other page

    def through(self, root: Any) -> list[_Item]:
        """Walk through all that is seen."""
        self._enter(root)
        self._end_line()
        return self._items

    def _enter(self, element: Any) -> None:
        """Depth is bounded by the parser, which refuses trees deeper than 256."""
        if is_hidden(element):
            return
        tag = element.tag
        breaks = style_of(element).breaks
        if "before" in breaks:
            self._break_page()
        if tag == "table":
            self._end_line()
            self._add_table(element)
        else:
            self._enter_words(element, tag)
        if "after" in breaks:
            self._break_page()

    def _enter_words(self, element: Any, tag: str) -> None:
        block = tag in _BLOCKS
        if block:
            self._end_line()
        if element.text:
            self._words.append(element.text)
        raised = tag == "sup"
        for child in element:
            if raised or child.tag == "sup":
                self._words.append("" if is_hidden(child) else text_of(child))
            else:
                self._enter(child)
            if child.tail:
                self._words.append(child.tail)
        if block:
            self._end_line()

    def _break_page(self) -> None:
        self._end_line()
        if not self._fresh:
            self._page += 1
            self._fresh = True

    def _end_line(self) -> None:
        if not self._words:
            return
        words = " ".join(seen_text("".join(self._words)).replace(MARK, "").split())
        self._words.clear()
        if words:
            self._items.append(_Item(self._page, words))
            self._fresh = False

    def _add_table(self, element: Any) -> None:
        for caption in element.iterchildren("caption"):
            words = " ".join(text_of(caption).replace(MARK, "").split())
            if words and not is_hidden(caption):
                self._items.append(_Item(self._page, words))
        self._items.append(_Item(self._page, "", element))
        self._fresh = False
        for inner in element.iter("table"):
            if inner is not element and next(inner.iterancestors("table")) is element and _is_seen(inner, element):
                self._add_table(inner)


def _is_seen(inner: Any, outer: Any) -> bool:
    for element in (inner, *inner.iterancestors()):
        if element is outer:
            return True
        if is_hidden(element):
            return False
    return True


def _tables(items: list[_Item], name: str, european: bool, negative_side: str) -> dict[int, Table]:
    """Place among the items -> the table that stands there."""
    lines = [item.words for item in items if item.table is None]
    year = ends_of_years(lines[:200])
    phrase = _phrase_of_all(lines)
    running = _running_heads(items)
    tables: dict[int, Table] = {}
    before: ReadTable | None = None
    above: list[str] = []
    for place, item in enumerate(items):
        if item.table is None:
            if place not in running:
                above.append(item.words)
            continue
        around = Surroundings(
            address=f"{name}:t{len(tables) + 1}",
            page=item.page,
            above=tuple(above[: -_N_ABOVE - 1 : -1]),
            year=year,
            currency="USD",
            phrase=phrase,
            before=before,
            european=european,
            negative_side=negative_side,
        )
        before = read_table(grid_rows(item.table), around)
        tables[place] = before.table
        above = []
    return tables


def _phrase_of_all(lines: list[str]) -> Phrase:
    """What a document says of all its tables: "Tabular amounts in millions"."""
    for line in lines:
        if "abular" in line and _ALL_TABLES.search(line.lower()):
            return read_phrase(line)
    return NO_PHRASE


def _running_heads(items: list[_Item]) -> set[int]:
    """The places of the heads and feet of pages: first and last lines that stand on three pages or more."""
    ends: dict[int, list[int]] = {}
    for place, item in enumerate(items):
        ends.setdefault(item.page, []).append(place)
    edge = [place for places in ends.values() for place in {places[0], places[-1]} if items[place].table is None]
    counts = Counter(_without_digits(items[place].words) for place in edge)
    return {place for place in edge if counts[_without_digits(items[place].words)] >= 3}


def _without_digits(words: str) -> str:
    return re.sub(r"[0-9]+", "#", words)


def _pages(items: list[_Item], tables: dict[int, Table]) -> Iterator[Page]:
    last = max((item.page for item in items), default=1)
    lines: dict[int, list[str]] = {page: [] for page in range(1, last + 1)}
    handles: dict[int, list[str]] = {page: [] for page in lines}
    for place, item in enumerate(items):
        if item.table is None:
            lines[item.page].append(item.words)
            continue
        table = tables[place]
        title = f"{table.title}, " if table.title else ""
        size = f"{len(table.rows)} rows, {len(table.headings)} columns"
        lines[item.page].append(f"[{table.address}: {title}{size}]")
        handles[item.page].append(table.address)
    for page in lines:
        yield Page(page, tuple(lines[page]), tuple(handles[page]))
