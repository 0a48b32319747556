"""The cells of documents: what is an amount, what is blank, and what is never taken for a number."""

from __future__ import annotations

import time
from decimal import Decimal

import pytest

from workgym.envs.finance.cell_reader import read_cell

AMOUNTS = {
    "1,234": "1234",
    "$1,234": "1234",
    "$ 1,234": "1234",
    "1234.50": "1234.50",
    ".09": "0.09",
    "(1,234)": "-1234",
    "$(1,234)": "-1234",
    "($1,234)": "-1234",
    "$ (.09)": "-0.09",
    "(1,234": "-1234",
    "-5": "-5",
    "\u22125": "-5",
    "\u20135": "-5",
    "1,234-": "-1234",
    "△1,234": "-1234",
    "12.5%": "12.5",
    "(12.5)%": "-12.5",
    "(12.5%)": "-12.5",
    "( 12.5 ) %": "-12.5",
    "1,234(1)": "1234",
    "1,234 (2)": "1234",
    "(1,234)(a)": "-1234",
    "1,234*": "1234",
    "1,234†": "1234",
    "77¹": "77",
    "1,234 (1), (2)": "1234",
    "\u00a01,234\u00a0": "1234",
    "\u200b1,234": "1234",
    "１，２３４": "1234",  # noqa: RUF001
    "US$5": "5",
    "€5.5": "5.5",
    "5.2x": "5.2",
    "$1.2 million": "1.2",
    "0": "0",
    "0.00": "0",
}


@pytest.mark.parametrize("text", AMOUNTS)
def test_an_amount_is_read_with_the_sign_that_is_shown(text: str) -> None:
    read = read_cell(text)
    assert (read.kind, read.value) == ("amount", Decimal(AMOUNTS[text]))


@pytest.mark.parametrize("text", ["—", "–", "-", "--", "-0-", "$—", "$ -", "— %", "—%", "(—)", "\u2212", "nil", "—(1)"])  # noqa: RUF001
def test_a_dash_is_the_amount_zero(text: str) -> None:
    read = read_cell(text)
    assert (read.kind, read.value, read.decimals) == ("amount", Decimal(0), 0)


@pytest.mark.parametrize(
    "text", ["", " ", "\u00a0", "\u200b", "N/A", "n/a", "n.m.", "NM", "n/m", "$", "%", "*", "N/A(1)"]
)
def test_what_is_not_reported_is_blank(text: str) -> None:
    read = read_cell(text)
    assert (read.kind, read.value) == ("blank", None)


@pytest.mark.parametrize(
    "text",
    [
        *("NaN", "nan", "inf", "-Infinity", "#REF!", "#DIV/0!", "####", "(cid:20)(cid:21)", "/one/two"),
        *("1,23", "1,2345", "12,34,567", "1.234.567,89", "1,,234", "1 234", "1_234", "9" * 70, "1," * 5000),
        *("--5", "-(5)", "(5)-", "5)", "((5))", "$5$", "1\ufffd234", "\ufffd"),
    ],
)
def test_what_looks_like_a_number_and_is_none_is_unreadable(text: str) -> None:
    read = read_cell(text)
    assert (read.kind, read.value) == ("unreadable", None)


@pytest.mark.parametrize(
    "text",
    [
        *("Net sales", "Level 1", "2024 – 2062", "0.03% – 6.65%", "Item 1A.", "1.", "3 years", "five", "x"),  # noqa: RUF001
        *("9/28/2024", "September 28, 2024", "2024-09-28", "001-36743", "95014-2083", "1/8", "12²3a"),
    ],
)
def test_words_dates_ranges_and_codes_are_no_amounts(text: str) -> None:
    assert read_cell(text).kind == "words"


@pytest.mark.parametrize(
    ("text", "unit", "currency", "decimals"),
    [
        ("12.50%", "percent", "", 2),
        ("— %", "percent", "", 0),
        ("12.5 percent", "percent", "", 1),
        ("1.5 pts", "percentage_points", "", 1),
        ("25 bps", "bps", "", 0),
        ("5.2x", "multiple", "", 1),
        ("$(1,234.50)", "", "$", 2),
        ("C$5", "", "c$", 0),
        ("£5", "", "£", 0),
        ("1,234", "", "", 0),
    ],
)
def test_marks_beside_the_digits_tell_unit_currency_and_decimals(
    text: str, unit: str, currency: str, decimals: int
) -> None:
    read = read_cell(text)
    assert (read.unit, read.currency, read.decimals) == (unit, currency, decimals)


def test_a_word_behind_the_digits_is_a_scale() -> None:
    assert read_cell("$1.2 million").scale == 10**6
    assert read_cell("$1.2").scale == 1


def test_debit_and_credit_have_a_sign_only_where_it_was_declared() -> None:
    assert [read_cell("5 CR").value, read_cell("5 DR").value] == [5, 5]
    assert [read_cell("5 CR", negative_side="CR").value, read_cell("5 DR", negative_side="CR").value] == [-5, 5]
    assert read_cell("5 DR", negative_side="DR").value == -5


def test_european_numbers_are_read_where_they_were_declared() -> None:
    read = read_cell("(1.234.567,89)", european=True)
    assert (read.value, read.decimals) == (Decimal("-1234567.89"), 2)
    assert read_cell("1.234", european=True).value == 1234
    assert read_cell("1,5", european=True).value == Decimal("1.5")
    assert read_cell("1 234 567", european=True).value == 1234567
    assert read_cell("1.234.567,89").kind == "unreadable"


def test_four_bare_digits_may_be_a_year_and_are_told_apart() -> None:
    assert read_cell("2024").bare
    assert read_cell("2024(1)").bare
    assert not read_cell("2,024").bare
    assert not read_cell("$2024").bare


@pytest.mark.xdist_group("alone")
@pytest.mark.parametrize("part", ["*", "(", "1", "- ", "1,", "$", "(1)", "¹", "%", "n.", "0-", "(a) "])
def test_long_cells_take_no_long_time(part: str) -> None:
    started = time.process_time()
    for text in (part * 20_000, "1" + part * 20_000 + "x"):
        assert read_cell(text).value is None
    assert time.process_time() - started < 1
