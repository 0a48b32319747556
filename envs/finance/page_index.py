"""The pages of some documents, searchable: SQLite's FTS5 in memory, ranked by BM25.

An index lasts as long as somebody asks for the same documents, over episodes, and serves every thread.
"""

from __future__ import annotations

import os
import re
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

import numpy as np
from numpy.typing import NDArray

from workgym.envs.finance.document import Document, Page, Table

__all__ = ["MAX_QUERY_CHARS", "MAX_SNIPPET_CHARS", "Found", "IndexedPage", "PageIndex", "index_of", "words_of"]

MAX_QUERY_CHARS: Final = 1000
MAX_SNIPPET_CHARS: Final = 300

_N_KEPT: Final = 16
_N_WORDS_KEPT: Final = 2048
_N_TELLING: Final = 4  # words that a snippet is chosen for: those that say most of its page
_BEFORE_CHARS: Final = 60  # of a snippet, before the word that it is chosen for
_UNREADABLE: Final = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
_GROUPED: Final = re.compile(r"[0-9][0-9,]*,[0-9]{3}(?![0-9])")

_MAKE: Final = "CREATE VIRTUAL TABLE pages USING fts5(body, numbers, content = '', tokenize = 'porter unicode61')"
_FIND: Final = "SELECT rowid, rank FROM pages WHERE pages MATCH ?"

_Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Found:
    """A page that a query found: the document's name, the page's number, and words of it."""

    doc: str
    page: int
    snippet: str


@dataclass(frozen=True, slots=True)
class IndexedPage:
    """A page of the index: its document, its number, all that is read on it in one line."""

    doc: str
    page: int
    text: str


class PageIndex:
    """An index of pages. Safe to use from many threads, and after a fork.

    Args:
        rows: the pages, in order of documents and numbers.

    Attributes:
        rows: the same.
    """

    def __init__(self, rows: Sequence[IndexedPage]) -> None:
        self.rows: Final = rows
        self._docs: Final = np.array([row.doc for row in rows])
        self._begin()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._made: sqlite3.Connection | None = None
        self._scores: OrderedDict[str, _Scores] = OrderedDict()  # word -> what it adds to each page

    def search(self, query: str, doc: str, k: int) -> list[Found]:
        """Find the `k` best pages, of one document or of all where `doc` is ""; ties go by document and page."""
        words = words_of(query)
        if not words or not self.rows:
            return []
        if self._pid != os.getpid():  # a connection is not for the child of a fork, nor a lock that was held there
            self._begin()
        with self._lock:
            scores = np.array([self._scores_of(word) for word in words])
        total = scores.sum(axis=0)  # BM25 of several words is the sum over the words
        if doc:
            total[self._docs != doc] = 0.0
        best = [at for at in np.argsort(-total, kind="stable")[:k].tolist() if total[at] > 0]
        marks = [_mark(word) for word in words]
        telling = np.argsort(-scores[:, best], axis=0, kind="stable")[:_N_TELLING].T.tolist()
        return [
            Found(row.doc, row.page, _snippet(row.text, [marks[number] for number in numbers]))
            for row, numbers in zip((self.rows[at] for at in best), telling, strict=True)
        ]

    def _scores_of(self, word: str) -> _Scores:
        if word in self._scores:
            self._scores.move_to_end(word)
            return self._scores[word]
        pages = self._made = self._made or self._make()
        scores = np.zeros(len(self.rows))
        for row, rank in pages.execute(_FIND, ('"' + word.replace('"', '""') + '"',)):
            scores[row] = -rank
        self._scores[word] = scores
        if len(self._scores) > _N_WORDS_KEPT:
            self._scores.popitem(last=False)
        return scores

    def _make(self) -> sqlite3.Connection:
        pages = sqlite3.connect(":memory:", check_same_thread=False)
        pages.execute(_MAKE)
        pages.executemany(
            "INSERT INTO pages (rowid, body, numbers) VALUES (?, ?, ?)",
            ((number, row.text, _whole_numbers(row.text)) for number, row in enumerate(self.rows)),
        )
        return pages


def words_of(query: str) -> list[str]:
    """What a query looks for: what stands between its spaces, lower case, each once, if it holds a letter or a digit.

    To FTS5 each is one phrase in quotes, so that none is an operator: `10-K` is "10" before "K", `$1,234` "1" before
    "234".
    """
    words = dict.fromkeys(_UNREADABLE.sub(" ", query).lower().split())
    return [word for word in words if any(map(str.isalnum, word))]


def _mark(word: str) -> str:
    """What to look for in a text as it stands: the beginning of the word, whatever its ending; a number with commas."""
    bare = word.strip(".,;:?!()[]'\"$%")
    if bare.isascii() and bare.isdecimal() and 4 < len(bare) < 20:
        return f"{int(bare):,}"
    return bare[: max(4, len(bare) - 3)] if bare.isalpha() else bare


def _snippet(text: str, marks: Sequence[str]) -> str:
    """The piece of a text that holds most of what is looked for, of at most `MAX_SNIPPET_CHARS` characters."""
    low = text.lower()
    room = MAX_SNIPPET_CHARS - 8
    start, most = 0, 0
    for at in map(low.find, marks):
        first = max(0, at - _BEFORE_CHARS)
        piece = low[first : first + room]
        n_held = sum([mark in piece for mark in marks])
        if n_held > most:
            start, most = first, n_held
    piece = text[start : start + room]
    if start:
        piece = "... " + piece.partition(" ")[2]
    if start + room < len(text):
        piece = piece.rpartition(" ")[0] + " ..."
    return " ".join(piece.split())


def index_of(documents: Sequence[Document]) -> PageIndex:
    """The index of these documents; the same one for documents with the same text."""
    rows = [
        IndexedPage(document.name, page.number, _text_of(page, document))
        for document in documents
        for page in document.pages
    ]
    key = _digest(rows)
    with _shelf_lock:
        index = _shelf.setdefault(key, PageIndex(rows))
        _shelf.move_to_end(key)
        if len(_shelf) > _N_KEPT:
            _shelf.popitem(last=False)
        return index


def _digest(rows: Sequence[IndexedPage]) -> bytes:
    digest = blake2b(digest_size=16)
    for row in rows:
        digest.update(f"{row.doc}\0{row.page}\0{len(row.text)}\0{row.text}".encode())
    return digest.digest()


def _text_of(page: Page, document: Document) -> str:
    """The lines of a page, and what its tables hold where they stand, in one line."""
    tables = {f"[{address}": document.tables[address] for address in page.tables}
    texts = []
    for line in page.lines:
        texts.append(line)
        table = tables.pop(line.partition(": ")[0], None)
        if table is not None:
            texts += _texts_of(table)
    for table in tables.values():
        texts += _texts_of(table)
    text = " ".join(texts)
    return text if text.isprintable() else _UNREADABLE.sub(" ", text)


def _texts_of(table: Table) -> list[str]:
    rows = (" ".join((row.label, *(cell.text for cell in row.cells))) for row in table.rows)
    return [table.caption, *rows]


def _whole_numbers(text: str) -> str:
    """Numbers with commas once more without them: who looks for 1234 finds 1,234."""
    return " ".join(match.replace(",", "") for match in _GROUPED.findall(text))


def _renew_lock() -> None:
    global _shelf_lock
    _shelf_lock = threading.Lock()


_shelf: Final[OrderedDict[bytes, PageIndex]] = OrderedDict()
_shelf_lock = threading.Lock()
os.register_at_fork(after_in_child=_renew_lock)
