"""Tables as different software of filers writes them: what they mean was written down by hand."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from workgym.envs.finance.document import Document, Table
from workgym.envs.finance.html_document import read_html

pytest.importorskip("lxml")

TABLES = Path(__file__).parent / "tables"


def document_of(body: str) -> Document:
    return read_html(f"<html><body>{body}</body></html>".encode())


def document_in(name: str) -> Document:
    return read_html((TABLES / f"{name}.html").read_bytes())


def table_in(name: str) -> Table:
    return next(iter(document_in(name).tables.values()))


def table_of(body: str) -> Table:
    return next(table for table in document_of(body).tables.values() if table.rows)


def amounts(table: Table) -> dict[tuple[str, str], list[Decimal]]:
    """(label of the row, period) -> amounts in base units, from the left."""
    found: dict[tuple[str, str], list[Decimal]] = {}
    for row in table.rows:
        for cell in row.cells:
            if cell.value is not None:
                found.setdefault((row.label, cell.period), []).append(cell.value * cell.scale)
    return found


def units(table: Table) -> dict[str, set[str]]:
    return {row.label: {cell.unit for cell in row.cells if cell.kind == "amount"} for row in table.rows}


def millions(*numbers: float) -> list[Decimal]:
    return [Decimal(str(number)) * 10**6 for number in numbers]


def thousands(*numbers: float) -> list[Decimal]:
    return [Decimal(str(number)) * 10**3 for number in numbers]


def test_old_markup_with_marks_in_cells_of_their_own() -> None:
    table = table_in("old_markup")
    assert (table.title, table.caption) == (
        "CONSOLIDATED STATEMENTS OF INCOME",
        "(In thousands, except per share data)",
    )
    assert table.headings == ("Year Ended December 31, 2012", "Year Ended December 31, 2011")
    assert amounts(table) == {
        ("Net sales", "2012"): thousands(1204511),
        ("Net sales", "2011"): thousands(1100020),
        ("Cost of sales", "2012"): thousands(-702100),
        ("Cost of sales", "2011"): thousands(-690008),
        ("Impairment", "2012"): [Decimal(0)],
        ("Impairment", "2011"): thousands(-12),
        ("Diluted earnings per share", "2012"): [Decimal("-0.41")],
        ("Diluted earnings per share", "2011"): [Decimal("1.07")],
    }
    assert table.rows[5].path == ("Operating expenses:", "Impairment")
    assert table.rows[-1].path == ("Diluted earnings per share",)
    assert units(table)["Net sales"] == {"USD"}
    assert units(table)["Diluted earnings per share"] == {"USD/share"}


def test_an_interim_statement_has_spanning_headings_and_shares_in_units() -> None:
    table = table_in("interim")
    assert table.headings[0] == "Three Months Ended June 30, 2024"
    assert table.headings[3] == "Six Months Ended June 30, 2023"
    found = amounts(table)
    assert found["Revenues", "2024"] == millions(410.5, 800)
    assert found["Interest expense, net", "2023"] == millions(-2.9, 0)
    assert found["Basic", "2024"] == [Decimal(50123456), Decimal(50100000)]
    assert units(table)["Basic"] == {"shares"}
    assert table.title == "CONDENSED CONSOLIDATED STATEMENTS OF OPERATIONS (Unaudited)"


def test_dates_over_two_rows_a_scale_in_the_first_heading_and_marks_at_labels() -> None:
    table = table_in("split_dates")
    assert table.headings == ("December 31, 2023", "December 31, 2022")
    assert table.caption == "(in thousands)"
    assert amounts(table) == {
        ("Cash", "2023"): thousands(5100),
        ("Cash", "2022"): thousands(4050),
        ("Receivables, net of allowances of $12 and $9", "2023"): thousands(1001),
        ("Receivables, net of allowances of $12 and $9", "2022"): thousands(999),
        ("Total current assets", "2023"): thousands(6101),
        ("Total current assets", "2022"): thousands(5049),
        ("Goodwill", "2023"): thousands(77),
    }
    assert table.cells["d1:t1!r8c2"].text == "77(2)"
    assert table.cells["d1:t1!r8c3"].kind == "blank"
    assert table.rows[4].path == ("Current assets:", "Cash")


def test_sections_named_by_years_give_the_period_of_their_rows() -> None:
    table = table_in("sections_by_year")
    assert table.headings == ("Retail", "Wholesale", "Total")
    assert amounts(table) == {
        ("Net sales", "2023"): millions(120, 80, 200),
        ("Operating income (loss)", "2023"): millions(14, -3, 11),
        ("Net sales", "2022"): millions(110, 85, 195),
    }


def test_movements_between_two_balances_are_of_the_later_year() -> None:
    table = table_in("equity")
    assert table.headings == ("Common Stock Shares", "Common Stock Amount", "Retained Earnings", "Total")
    found = amounts(table)
    assert found["Balance at December 31, 2021", "2021"] == thousands(10000, 10, 500, 510)
    assert found["Net income", "2022"] == thousands(0, 0, 40, 40)
    assert found["Net loss", "2023"] == thousands(0, 0, -7, -7)
    assert table.cells["d1:t1!r3c2"].unit == "shares"
    assert table.cells["d1:t1!r3c3"].unit == "USD"


def test_a_title_and_a_scale_within_the_table() -> None:
    table = table_in("titled_within")
    assert table.caption == "(Dollars in millions)"
    assert table.title in ("HARBOR TOOL CO.", "CONSOLIDATED STATEMENTS OF CASH FLOWS")
    assert amounts(table) == {
        ("Net earnings", "2023"): millions(-12),
        ("Net earnings", "2022"): millions(9),
        ("Purchases of equipment", "2023"): millions(-31),
        ("Purchases of equipment", "2022"): millions(-28),
    }


def test_a_table_that_goes_on_after_a_page_break_keeps_periods_and_scale() -> None:
    document = document_in("continued")
    second = document.tables["d1:t2"]
    assert (second.page, second.title, second.headings) == (2, "Schedule of Investments", ("2023", "2022"))
    assert amounts(second)["Stocks", "2022"] == millions(-3)
    assert second.cells["d1:t2!r1c2"].text == "20"


def test_columns_of_percentages_stand_beside_columns_of_money() -> None:
    table = table_in("percent_columns")
    assert table.headings == ("2023", "% of sales", "2022", "% Change")
    scales = [(cell.value, cell.scale, cell.unit) for cell in table.rows[2].cells]
    assert scales == [
        (Decimal(-1200), Decimal(1000), "USD"),
        (Decimal("-60.0"), Decimal("0.01"), "percent"),
        (Decimal(-1150), Decimal(1000), "USD"),
        (Decimal(0), Decimal("0.01"), "percent"),
    ]
    assert table.cells["d1:t1!r4c3"].unit == "percent"
    assert table.cells["d1:t1!r4c5"].kind == "blank"


def test_quarters_take_their_year_from_the_words_above() -> None:
    body = "<p>Fiscal year ended March 31, 2019 (In millions)</p>"
    body += "<table><tr><th></th><th>First</th><th>Second</th><th>Third</th><th>Fourth</th><th>Year</th></tr>"
    body += "<tr><td>Revenue</td><td>1</td><td>2</td><td>3</td><td>4</td><td>10</td></tr></table>"
    periods = [cell.period for cell in table_of(body).rows[1].cells]
    assert periods == ["2019Q1", "2019Q2", "2019Q3", "2019Q4", "2019"]


def test_quarters_below_a_spanning_year() -> None:
    body = "<table><tr><td></td><td colspan='2'>2021</td><td colspan='2'>2020</td></tr>"
    body += "<tr><td></td><td>Q1</td><td>Q2</td><td>Q1</td><td>Q2</td></tr>"
    body += "<tr><td>Sales</td><td>1</td><td>2</td><td>3</td><td>4</td></tr></table>"
    assert [cell.period for cell in table_of(body).rows[2].cells] == ["2021Q1", "2021Q2", "2020Q1", "2020Q2"]


def test_a_column_of_notes_holds_no_amounts() -> None:
    body = "<table><tr><td>(Thousands of dollars)</td><td>Note</td><td>2023</td><td>2022</td></tr>"
    body += "<tr><td>Inventories</td><td>4</td><td>1,500</td><td>1,400</td></tr></table>"
    cells = table_of(body).rows[1].cells
    assert [(cell.kind, cell.value) for cell in cells] == [
        ("words", None),
        ("amount", Decimal(1500)),
        ("amount", Decimal(1400)),
    ]
    assert {cell.scale for cell in cells[1:]} == {Decimal(1000)}


def test_years_of_maturity_are_not_the_period() -> None:
    body = "<p>For the fiscal year ended December 31, 2023</p>"
    body += "<p>Principal payments as of December 31, 2023 (in millions):</p>"
    body += "<table><tr><td>2024</td><td>$</td><td>10</td></tr><tr><td>2025</td><td></td><td>20</td></tr></table>"
    cells = [row.cells[0] for row in table_of(body).rows]
    assert [(cell.value, cell.period, cell.address) for cell in cells] == [
        (Decimal(10), "2023", "d1:t1!r1c2"),
        (Decimal(20), "2023", "d1:t1!r2c2"),
    ]


def test_years_below_the_head_are_a_head_for_the_rows_that_follow() -> None:
    body = "<table><tr><td></td><td>2023</td><td>2022</td></tr><tr><td>Sales</td><td>5</td><td>4</td></tr>"
    body += "<tr><td></td><td>2021</td><td>2020</td></tr><tr><td>Sales</td><td>3</td><td>2</td></tr></table>"
    table = table_of(body)
    assert amounts(table) == {
        ("Sales", year): [Decimal(n)] for year, n in (("2023", 5), ("2022", 4), ("2021", 3), ("2020", 2))
    }
    assert {cell.kind for cell in table.rows[2].cells} == {"words"}


def test_a_scale_in_a_row_of_its_own_and_years_beside_a_label() -> None:
    table = table_in("scale_in_first_row")
    assert table.caption == "(In millions, except per share amounts)"
    assert amounts(table) == {
        ("Product", "2024"): millions(64773),
        ("Product", "2023"): millions(64699),
        ("Other expense, net", "2024"): millions(-1646),
        ("Other expense, net", "2023"): millions(788),
        ("Basic", "2024"): [Decimal("11.86"), *millions(7431)],
        ("Basic", "2023"): [Decimal("9.72"), *millions(7446)],
    }
    assert [row.cells[0].unit for row in table.rows if row.label == "Basic"] == ["USD/share", "shares"]


def test_spaces_of_no_width_fill_no_cell() -> None:
    table = table_in("no_width_spaces")
    assert table.headings == ("For the years ended December 31, 2023", "For the years ended December 31, 2022")
    assert amounts(table) == {
        ("Net sales", "2023"): thousands(12345),
        ("Net sales", "2022"): thousands(11111),
        ("Loss on sale", "2023"): thousands(-5),
        ("Loss on sale", "2022"): [Decimal(0)],
        ("Net loss per share – basic and diluted", "2023"): [Decimal("-0.12")],  # noqa: RUF001
        ("Net loss per share – basic and diluted", "2022"): [Decimal("-0.33")],  # noqa: RUF001
        ("Weighted average common shares outstanding", "2023"): [Decimal(45000123)],
        ("Weighted average common shares outstanding", "2022"): [Decimal(44900000)],
    }


def test_rates_stand_beside_balances_with_their_mark_in_the_first_row_alone() -> None:
    table = table_in("average_balances")
    assert amounts(table)["Deposits", "2023"] == [*millions(800, 8), Decimal("0.01")]
    assert amounts(table)["Loans", "2022"] == [*millions(900, 36), Decimal("0.04")]
    assert table.headings[2] == "2023 Yield/Rate"


def test_dates_in_rows_of_their_own_give_the_period_below_columns_of_levels() -> None:
    table = table_in("sections_by_date")
    assert amounts(table) == {("Cash", "2023"): millions(5, 0, 0, 5), ("Cash", "2022"): millions(4, 0, 0, 4)}
    assert table.rows[2].path == ("December 31, 2023", "Cash")


def test_columns_with_scales_and_units_of_their_own() -> None:
    table = table_in("options")
    last = table.rows[-1].cells
    assert [(cell.value, cell.scale, cell.unit, cell.period) for cell in last] == [
        (Decimal(1010), Decimal(1000), "shares", "2023"),
        (Decimal("5.01"), Decimal(1), "USD/share", "2023"),
        (Decimal(7), Decimal(10**6), "USD", "2023"),
    ]
    assert {cell.period for cell in table.rows[2].cells} == {"2023"}


def test_an_interim_date_beside_the_end_of_the_year() -> None:
    table = table_in("interim_balances")
    assert table.headings == ("March 31, 2024 (Unaudited)", "December 31, 2023")
    assert amounts(table)["Cash", "2024"] == millions(5)
    assert table.rows[-1].cells[0].unit == "USD"


def test_columns_of_changes_have_no_period() -> None:
    cells = table_in("changes").rows[-1].cells
    assert [(cell.scale, cell.unit, cell.period) for cell in cells] == [
        (Decimal(10**6), "USD", "2023"),
        (Decimal(10**6), "USD", "2022"),
        (Decimal(10**6), "USD", ""),
        (Decimal("0.01"), "percent", ""),
    ]


@pytest.mark.parametrize(
    ("label", "period"),
    [
        *(("Cash and cash equivalents, beginning of year", "2022"), ("Beginning balances", "2022")),
        *(("Balance at beginning of the fiscal year", "2022"), ("Balance at January 1,", "2022")),
        *(("Opening balance", "2022"), ("Beginning cash", "2022"), ("Unrecognized tax benefits, January 1", "2022")),
        *(("Balance at beginning of year (January 1, 2023)", "2022"), ("Balance, beginning", "2022")),
        *(("Cash and cash equivalents, end of year", "2023"), ("Change since beginning of year", "2023")),
        *(("Opening of new stores", "2023"), ("Balance at December 31,", "2023"), ("Payments due January 1", "2023")),
        *(("Leases beginning in 2025", "2023"), ("Effective at the beginning of the year", "2023")),
    ],
)
def test_a_balance_at_the_beginning_of_a_year_is_that_of_the_year_before(label: str, period: str) -> None:
    body = f"<table><tr><td></td><td>2023</td></tr><tr><td>{label}</td><td>5</td></tr></table>"
    assert table_of(body).rows[1].cells[0].period == period


def test_a_balance_at_the_beginning_of_a_quarter_is_that_of_the_quarter_before() -> None:
    body = "<table><tr><td></td><td>Q1 2023</td><td>Q2 2023</td></tr>"
    body += "<tr><td>Beginning balance</td><td>5</td><td>6</td></tr></table>"
    assert [cell.period for cell in table_of(body).rows[1].cells] == ["2022Q4", "2023Q1"]


def test_columns_of_balances_at_the_beginning_and_at_january_1() -> None:
    body = "<table><tr><td></td><td>Balance at Beginning of Year</td><td>Additions</td><td>Balance at End of Year</td>"
    body += "</tr><tr><td>2023</td><td>5</td><td>3</td><td>8</td></tr>"
    body += "<tr><td>2022</td><td>4</td><td>1</td><td>5</td></tr></table>"
    assert [[cell.period for cell in row.cells] for row in table_of(body).rows[1:]] == [
        ["2022", "2023", "2023"],
        ["2021", "2022", "2022"],
    ]
    body = "<table><tr><td></td><td>Stock</td></tr><tr><td>Balance, January 1, 2022</td><td>5</td></tr>"
    body += "<tr><td>Net income</td><td>1</td></tr><tr><td>Balance, December 31, 2022</td><td>6</td></tr></table>"
    assert [row.cells[0].period for row in table_of(body).rows[1:]] == ["2021", "2022", "2022"]
