"""What tokens cost: a table of prices, and what an answer used as its endpoint says."""

from __future__ import annotations

import math
import reprlib
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final, TypeGuard

from workgym.tasks.errors import PolicyError
from workgym.tasks.naming import unknown_name

__all__ = ["Price", "Usage", "price_of", "read_prices", "read_usage", "usage_in_words"]

_MOST_TOKENS: Final = 10**9
"""Of one answer; more is no count of tokens."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one answer.

    Attributes:
        tokens_in: fed, those that were cached included.
        tokens_out: sampled.
        cached_in: fed from the endpoint's cache.
    """

    tokens_in: int
    tokens_out: int
    cached_in: int = 0


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens.

    Attributes:
        input: of those fed.
        output: of those sampled.
        cached_input: of those fed from the cache; None for the price of `input`.
    """

    input: float
    output: float
    cached_input: float | None = None

    def of(self, usage: Usage) -> float:
        """What an answer costs, in US dollars."""
        cached = self.input if self.cached_input is None else self.cached_input
        fresh = usage.tokens_in - usage.cached_in
        return (fresh * self.input + usage.cached_in * cached + usage.tokens_out * self.output) / 1e6

    def as_record(self) -> dict[str, Any]:
        """The fields, as JSON types."""
        return asdict(self)


def read_prices(path: Path) -> dict[str, Price]:
    """Read a price table: a TOML file with a table for each model.

    Args:
        path: of the file, such as

            ["some-model"]
            input = 2.5         # US dollars for a million tokens
            output = 10.0
            cached_input = 1.25 # may be left out

    Raises:
        PolicyError: it cannot be read, or a price is no price.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PolicyError(f"cannot read the prices {path}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PolicyError(f"the prices {path} are no TOML: {error}") from error
    return {model: price_of(f"the prices {path}: [{model!r}]", one) for model, one in content.items()}


def price_of(where: str, content: object) -> Price:
    """The price that a table describes.

    Args:
        where: names the table in errors.
        content: `input`, `output` and perhaps `cached_input`.

    Raises:
        PolicyError: a key is unknown or missing, or a price is no number >= 0.
    """
    if not isinstance(content, Mapping):
        raise PolicyError(f"{where} must be a table with input and output, not {content!r}")
    known = [field.name for field in fields(Price)]
    for key, value in content.items():
        if key not in known:
            raise PolicyError(f"{where}: {unknown_name('key', key, known)}")
        if value is None and key == "cached_input":
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
            raise PolicyError(f"{where}: {key} must be US dollars for a million tokens, >= 0, not {value!r}")
    missing = [key for key in ("input", "output") if key not in content]
    if missing:
        raise PolicyError(f"{where}: {' and '.join(missing)} is missing: US dollars for a million tokens")
    return Price(**content)


def read_usage(usage: object) -> Usage | None:
    """What an endpoint or an agent says that an answer used; None where it says nothing that makes sense.

    Args:
        usage: `prompt_tokens` and `completion_tokens`, and perhaps `prompt_tokens_details.cached_tokens`.
    """
    if not isinstance(usage, Mapping):
        return None
    tokens_in, tokens_out = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if not _is_count(tokens_in) or not _is_count(tokens_out):
        return None
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else 0
    return Usage(tokens_in, tokens_out, min(cached, tokens_in) if _is_count(cached) else 0)


def usage_in_words(usage: object) -> str:
    """What is wrong with what `read_usage` cannot read, and what follows from it; goes on from who said it."""
    said = "reports no usage" if usage is None else f"reports a usage that makes no sense, {reprlib.repr(usage)}"
    return f"{said}: its tokens and its price are not known, and no budget of tokens holds"


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS
