"""Where a model was trained: kept beside its weights, so that it is not evaluated elsewhere unawares."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from workgym.tasks.errors import PolicyError

__all__ = ["Surroundings", "read_surroundings", "write_surroundings"]

_FILE: Final = "environment.json"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """An environment, and how much a policy may say in it.

    Attributes:
        env_id: registered id.
        kwargs: arguments of the environment beside level and split; JSON types.
        max_turn_tokens: tokens that one turn may have.
    """

    env_id: str
    kwargs: Mapping[str, Any]
    max_turn_tokens: int


def write_surroundings(surroundings: Surroundings, directory: Path) -> None:
    """Write them into the directory of a model."""
    (directory / _FILE).write_text(json.dumps(asdict(surroundings), indent=1) + "\n", encoding="utf-8")


def read_surroundings(directory: Path) -> Surroundings | None:
    """Read what `write_surroundings` wrote; None where a model comes without.

    Raises:
        PolicyError: the file is damaged.
    """
    path = directory / _FILE
    if not path.exists():
        return None
    try:
        return Surroundings(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise PolicyError(
            f"{path} is damaged: {error}. Remove it to give the environment's arguments by hand."
        ) from error
