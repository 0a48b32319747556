"""What an agent gets to see of an observation: capped text, and a picture where the domain has pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import gymnasium as gym
import numpy as np

from workgym.envs.domain import Observation
from workgym.envs.spaces import TextSpace

__all__ = ["CHARS_PER_TOKEN", "View", "clip"]

CHARS_PER_TOKEN: Final = 4
"""By which the cap on observations is counted: the environment knows no tokenizer."""


@dataclass(frozen=True, slots=True)
class View:
    """How observations are shown.

    Attributes:
        max_chars: cap of the text.
        image_shape: of the picture, (height, width, 3): the observation is then `{"text", "image"}` instead of a text.
    """

    max_chars: int
    image_shape: tuple[int, ...] = ()

    @property
    def has_image(self) -> bool:
        """Whether there is a picture."""
        return bool(self.image_shape)

    def space(self) -> gym.Space[Any]:
        """The observation space."""
        text = TextSpace(self.max_chars)
        if not self.has_image:
            return text
        return gym.spaces.Dict({"text": text, "image": gym.spaces.Box(0, 255, self.image_shape, np.uint8)})

    def show(self, observation: Observation) -> Any:
        """The observation as the space has it."""
        text = observation.text
        if len(text) > self.max_chars:
            text = clip(text, self.max_chars)
        if not self.has_image:
            return text
        image = observation.image if observation.image is not None else np.zeros(self.image_shape, np.uint8)
        return {"text": text, "image": image}


def clip(text: str, max_chars: int) -> str:
    """Leave out the middle of a text that is too long, and say how much of it.

    Args:
        text: any text.
        max_chars: length of the result, at most.

    Returns:
        The text itself where it fits.
    """
    if len(text) <= max_chars:
        return text
    note = f"\n[... about {len(text) - max_chars} characters left out ...]\n"
    if len(note) >= max_chars:
        return text[:max_chars]
    kept = max_chars - len(note)
    return text[: kept - kept // 2] + note + text[len(text) - kept // 2 :]
