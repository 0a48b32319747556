"""The reader of answers takes any text and any JSON, and what it reads is what was written."""

from __future__ import annotations

import datetime
import json
import time
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from workgym.envs.finance.answers import Amount, Answer, Refusal
from workgym.envs.finance.value import MAX_ITEMS, parse_submission, read_answer
from workgym.tasks.finance.answer import AnswerSpec

MONEY = AnswerSpec("number", "USD", "millions", 1)
PERCENT = AnswerSpec("number", "percent", decimals=1)
SPECS = (
    MONEY,
    PERCENT,
    AnswerSpec("number", "percent", sign="magnitude"),
    AnswerSpec("number", "USD/share", decimals=2, length=2),
    AnswerSpec("count", "count"),
    AnswerSpec("choice", choices={"rose": (), "fell": ("declined",)}),
    *(AnswerSpec(kind) for kind in ("year", "date", "bool", "text")),
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.decimals() | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=8,
)
NEARLY_NUMBERS = st.text("0123456789.,' ()+-$€%exkmb/\u2212\u00a0\u200b\uff15\u0665", max_size=40)


@given(value=st.text() | NEARLY_NUMBERS, spec=st.sampled_from(SPECS))
def test_no_text_raises_an_exception(value, spec):
    assert isinstance(read_answer({"value": value}, spec), Answer | Refusal)


@given(value=ANYTHING, unit=ANYTHING, scale=ANYTHING, direction=ANYTHING, spec=st.sampled_from(SPECS))
def test_no_field_of_any_type_raises_an_exception(value, unit, scale, direction, spec):
    fields = {"value": value, "unit": unit, "scale": scale, "direction": direction}

    assert isinstance(read_answer(fields, spec), Answer | Refusal)


@given(text=st.text() | st.text('{}[]":,value0123456789.eE-tfn \\u', max_size=60), spec=st.sampled_from(SPECS))
@example(text='{"value": "\\ud800"}', spec=SPECS[-1])
@example(text='{"value": "\\ud800"}', spec=MONEY)
def test_no_submission_that_is_a_text_raises_an_exception(text, spec):
    assert isinstance(read_answer(text, spec), Answer | Refusal)


@given(text=st.text() | NEARLY_NUMBERS, spec=st.sampled_from(SPECS))
def test_a_refusal_has_a_cause_and_words_that_fit_on_a_screen(text, spec):
    read = read_answer({"value": text}, spec)

    if isinstance(read, Refusal):
        assert read.reason.isalpha()
        assert read.text.isprintable()
        assert 0 < len(read.text) < 400


@given(digits=st.integers(0, 10**20), places=st.integers(0, 8), negative=st.booleans())
def test_an_amount_is_read_to_its_last_digit(digits, places, negative):
    value = Decimal(digits).scaleb(-places) * (-1 if negative else 1)

    read = read_answer({"value": f"{value:,f}"}, PERCENT)

    assert read == Answer(Amount(Fraction(value), "percent", Fraction(1, 10**places)))


@given(digits=st.integers(1, 10**15), places=st.integers(0, 6))
def test_a_string_and_a_json_number_are_read_alike(digits, places):
    number = Decimal(digits).scaleb(-places)

    as_number = read_answer(f'{{"value": {number:f}}}', PERCENT)

    assert as_number == read_answer({"value": f"{number:f}"}, PERCENT)
    assert read_answer({"value": number}, PERCENT).value.value == as_number.value.value


def test_a_float_stands_for_its_shortest_decimal():
    assert read_answer({"value": 0.1}, PERCENT).value.value == Fraction(1, 10)


def test_a_scale_in_the_text_and_a_declared_one_are_not_multiplied():
    assert read_answer({"value": "$1.2 million", "scale": "millions"}, MONEY).value.value == 1_200_000


def test_what_was_left_out_null_or_empty_means_what_was_asked_for():
    plain = read_answer({"value": "1.2"}, MONEY)

    assert read_answer({"value": "1.2", "unit": None, "scale": "", "direction": None}, MONEY) == plain
    assert plain == Answer(Amount(Fraction(1_200_000), "USD", Fraction(100_000)))


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("date", "Sept. 28, 2024", datetime.date(2024, 9, 28)),
        ("date", "1 May 2023", datetime.date(2023, 5, 1)),
        ("year", "fiscal year 2024", 2024),
        ("bool", " True ", True),
        ("text", "  Alder Mill ", "Alder Mill"),
    ],
)
def test_other_kinds_are_read_into_their_own_types(kind, text, value):
    assert read_answer({"value": text}, AnswerSpec(kind)) == Answer(value)


@pytest.mark.parametrize(
    ("fields", "spec", "reason"),
    [
        ({"value": "1.2", "unit": "apples"}, MONEY, "unit"),
        ({"value": "1.2", "scale": "dozens"}, MONEY, "scale"),
        ({"value": "1.2", "unit": 5}, MONEY, "type"),
        ({"value": "1.2", "direction": "increase"}, MONEY, "direction"),
        ({"value": "1.2", "scale": "millions"}, PERCENT, "scale"),
        ({"value": "5", "direction": "sideways"}, SPECS[2], "direction"),
        ({"value": "2024", "unit": "years"}, AnswerSpec("year"), "unit"),
        ({"unit": "USD"}, MONEY, "empty"),
        ({"value": ["1"] * (MAX_ITEMS + 1)}, SPECS[3], "several"),
        ({"value": "-(5)"}, PERCENT, "sign"),
        ({"value": "5\u200b"}, PERCENT, "characters"),
        ({"value": "sideways"}, SPECS[5], "choice"),
    ],
)
def test_a_refusal_names_its_cause(fields, spec, reason):
    read = read_answer(fields, spec)

    assert isinstance(read, Refusal)
    assert read.reason == reason


def test_a_name_that_stands_twice_in_the_json_is_refused():
    refused = parse_submission('{"value": "1", "value": "2"}')

    assert isinstance(refused, Refusal)
    assert refused.reason == "several"


@pytest.mark.xdist_group("alone")
@pytest.mark.parametrize(
    "submission",
    [
        '{"value": 1e999999999}',
        '{"value": "1e-999999999"}',
        json.dumps({"value": "1" * 90_000}),
        f'{{"value": {"1" * 90_000}}}',
        f'{{"value": {"[" * 90_000}',
        json.dumps({"value": "1" + " 000" * 40 + "x"}),
        json.dumps({"value": "(" * 199}),
        json.dumps({"value": "1,234," * 33}),
        json.dumps({"value": " " * 90_000 + "5"}),
        {"value": 10**90_000},
        {"value": Decimal("1e999999")},
        {"value": "5", "unit": "x" * 90_000},
        {"value": "5", "scale": 10**90_000},
        '{"value": "' + "5" * 1_000_000 + '"}',
    ],
    ids=lambda submission: str(type(submission).__name__),
)
def test_no_submission_takes_long(submission):
    start = time.process_time()

    read = read_answer(submission, PERCENT)

    assert time.process_time() - start < 0.1
    assert isinstance(read, Refusal) or read.value == Amount(Fraction(5), "percent", Fraction(1))
    assert not isinstance(read, Refusal) or len(read.text) < 400
