"""A tokenizer of characters, for models trained from scratch."""

from __future__ import annotations

import json
import re
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
_MOST_DIGITS: Final = 3


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
        digits: most digits of one id, 1 to 3. A longer run of digits is cut from its end, so that 1234567 and 1,234,567
            are made of the same groups: a model that has to copy numbers then copies few ids, easily told apart.

    Raises:
        PolicyError: a character comes twice, or there is no such number of digits.
    """

    pad: Final = 0
    bos: Final = 1
    act: Final = 2
    end: Final = 3
    unk: Final = 4

    def __init__(self, characters: str = _PRINTABLE, digits: int = 1) -> None:
        if len(set(characters)) != len(characters) or _FOREIGN in characters:
            raise PolicyError(
                f"the {len(characters)} characters of a tokenizer must be distinct and must not hold U+FFFD"
            )
        if not 1 <= digits <= _MOST_DIGITS:
            raise PolicyError(f"an id holds 1 to {_MOST_DIGITS} digits, not {digits}")
        self.characters: Final = characters
        self.digits: Final = digits
        groups = [f"{number:0{n}}" for n in range(2, digits + 1) for number in range(10**n)]
        self._char_of: Final = [_FOREIGN] * len(_SPECIALS) + list(characters) + groups
        self._id_of: Final = {text: i for i, text in enumerate(self._char_of) if text != _FOREIGN}
        self._piece: Final = re.compile(rf"[0-9]{{1,{digits}}}(?=(?:[0-9]{{{digits}}})*(?![0-9]))|.", re.DOTALL)

    @property
    def n_ids(self) -> int:
        """Number of token ids; they are 0 to n_ids - 1."""
        return len(self._char_of)

    def encode(self, text: str) -> list[int]:
        """One id a character, or a group of digits; `unk` for those it does not know."""
        pieces = text if self.digits == 1 else self._piece.findall(text)
        return [self._id_of.get(piece, self.unk) for piece in pieces]

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
        fields = {"format": _FORMAT, "specials": _SPECIALS, "characters": self.characters, "digits": self.digits}
        path.write_text(json.dumps(fields) + "\n")

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
        return cls(fields["characters"], fields.get("digits", 1))
