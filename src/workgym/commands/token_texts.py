"""The texts of token ids, where the model that they belong to is at hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from workgym.tasks.errors import PolicyError
from workgym.tasks.extras import install_command

__all__ = ["find_token_text"]

_SUBWORDS_FILE: Final = "tokenizer.json"
_CHECKPOINT: Final = "checkpoint:"


def find_token_text(folder: Path | None, run: Path) -> Callable[[int], str] | None:
    """A function from a token id to its text.

    Args:
        folder: of a model; None for the one that a run has trained, or the checkpoint that was evaluated.
        run: the folder of a run, or its archive.

    Returns:
        None where no folder was named and none is known.

    Raises:
        PolicyError: the named folder has no tokenizer, or an id is not of it.
    """
    from workgym.agents.archive import FRAMES
    from workgym.agents.tokenizer import CHARACTERS_FILE

    home = run.parent if (run / FRAMES).exists() else run
    named = [*_evaluated(home), home] if folder is None else [folder]
    for place in (each for one in named for each in (one, one / "model")):
        if (place / CHARACTERS_FILE).is_file():
            return _characters(place / CHARACTERS_FILE)
        if (place / _SUBWORDS_FILE).is_file():
            return _subwords(place / _SUBWORDS_FILE)
    if folder is None:
        return None
    raise PolicyError(f"no tokenizer in {folder}: it holds neither {CHARACTERS_FILE} nor {_SUBWORDS_FILE}")


def _evaluated(run: Path) -> list[Path]:
    """The checkpoint that a run evaluated."""
    from workgym.commands.eval_settings import SETTINGS_FILE, read_settings

    agent = read_settings(run).agent if (run / SETTINGS_FILE).is_file() else ""
    return [Path(agent.removeprefix(_CHECKPOINT))] if agent.startswith(_CHECKPOINT) else []


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
