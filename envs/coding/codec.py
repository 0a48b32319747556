"""Values between processes that do not trust each other: one line of JSON, and only builtin types on the way out.

The writer runs beside untrusted code, so nothing it says is believed. It looks at `type(x)` alone, never at what an
object claims to be, and calls nothing on an object whose type it does not know: such an object travels as a name and
arrives as an `Opaque`, which equals nothing. The reader is the trusted half. It builds builtin values and `Opaque`,
refuses the rest with `CodecError`, and bounds depth, size and the hash collisions that a message can cause.

A line is JSON. None, booleans, strings and integers below 2**63 stand for themselves; all else is a list that starts
with a tag: `["l", 1, 2]` is `[1, 2]`. Imports of this module are from the standard library alone, because its source is
also loaded into the interpreters where untrusted code runs.
"""

from __future__ import annotations

import collections
import json
import re
import sys
import types
from collections.abc import Callable, Iterable
from typing import Any, Final

__all__ = ["MAX_DEPTH", "MAX_ITEMS", "MAX_MESSAGE_BYTES", "CodecError", "Opaque", "decode", "encode"]

MAX_DEPTH: Final = 100
"""Containers within containers."""

MAX_MESSAGE_BYTES: Final = 8 * 2**20
"""Length of one line."""

MAX_ITEMS: Final = 100_000
"""Values that are taken from a generator, an iterator or a range."""

_MAX_SAME_HASH: Final = 64
_SMALL_INT: Final = 2**63
_HEX_INT: Final = re.compile(r"-?[0-9a-f]+")
_HEX_FLOAT: Final = re.compile(r"-?0x[01]\.[0-9a-f]{1,13}p[+-][0-9]{1,4}|-?inf|nan|-?0x0\.0p\+0")
_HEX_BYTES: Final = re.compile(r"(?:[0-9a-f]{2})*")

# Read from `type` itself: a metaclass may define its own `__name__` and `__module__`.
_name_of: Final[Callable[[type], object]] = type.__dict__["__name__"].__get__
_module_of: Final[Callable[[type], object]] = type.__dict__["__module__"].__get__

_EMPTY: Final[tuple[Iterable[object], ...]] = ([], (), "", b"", set(), {}, range(0))
_VIEWS: Final[tuple[Iterable[object], ...]] = ({}.keys(), {}.values(), {}.items())
_ITERATORS: Final[frozenset[type]] = frozenset(
    {
        *(range, types.GeneratorType, map, filter, zip, enumerate, reversed),
        *(type(iter(empty)) for empty in _EMPTY),
        *(type(view) for view in _VIEWS),
        *(type(iter(view)) for view in _VIEWS),
        *(type(reversed([])), type(reversed({}))),
    }
)


class CodecError(ValueError):
    """A message is malformed, or a value does not fit into one."""


class Opaque:
    """Stands for an object that did not travel. It equals nothing, not even itself, and is neither true nor false.

    Attributes:
        type_name: what its process called its type, at most 60 letters, digits and underscores: never decide by it.
    """

    __slots__ = ("type_name",)

    def __init__(self, type_name: str) -> None:
        self.type_name = type_name

    def __eq__(self, other: object) -> bool:
        return False

    def __ne__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return id(self) >> 4

    def __bool__(self) -> bool:
        raise TypeError(f"an object of type {self.type_name} is no value")

    def __repr__(self) -> str:
        return f"<opaque {self.type_name}>"


def encode(value: object, *, strict: bool = False, max_bytes: int = MAX_MESSAGE_BYTES) -> str:
    """Write a value as one line.

    Args:
        value: anything. Dicts of `collections` become dicts, numpy scalars what their `item()` gives, generators,
            iterators and ranges lists. Whatever a generator raises comes through.
        strict: refuse what does not fit; else it becomes opaque: an unknown type, containers below `MAX_DEPTH`, an
            iterator of more than `MAX_ITEMS`, and all of a value beyond `max_bytes`.
        max_bytes: how long the line may be.

    Returns:
        ASCII without a newline, at most `max_bytes` long, or an opaque value.

    Raises:
        CodecError: `strict`, and the value does not fit.
    """
    writer = _Writer(strict, max_bytes)
    try:
        line = json.dumps(writer.node(value, 0, False), separators=(",", ":"))
    except _TooLarge:
        line = ""
    if 0 < len(line) <= max_bytes:
        return line
    if strict:
        raise CodecError(f"a {_type_name(value)} does not fit into a message of {max_bytes} bytes")
    return json.dumps(["o", _type_name(value)])


