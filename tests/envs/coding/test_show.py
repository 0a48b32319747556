"""Whatever the codec lets through is shown in one bounded line, at a bounded cost."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workgym.envs.coding.codec import MAX_DEPTH, Opaque, decode, encode
from workgym.envs.coding.evaluate import same_value
from workgym.envs.coding.show import printable, show

integers = st.integers() | st.builds(
    lambda bits, sign: sign * (1 << bits), st.integers(0, 60_000), st.sampled_from([-1, 1])
)
scalars = st.one_of(
    st.none(), st.booleans(), integers, st.floats(), st.complex_numbers(), st.text(max_size=90), st.binary(max_size=90)
)
hashables = st.recursive(scalars, lambda part: st.tuples(part, part) | st.frozensets(part, max_size=3), max_leaves=5)
values = st.recursive(
    scalars | st.builds(object),
    lambda part: st.one_of(
        st.lists(part),
        st.lists(part, max_size=4).map(tuple),
        st.sets(hashables, max_size=4),
        st.frozensets(hashables, max_size=4),
        st.dictionaries(hashables, part, max_size=4),
    ),
    max_leaves=20,
)
opaque_lines = st.text(max_size=90).map(lambda name: '["l",["o",' + encode(name) + "]]")


def has_opaque(value: object) -> bool:
    if type(value) is dict:
        return any(map(has_opaque, value.values()))
    return type(value) is object or (type(value) in (list, tuple) and any(map(has_opaque, value)))  # type: ignore[call-overload]


def is_shown(value: object) -> bool:
    text = show(value)
    return len(text) <= 63 and text.isprintable() and "\n" not in text


@given(values)
def test_every_value_that_arrives_is_shown_in_one_printable_line_and_compared(value: object) -> None:
    arrived = decode(encode(value))
    assert is_shown(arrived)
    assert same_value(arrived, arrived) is not has_opaque(value)


@given(
    st.recursive(
        st.integers() | st.text(max_size=3) | st.none(), lambda part: st.lists(part).map(tuple) | st.lists(part)
    )
)
def test_a_short_value_is_shown_as_python_writes_it(value: object) -> None:
    wanted = repr(value)
    assert show(value) == (wanted if len(wanted) <= 60 else wanted[:60] + "...")


@given(values, values)
def test_any_two_values_that_arrive_compare_the_same_both_ways(left: object, right: object) -> None:
    left, right = decode(encode(left)), decode(encode(right))
    assert same_value(left, right) == same_value(right, left)


@given(opaque_lines)
def test_the_name_of_an_opaque_value_forges_no_line(line: str) -> None:
    assert is_shown(decode(line))


@pytest.mark.parametrize(
    "value", [set(), frozenset(), {}, (), [], {1}, frozenset({1}), {1: [2]}, (1,), True, b"a\n", 1j]
)
def test_every_kind_is_written_as_python_writes_it(value: object) -> None:
    assert show(value) == repr(value)


def nested(value: object, depth: int) -> object:
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: 10**5000, "<int of about 5001 digits, too large to show>"),
        (lambda: [-(10**9000)], "[<int of about 9001 digits, too large to show>]"),
        (lambda: 1 << 30_000_000, "digits, too large to show>"),
        (lambda: list(range(1_000_000)), "[0, 1, 2, 3"),
        (lambda: "x" * 8_000_000, "'xxxxxxx"),
        (lambda: b"x" * 8_000_000, "b'xxxxxx"),
        (lambda: nested(1, MAX_DEPTH), "[" * 60 + "..."),
    ],
    ids=["integer", "within", "megabytes of integer", "list", "text", "bytes", "deep"],
)
def test_a_huge_value_costs_no_more_than_what_is_shown(make: Callable[[], object], words: str) -> None:
    value = make()
    tracemalloc.start()
    text = show(value)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert words in text
    assert len(text) <= 63
    assert peak < 100_000


def test_an_object_that_no_decoder_makes_is_shown_by_its_type() -> None:
    assert show(type("Line\nBreak", (), {"__repr__": lambda self: 1 / 0})()) == "<Line Break>"


def test_words_of_an_untrusted_process_are_one_printable_line() -> None:
    assert printable("a\nx = 1: 30\r\x1b[2K\ud800é" + "b" * 900) == "a x = 1: 30 ?[2K?é" + "b" * 182


@pytest.mark.parametrize(
    ("name", "kept"), [("a\nb\x1b[2K", "ab2K"), ("n" * 99, "n" * 60), ("\n", "object"), ("int64", "int64")]
)
def test_the_name_of_an_opaque_value_is_of_plain_letters(name: str, kept: str) -> None:
    arrived = decode('["o",' + encode(name) + "]")
    assert isinstance(arrived, Opaque)
    assert arrived.type_name == kept
