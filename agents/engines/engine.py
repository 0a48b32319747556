"""What an engine is asked and what it answers: token ids in, token ids and log-probabilities out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from workgym.tasks.errors import PolicyError

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["Completion", "Engine", "Request", "SamplingParams"]


@dataclass(frozen=True, slots=True)
class Request:
    """One turn to sample.

    Attributes:
        rollout_id: the episode; an engine keeps what it computed for it until it is told to forget.
        ids: the whole context: all that was fed and sampled in this row before, then what is fed now. The engine finds
            out itself how much of it is still stored.
        seed: decides the noise, together with `turn`.
        turn: index of the turn in its episode.
        max_tokens: most tokens to sample, >= 1.
    """

    rollout_id: str
    ids: Sequence[int]
    seed: int
    turn: int
    max_tokens: int


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """How tokens are chosen. Nothing is cut off the distribution, so that a trainer can compute the same probabilities.

    Attributes:
        temperature: divides the logits, > 0.
        greedy: take the likeliest token; its log-probability is still that at `temperature`.

    Raises:
        PolicyError: the temperature is not above 0.
    """

    temperature: float = 1.0
    greedy: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.temperature < float("inf"):
            raise PolicyError(
                f"temperature {self.temperature} is not above 0 and finite; for the likeliest token set greedy=True"
            )


@dataclass(frozen=True, slots=True)
class Completion:
    """What was sampled in one turn.

    Attributes:
        ids: as sampled, a stop id included; empty where the context was full.
        logps: their log-probabilities at the sampling temperature.
        version: of the weights that sampled them.
        finish: "stop" (a stop id was sampled) or "length" (`max_tokens` or the longest context was reached).
    """

    ids: tuple[int, ...]
    logps: tuple[float, ...]
    version: int
    finish: str


class Engine(Protocol):
    """Samples turns of many episodes from one model."""

    @property
    def version(self) -> int:
        """Version of the weights."""
        ...

    def sample(self, requests: Sequence[Request], params: SamplingParams, stop_ids: Sequence[int]) -> list[Completion]:
        """Sample one turn for each request. What is sampled does not depend on the other requests.

        Raises:
            PolicyError: a request makes no sense, or the model's probabilities are not finite.
        """
        ...

    def publish(self, weights: Mapping[str, Tensor], version: int) -> None:
        """Take over new weights, between two samples; what was computed with the old ones is dropped.

        Args:
            weights: the model's state dict.
            version: higher than the present one.

        Raises:
            PolicyError: the version does not rise, or the weights do not fit the model.
        """
        ...

    def forget(self, rollout_ids: Sequence[str]) -> None:
        """Give back what is kept for episodes that have ended; unknown ids are no error."""
        ...
