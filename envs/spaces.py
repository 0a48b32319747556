"""Spaces for words: cheap to check at any size, and usable in shared memory.

`gymnasium.spaces.Text` checks every character against a set of allowed ones (its default refuses a space), which takes
milliseconds for a page of text. These check a length.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from typing import Any, Final, overload

import gymnasium as gym
from gymnasium.vector.utils.shared_memory import (
    create_shared_memory,
    read_from_shared_memory,
    write_to_shared_memory,
)

__all__ = ["ActionSpace", "TextSpace"]

_SAMPLED: Final = string.ascii_letters + string.digits + string.punctuation + " \n"
_LENGTH_BYTES: Final = 8
_UTF8_BYTES: Final = 4  # of one character, at most


class TextSpace(gym.Space[str]):
    """All texts of at most so many characters.

    Args:
        max_chars: the length that a text may have.
        seed: of `sample`.
    """

    def __init__(self, max_chars: int, seed: int | None = None) -> None:
        if max_chars < 1:
            raise ValueError(f"max_chars must be > 0, not {max_chars}")
        super().__init__(shape=None, dtype=None, seed=seed)
        self.max_chars: Final = max_chars

    @property
    def is_np_flattenable(self) -> bool:
        """Text is no array."""
        return False

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """A random text of up to 40 printable characters."""
        length = int(self.np_random.integers(1, min(40, self.max_chars) + 1))
        return "".join(_SAMPLED[i] for i in self.np_random.integers(0, len(_SAMPLED), length))

    def contains(self, x: Any) -> bool:
        """Whether x is a text that is not too long."""
        return isinstance(x, str) and len(x) <= self.max_chars

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.max_chars == getattr(other, "max_chars", None)

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.max_chars))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.max_chars})"


class ActionSpace(TextSpace):
    """What an agent may say: a text, a tool call `{"name": ..., "arguments": {...}}`, or a list of tool calls."""

    def contains(self, x: Any) -> bool:
        """Whether x has one of the three forms; whether a tool can carry it out is another question."""
        if isinstance(x, Mapping):
            return isinstance(x.get("name"), str)
        if isinstance(x, list):
            return all(isinstance(call, Mapping) and isinstance(call.get("name"), str) for call in x)
        return super().contains(x)


@create_shared_memory.register(TextSpace)
def _create(space: TextSpace, n: int = 1, ctx: Any = None) -> Any:
    return ctx.Array("B", n * (_LENGTH_BYTES + _UTF8_BYTES * space.max_chars))


@write_to_shared_memory.register(TextSpace)
def _write(space: TextSpace, index: int, value: str, shared_memory: Any) -> None:
    data = value.encode("utf-8", "surrogatepass")
    start = index * (_LENGTH_BYTES + _UTF8_BYTES * space.max_chars)
    record = memoryview(shared_memory.get_obj()).cast("B")
    record[start : start + _LENGTH_BYTES] = len(data).to_bytes(_LENGTH_BYTES, "little")
    record[start + _LENGTH_BYTES : start + _LENGTH_BYTES + len(data)] = data


@read_from_shared_memory.register(TextSpace)
def _read(space: TextSpace, shared_memory: Any, n: int = 1) -> _SharedTexts:
    return _SharedTexts(space, shared_memory, n)


class _SharedTexts(Sequence[str]):
    """The texts in shared memory as they are when looked at.

    `AsyncVectorEnv` reads its memory once and expects a view that follows what the workers write, as an array would.
    Its default is to hand out deep copies: those are plain tuples.
    """

    def __init__(self, space: TextSpace, shared_memory: Any, n: int) -> None:
        self._size = _LENGTH_BYTES + _UTF8_BYTES * space.max_chars
        self._memory = shared_memory
        self._n = n

    def __len__(self) -> int:
        return self._n

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(self._n)))
        if not -self._n <= index < self._n:
            raise IndexError(f"there are {self._n} texts and none at {index}")
        record = memoryview(self._memory.get_obj()).cast("B")[index % self._n * self._size :]
        length = int.from_bytes(record[:_LENGTH_BYTES], "little")
        return bytes(record[_LENGTH_BYTES : _LENGTH_BYTES + length]).decode("utf-8", "surrogatepass")

    def __deepcopy__(self, memo: dict[int, Any]) -> tuple[str, ...]:
        return tuple(self)

    def __eq__(self, other: object) -> bool:
        return tuple(self) == (tuple(other) if isinstance(other, Sequence) else other)

    def __repr__(self) -> str:
        return repr(tuple(self))

    __hash__ = None  # type: ignore[assignment]
