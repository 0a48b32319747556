"""What is said between an agent and its world."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Call", "Image", "Message", "Part", "Text", "message"]


@dataclass(frozen=True, slots=True)
class Text:
    """Words."""

    text: str


@dataclass(frozen=True, slots=True)
class Image:
    """A picture, by the SHA-256 of its PNG file; the bytes are kept apart."""

    sha256: str


@dataclass(frozen=True, slots=True)
class Call:
    """A native tool call, as a model made it.

    Attributes:
        name: of the tool.
        arguments: JSON text, as it was written: it may be malformed, which the environment answers.
        id: by which the model knows the answer again.
    """

    name: str
    arguments: str
    id: str = ""


Part = Text | Image | Call


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation.

    Attributes:
        role: "system", "user" (the first observation), "assistant" (an action) or "tool" (a later observation).
        parts: text, pictures and tool calls in order.
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