def decode(line: str | bytes) -> Any:
    """Read a line that an untrusted process may have written.

    Args:
        line: one message, without its newline.

    Returns:
        A value made of None, bool, int, float, complex, str, bytes, list, tuple, set, frozenset, dict and `Opaque`.

    Raises:
        CodecError: the line is too long, too deep, or not what `encode` writes.
    """
    if len(line) > MAX_MESSAGE_BYTES:
        raise CodecError(f"message of {len(line)} bytes; at most {MAX_MESSAGE_BYTES} are read")
    try:
        text = line if isinstance(line, str) else line.decode("ascii")
        node = json.loads(text, parse_constant=_refuse, parse_float=_refuse)
    except (ValueError, RecursionError) as error:  # UnicodeDecodeError and over-long integers are ValueErrors
        raise CodecError(f"message is not JSON: {type(error).__name__}") from error
    return _read(node, 0)


class _TooLarge(Exception):
    """The message would be too long."""


class _Writer:
    """Turns a value into what JSON can hold, and counts the characters while it does."""

    __slots__ = ("room", "strict")

    def __init__(self, strict: bool, max_bytes: int) -> None:
        self.strict = strict
        self.room = max_bytes

    def node(self, value: Any, depth: int, as_key: bool) -> Any:
        """One value; `as_key` inside a set or a key, where the reader must be able to hash it."""
        kind = type(value)
        self.spend(2)
        if kind is int and -_SMALL_INT < value < _SMALL_INT:
            return value
        if value is None or kind is bool:
            return value
        write = _WRITERS.get(kind)
        if depth >= MAX_DEPTH and (kind in _CONTAINERS or kind in _ITERATORS):
            return self.opaque(value, "nested too deep")
        if write is not None:
            return write(self, value, depth, as_key)
        if kind in _ITERATORS and not as_key:
            return self.iterator(value, depth)
        if _is_numpy_scalar(kind):
            item = value.item()
            if type(item) in (bool, int, float, complex, str, bytes):
                return self.node(item, depth, as_key)
        return self.opaque(value, "not a builtin value")

    def spend(self, n: int) -> None:
        """Take `n` characters of the room that is left."""
        self.room -= n
        if self.room < 0:
            raise _TooLarge

    def opaque(self, value: object, why: str) -> list[Any]:
        """The marker of an object that stays behind."""
        name = _type_name(value)
        if self.strict:
            raise CodecError(f"a {name} cannot travel: {why}")
        self.spend(len(name) + 6)
        return ["o", name]

    def scalar(self, tag: str, *parts: str) -> list[Any]:
        self.spend(sum(map(len, parts)) + 6)
        return [tag, *parts]

    def text(self, value: str, depth: int, as_key: bool) -> Any:
        self.spend(len(value))
        if not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value):
            # JSON would join two halves of a pair into one letter.
            return self.scalar("u", value.encode("utf-8", "surrogatepass").hex())
        return value

    def items(self, tag: str, values: Iterable[Any], depth: int, as_key: bool) -> list[Any]:
        self.spend(6)
        node: list[Any] = [tag]
        for value in values:
            node.append(self.node(value, depth + 1, as_key))
        return node

    def mapping(self, value: dict[Any, Any], depth: int, as_key: bool) -> list[Any]:
        self.spend(6)
        node: list[Any] = ["d"]
        for key, item in value.items():
            node.append(self.node(key, depth + 1, True))
            node.append(self.node(item, depth + 1, False))
        return node

    def iterator(self, value: Iterable[Any], depth: int) -> list[Any]:
        node: list[Any] = ["l"]
        for item in value:
            if len(node) > MAX_ITEMS:
                return self.opaque(value, f"it yields more than {MAX_ITEMS} values")
            node.append(self.node(item, depth + 1, False))
        return node


_WRITERS: Final[dict[type, Callable[[_Writer, Any, int, bool], Any]]] = {
    int: lambda writer, value, depth, as_key: writer.scalar("i", format(value, "x")),
    float: lambda writer, value, depth, as_key: writer.scalar("f", value.hex()),
    complex: lambda writer, value, depth, as_key: writer.scalar("c", value.real.hex(), value.imag.hex()),
    bytes: lambda writer, value, depth, as_key: writer.scalar("b", value.hex()),
    str: _Writer.text,
    list: lambda writer, value, depth, as_key: writer.items("l", value, depth, as_key),
    tuple: lambda writer, value, depth, as_key: writer.items("t", value, depth, as_key),
    set: lambda writer, value, depth, as_key: writer.items("s", value, depth, True),
    frozenset: lambda writer, value, depth, as_key: writer.items("z", value, depth, True),
    dict: _Writer.mapping,
    collections.defaultdict: _Writer.mapping,
    collections.Counter: _Writer.mapping,
    collections.OrderedDict: _Writer.mapping,
}

