"""What is said between an agent and its world."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Image", "Message", "Part", "Text", "message"]


@dataclass(frozen=True, slots=True)
class Text:
    """Words."""

    text: str


@dataclass(frozen=True, slots=True)
class Image:
    """A picture, by the SHA-256 of its PNG file; the bytes are kept apart."""

    sha256: str


Part = Text | Image


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation.

    Attributes:
        role: "system", "user" (the first observation), "assistant" (an action) or "tool" (a later observation).
        parts: text and pictures in order.
    """

    role: str
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """The words of all parts."""
        return "".join(part.text for part in self.parts if isinstance(part, Text))


def message(role: str, text: str) -> Message:
    """Make a message of text alone."""
    return Message(role, (Text(text),))
