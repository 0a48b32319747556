"""The codec: builtin values travel whole, anything else as a name, and no line harms its reader."""

from __future__ import annotations

import collections
import itertools
import json
import math
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from workgym.envs.coding.codec import MAX_DEPTH, MAX_ITEMS, MAX_MESSAGE_BYTES, CodecError, Opaque, decode, encode
from workgym.envs.coding.evaluate import same_value
from workgym.envs.coding.warm import WARM_MODULES

BUILTINS = (type(None), bool, int, float, complex, str, bytes, list, tuple, set, frozenset, dict, Opaque)

texts = st.text(st.characters(exclude_categories=()), max_size=8)  # lone surrogates among them
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.complex_numbers(), texts, st.binary(max_size=8)
)
hashables = st.recursive(
    scalars, lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3), max_leaves=6
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.sets(hashables, max_size=4),
        st.frozensets(hashables, max_size=4),
        st.dictionaries(hashables, inner, max_size=4),
    ),
    max_leaves=20,
)
nodes = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts | st.sampled_from([*"ltszdifcbuo"]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=5),
        st.builds(lambda tag, rest: [tag, *rest], st.sampled_from([*"ltszdifcbuo"]), st.lists(inner, max_size=5)),
        st.dictionaries(st.text(max_size=3), inner, max_size=2),
    ),
    max_leaves=30,
)


def types_within(value: Any) -> Iterator[type]:
    yield type(value)
    if type(value) is dict:
        value = [*value, *value.values()]
    if type(value) in (list, tuple, set, frozenset):
        for item in value:
            yield from types_within(item)


@given(values)
@example("\ud83d\ude00")  # two halves of a pair, which JSON would join
@example([math.nan, math.inf, -math.inf, -0.0, 5e-324, 2**63, -(2**63), True, 1, 1.0])
@example({(1, 2): {frozenset({b"\x00\xff"})}})
def test_builtin_values_arrive_as_they_left(value: object) -> None:
    line = encode(value, strict=True)
    assert line.isascii()
    assert "\n" not in line
    arrived = decode(line)
    assert same_value(arrived, value)
    assert sorted(map(str, types_within(arrived))) == sorted(map(str, types_within(value)))


@given(st.floats())
def test_floats_keep_every_bit(value: float) -> None:
    assert repr(decode(encode(value))) == repr(value)


@given(st.text(max_size=40) | st.binary(max_size=40) | nodes.map(json.dumps))
def test_no_line_gives_anything_but_builtin_values_or_a_codec_error(line: str | bytes) -> None:
    try:
        value = decode(line)
    except CodecError:
        return
    assert set(types_within(value)) <= set(BUILTINS)


@given(values, st.data())
def test_a_damaged_line_gives_builtin_values_or_a_codec_error(value: object, data: st.DataObject) -> None:
    line = encode(value)
    start = data.draw(st.integers(0, len(line)))
    stop = data.draw(st.integers(start, min(len(line), start + 4)))
    damaged = line[:start] + data.draw(st.text('[]",:{}-0123456789abltsdz', max_size=4)) + line[stop:]
    try:
        assert set(types_within(decode(damaged))) <= set(BUILTINS)
    except CodecError:
        return


@pytest.mark.parametrize(
    "line",
    [
        "",
        "[]",
        "{}",
        "1.5",
        "NaN",
        "[1]",
        '["q"]',
        '["l",',
        "[" * 100_000,
        '["l",' * 101 + "1" + "]" * 101,
        "1" * 5000,
        '["i","1_0"]',
        '["i"," 1"]',
        '["i","٣"]',
        '["i",1]',
        '["f","0x1.8p+9999"]',
        '["f","1.5"]',
        '["c","nan"]',
        '["b","0"]',
        '["u","ff"]',
        '["s",1,1]',
        '["s",1,true]',
        '["s",["l"]]',
        '["d",1]',
        '["d",1,2,1,3]',
        '["d",["l"],1]',
        b"\xff",
        '"' + "x" * MAX_MESSAGE_BYTES + '"',
    ],
    ids=lambda line: repr(line[:20]),
)
def test_a_malformed_line_is_refused(line: str | bytes) -> None:
    with pytest.raises(CodecError):
        decode(line)


@pytest.mark.parametrize("tag", ["s", "z", "d"])
def test_keys_that_share_a_hash_are_refused_before_they_cost_quadratic_time(tag: str) -> None:
    keys = [["i", format(k * sys.hash_info.modulus, "x")] for k in range(200_000)]
    line = json.dumps([tag, *(itertools.chain(*((key, 0) for key in keys)) if tag == "d" else keys)])
    with pytest.raises(CodecError, match="share a hash"):
        decode(line)