_CONTAINERS: Final[frozenset[type]] = frozenset(set(_WRITERS) - {int, float, complex, str, bytes})


def _type_name(value: object) -> str:
    name = _name_of(type(value))
    return name[:64] if type(name) is str else "object"


def _is_numpy_scalar(kind: type) -> bool:
    """Whether numpy, if the process has it at all, calls exactly this type by its name and the type is a scalar."""
    numpy = sys.modules.get("numpy")
    name = _name_of(kind)
    if numpy is None or type(name) is not str or _module_of(kind) != "numpy":
        return False
    return getattr(numpy, name, None) is kind and numpy.generic in kind.__mro__


def _refuse(text: str) -> Any:
    raise CodecError(f"a message holds no plain {text[:20]}")


def _read(node: Any, depth: int) -> Any:
    kind = type(node)
    if kind is int or kind is str or node is None or kind is bool:
        return node
    if kind is not list or not node or type(node[0]) is not str:
        raise CodecError(f"a message holds no JSON {kind.__name__} here")
    tag, *rest = node
    if tag in _SCALAR_READERS:
        arity, read = _SCALAR_READERS[tag]
        if len(rest) != arity or not all(type(part) is str for part in rest):
            raise CodecError(f"tag {tag!r} takes {arity} text(s)")
        return read(*rest)
    if tag not in _BUILDERS:
        raise CodecError(f"unknown tag {tag[:20]!r}")
    if depth >= MAX_DEPTH:
        raise CodecError(f"message is nested deeper than {MAX_DEPTH}")
    return _BUILDERS[tag]([_read(part, depth + 1) for part in rest])


def _read_int(text: str) -> int:
    if not _HEX_INT.fullmatch(text):
        raise CodecError("malformed integer")
    return int(text, 16)


def _read_float(text: str) -> float:
    if not _HEX_FLOAT.fullmatch(text):
        raise CodecError("malformed float")
    try:
        return float.fromhex(text)
    except OverflowError as error:
        raise CodecError("float out of range") from error


def _read_bytes(text: str) -> bytes:
    if not _HEX_BYTES.fullmatch(text):
        raise CodecError("malformed bytes")
    return bytes.fromhex(text)


def _read_text(text: str) -> str:
    try:
        return _read_bytes(text).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise CodecError("malformed text") from error


def _build_set(items: list[Any]) -> set[Any]:
    _check_keys(items)
    built = set(items)
    if len(built) != len(items):
        raise CodecError("a set holds an element twice")
    return built


def _build_dict(items: list[Any]) -> dict[Any, Any]:
    if len(items) % 2:
        raise CodecError("a dict lacks a value")
    keys = items[::2]
    _check_keys(keys)
    built = dict(zip(keys, items[1::2], strict=True))
    if len(built) != len(keys):
        raise CodecError("a dict holds a key twice")
    return built


def _check_keys(keys: list[Any]) -> None:
    """Refuse what cannot be hashed, and keys chosen to share a hash: building their table takes quadratic time."""
    try:
        hashes = [hash(key) for key in keys]
    except TypeError as error:
        raise CodecError("a set or a key holds what cannot be hashed") from error
    if len(hashes) > _MAX_SAME_HASH and max(collections.Counter(hashes).values()) > _MAX_SAME_HASH:
        raise CodecError(f"more than {_MAX_SAME_HASH} keys share a hash")


_SCALAR_READERS: Final[dict[str, tuple[int, Callable[..., Any]]]] = {
    "i": (1, _read_int),
    "f": (1, _read_float),
    "c": (2, lambda real, imaginary: complex(_read_float(real), _read_float(imaginary))),
    "b": (1, _read_bytes),
    "u": (1, _read_text),
    "o": (1, lambda name: Opaque(re.sub("[^A-Za-z0-9_]", "", name[:200])[:60] or "object")),
}

_BUILDERS: Final[dict[str, Callable[[list[Any]], Any]]] = {
    "l": lambda items: items,
    "t": tuple,
    "s": _build_set,
    "z": lambda items: frozenset(_build_set(items)),
    "d": _build_dict,
}
