"""The documents of an episode as its agent reaches them: search, pages in pieces, tables by address."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from workgym.envs.finance.document import Document, Page, Table
from workgym.envs.finance.page_index import MAX_QUERY_CHARS, Found, PageIndex, index_of
from workgym.tasks.errors import ActionError
from workgym.tasks.naming import unknown_name

__all__ = ["MAX_HITS", "MAX_PIECE_BYTES", "Hit", "Library", "Piece"]

MAX_HITS: Final = 20
MAX_PIECE_BYTES: Final = 6000
"""Of the text of one piece of a page."""

_MAX_LINE_BYTES: Final = 5800  # a line alone, with its number and what is said of its cut, still fits

Hit = Found


@dataclass(frozen=True, slots=True)
class Piece:
    """Some lines of a page, as many as are shown at once.

    Attributes:
        doc: name of the document.
        page: number of the page.
        first: number of the first line; 0 on a page without lines.
        lines: as they are shown.
        next_line: where the next piece begins; 0 after the last.
        tables: addresses of the tables that begin on the page.
    """

    doc: str
    page: int
    first: int
    lines: tuple[str, ...]
    next_line: int
    tables: tuple[str, ...]

    @property
    def text(self) -> str:
        """The lines, each behind its number."""
        return "\n".join(map(_numbered, range(self.first, self.first + len(self.lines)), self.lines))


class Library:
    """Some documents. Holds no state of an episode.

    Args:
        documents: in the order in which they are listed; no two of one name.

    Raises:
        ValueError: two documents have the same name.
    """

    def __init__(self, documents: Sequence[Document]) -> None:
        self.documents: Final = {document.name: document for document in documents}
        if len(self.documents) < len(documents):
            raise ValueError(f"two documents have one name: {', '.join(document.name for document in documents)}")
        self._index: PageIndex | None = None  # made with the first search: not every episode searches

    def search(self, query: str, doc: str = "", k: int = 10) -> list[Hit]:
        """Find the pages that say most of what is asked for; what tables hold counts as said on their page.

        Args:
            query: words, of which a page need not hold all; none of them is an operator.
            doc: name of a document; all of them if "".
            k: how many pages at most.

        Returns:
            The best first; ties by document and page.

        Raises:
            ActionError: there is no such document, `k` is out of range, or the query is too long.
        """
        if doc:
            self._document(doc)
        if not 1 <= k <= MAX_HITS:
            raise ActionError(f"k must be from 1 to {MAX_HITS}, not {k}")
        if len(query) > MAX_QUERY_CHARS:
            raise ActionError(f"a query has at most {MAX_QUERY_CHARS} characters, not {len(query)}")
        if self._index is None:
            self._index = index_of(tuple(self.documents.values()))
        return self._index.search(query, doc, k)

    def page(self, doc: str, number: int, from_line: int = 1) -> Piece:
        """Show a page, or the piece of it that begins at a line.

        Args:
            doc: name of the document.
            number: of the page, from 1.
            from_line: from 1.

        Returns:
            At most `MAX_PIECE_BYTES` of text. A line that is longer than that is shown cut.

        Raises:
            ActionError: there is no such document, page or line.
        """
        page = self._page(doc, number)
        if not page.lines and from_line == 1:
            return Piece(doc, number, 0, (), 0, page.tables)
        if not 1 <= from_line <= len(page.lines):
            raise ActionError(f"page {number} of {doc} has lines 1 to {len(page.lines)}, not {from_line}")
        lines: list[str] = []
        n_bytes = 0
        for at, line in enumerate(page.lines[from_line - 1 :], from_line):
            shown = _cut(line)
            n_bytes += _size(_numbered(at, shown)) + 1
            if n_bytes > MAX_PIECE_BYTES and lines:
                break
            lines.append(shown)
        after = from_line + len(lines)
        return Piece(doc, number, from_line, tuple(lines), after if after <= len(page.lines) else 0, page.tables)

    def table(self, address: str) -> Table:
        """A table by its address, "d1:t3".

        Raises:
            ActionError: there is no such table.
        """
        doc, colon, _ = address.partition(":")
        if not colon:
            raise ActionError(f"a table's address is like 'd1:t3', not {address!r}")
        tables = self._document(doc).tables
        if address not in tables:
            raise ActionError(f"{doc} has no table {address!r}; {_range_of_tables(doc, len(tables))}")
        return tables[address]

    def _document(self, doc: str) -> Document:
        if doc not in self.documents:
            raise ActionError(unknown_name("document", doc, self.documents))
        return self.documents[doc]

    def _page(self, doc: str, number: int) -> Page:
        pages = self._document(doc).pages
        if not 1 <= number <= len(pages):
            raise ActionError(f"{doc} has pages 1 to {len(pages)}, not {number}")
        return pages[number - 1]


def _numbered(number: int, line: str) -> str:
    return f"{number}: {line}"


def _size(text: str) -> int:
    return len(text.encode(errors="replace"))


def _cut(line: str) -> str:
    n_bytes = _size(line)
    if n_bytes <= _MAX_LINE_BYTES:
        return line
    kept = line.encode(errors="replace")[:_MAX_LINE_BYTES].decode(errors="ignore")
    return f"{kept} [cut after {len(kept)} of {len(line)} characters]"


def _range_of_tables(doc: str, n_tables: int) -> str:
    return f"it has {doc}:t1 to {doc}:t{n_tables}" if n_tables else "it has none"
