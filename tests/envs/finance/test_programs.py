"""Every program of two numbers over a filing: the wrong ones that come out right, and the right ones.

Which programs are right is decided apart from the ledger's draws: the identities of the books are solved modulo a
prime at random points, where two programs agree exactly if the identities make them one.
"""

from __future__ import annotations

import functools
import itertools
from fractions import Fraction

import numpy as np
import pytest

from workgym.envs.finance.derivation import Derivation, derivation_holds
from workgym.tasks.finance.expression import read_expression
from workgym.tasks.finance.identities import linear_identities
from workgym.tasks.finance.ledger import draw_ledger
from workgym.tasks.finance.questions import draw_question, gold_of
from workgym.tasks.finance.statements import cells_by_address, displayed, lay_out
from workgym.tasks.finance.structure import draw_structure
from workgym.tasks.finance.terms import Fact

PRIME = 2_147_483_647
RATIOS = {
    "basic_eps": ("net_income", "basic_shares"),
    "diluted_eps": ("net_income", "diluted_shares"),
    "effective_tax_rate": ("income_tax", "pretax_income"),
}
# Name -> (numerator, denominator) of two amounts; their values are tried in both orders.
PROGRAMS = {
    "a": (lambda a, b: a + 0 * b, lambda a, b: 1 + 0 * a * b),
    "-a": (lambda a, b: -a + 0 * b, lambda a, b: 1 + 0 * a * b),
    "a + b": (lambda a, b: a + b, lambda a, b: 1 + 0 * a * b),
    "a - b": (lambda a, b: a - b, lambda a, b: 1 + 0 * a * b),
    "a * b": (lambda a, b: a * b, lambda a, b: 1 + 0 * a * b),
    "a / b": (lambda a, b: a + 0 * b, lambda a, b: b + 0 * a),
    "(a - b) / b": (lambda a, b: a - b, lambda a, b: b + 0 * a),
    "1 - a / b": (lambda a, b: b - a, lambda a, b: b + 0 * a),
    "mean(a, b)": (lambda a, b: a + b, lambda a, b: 2 + 0 * a * b),
}


@functools.cache
def _points(structure):
    """Amounts modulo the prime at two random points where all identities hold: fact -> [amount, amount]."""
    identities = list(linear_identities(structure))
    facts = sorted(draw_ledger(structure, 0).amounts)
    place = {fact: number for number, fact in enumerate(facts)}
    rows = np.zeros((len(identities), len(facts)), np.int64)
    for row, identity in enumerate(identities):
        for sign, fact in identity.terms:
            rows[row, place[fact]] += sign
    rows %= PRIME
    pivots, top = [], 0
    for column in range(len(facts)):
        found = np.flatnonzero(rows[top:, column])
        if not len(found):
            continue
        rows[[top, top + found[0]]] = rows[[top + found[0], top]]
        rows[top] = rows[top] * pow(int(rows[top, column]), -1, PRIME) % PRIME
        others = np.flatnonzero(rows[:, column])
        others = others[others != top]
        rows[others] = (rows[others] - rows[others, column][:, None] * rows[top] % PRIME) % PRIME
        pivots.append(column)
        top += 1
        if top == len(rows):
            break
    amounts = np.random.default_rng(structure.seed).integers(1, PRIME, (len(facts), 2))
    amounts[pivots] = 0
    amounts[pivots] = [
        [-int(sum(int(a) * int(b) for a, b in zip(row, point, strict=True) if a)) % PRIME for point in amounts.T]
        for row in rows[:top]
    ]
    solved = {fact: amounts[number] for fact, number in place.items()}
    for fact in facts:
        if fact.line in RATIOS:
            above, below = (solved[Fact(line, fact.period)] for line in RATIOS[fact.line])
            solved[fact] = np.array(
                [int(a) * pow(int(b), -1, PRIME) % PRIME for a, b in zip(above, below, strict=True)]
            )
    assert all(
        sum(sign * int(solved[fact][point]) for sign, fact in identity.terms) % PRIME == 0
        for identity in identities
        for point in (0, 1)
    )
    return solved


