"""Chat models: how a conversation is framed by a model's own template.

What stands around a message is not written down here for each model; it is read off the template once, by rendering a
small conversation with and without the message, and a template that does not allow it is refused at load.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from workgym.agents.message import Image, Message
from workgym.tasks.errors import PolicyError

__all__ = ["ChatRenderer", "open_tokenizer", "save_tokenizer"]

_ASKED: Final = {"role": "user", "content": "question"}
_ANSWER: Final = "answer"
_ANSWERED: Final = {"role": "assistant", "content": _ANSWER}
_TOOL: Final = {"type": "function", "function": {"name": "probe", "description": "", "parameters": {}}}


def open_tokenizer(directory: Path) -> Any:
    """Read a tokenizer with a chat template, as transformers saves it.

    Raises:
        PolicyError: there is none, or it has no chat template.
    """
    if not (directory / "tokenizer.json").is_file():
        raise PolicyError(f"no tokenizer in {directory}: it needs tokenizer.json, as transformers writes it")
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(str(directory), local_files_only=True)
    except Exception as error:  # the library raises whatever its parsers do, a bare Exception among it
        raise PolicyError(f"no tokenizer can be read from {directory}: {error}") from error
    if not tokenizer.chat_template:
        raise PolicyError(f"the tokenizer in {directory} has no chat template: it is of no chat model")
    return tokenizer


def save_tokenizer(tokenizer: Any, directory: Path) -> None:
    """Write a tokenizer beside a model, and where the model's turns end for those who generate with transformers."""
    tokenizer.save_pretrained(str(directory))
    (directory / "generation_config.json").write_text(json.dumps({"eos_token_id": tokenizer.eos_token_id}) + "\n")


class ChatRenderer:
    """Frames messages as a chat model's template does, in token ids.

    Tools are listed where the template has a place for them; else the environment's own words must do, and what a tool
    answers comes as a message of the user. A text that holds a control token of the model (`<|im_end|>`) is shown with
    a space inside it: no observation can end a turn or speak for another.

    Args:
        tokenizer: of transformers, with a chat template.

    Raises:
        PolicyError: the template rewrites earlier messages, or ends a turn with no token of its own.
    """

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer: Final = tokenizer
        self._controls: Final = sorted(tokenizer.get_added_vocab(), key=len, reverse=True)
        asked = self._render([_ASKED], (), continuing=True)
        self._takes_tools: Final = self._render([_ASKED], [_TOOL], continuing=True) != asked
        answered = self._render([_ASKED, _ANSWERED], (), continuing=False)
        self._before: Final = asked + _ANSWER
        if not answered.startswith(self._before):
            raise PolicyError("the chat template does not put an answer where it asks for one: it cannot be followed")
        if not self._render([_ASKED, _ANSWERED, _ASKED], (), continuing=True).startswith(answered):
            raise PolicyError("the chat template rewrites earlier messages: a conversation cannot be continued")
        ending = self._encode(answered[len(self._before) :])
        if not ending or ending[0] not in tokenizer.get_added_vocab().values():
            raise PolicyError("the chat template ends a turn with no token of its own: where it ends cannot be seen")
        self._end: Final[int] = ending[0]

    @property
    def stop_ids(self) -> tuple[int, ...]:
        """The end of a turn, and of a text."""
        eos = self.tokenizer.eos_token_id
        return (self._end,) if eos in (None, self._end) else (self._end, eos)

    def open(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()) -> list[int]:
        """The conversation as the template renders it, up to where the model's turn begins."""
        return self._encode(self._render(list(map(self._plain, messages)), tools, continuing=True))

    def bridge(self, messages: Sequence[Message], *, ended: bool = True) -> list[int]:
        """What the template puts between the model's last token and its next turn."""
        whole = self._render([_ASKED, _ANSWERED, *map(self._plain, messages)], (), continuing=True)
        ids = self._encode(whole[len(self._before) :])
        return ids[1:] if ended else ids

    def parse(self, ids: Sequence[int]) -> str:
        """The text before the end of the turn."""
        inner = ids[:-1] if ids and ids[-1] in self.stop_ids else ids
        return str(self.tokenizer.decode(inner, skip_special_tokens=False, clean_up_tokenization_spaces=False))

    def action(self, text: str) -> list[int]:
        """The ids of a text, and the end of the turn."""
        return [*self._encode(self._escape(text)), self._end]

    def _plain(self, message: Message) -> dict[str, str]:
        if any(isinstance(part, Image) for part in message.parts):
            raise PolicyError("this chat model sees no pictures: use a domain that speaks in text")
        role = "user" if message.role == "tool" and not self._takes_tools else message.role
        return {"role": role, "content": self._escape(message.text)}

    def _escape(self, text: str) -> str:
        for control in self._controls:
            if control in text:
                text = text.replace(control, f"{control[:1]} {control[1:]}")
        return text

    def _render(self, messages: list[dict[str, str]], tools: Sequence[Mapping[str, Any]], *, continuing: bool) -> str:
        from jinja2 import TemplateError

        try:
            return str(
                self.tokenizer.apply_chat_template(
                    messages, tools=list(tools) or None, tokenize=False, add_generation_prompt=continuing
                )
            )
        except TemplateError as error:
            raise PolicyError(f"the chat template refuses this conversation: {error}") from error

    def _encode(self, text: str) -> list[int]:
        return list(self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])
