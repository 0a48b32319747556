"""The cost of making filings, of reading them and of searching them."""

from __future__ import annotations

import re
import statistics
import time
from collections.abc import Iterator, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import numpy as np

from workgym.benchmarks.perf.lines import Line, Skip, cpu_of, in_turn, ms, peer, ratio, value
from workgym.envs.finance.document import Document, Page
from workgym.envs.finance.html_document import read_html
from workgym.envs.finance.library import Library
from workgym.envs.finance.page_index import PageIndex, index_of
from workgym.tasks.finance.filing import plan_filing
from workgym.tasks.finance.ledger import draw_ledger
from workgym.tasks.finance.questions import draw_question
from workgym.tasks.finance.render.html import render_html
from workgym.tasks.finance.statements import Cell, cells_by_address
from workgym.tasks.finance.structure import draw_structure

__all__ = ["Filings", "build_index", "generate", "query_index", "read_tables"]

_LEVEL: Final = 2
_TOP: Final = 10
_N_QUESTIONS: Final = 12  # a filing
_WORD: Final = re.compile(r"\w+")
_FILING: Final = Path("filings", "aapl-10-k-2024-11-01.html")


class Filings:
    """Generated filings with at least so many pages, their documents, and questions on them."""

    def __init__(self, n_pages: int) -> None:
        self.documents: list[Document] = []
        self.questions: list[tuple[str, set[tuple[str, int]]]] = []  # text, pages that show an operand
        while sum(len(document.pages) for document in self.documents) < n_pages:
            name = f"d{len(self.documents) + 1}"
            structure = draw_structure(len(self.documents)).at_level(_LEVEL)
            filing, ledger = plan_filing(structure, _LEVEL, name), draw_ledger(structure, 0)
            document = read_html(render_html(filing, ledger), name)
            self.documents.append(document)
            cells = cells_by_address(filing.tables)
            for seed in range(_N_QUESTIONS):
                question = draw_question(structure, ledger, seed, _LEVEL)
                self.questions.append((question.text, _pages_of(set(question.operands), cells, document)))


def _pages_of(facts: set[Any], cells: dict[str, Cell], document: Document) -> set[tuple[str, int]]:
    addresses = (address.partition("!")[0] for address, cell in cells.items() if cell.fact in facts)
    return {(document.name, document.tables[address].page) for address in addresses}


def read_tables(n_rounds: int, data: Path) -> Iterator[Line]:
    """All tables of a real filing: its cells with their meaning, and the frames that pandas makes of them."""
    pandas = peer("pandas")
    file = data / _FILING
    if not file.exists():
        raise Skip(f"no {_FILING} below {data}; WORKGYM_TEST_DATA names the folder that holds it")
    content = file.read_bytes()
    n_read, n_theirs = len(read_html(content).tables), len(pandas.read_html(BytesIO(content), flavor="lxml"))
    ours, theirs = in_turn(
        n_rounds, lambda: read_html(content), lambda: pandas.read_html(BytesIO(content), flavor="lxml")
    )
    yield ratio("tables_over_pandas", ours, theirs, 3.0) | {"tables": n_read, "pandas_tables": n_theirs}


def build_index(n_rounds: int, filings: Filings) -> Iterator[Line]:
    """An index of all pages: of their texts, as the peer makes one, and of their documents."""
    bm25 = peer("rank_bm25")
    rows = index_of(filings.documents).rows
    ours, theirs = in_turn(
        n_rounds,
        lambda: PageIndex(rows).search("zzzz", "", 1),
        lambda: bm25.BM25Okapi([_words(row.text) for row in rows]),
    )
    yield ratio("index_over_rank_bm25", ours, theirs, 1.5) | {"pages": len(rows)}
    whole = [cpu_of(partial(_search_fresh, filings, f"index {number}")) for number in range(n_rounds)]
    yield value("index", statistics.median(whole) * 300 / len(rows), "CPU-s for 300 pages", 0.3)


def query_index(n_rounds: int, filings: Filings) -> Iterator[Line]:
    """Each question once on a fresh index; its `again_ms` is of the second time."""
    bm25 = peer("rank_bm25")
    texts = _texts(filings)
    places = [(document.name, page.number) for document in filings.documents for page in document.pages]
    theirs = bm25.BM25Okapi([_words(text) for text in texts])

    def search_theirs(query: str) -> list[tuple[str, int]]:
        best = np.argsort(-theirs.get_scores(_words(query)), kind="stable")[:_TOP]
        return [places[at] for at in best]

    costs: list[tuple[float, float, float]] = []
    for number in range(n_rounds):
        library = _search_fresh(filings, f"query {number}")
        search = partial(_ask_all, library, filings)
        once, again = cpu_of(search), cpu_of(search)
        costs.append((once, again, cpu_of(lambda: [search_theirs(text) for text, _ in filings.questions])))
    once, again, other = (statistics.median(cost) / len(filings.questions) for cost in zip(*costs, strict=True))
    found = _ask_all(Library(filings.documents), filings)
    found_theirs = [search_theirs(text) for text, _ in filings.questions]
    yield ratio("query_over_rank_bm25", once, other, 1.5) | {
        "ours_ms": ms(once),
        "again_ms": ms(again),
        "theirs_ms": ms(other),
        "queries": len(filings.questions),
        "recall": _recall(found, filings),
        "theirs_recall": _recall(found_theirs, filings),
    }


def _search_fresh(filings: Filings, word: str) -> Library:
    """A library that nobody has searched: a page more makes it another, and is nothing beside the others."""
    library = Library([*filings.documents, Document("more", "", (Page(1, (word,), ()),), {})])
    library.search("zzzz")
    return library


def _ask_all(library: Library, filings: Filings) -> list[list[tuple[str, int]]]:
    hits = (library.search(text, k=_TOP) for text, _ in filings.questions)
    return [[(hit.doc, hit.page) for hit in found] for found in hits]


def _texts(filings: Filings) -> list[str]:
    """What a page holds for the peer: its lines and its tables' cells, as our index has them."""
    return [row.text for row in index_of(filings.documents).rows]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _recall(found: Sequence[Sequence[tuple[str, int]]], filings: Filings) -> float:
    """Share of the questions of which a page that shows an operand is among those found."""
    hits = [bool(set(pages) & wanted) for pages, (_, wanted) in zip(found, filings.questions, strict=True)]
    return round(sum(hits) / len(hits), 3)


def generate(n_rounds: int, n_pages: int) -> Iterator[Line]:
    """Filings with their truth: structure, books, plan, the fact behind each cell, HTML."""
    seeds = iter(range(1000, 10**9))
    costs = []
    for _ in range(n_rounds):
        made, began = 0, time.process_time()
        while made < n_pages:
            structure = draw_structure(next(seeds)).at_level(_LEVEL)
            filing, ledger = plan_filing(structure, _LEVEL), draw_ledger(structure, 0)
            cells_by_address(filing.tables)
            render_html(filing, ledger)
            made += len(filing.pages)
        costs.append((time.process_time() - began) * 300 / made)
    yield value("generate", statistics.median(costs), "CPU-s for 300 pages", 1.0)
