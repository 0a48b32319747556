"""Captions, currencies, notes, labels and periods as trials on filings of many companies met them."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from workgym.envs.finance.cell_reader import read_cell
from workgym.envs.finance.document import Table
from workgym.envs.finance.html_document import read_html
from workgym.envs.finance.table_currencies import currency_in_heading
from workgym.envs.finance.table_scales import caption_of, read_phrase

pytest.importorskip("lxml")

TABLES = Path(__file__).parent / "tables"


def tables_in(name: str) -> list[Table]:
    return list(read_html((TABLES / f"{name}.html").read_bytes()).tables.values())


def table_of(body: str) -> Table:
    return next(iter(read_html(f"<html><body>{body}</body></html>".encode()).tables.values()))


@pytest.mark.parametrize(
    ("line", "money", "currency"),
    [
        *(("EUR millions", 10**6, "EUR"), ("€ millions", 10**6, "EUR"), ("US$ millions", 10**6, "USD")),
        *(("€m", 10**6, "EUR"), ("RMB'000", 10**3, "CNY"), ("£ in thousands", 10**3, "GBP"), ("¥ bn", 10**9, "JPY")),
        *(("(Amounts in thousands of Renminbi)", 10**3, "CNY"), ("Millions of Japanese yen", 10**6, "JPY")),
        *(("(in millions of pounds sterling)", 10**6, "GBP"), ("(In thousands of Canadian dollars)", 10**3, "CAD")),
        *(("Expressed in Swiss francs, in millions", 10**6, "CHF"), ("(A$ in millions)", 10**6, "AUD")),
        *(("(in HK$ millions, except per share data)", 10**6, "HKD"), ("(in CAD thousands)", 10**3, "CAD")),
        *(("(In euros)", 1, "EUR"), ("(in dollars)", 1, ""), ("$ millions", 10**6, ""), ("(In millions)", 10**6, "")),
    ],
)
def test_a_caption_says_its_scale_and_its_currency(line: str, money: int, currency: str) -> None:
    phrase = read_phrase(caption_of(line))
    assert (phrase.money, phrase.currency) == (Decimal(money), currency)


@pytest.mark.parametrize(
    "line",
    ["Millions of customers trust us.", "Euro notes fell in 2023.", "In euro terms, sales grew.", "EUR 5 million"],
)
def test_a_line_that_only_speaks_of_millions_or_a_currency_is_no_caption(line: str) -> None:
    assert caption_of(line) == ""


@pytest.mark.parametrize(
    ("heading", "currency"),
    [
        *(("December 31, 2022 NT$", "TWD"), ("2023 (US$ millions)", "USD"), ("2023 RMB'000", "CNY")),
        *(("2023 (in millions of euros)", "EUR"), ("Euro notes", ""), ("EUR %", ""), ("2023", ""), ("Try", "")),
    ],
)
def test_a_heading_names_the_currency_that_it_ends_in(heading: str, currency: str) -> None:
    assert currency_in_heading(heading) == currency


def test_a_caption_without_in_gives_scale_and_currency_and_notes_are_words() -> None:
    (table,) = tables_in("captions")
    assert (table.title, table.caption) == ("Consolidated Income Statement", "€ millions")
    found = [[(cell.kind, cell.value, cell.scale, cell.unit) for cell in row.cells] for row in table.rows[1:]]
    words = ("words", None, Decimal(1), "")
    million = Decimal(10**6)
    assert found == [
        [words, ("amount", Decimal(31207), million, "EUR"), ("amount", Decimal(29520), million, "EUR")],
        [words, ("amount", Decimal(-12), million, "EUR"), ("amount", Decimal(-9), million, "EUR")],
        [words, ("amount", Decimal("5.26"), 1, "EUR/share"), ("amount", Decimal("1.94"), 1, "EUR/share")],
    ]


def test_columns_in_two_currencies_have_units_of_their_own_and_their_signs_no_columns() -> None:
    (table,) = tables_in("two_currencies")
    assert table.headings == ("Notes", "December 31, 2022 NT$", "December 31, 2023 NT$", "December 31, 2023 US$")
    assert [[cell.unit for cell in row.cells] for row in table.rows[2:]] == [
        ["", "TWD", "TWD", "USD"],
        ["", "TWD", "TWD", "USD"],
        ["", "TWD/share", "TWD/share", "USD/share"],
    ]
    assert [cell.value for cell in table.rows[3].cells] == [None, *map(Decimal, (221149, 250997, 8195))]


def test_a_heading_gives_currency_and_scale_where_the_caption_says_none() -> None:
    body = "<table><tr><td></td><td>2023<br>RMB'000</td><td>2023<br>US$'000</td></tr>"
    body += "<tr><td>Revenue</td><td>100</td><td>14</td></tr></table>"
    assert [(cell.scale, cell.unit) for cell in table_of(body).rows[1].cells] == [(1000, "CNY"), (1000, "USD")]


def test_a_dollar_sign_is_that_of_the_caption_and_no_other_currency() -> None:
    body = "<p>({})</p><table><tr><td></td><td>Euro</td></tr><tr><td>Notional</td><td>$5</td></tr></table>"
    units = [
        table_of(body.format(words)).rows[1].cells[0].unit
        for words in ("in millions of Canadian dollars", "in millions", "in millions of euros")
    ]
    assert units == ["CAD", "USD", "USD"]


def test_a_code_in_the_column_of_labels_is_a_label() -> None:
    body = "<p>(in millions)</p><table><tr><td>Currency</td><td>2023</td></tr><tr><td>EUR</td><td>5</td></tr></table>"
    assert [(row.label, row.cells[0].value) for row in table_of(body).rows[1:]] == [("EUR", Decimal(5))]


def test_empty_cells_before_a_label_set_it_in() -> None:
    (table,) = tables_in("empty_cells_set_in")
    assert [row.path for row in table.rows[1:]] == [
        ("Current assets",),
        ("Current assets", "Cash"),
        ("Current assets", "Restricted"),
        ("Total assets",),
    ]


def test_a_label_over_two_rows_is_one() -> None:
    (table,) = tables_in("broken_labels")
    assert [row.path for row in table.rows[1:] if row.cells and row.cells[0].kind == "amount"] == [
        ("Assets held for sale, net",),
        ("Land",),
        ("Net cash provided by", "operating activities"),
        ("Net cash provided by", "investing activities"),
        ("Products", "iPhone"),
        ("Other:", "sundry"),
    ]


def test_the_period_is_the_fiscal_year_named_and_ranges_are_no_heading() -> None:
    sales, assumptions = tables_in("fiscal_years")
    assert [cell.period for cell in sales.rows[1].cells] == ["2023", "2022"]
    assert assumptions.headings == ("2023", "2022")
    assert [(cell.kind, cell.period) for cell in assumptions.rows[1].cells] == [("words", "2023"), ("words", "2022")]
    assert [(cell.value, cell.unit) for cell in assumptions.rows[2].cells] == [
        (Decimal("13.1"), "percent"),
        (Decimal(0), "percent"),
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [("13.1²%", "13.1"), ("13.1(2)%", "13.1"), ("(4.5¹)%", "-4.5"), ("(4.5*%)", "-4.5"), ("NT$5", "5")],
)
def test_a_raised_mark_may_stand_before_the_mark_of_percent(text: str, value: str) -> None:
    assert read_cell(text).value == Decimal(value)
