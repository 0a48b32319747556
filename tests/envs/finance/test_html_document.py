"""Documents from HTML: pages, lines, what is hidden, and files that are no documents."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from workgym.envs.finance.html_document import MAX_BYTES, read_html
from workgym.tasks.errors import TaskError

pytest.importorskip("lxml")


def lines_of(body: str) -> list[tuple[str, ...]]:
    return [page.lines for page in read_html(f"<html><body>{body}</body></html>".encode()).pages]


def kinds(data: bytes) -> dict[str, str]:
    document = read_html(data)
    return {cell.text: cell.kind for table in document.tables.values() for cell in table.cells.values()}


def test_a_paragraph_is_a_line_and_a_table_is_one_with_its_address() -> None:
    body = "<h1>Item 8</h1><p>One <b>bold</b>\nword.</p><div>Sales<div>inner</div>after</div><p>Balance Sheet</p>"
    body += "<table><tr><td></td><td>2023</td></tr><tr><td>Cash</td><td>5</td></tr></table><p>End</p>"
    assert lines_of(body) == [
        (
            *("Item 8", "One bold word.", "Sales", "inner", "after", "Balance Sheet"),
            *("[d1:t1: Balance Sheet, 2 rows, 1 columns]", "End"),
        )
    ]


@pytest.mark.parametrize(
    "mark",
    [
        '<hr style="page-break-after:always"/>',
        '<hr style="break-after: page">',
        '<div style="page-break-before: always"></div>',
        '<p style="margin:0;PAGE-BREAK-BEFORE:ALWAYS"></p>',
        '<div style="break-before:page"></div>',
        '<hr style="page-break-after:always"/><hr style="page-break-after:always"/>',
    ],
)
def test_marks_of_page_breaks_part_pages(mark: str) -> None:
    assert lines_of(f"<p>a</p>{mark}<p>b</p>") == [("a",), ("b",)]


def test_a_block_that_breaks_before_itself_begins_the_page() -> None:
    body = (
        '<div style="page-break-before:always"><p>a</p></div><div style="page-break-before:always;x:y"><p>b</p></div>'
    )
    assert lines_of(body) == [("a",), ("b",)]


def test_a_table_knows_the_page_that_it_begins_on_and_takes_the_name_of_the_document() -> None:
    table = "<table><tr><td>a</td><td>1</td></tr></table>"
    document = read_html(f"{table}<hr style='page-break-after:always'>{table}{table}".encode(), "d7")
    assert [table.page for table in document.tables.values()] == [1, 2, 2]
    assert document.pages[1].tables == ("d7:t2", "d7:t3")
    assert list(document.tables["d7:t3"].cells) == ["d7:t3!r1c2"]


def test_what_is_hidden_is_in_no_line_and_in_no_cell() -> None:
    body = (
        "<p hidden>secret1</p><p style='color:red; Display : NONE'>secret2</p><script>secret3</script><!-- secret4 -->"
    )
    body += (
        "<div style='visibility:hidden'>secret5</div><style>secret6</style><span style='font-size:0px'>secret7</span>"
    )
    body += "<ix:header><ix:hidden><ix:nonfraction>secret8</ix:nonfraction></ix:hidden></ix:header><?pi secret9?>"
    body += "<table><tr><td>Cash<!-- secret10 --></td><td><span style='display:none'>9</span>"
    body += (
        "<ix:nonfraction>5</ix:nonfraction></td></tr><tr style='display:none'><td>secret11</td><td>6</td></tr></table>"
    )
    body += "<table hidden><tr><td>secret12</td></tr></table>"
    document = read_html(f"<html><body>{body}</body></html>".encode())
    assert "secret" not in repr(document)
    assert [cell.text for cell in document.tables["d1:t1"].cells.values()] == ["5"]
    assert list(document.tables) == ["d1:t1"]


def test_the_title_is_that_of_the_head() -> None:
    assert read_html(b"<html><head><title>A  10-K</title></head><body><p>x</p></body></html>").title == "A 10-K"
    assert read_html(b"<p>x</p>").title == ""


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b" \r\n\t", "empty"),
        (b"%PDF-1.7 text", "no HTML"),
        (b'{"a": 1}', "no HTML"),
        (b"PK\x03\x04\x00\x00", "NUL"),
        (b"<html><body>a\x00b</body></html>", "NUL"),
        (b"<html><head><meta charset='klingon'></head><body>\xff</body></html>", "klingon"),
        (b"<html><body>" + b"<div>" * 5000 + b"x", "nested too deeply"),
        (b'<!DOCTYPE html [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><html><body>&b;</body></html>', "entities"),
        (b"<table><tr>" + b"<td colspan=1000>5</td>" * 5000 + b"</tr></table>", "columns"),
        (b"<table>" + b"<tr><td rowspan=65534>a</td><td>5</td></tr>" * 2100 + b"</table>", "reach into one row"),
    ],
)
def test_what_is_no_document_is_refused_with_the_reason(data: bytes, words: str) -> None:
    with pytest.raises(TaskError, match=words):
        read_html(data)


def test_a_file_that_is_too_large_is_refused_unread() -> None:
    with pytest.raises(TaskError, match="bytes"):
        read_html(b"<p>" + b"x" * MAX_BYTES)


def test_entities_that_nobody_declared_stay_words() -> None:
    assert lines_of("<p>&xxe; &amp; &#8217;</p>") == [("&xxe; & \u2019",)]


@pytest.mark.parametrize("span", ["2;", "2", " 2 ", "2.5"])
def test_a_span_is_read_as_browsers_read_it(span: str) -> None:
    table = f"<table><tr><td></td><td colspan='{span}'>2023</td><td colspan='{span}'>2022</td></tr>"
    table += "<tr><td>Cash</td><td>$</td><td>5</td><td>$</td><td>4</td></tr></table>"
    read = read_html(table.encode()).tables["d1:t1"]
    assert read.headings == ("2023", "2022")
    assert [cell.period for cell in read.rows[1].cells] == ["2023", "2022"]


@pytest.mark.xdist_group("alone")
def test_a_span_of_ten_thousand_costs_nothing() -> None:
    row = b"<tr><td colspan='10000'>Cash</td><td rowspan='10000'>5</td></tr>"
    started = time.process_time()
    assert kinds(b"<table>" + row * 300 + b"</table>") == {"5": "amount"}
    assert time.process_time() - started < 2


def test_a_table_within_a_table_is_one_of_its_own_and_its_cell_is_unreadable() -> None:
    inner = "<table><tr><td>Debt</td><td>7</td></tr></table>"
    body = f"<table><tr><td>Cash</td><td>5 {inner}</td><td>6</td></tr></table><p>after</p>"
    document = read_html(f"<html><body>{body}</body></html>".encode())
    assert [(cell.address, cell.text, cell.kind) for cell in document.tables["d1:t1"].cells.values()] == [
        ("d1:t1!r1c2", "5", "unreadable"),
        ("d1:t1!r1c3", "6", "amount"),
    ]
    assert [cell.value for cell in document.tables["d1:t2"].cells.values()] == [7]
    assert document.pages[0].lines == ("[d1:t1: 1 rows, 2 columns]", "[d1:t2: 1 rows, 1 columns]", "after")


def test_a_cell_in_another_encoding_than_declared_is_unreadable() -> None:
    data = b"<html><head><meta charset='utf-8'></head><body><table>"
    data += b"<tr><td>Cash</td><td>1\xa0000</td><td>5</td></tr></table>"
    assert kinds(data) == {"1\ufffd000": "unreadable", "5": "amount"}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "windows-1252"])
def test_usual_encodings_are_read(encoding: str) -> None:
    data = "<html><body><p>Company\u2019s</p><table><tr><td>a</td><td>\u2014</td></tr></table></body></html>".encode(
        encoding
    )
    document = read_html(data)
    assert document.pages[0].lines[0] == "Company\u2019s"
    assert document.tables["d1:t1"].cells["d1:t1!r1c2"].value == 0


def test_no_number_in_a_cell_becomes_zero() -> None:
    data = b"<table><tr><td>Cash</td><td>NaN</td><td>1,23</td><td>#REF!</td><td>5</td></tr></table>"
    assert kinds(data) == {"NaN": "unreadable", "1,23": "unreadable", "#REF!": "unreadable", "5": "amount"}


def test_rows_that_are_never_closed_are_read() -> None:
    document = read_html(b"<table><tr><td>Cash<td>5<tr><td>Debt<td>(7)</table>")
    assert [cell.value for cell in document.tables["d1:t1"].cells.values()] == [5, -7]


def test_importing_the_package_loads_no_parser() -> None:
    code = "import sys, workgym, workgym.envs.finance.html_document; sys.exit('lxml' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
