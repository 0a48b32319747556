"""What an agent finds and reads in documents, and what no query can do."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ThreadPoolExecutor

import pytest
from paper import document_of, table_of

from workgym.envs.finance.library import MAX_HITS, MAX_PIECE_BYTES, Library
from workgym.envs.finance.page_index import MAX_SNIPPET_CHARS, index_of
from workgym.tasks.errors import ActionError

INCOME = table_of(("2024", "2023"), {"Net sales": ("$1,234", "1,100"), "Loss on disposal": ("(56)", "")}, page=2)
REPORT = document_of(
    ("Annual report on Form 10-K", "The company grows vegetables and sells them."),
    ("Results of operations", "[d1:t1: A table, 3 rows, 2 columns]"),
    ("Risk factors: growth may slow.", "Vegetables rot."),
    tables=[INCOME],
)
LETTER = document_of(("A letter on vegetables",), name="d2")


@pytest.fixture
def library() -> Library:
    return Library([REPORT, LETTER])


def pages(library: Library, query: str, **more: object) -> list[tuple[str, int]]:
    return [(hit.doc, hit.page) for hit in library.search(query, **more)]  # type: ignore[arg-type]


def test_a_page_is_found_by_the_stem_of_a_word(library):
    assert pages(library, "growing") == [("d1", 1)]


def test_a_page_need_not_hold_all_words(library):
    assert pages(library, "rotten rot potatoes") == [("d1", 3)]


@pytest.mark.parametrize("query", ["disposal", "net sales", "1,234", "$1,234", "1234", "(1,234)"])
def test_what_a_table_holds_is_found_on_its_page(library, query):
    assert pages(library, query)[0] == ("d1", 2)


def test_a_number_is_not_found_by_its_part(library):
    assert pages(library, "123") == []


def test_a_search_can_be_kept_to_one_document(library):
    assert {doc for doc, _ in pages(library, "vegetables")} == {"d1", "d2"}
    assert pages(library, "vegetables", doc="d2") == [("d2", 1)]


def test_equal_pages_come_by_document_and_page():
    library = Library([document_of(*[("same words",)] * 12, name=name) for name in ("d1", "d2", "d10")])

    found = pages(library, "words", k=20)

    assert found == [("d1", n) for n in range(1, 13)] + [("d2", n) for n in range(1, 9)]


def test_hits_are_bounded_and_so_are_their_snippets():
    library = Library([document_of(*[("word " + "x" * 90 + " ",) * 40] * 30)])

    found = library.search("word", k=MAX_HITS)

    assert len(found) == MAX_HITS
    assert all(len(hit.snippet) <= MAX_SNIPPET_CHARS and "\n" not in hit.snippet for hit in found)


@pytest.mark.parametrize("k", [0, -1, MAX_HITS + 1, 10**9])
def test_a_number_of_hits_out_of_range_is_refused(library, k):
    with pytest.raises(ActionError, match="k must be from 1 to 20"):
        library.search("word", k=k)


HOSTILE = [
    "10-K",
    "$1,234",
    "(1,234)",
    "NEAR(",
    "NEAR(a b, 5)",
    'say "hi',
    '""',
    "a AND",
    "OR",
    "NOT vegetables",
    "body: vegetables",
    "^vegetables",
    "vegetab*",
    "- + * ^ : ( ) { }",
    "'; DROP TABLE pages; --",
    '" OR 1=1 --',
    "nul \x00 here",
    "lone \ud800 surrogate",
    "\u0301",
    "_",
    "",
    " \n\t ",
    "²",
    "日本語",
]


@pytest.mark.parametrize("query", HOSTILE)
def test_no_query_is_an_operator_or_an_error(library, query):
    assert all(hit.doc in ("d1", "d2") for hit in library.search(query))
    assert pages(library, "rot") == [("d1", 3)]  # and the index is as it was


def test_a_form_is_found_by_its_name_with_a_hyphen(library):
    assert pages(library, "10-K") == [("d1", 1)]
    assert pages(library, "NOT rot") == [("d1", 3)]


@pytest.mark.parametrize("query", ["x" * 1_000_000, "a " * 500_000])
def test_an_endless_query_is_refused_in_words(library, query):
    with pytest.raises(ActionError, match="at most 1000 characters, not 1000000"):
        library.search(query)


def test_pages_with_characters_that_no_database_takes_are_searchable():
    library = Library([document_of(("before\x00after lone\ud800surrogate",))])

    assert pages(library, "after") == [("d1", 1)]


def test_an_unknown_document_is_told_with_those_there_are(library):
    for ask in (lambda: library.search("x", doc="d3"), lambda: library.page("d3", 1), lambda: library.table("d3:t1")):
        with pytest.raises(ActionError, match=r"unknown document 'd3'.*d1, d2"):
            ask()


def test_documents_with_the_same_text_share_an_index():
    again = document_of(*(page.lines for page in REPORT.pages), tables=[INCOME])

    assert index_of([REPORT]) is index_of([again])
    assert index_of([REPORT]) is not index_of([REPORT, LETTER])


def test_an_index_serves_other_threads_than_the_one_that_made_it(library):
    wanted = pages(library, "vegetables")

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: pages(library, "vegetables"), range(40))) == [wanted] * 40


def test_an_index_serves_the_child_of_a_fork_even_where_its_lock_was_held(library):
    library.search("vegetables")
    index = index_of([REPORT, LETTER])
    ours, theirs = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=lambda: theirs.send(pages(library, "rot")))
    with index._lock:
        child.start()
    assert ours.poll(20)
    assert ours.recv() == [("d1", 3)]
    child.join()


def test_two_documents_of_one_name_are_refused():
    with pytest.raises(ValueError, match="one name"):
        Library([REPORT, REPORT])


def test_a_page_is_shown_with_the_numbers_of_its_lines(library):
    piece = library.page("d1", 2)

    assert piece.text == "1: Results of operations\n2: [d1:t1: A table, 3 rows, 2 columns]"
    assert (piece.next_line, piece.tables) == (0, ("d1:t1",))


def test_the_pieces_of_a_long_page_are_small_and_hold_all_of_it():
    lines = [f"line {number} " + "é" * (number % 700) for number in range(1, 400)]
    library = Library([document_of(lines)])

    shown, at = [], 1
    while at:
        piece = library.page("d1", 1, at)
        assert piece.first == at
        assert len(piece.text.encode()) <= MAX_PIECE_BYTES
        shown += piece.lines
        at = piece.next_line

    assert shown == lines


def test_a_line_longer_than_a_piece_is_shown_cut_and_says_so():
    piece = Library([document_of(("é" * 10_000, "next " * 99))]).page("d1", 1)

    assert len(piece.text.encode()) <= MAX_PIECE_BYTES
    assert piece.lines[0].endswith("[cut after 2900 of 10000 characters]")
    assert piece.next_line == 2


def test_an_empty_page_is_shown_empty():
    piece = Library([document_of(())]).page("d1", 1)

    assert (piece.text, piece.next_line) == ("", 0)


@pytest.mark.parametrize("number", [0, -1, 4])
def test_a_page_that_is_not_there_is_refused(library, number):
    with pytest.raises(ActionError, match=f"d1 has pages 1 to 3, not {number}"):
        library.page("d1", number)


@pytest.mark.parametrize("line", [0, -1, 3])
def test_a_line_that_is_not_there_is_refused(library, line):
    with pytest.raises(ActionError, match=f"page 2 of d1 has lines 1 to 2, not {line}"):
        library.page("d1", 2, line)


def test_a_table_is_found_by_its_address(library):
    assert library.table("d1:t1") is INCOME


@pytest.mark.parametrize("address", ["d1:t2", "d1:t1!r1c2", "d1:", "d1:t\ud800"])
def test_a_table_that_is_not_there_is_refused_with_those_there_are(library, address):
    with pytest.raises(ActionError, match="it has d1:t1 to d1:t1"):
        library.table(address)


@pytest.mark.parametrize("address", ["t1", "", "1"])
def test_an_address_of_another_form_is_refused_with_an_example(library, address):
    with pytest.raises(ActionError, match="like 'd1:t3'"):
        library.table(address)
