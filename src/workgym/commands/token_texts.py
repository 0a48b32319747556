"""The texts of token ids, where the model that they belong to is at hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from workgym.tasks.errors import PolicyError
from workgym.tasks.extras import install_command

__all__ = ["find_token_text"]

_SUBWORDS_FILE: Final = "tokenizer.json"


def find_token_text(folder: Path | None, run: Path) -> Callable[[int], str] | None:
    """A function from a token id to its text.

    Args:
        folder: of a model; None for the one that a run has trained.
        run: the folder of a run, or its archive.

    Returns:
        None where no folder was named and the run has no model.

    Raises:
        PolicyError: the named folder has no tokenizer, or an id is not of it.
    """
    from workgym.agents.tokenizer import CHARACTERS_FILE

    places = [run / "model", run.parent / "model"] if folder is None else [folder, folder / "model"]
    for place in places:
        if (place / CHARACTERS_FILE).is_file():
            return _characters(place / CHARACTERS_FILE)
        if (place / _SUBWORDS_FILE).is_file():
            return _subwords(place / _SUBWORDS_FILE)
    if folder is None:
        return None
    raise PolicyError(f"no tokenizer in {folder}: it holds neither {CHARACTERS_FILE} nor {_SUBWORDS_FILE}")


def _characters(file: Path) -> Callable[[int], str]:
    from workgym.agents.tokenizer import CharTokenizer

    tokenizer = CharTokenizer.load(file)

    def text(token: int) -> str:
        if not 0 <= token < tokenizer.n_ids:
            raise PolicyError(f"token {token} is not of the {tokenizer.n_ids} in {file}: name another --tokenizer")
        return tokenizer.show([token])

    return text


def _subwords(file: Path) -> Callable[[int], str]:
    try:
        from tokenizers import Tokenizer
    except ModuleNotFoundError as error:
        raise PolicyError(f"reading {file} needs {error.name}: {install_command('train')}") from error
    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as error:  # its errors have no class of their own
        raise PolicyError(f"{file} is no tokenizer: {error}") from error

    def text(token: int) -> str:
        if not 0 <= token < tokenizer.get_vocab_size():
            raise PolicyError(f"token {token} is not of those in {file}: name another --tokenizer")
        return str(tokenizer.decode([token], skip_special_tokens=False))

    return text
