"""What reading an answer comes to: a typed value, or a refusal in words."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["Amount", "Answer", "Refusal", "Value", "shown"]

_SHOWN_CHARS = 60


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount as it was given.

    Attributes:
        value: exact, with its sign, its scale applied: 1.2 million is 1,200,000.
        unit: a name of `tasks.finance.units`.
        step: what one in the last written place is worth, in the same unit: 100,000 for 1.2 million.
    """

    value: Fraction
    unit: str
    step: Fraction


Value = Amount | datetime.date | int | bool | str


@dataclass(frozen=True, slots=True)
class Answer:
    """A submission that could be read.

    Attributes:
        value: one value, or as many as were given where a list was asked for.
        direction: `increase`, `decrease`, or "" where the amount carries its own sign.
    """

    value: Value | tuple[Value, ...]
    direction: str = ""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A submission that is not one value of the asked type.

    It depends on the submission and on the spec alone, never on the gold, so it may be shown to the agent, who may
    then submit again.

    Attributes:
        reason: a short cause to count by: `empty`, `several`, `characters`, `form`, `sign`, `size`, `unit`, `scale`,
            `type`, `direction`, `choice`, `expression`, `citations`, `reason`.
        text: what was wrong and what would be right.
    """

    reason: str
    text: str


def shown(text: str) -> str:
    """A piece of a submission, for a message: short, and with nothing in it that a terminal or a prompt would obey."""
    written = repr(text[: _SHOWN_CHARS + 1])
    return written if len(written) <= _SHOWN_CHARS else written[:_SHOWN_CHARS] + "..."
