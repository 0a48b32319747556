"""A value is right within half a unit of its last asked place, and a wrong one is called by its mistake."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from workgym.envs.finance.matching import grade
from workgym.envs.finance.renderings import hidden_amount, refused_forms, right_forms, wrong_forms
from workgym.tasks.errors import TaskError
from workgym.tasks.finance.answer import AnswerSpec, Gold, is_label
from workgym.tasks.finance.units import SCALES

SPECS = (
    *(AnswerSpec("number", "USD", scale, decimals) for scale in SCALES for decimals in (0, 2)),
    *(AnswerSpec("number", unit, decimals=1) for unit in ("percent", "ratio", "multiple", "bps", "percentage_points")),
    AnswerSpec("number", "GBP/share", decimals=2),
    AnswerSpec("number", "shares", "millions", 1),
    AnswerSpec("number", "days", decimals=1),
    AnswerSpec("count", "count"),
)
PERCENT = AnswerSpec("number", "percent", decimals=1)
TWO = AnswerSpec("number", "percent", decimals=1, length=2)


@st.composite
def questions(draw):
    """A spec, and a value with as many places as it asks for."""
    spec = draw(st.sampled_from(SPECS))
    digits = draw(st.integers(-(10**9), 10**9))
    assume(digits > 0 or spec.kind != "count")
    return spec, Decimal(digits).scaleb(-spec.decimals)


@given(question=questions())
def test_what_is_rendered_rightly_is_accepted(question):
    spec, value = question
    gold = Gold.from_hidden(hidden_amount(value), spec)

    for form in right_forms(spec, value):
        assert grade(form.submission, spec, gold).outcome == "accept", form


@given(question=questions())
def test_a_wrong_sign_scale_unit_or_place_is_never_accepted(question):
    spec, value = question
    gold = Gold.from_hidden(hidden_amount(value), spec)
    assume(abs(value) >= 2)  # 0 has no sign and no scale

    for form in wrong_forms(spec, value):
        graded = grade(form.submission, spec, gold)
        assert (graded.outcome, is_label(graded.label)) == ("wrong", True), form
        if form.label in ("sign", "unit"):
            assert graded.label == form.label, form


@given(question=questions(), start=st.integers(0, 100))
def test_what_is_not_one_value_is_never_read(question, start):
    spec, value = question
    gold = Gold.from_hidden(hidden_amount(value), spec)

    for form in refused_forms(spec, value, start, 5):
        assert grade(form.submission, spec, gold).outcome == "refuse", form


@given(now=st.integers(-(10**7), 10**7), then=st.integers(-(10**7), 10**7), places=st.integers(0, 3))
def test_the_value_of_another_period_is_never_accepted(now, then, places):
    assume(now != then and now + then)
    spec = AnswerSpec("number", "USD", "millions", places)
    right, wrong = (Decimal(digits).scaleb(-places) for digits in (now, then))
    gold = Gold(Fraction(right), distractors=(("wrong_period", Fraction(wrong)),))

    graded = grade({"value": f"{wrong:,f}"}, spec, gold)

    assert graded.outcome == "wrong"
    assert graded.label == "wrong_period" or graded.label.startswith("scale_10^")


@given(gold=st.fractions(-1000, 1000), off=st.fractions(0, 1, max_denominator=1000))
def test_half_a_unit_is_within_and_more_is_not(gold, off):
    spec = AnswerSpec("number", "ratio", decimals=3)
    given_value = Decimal(round(gold * 10**6)).scaleb(-6)
    exact = Fraction(given_value) + off / 1000

    assert (grade({"value": f"{given_value:f}"}, spec, Gold(exact)).outcome == "accept") == (off <= Fraction(1, 2))


def test_thirds_are_compared_exactly():
    spec, gold = AnswerSpec("number", "ratio", decimals=3), Gold(Fraction(1, 3))

    assert grade({"value": "0.333"}, spec, gold).outcome == "accept"
    assert grade({"value": "33.3", "unit": "percent"}, spec, gold).outcome == "accept"
    assert grade({"value": "0.33"}, spec, gold).label == "rounding"


@pytest.mark.parametrize("label", ["wrong_period", "wrong_entity", "wrong_base", "superseded", "planted", "injected"])
def test_a_named_mistake_is_called_by_its_name(label):
    gold = Gold(Fraction("12.5"), distractors=(("other", Fraction(99)), (label, Fraction("12.6"))))

    assert grade({"value": "12.6"}, PERCENT, gold).label == label


@pytest.mark.parametrize(
    ("given_value", "direction", "outcome", "label"),
    [
        ("5", "decrease", "accept", ""),
        ("5", "increase", "wrong", "sign"),
        ("0.05", "decrease", "wrong", "scale_10^-2"),
        ("6.4", "increase", "wrong", "other"),
    ],
)
def test_a_magnitude_is_right_with_its_direction(given_value, direction, outcome, label):
    spec = AnswerSpec("number", "percent", decimals=1, sign="magnitude")

    graded = grade({"value": given_value, "direction": direction}, spec, Gold(Fraction(5), direction="decrease"))

    assert (graded.outcome, graded.label) == (outcome, label)


def test_no_change_has_no_direction():
    spec = AnswerSpec("number", "percent", decimals=1, sign="magnitude")

    assert grade({"value": "0", "direction": "increase"}, spec, Gold(Fraction(0))).outcome == "accept"


@pytest.mark.parametrize(
    ("items", "outcome"),
    [
        (["5.04", "5"], "accept"),
        (["5", "5.04"], "accept"),
        (["5.0", "5.0"], "accept"),
        (["5", "5.2"], "wrong"),
        (["5"], "wrong"),
        (["5", "5", "5"], "wrong"),
        ([{"a": 1}, "5"], "refuse"),
    ],
)
def test_a_list_of_numbers_has_each_within_its_own_half_unit(items, outcome):
    gold = Gold((Fraction(5), Fraction("5.05")))

    assert grade({"value": items}, TWO, gold).outcome == outcome


def test_a_list_in_another_unit_is_labelled_so():
    gold = Gold((Fraction(1), Fraction(2)))

    assert grade({"value": ["1", "2"], "unit": "days"}, TWO, gold).label == "unit"


@pytest.mark.parametrize("gold", [Gold(Fraction(-5), direction="decrease"), Gold(Fraction(5))])
def test_a_magnitude_that_nobody_could_answer_is_an_error_of_the_task(gold):
    spec = AnswerSpec("number", "percent", sign="magnitude")

    with pytest.raises(TaskError, match="of a magnitude"):
        grade({"value": "5", "direction": "decrease"}, spec, gold)


def test_a_gold_that_is_no_number_is_an_error_of_the_task():
    with pytest.raises(TaskError, match="is no number"):
        grade({"value": "5"}, PERCENT, Gold("5"))


def test_a_gold_that_is_a_list_where_one_value_is_asked_for_is_an_error_of_the_task():
    with pytest.raises(TaskError, match="a list where the spec asks for one value"):
        grade({"value": "5"}, PERCENT, Gold((Fraction(5),)))