@pytest.mark.parametrize(
    ("value", "arrives"),
    [
        (collections.Counter("aab"), {"a": 2, "b": 1}),
        (collections.defaultdict(list, {1: [2]}), {1: [2]}),
        (collections.OrderedDict([(2, 1), (1, 2)]), {2: 1, 1: 2}),
        (range(3), [0, 1, 2]),
        ((n * n for n in range(3)), [0, 1, 4]),
        (map(str, [1, 2]), ["1", "2"]),
        (zip([1], "a", strict=True), [(1, "a")]),
        ({1: 2}.items(), [(1, 2)]),
        (iter([1, 2]), [1, 2]),
        (np.int64(3), 3),
        (np.float32(0.5), 0.5),
        (np.bool_(True), True),
        (np.str_("a"), "a"),
        (np.complex128(1j), 1j),
        ([np.float64(2.0)], [2.0]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_relatives_of_builtin_values_flatten(value: object, arrives: object) -> None:
    got = decode(encode(value, strict=True))
    assert got == arrives
    assert type(got) is type(arrives)


class AlwaysEqual:
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


class Number(int):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


class Loud(type):
    """A metaclass whose classes and objects refuse to be asked anything."""

    def __getattribute__(cls, name: str) -> object:
        raise AssertionError(f"the class was asked for {name}")


class Touchy(metaclass=Loud):
    def __getattribute__(self, name: str) -> object:
        raise AssertionError(f"the object was asked for {name}")

    def __repr__(self) -> str:
        raise AssertionError("the object was asked for its repr")

    def __eq__(self, other: object) -> bool:
        raise AssertionError("the object was compared")

    def __hash__(self) -> int:
        return 1


STRANGERS: tuple[object, ...] = (
    AlwaysEqual(),
    Number(3),
    object(),
    type("str", (str,), {})("a"),
    type("int64", (), {"__module__": "numpy", "item": lambda self: 3})(),
    Touchy(),
    type("list", (list,), {"__iter__": lambda self: iter([1])})(),
    np.arange(3),
    np.longdouble(1),
    len,
    int,
    Ellipsis,
    bytearray(b"a"),
    itertools.count(),
)


@pytest.mark.parametrize("number", range(len(STRANGERS)))  # pytest asks a parameter for its name, which some refuse
def test_other_objects_arrive_opaque_and_nothing_is_called_on_them(number: int) -> None:
    arrived = decode(encode(STRANGERS[number]))
    assert type(arrived) is Opaque
    nested = decode(encode({"key": [STRANGERS[number]]}))
    assert type(nested["key"][0]) is Opaque
    with pytest.raises(CodecError, match="cannot travel"):
        encode(STRANGERS[number], strict=True)


def test_an_opaque_value_equals_nothing_not_even_itself() -> None:
    opaque = decode(encode(object()))
    assert opaque != opaque
    assert not opaque.__eq__(opaque)
    assert not same_value(opaque, opaque)
    assert not same_value([opaque], [opaque])
    with pytest.raises(TypeError, match="no value"):
        bool(opaque)


def test_a_metaclass_cannot_lie_about_the_name_that_travels() -> None:
    liar = type("Liar", (type,), {"__name__": property(lambda cls: 1 / 0)})
    assert decode(encode(liar("Honest", (), {})())).type_name == "Honest"


def test_a_value_that_contains_itself_arrives_with_an_opaque_end() -> None:
    loop: list[object] = []
    loop.append(loop)
    assert Opaque in types_within(decode(encode(loop)))
    with pytest.raises(CodecError, match="too deep"):
        encode(loop, strict=True)


def test_a_value_that_grows_without_bound_arrives_opaque() -> None:
    tree: list[object] = []
    tree += [tree, tree]
    assert type(decode(encode(tree))) is Opaque


def test_the_deepest_value_that_is_allowed_arrives() -> None:
    value: object = 1
    for _ in range(MAX_DEPTH):
        value = [value]
    assert decode(encode(value, strict=True)) == value


@pytest.mark.parametrize(
    "value",
    ["x" * MAX_MESSAGE_BYTES, 1 << (4 * MAX_MESSAGE_BYTES), [[]] * MAX_MESSAGE_BYTES],
    ids=["text", "integer", "list"],
)
def test_a_value_beyond_the_largest_message_arrives_opaque(value: object) -> None:
    assert type(decode(encode(value))) is Opaque
    with pytest.raises(CodecError, match="does not fit"):
        encode(value, strict=True)


def test_integers_beyond_the_limit_of_decimal_digits_arrive() -> None:
    value = -(10**100_000)
    assert decode(encode(value)) == value


def test_an_iterator_without_end_arrives_opaque() -> None:
    def ones() -> Iterator[int]:
        while True:
            yield 1

    assert type(decode(encode(ones()))) is Opaque
    assert len(decode(encode(range(MAX_ITEMS)))) == MAX_ITEMS


def test_an_iterator_among_keys_arrives_opaque_because_lists_have_no_hash() -> None:
    arrived = decode(encode({range(3): 1}))
    assert [type(key) for key in arrived] == [Opaque]


def test_what_a_generator_raises_comes_through() -> None:
    with pytest.raises(ZeroDivisionError):
        encode(1 // n for n in [0])


def test_lines_of_the_first_version_still_mean_the_same() -> None:
    line = (
        '["d","a",["l",1,null,true,["i","10000000000000000"]],["t",["f","0x1.8000000000000p+0"],["f","nan"]],'
        '["z",["b","00ff"]],["c","0x0.0p+0","-0x1.0000000000000p+0"],["s",["u","eda080"]]]'
    )
    value = decode(line)
    assert value["a"] == [1, None, True, 2**64]
    assert value[complex(0, -1)] == {"\ud800"}
    assert any(type(key) is tuple and key[0] == 1.5 and math.isnan(key[1]) for key in value)
    assert encode(value) == line


@given(values, values)
def test_values_are_the_same_exactly_if_python_has_them_equal_with_equal_shapes(left: object, right: object) -> None:
    assert same_value(left, left)
    assert same_value(left, right) == same_value(right, left)
    if same_value(left, right) and "nan" not in repr(left):
        assert left == right


def test_the_guests_load_without_the_package() -> None:
    code = "import sys, types\n" + "".join(
        f"module = types.ModuleType({name!r}); sys.modules[{name!r}] = module; exec({source!r}, module.__dict__)\n"
        for name, source in WARM_MODULES
    )
    code += "assert not [name for name in sys.modules if name.split('.')[0] in ('workgym', 'numpy')]\n"
    code += "import workgym_codec\nassert workgym_codec.decode(workgym_codec.encode([1])) == [1]\n"
    subprocess.run([sys.executable, "-I", "-S", "-c", code], check=True, timeout=60)
