from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from workgym.tasks.errors import TaskError
from workgym.tasks.finance.identities import broken_identities, linear_identities
from workgym.tasks.finance.ledger import draw_ledger
from workgym.tasks.finance.lines import OPERATING
from workgym.tasks.finance.statements import cells_by_address, lay_out
from workgym.tasks.finance.structure import draw_structure, structure_split
from workgym.tasks.finance.terms import Fact, read_terms


def _broken(seeds):
    found = {}
    for seed in seeds:
        ledger = draw_ledger(draw_structure(seed), seed % 97)
        if broken := broken_identities(ledger):
            found[seed] = broken
    return found


def test_every_identity_holds_in_300_companies_over_three_years():
    assert _broken(range(300)) == {}


@pytest.mark.slow
@pytest.mark.timeout(1800)  # of the clock, on a machine with much else to do
def test_every_identity_holds_in_10_000_companies_over_three_years():
    assert _broken(range(10_000)) == {}


def test_every_identity_holds_in_amounts_that_tell_programs_apart():
    assert {seed: broken_identities(draw_ledger(draw_structure(seed), 1, generic=True)) for seed in range(50)} == {
        seed: [] for seed in range(50)
    }


@pytest.mark.parametrize("n_years", [2, 5, 10])
def test_every_identity_holds_over_other_numbers_of_years(n_years):
    ledgers = [draw_ledger(draw_structure(seed, n_years), 0) for seed in range(20)]

    assert [broken_identities(ledger) for ledger in ledgers] == [[]] * 20
    assert {len(ledger.structure.years) for ledger in ledgers} == {n_years}


def test_an_amount_that_was_changed_breaks_the_identities_it_stands_in():
    ledger = draw_ledger(draw_structure(4), 0)
    linear = {fact for identity in linear_identities(ledger.structure) for _, fact in identity.terms}

    silent = [
        fact
        for fact in sorted(linear)
        if not broken_identities(replace(ledger, amounts={**ledger.amounts, fact: ledger.amounts[fact] + 1}))
    ]

    assert silent == []


def test_every_line_of_a_company_stands_in_an_identity():
    ledger = draw_ledger(draw_structure(4), 0)
    linear = {fact.line for identity in linear_identities(ledger.structure) for _, fact in identity.terms}
    ratios = {"basic_eps", "diluted_eps", "basic_shares", "diluted_shares", "effective_tax_rate"}

    assert {fact.line for fact in ledger.amounts} == ledger.structure.lines
    assert ledger.structure.lines - linear - ratios == ledger.structure.lines.intersection(OPERATING)


def _displaced(structure, redraws):
    addresses = cells_by_address(lay_out(structure))
    facts = draw_ledger(structure, 0).amounts.keys()
    return [
        seed
        for seed in range(redraws)
        if (ledger := draw_ledger(structure, seed)).amounts.keys() != facts
        or {address: cell.fact for address, cell in cells_by_address(lay_out(ledger.structure)).items()}
        != {address: cell.fact for address, cell in addresses.items()}
    ]


def test_30_redraws_keep_every_cell_and_every_address():
    assert _displaced(draw_structure(3), 30) == []


@pytest.mark.slow
@pytest.mark.timeout(1800)  # of the clock, on a machine with much else to do
def test_1000_redraws_keep_every_cell_and_every_address():
    assert _displaced(draw_structure(3), 1000) == []


def test_redraws_change_the_amounts():
    structure = draw_structure(3)
    cells = cells_by_address(lay_out(structure)).values()
    first, second = draw_ledger(structure, 0), draw_ledger(structure, 1)

    same = [cell.address for cell in cells if cell.exact(first) == cell.exact(second) != 0]

    assert len(same) < 0.02 * len(cells)


def test_the_same_seeds_give_the_same_books():
    assert draw_ledger(draw_structure(11), 5) == draw_ledger(draw_structure(11), 5)


def test_amounts_of_years_do_not_depend_on_whether_quarters_are_kept():
    structure = draw_structure(11)
    whole, years = draw_ledger(structure, 5), draw_ledger(structure, 5, with_quarters=False)

    assert years.amounts.items() <= whole.amounts.items()
    assert {fact.period for fact in years.amounts} == {structure.opening, *structure.years}


def test_amounts_of_money_are_whole_numbers_of_the_scale():
    ledger = draw_ledger(draw_structure(2), 0)

    assert ledger.structure.scale == 1_000_000
    assert ledger[Fact("net_income", ledger.structure.years[0])] % 1_000_000 == 0


def test_real_looking_books_have_dashes_and_losses_and_telling_ones_have_no_zero():
    structures = [draw_structure(seed) for seed in range(40)]
    looks = [draw_ledger(structure, 0) for structure in structures]
    tells = [draw_ledger(structure, 0, generic=True) for structure in structures]

    assert any(amount == 0 for ledger in looks for amount in ledger.amounts.values())
    assert any(ledger[Fact("net_income", ledger.structure.years[0])] < 0 for ledger in looks)
    assert 8 < sum(ledger[Fact("net_income", ledger.structure.years[0])] < 0 for ledger in tells) < 32
    assert all(amount != 0 for ledger in tells for amount in ledger.amounts.values())


def test_a_fact_that_the_books_do_not_hold_is_named():
    ledger = draw_ledger(draw_structure(0), 0)

    with pytest.raises(TaskError, match="have no moon_rocks@2020"):
        ledger[Fact("moon_rocks", "2020")]


@pytest.mark.parametrize(("seed", "n_years"), [(-1, 3), (0, 1), (0, 11)])
def test_a_structure_that_cannot_be_drawn_is_refused(seed, n_years):
    with pytest.raises(ValueError, match="a seed of at least 0 and 2 to 10 years"):
        draw_structure(seed, n_years)


def test_splits_follow_the_last_digit_of_the_structure_seed():
    splits = [structure_split(seed) for seed in range(20)]

    assert splits == ([*["train"] * 8, "validation", "test"]) * 2


def test_names_labels_and_layouts_of_test_filings_stand_in_no_other():
    drawn = [draw_structure(seed) for seed in range(400)]
    test = [one for one in drawn if structure_split(one.seed) == "test"]
    rest = [one for one in drawn if structure_split(one.seed) != "test"]

    def seen(structures, line):
        return {one.labels[line] for one in structures if line in one.labels}

    assert not {one.company.split()[0] for one in test} & {one.company.split()[0] for one in rest}
    assert not {name for one in test for name in one.segments} & {name for one in rest for name in one.segments}
    assert not {one.tables[:3] for one in test} & {one.tables[:3] for one in rest}
    assert [
        line for line in drawn[0].labels if not line.startswith("segment") and seen(test, line) & seen(rest, line)
    ] == []


def test_what_is_no_sum_of_lines_is_refused():
    with pytest.raises(ValueError, match="no sum of lines"):
        read_terms("revenue cash", {"revenue", "cash"})


def test_earnings_per_share_are_exact_fractions():
    ledger = draw_ledger(draw_structure(2), 5)
    year = ledger.structure.years[0]

    assert ledger[Fact("basic_eps", year)] == Fraction(
        ledger[Fact("net_income", year)], ledger[Fact("basic_shares", year)]
    )
