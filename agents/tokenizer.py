"""A tokenizer of characters, for models trained from scratch."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, Protocol

from workgym.tasks.errors import PolicyError

__all__ = ["CHARACTERS_FILE", "CharTokenizer", "Tokenizer"]

CHARACTERS_FILE: Final = "char_tokenizer.json"
"""Where a character tokenizer lies in the folder of its model."""

_FORMAT: Final = "workgym-characters-1"
_SPECIALS: Final = ("<pad>", "<bos>", "<act>", "<end>", "<unk>")
_PRINTABLE: Final = "\n" + "".join(map(chr, range(32, 127)))
_FOREIGN: Final = "\ufffd"


class Tokenizer(Protocol):
    """Turns text into token ids and back."""

    @property
    def n_ids(self) -> int:
        """Number of token ids; they are 0 to n_ids - 1."""
        ...

    def encode(self, text: str) -> list[int]:
        """Token ids of a text, with nothing put before or after it."""
        ...

    def decode(self, ids: Iterable[int]) -> str:
        """The text of token ids. Encoding it again need not give the same ids."""
        ...


class CharTokenizer:
    r"""One id a character: the printable ASCII characters, the newline and a few marks.

    A character that it does not know becomes `unk`: observations hold what programs print, and a strange letter there
    must not end an episode. Marks inside a text decode to U+FFFD, so that an action that holds one is visibly not a
    clean one.

    Attributes:
        pad, bos, act, end, unk: ids of the marks: filler, start of an episode, "now act", end of an action, unknown.

    Args:
        characters: those that have an id, in order, each once.

    Raises:
        PolicyError: a character comes twice.
    """

    pad: Final = 0
    bos: Final = 1
    act: Final = 2
    end: Final = 3
    unk: Final = 4

    def __init__(self, characters: str = _PRINTABLE) -> None:
        if len(set(characters)) != len(characters) or _FOREIGN in characters:
            raise PolicyError(
                f"the {len(characters)} characters of a tokenizer must be distinct and must not hold U+FFFD"
            )
        self.characters: Final = characters
        self._id_of: Final = {char: i for i, char in enumerate(characters, start=len(_SPECIALS))}
        self._char_of: Final = [_FOREIGN] * len(_SPECIALS) + list(characters)

    @property
    def n_ids(self) -> int:
        """Number of token ids; they are 0 to n_ids - 1."""
        return len(self._char_of)

    def encode(self, text: str) -> list[int]:
        """One id a character; `unk` for those it does not know."""
        return [self._id_of.get(char, self.unk) for char in text]

    def decode(self, ids: Iterable[int]) -> str:
        """The characters; U+FFFD for marks.

        Raises:
            PolicyError: an id is not one of this tokenizer's.
        """
        chars = self._char_of
        try:
            return "".join([chars[i] for i in ids])
        except IndexError as error:
            raise PolicyError(f"a token id is above {self.n_ids - 1}: these ids are of another tokenizer") from error

    def show(self, ids: Sequence[int]) -> str:
        """The text with its marks written out, for people."""
        return "".join(_SPECIALS[i] if i < len(_SPECIALS) else self._char_of[i] for i in ids)

    def save(self, path: Path) -> None:
        """Write it as JSON."""
        path.write_text(json.dumps({"format": _FORMAT, "specials": _SPECIALS, "characters": self.characters}) + "\n")

    @classmethod
    def load(cls, path: Path) -> CharTokenizer:
        """Read what `save` wrote.

        Raises:
            PolicyError: there is no such file, or it is of another format.
        """
        try:
            fields = json.loads(path.read_text())
        except (OSError, ValueError) as error:
            raise PolicyError(f"no tokenizer in {path}: {error}") from error
        if not isinstance(fields, dict) or fields.get("format") != _FORMAT or fields.get("specials") != list(_SPECIALS):
            raise PolicyError(
                f"{path} is no character tokenizer of the format {_FORMAT}; save the model again with this version"
            )
        return cls(fields["characters"])