def _modular(question, points, point):
    """The gold at a point: numerator and denominator."""
    operands = [Fraction(int(points[fact][point])) for fact in question.operands]
    gold = read_expression(question.program).value(operands)
    return gold.numerator % PRIME, gold.denominator % PRIME


def _right_programs(question, points, facts):
    """Program -> a matrix that says for which two facts it is the program that was asked for."""
    right = {}
    for name, (above, below) in PROGRAMS.items():
        agrees = np.ones((len(facts), len(facts)), bool)
        for point in (0, 1):
            values = np.array([points[fact][point] for fact in facts])
            a, b = np.meshgrid(values, values, indexing="ij")
            gold_above, gold_below = _modular(question, points, point)
            left = above(a, b) % PRIME * gold_below % PRIME
            agrees &= left == below(a, b) % PRIME * gold_above % PRIME
        right[name] = agrees
    return right


def _hits(question, gold, values):
    """Program -> a matrix that says for which two facts it comes out right in this filing, in either unit."""
    a, b = np.meshgrid(values, values, indexing="ij")
    half, close = float(question.half_unit) * (1 + 1e-9), {}
    with np.errstate(divide="ignore", invalid="ignore"):
        for name, (above, below) in PROGRAMS.items():
            value = above(a, b) / below(a, b)
            close[name] = (abs(value - float(gold)) <= half) | (
                abs(value * float(question.scale) - float(gold)) <= half
            )
    return close


def _judged(question, ledger):
    """For each program that comes out right: whether it is right, and whether its derivation held."""
    shown = {}
    for cell in cells_by_address(lay_out(ledger.structure)).values():
        shown.setdefault(cell.fact, cell)
    facts = sorted(shown)
    gold = gold_of(question, ledger)
    stated = displayed(gold, question.scale, question.decimals)
    values = np.array([float(shown[fact].sign * shown[fact].value(ledger)) for fact in facts])
    right = _right_programs(question, _points(ledger.structure), facts)
    hits = _hits(question, gold, values)
    rounded = np.array([fact.line in RATIOS for fact in facts])
    for name in PROGRAMS:
        # What is right does come out right, except over cells that are shown rounded.
        missed = right[name] & ~hits[name] & ~rounded[:, None] & ~rounded
        assert not missed.any(), (question, name, np.argwhere(missed))
    for name, row, column in [(key, *pair) for key, close in hits.items() for pair in np.argwhere(close).tolist()]:
        if row == column or (name in ("a", "-a") and column != (row + 1) % len(facts)):
            continue  # a program of one number was found beside every other number
        cells = (shown[facts[row]], shown[facts[column]])
        text = name
        for letter, number, cell in zip("ab", (1, 2), cells, strict=True):
            text = _named(text, letter, f"c{number}" if cell.sign > 0 else f"(-c{number})")
        check = derivation_holds(Derivation(text, cells, stated), question, ledger)
        yield bool(right[name][row, column]), bool(check.score), (question.text, text, cells, check)


def _named(text, letter, name):
    """Put a cell in the place of a letter; "mean" keeps its own."""
    return text.replace("mean", "M").replace(letter, name).replace("M", "mean")


def _count(structures, each):
    """How many right and wrong programs came out right, and those that were judged wrongly."""
    counts, misjudged, questions = {True: 0, False: 0}, [], 0
    for structure, seed in itertools.product(structures, range(each)):
        ledger = draw_ledger(draw_structure(structure), structure % 13)
        question = draw_question(ledger.structure, ledger, seed, 1 + seed % 2)
        questions += 1
        for right, held, what in _judged(question, ledger):
            counts[right] += 1
            if right is not held:
                misjudged.append(what)
    return questions, counts, misjudged


def test_no_wrong_program_passes_and_every_right_one_does_on_12_questions():
    questions, counts, misjudged = _count(range(3, 6), 4)

    assert misjudged == []
    assert questions == 12
    assert counts[False] > 30
    assert counts[True] >= 12


@pytest.mark.slow
@pytest.mark.timeout(1800)  # of the clock, on a machine with much else to do
def test_no_wrong_program_passes_and_every_right_one_does_on_480_questions():
    questions, counts, misjudged = _count(range(60), 8)

    assert misjudged == []
    assert questions == 480
    assert counts[False] > 2_000
    assert counts[True] >= 480
