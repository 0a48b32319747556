"""An answer spec is public, a gold is hidden, and both say what they cannot be."""

from __future__ import annotations

import datetime
import json
from fractions import Fraction

import pytest

from workgym.tasks.errors import TaskError
from workgym.tasks.finance.answer import AnswerSpec, Gold, is_label
from workgym.tasks.finance.units import factor

SPECS = (
    AnswerSpec("number", "USD", "millions", 1),
    AnswerSpec("number", "percent", decimals=1, sign="magnitude", citation_budget=6),
    AnswerSpec("number", "EUR/share", decimals=2, length=3, ordered=True),
    AnswerSpec("count", "count"),
    AnswerSpec("choice", choices={"rose": ("increased",), "fell": ()}),
    AnswerSpec("date"),
)


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: f"{spec.kind}-{spec.unit}")
def test_a_spec_goes_through_json_and_comes_back(spec):
    assert AnswerSpec.from_public(json.loads(json.dumps(spec.to_public()))) == spec


def test_a_spec_in_public_says_only_what_is_not_the_default():
    assert AnswerSpec("number", "percent", decimals=1).to_public() == {
        "kind": "number",
        "unit": "percent",
        "decimals": 1,
    }


@pytest.mark.parametrize(
    ("spec", "gold"),
    [
        (SPECS[0], Gold(Fraction(1, 3), distractors=(("wrong_period", Fraction(7, 5)),))),
        (SPECS[1], Gold(Fraction(5), direction="decrease")),
        (SPECS[2], Gold((Fraction(1), Fraction(2), Fraction("3.5")))),
        (SPECS[5], Gold(datetime.date(2024, 9, 28))),
        (AnswerSpec("year"), Gold(2024)),
        (AnswerSpec("bool"), Gold(True)),
        (AnswerSpec("text"), Gold("Alder Mill", aliases={"Alder Mill": ("Alder",)})),
    ],
)
def test_a_gold_goes_through_json_and_comes_back(spec, gold):
    assert Gold.from_hidden(json.loads(json.dumps(gold.to_hidden())), spec) == gold


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"kind": "figure"}, "unknown kind of answer 'figure'"),
        ({"kind": "number", "unit": "dollars"}, "unknown unit 'dollars'"),
        ({"kind": "number", "unit": "USD", "scale": "milions"}, "Did you mean 'millions'?"),
        ({"kind": "number", "unit": "percent", "scale": "millions"}, "does not go with 'percent'"),
        ({"kind": "number", "unit": "USD/share", "scale": "thousands"}, "does not go with 'USD/share'"),
        ({"kind": "number", "unit": "count"}, "counts, and only they"),
        ({"kind": "number", "unit": "USD", "decimals": 99}, "decimals 99"),
        ({"kind": "number", "unit": "USD", "sign": "absolute"}, "unknown sign"),
        ({"kind": "number", "unit": "USD", "sign": "magnitude", "length": 2}, "length 2"),
        ({"kind": "text", "length": 0}, "length 0"),
        ({"kind": "date", "unit": "days"}, "has no unit"),
        ({"kind": "choice"}, "a choice has some"),
        ({"kind": "text", "choices": {"a": []}}, "a choice has some"),
        ({"kind": "text", "ordred": True}, "Did you mean 'ordered'?"),
    ],
)
def test_a_spec_whose_fields_do_not_go_together_is_refused(fields, words):
    with pytest.raises(TaskError, match=words.replace("?", r"\?")):
        AnswerSpec.from_public(fields)


@pytest.mark.parametrize(
    ("hidden", "spec"),
    [
        ({"value": "twelve"}, SPECS[0]),
        ({"value": True}, AnswerSpec("year")),
        ({"value": "yes"}, AnswerSpec("bool")),
        ({"value": "2024-02-30"}, AnswerSpec("date")),
        ({"value": 5}, AnswerSpec("text")),
        ({"value": "sideways"}, SPECS[4]),
        ({"value": ["1"]}, SPECS[0]),
        ({"value": ["1", "2"]}, SPECS[2]),
        ({"value": "1", "direction": "up"}, SPECS[1]),
        ({"value": "1", "distractors": [["guess", "2"]]}, SPECS[0]),
    ],
)
def test_a_gold_of_another_type_than_its_spec_is_refused(hidden, spec):
    with pytest.raises(TaskError):
        Gold.from_hidden(hidden, spec)


@pytest.mark.parametrize(
    ("given", "asked", "by"),
    [
        ("percent", "ratio", Fraction(1, 100)),
        ("ratio", "percent", Fraction(100)),
        ("bps", "percent", Fraction(1, 100)),
        ("bps", "percentage_points", Fraction(1, 100)),
        ("multiple", "percent", Fraction(100)),
        ("USD", "USD", Fraction(1)),
        ("percent", "percentage_points", None),
        ("USD", "EUR", None),
        ("USD", "USD/share", None),
        ("days", "count", None),
    ],
)
def test_units_convert_exactly_within_their_family_and_not_beyond(given, asked, by):
    assert factor(given, asked) == by


def test_a_label_is_one_of_a_list_or_a_power_of_ten():
    assert all(is_label(label) for label in ("unit", "superseded", "scale_10^3", "scale_10^-12"))
    assert not any(is_label(label) for label in ("", "guess", "scale_10^0", "scale_10^", "scale_10^3 "))
