from __future__ import annotations

import re
from fractions import Fraction

import pytest

from workgym.tasks.finance.ledger import draw_ledger
from workgym.tasks.finance.statements import Cell, cells_by_address, displayed, lay_out
from workgym.tasks.finance.structure import draw_structure
from workgym.tasks.finance.terms import Fact


@pytest.mark.parametrize(
    ("amount", "scale", "decimals", "shown"),
    [
        (1_499_999, 1_000_000, 0, 1_000_000),
        (1_500_000, 1_000_000, 0, 2_000_000),
        (-1_500_000, 1_000_000, 0, -2_000_000),
        (Fraction(1, 3), 1, 2, Fraction(33, 100)),
        (Fraction(-5, 1000), 1, 2, Fraction(-1, 100)),
        (Fraction(2145, 10000), Fraction(1, 100), 1, Fraction(215, 1000)),
        (0, 1_000, 0, 0),
    ],
)
def test_amounts_are_rounded_with_halves_away_from_zero(amount, scale, decimals, shown):
    assert displayed(Fraction(amount), scale, decimals) == shown


def _text(amount, sign=1, unit="currency", scale=1_000, decimals=0):
    structure = draw_structure(0)
    fact = Fact("revenue", structure.years[0])
    ledger = draw_ledger(structure, 0)
    cell = Cell("d1:t1!r2c2", fact, sign, unit, Fraction(scale), decimals)
    return cell.text(type(ledger)(structure, 0, {fact: Fraction(amount)}))


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"amount": 1_234_567}, "1,235"),
        ({"amount": -1_234_567}, "(1,235)"),
        ({"amount": 1_234_567, "sign": -1}, "(1,235)"),
        ({"amount": -9_000, "sign": -1}, "9"),
        ({"amount": 0}, "—"),
        ({"amount": 499}, "—"),
        ({"amount": Fraction(57, 100), "unit": "currency/share", "scale": 1, "decimals": 2}, "0.57"),
        ({"amount": Fraction(-9, 100), "unit": "currency/share", "scale": 1, "decimals": 2}, "(0.09)"),
        ({"amount": 1_234, "unit": "currency/share", "scale": 1, "decimals": 2}, "1,234.00"),
        ({"amount": Fraction(2136, 10000), "unit": "percent", "scale": Fraction(1, 100), "decimals": 1}, "21.4%"),
    ],
)
def test_a_cell_is_written_as_in_filings(given, text):
    assert _text(**given) == text


def test_the_text_of_every_cell_says_its_value():
    structure = draw_structure(9)
    ledger = draw_ledger(structure, 1)

    def read(cell):
        text = cell.text(ledger).replace(",", "").replace("—", "0").removesuffix("%")
        number = Fraction(text.strip("()"))
        return (-number if text.startswith("(") else number) * cell.scale

    wrong = [cell for cell in cells_by_address(lay_out(structure)).values() if read(cell) != cell.value(ledger)]

    assert wrong == []


def test_addresses_count_rows_from_the_headings_and_columns_from_the_labels():
    table = lay_out(draw_structure(9), document="d2")[0]

    addresses = [[cell.address for cell in row.cells] for row in table.rows]

    assert all(re.fullmatch(r"d2:t1!r[0-9]+c[0-9]+", address) for row in addresses for address in row)
    assert next(row for row in addresses if row) == [
        f"d2:t1!r{next(number for number, row in enumerate(addresses, 2) if row)}c{column}"
        for column in range(2, 2 + len(table.headings))
    ]
    assert set(table.cells) == {address for row in addresses for address in row}


def test_a_row_has_a_cell_for_each_column_or_none():
    for seed in range(20):
        for table in lay_out(draw_structure(seed)):
            assert {len(row.cells) for row in table.rows} <= {0, len(table.headings)}


def test_a_line_that_a_company_does_not_have_has_no_row():
    drawn = [draw_structure(seed) for seed in range(40)]

    for structure in drawn:
        shown = {cell.fact.line for cell in cells_by_address(lay_out(structure)).values()}
        assert shown <= structure.lines
        assert ("inventories" in shown) is ("inventories" in structure.does)


def _columns_that_do_not_add_up(scale):
    """Of the current assets of filings in thousands."""
    misfits = columns = 0
    for seed in range(60):
        structure = draw_structure(seed)
        if structure.scale != 1_000:
            continue
        ledger = draw_ledger(structure, 0)
        table = next(table for table in lay_out(structure, scale=scale) if table.key == "balance")
        rows = {row.cells[0].fact.line: row.cells for row in table.rows if row.cells}
        parts = [rows[line] for line in ("cash", "investments", "receivables", "inventories") if line in rows]
        parts.append(rows["other_current_assets"])
        for column, total in enumerate(rows["current_assets"]):
            columns += 1
            misfits += sum(cells[column].value(ledger) for cells in parts) != total.value(ledger)
    return misfits / columns


def test_columns_add_up_in_the_units_that_amounts_are_whole_numbers_of():
    assert _columns_that_do_not_add_up(1_000) == 0


def test_columns_that_are_shown_coarser_are_off_by_rounding():
    assert 0.2 < _columns_that_do_not_add_up(1_000_000) < 0.7


def test_captions_say_the_scale():
    for seed in range(20):
        structure = draw_structure(seed)
        words = {1_000: "(In thousands", 1_000_000: "(In millions"}[structure.scale]
        captions = {table.key: table.caption for table in lay_out(structure)}
        assert captions.pop("operating") == ""
        assert f"{structure.year_end}, {structure.years[-1]} (" in captions["quarters"]
        assert all(words in caption for caption in captions.values())


def test_columns_stand_in_the_order_of_the_layout():
    newest = next(one for one in map(draw_structure, range(50)) if one.newest_first)
    oldest = next(one for one in map(draw_structure, range(50)) if not one.newest_first)

    def headings(structure):
        return next(table.headings for table in lay_out(structure) if table.key == "income")

    assert headings(newest) == newest.years[::-1]
    assert headings(oldest) == oldest.years
