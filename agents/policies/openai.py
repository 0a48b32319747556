"""Any OpenAI-compatible endpoint as a policy: native tool calls or plain text, many requests at once.

What fails on the way to a model (a refused connection, a timeout, 429, 5xx, an answer that is no answer) is tried again
and never scored: where it goes on failing, the episode ends as an infrastructure failure. What a model says is scored.
"""

from __future__ import annotations

import json
import logging
import random
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from workgym.agents.policies.openai_json import chat_messages, read_reply, tools_in_words
from workgym.agents.policies.openai_requests import at_once, fetch, open_client, redirect_in_words
from workgym.agents.policy import Conversation, Turn
from workgym.agents.prices import Price, read_usage, usage_in_words
from workgym.tasks.errors import PolicyError
from workgym.tasks.naming import unknown_name

if TYPE_CHECKING:
    import openai

__all__ = ["TOOL_FORMS", "Endpoint", "OpenAIPolicy"]

_log: Final = logging.getLogger(__name__)

TOOL_FORMS: Final = ("native", "text")

_MAX_FAILED_IN_A_ROW: Final = 20
_MAX_WAIT_S: Final = 60.0
_LEAST_TOKENS: Final = 16
_NOBODY_THERE: Final = ("ConnectError", "UnsupportedProtocol", "InvalidURL")
_TRY_AGAIN: Final = (408, 409, 425, 429)
_REFUSE: Final = (401, 402, 403, 404, 405)
_TOO_LONG: Final = re.compile(
    r"context.{0,12}(length|window|size)|maximum (context|input|prompt)|prompt is too long|too many (input )?tokens",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is asked, and how.

    Attributes:
        model: its name there.
        base_url: of the API, ending in /v1 as a rule; "" for what the client takes by itself.
        api_key: "" for a server that needs none.
        tools: "native" tool calls, or "text" for models that write the text form.
        temperature: of sampling.
        retries: how often a request that failed on the way is sent again.
        timeout_s: seconds until a request whose answer is not there, whole, counts as failed.
        backoff_s: seconds before the first retry, doubled for each further one.
        price: of its tokens; None where nobody knows.
    """

    model: str
    base_url: str = ""
    api_key: str = ""
    tools: str = "native"
    temperature: float = 1.0
    retries: int = 5
    timeout_s: float = 300.0
    backoff_s: float = 0.5
    price: Price | None = None


class _Fault(Exception):
    """A request failed on the way; it may be sent again after `wait_s` seconds, unless that makes no sense."""

    def __init__(self, words: str, *, again: bool = True, wait_s: float = 0.0) -> None:
        super().__init__(words)
        self.again = again
        self.wait_s = wait_s


class OpenAIPolicy:
    """Plays with what an endpoint answers.

    Args:
        endpoint: where, and how.

    Raises:
        PolicyError: the client is not installed, or the endpoint needs a key and there is none.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        if endpoint.tools not in TOOL_FORMS:
            raise PolicyError(unknown_name("form of tools", endpoint.tools, TOOL_FORMS))
        if not endpoint.model:
            raise PolicyError("an endpoint serves models by name, and none is named: --agent openai:MODEL")
        if not endpoint.api_key and not endpoint.base_url:
            raise PolicyError(
                "no key for the endpoint: set OPENAI_API_KEY, or name a server that needs none by its URL"
            )
        if not (endpoint.api_key.isascii() and endpoint.api_key.isprintable()):
            raise PolicyError(
                "the key of the endpoint holds what no header can: look for a line break in OPENAI_API_KEY"
            )
        self.endpoint: Final = endpoint
        self._client: Final = open_client(endpoint.base_url, endpoint.api_key, endpoint.timeout_s)
        self._closing: Final = threading.Event()
        self._heard = False  # the endpoint has answered at least once: what fails now is a fault on the way
        self._unmetered = False
        self._failed_in_a_row = 0
        self._limit_name = "max_tokens"

    @property
    def name(self) -> str:
        """Names the policy in archives and reports."""
        return f"openai:{self.endpoint.model}"

    def act(self, conversations: Sequence[Conversation]) -> list[Turn]:
        """Ask for one turn in each conversation, all at once.

        A turn whose request failed on the way, and failed again at every retry, has its `error` set. A conversation
        that has outgrown the model's context ends there: its turn says nothing and has finish "length".

        Raises:
            PolicyError: the endpoint refuses what it is asked, cannot be reached at all, or has failed many times in a
                row.
        """
        turns = at_once(self._ask, conversations)
        for turn in turns:
            self._failed_in_a_row = self._failed_in_a_row + 1 if turn.error else 0
        failed = [turn.error for turn in turns if turn.error]
        if failed and (not self._heard or self._failed_in_a_row >= _MAX_FAILED_IN_A_ROW):
            raise PolicyError(f"{self._where()} does not answer: {failed[-1]}")
        return turns

    def forget(self, rollout_ids: Sequence[str]) -> None:
        """Nothing is kept: the endpoint gets the whole conversation every time."""

    def close(self) -> None:
        """Close the connections; requests that wait for a retry give up."""
        self._closing.set()
        self._client.close()

    def _safe(self, words: str) -> str:
        """Words of a server or a library without the key, which some of them repeat."""
        return words.replace(self.endpoint.api_key, "***") if self.endpoint.api_key else words

    def _where(self) -> str:
        return f"the endpoint {self._client.base_url}"

    # ---- one turn

    def _ask(self, conversation: Conversation) -> Turn:
        """One turn, after as many tries as it takes or may take."""
        jitter = random.Random(f"{conversation.trajectory.rollout_id}/{len(conversation.trajectory.steps)}")
        for number in range(self.endpoint.retries + 1):
            try:
                return self._try(conversation)
            except _Fault as fault:
                last = str(fault)
                if not fault.again or number == self.endpoint.retries:
                    break
                wait_s = self.endpoint.backoff_s * 2**number * (0.5 + jitter.random())
                if self._closing.wait(min(_MAX_WAIT_S, max(wait_s, fault.wait_s))):
                    break
        return self._mute(error=f"{last} (tried {number + 1} times)")

    def _mute(self, *, error: str = "", finish: str = "") -> Turn:
        """A turn without an answer, which costs nothing: neither money nor time of the episode's own."""
        money_usd = None if self.endpoint.price is None else 0.0
        return Turn("", error=error, finish=finish, money_usd=money_usd, own_s=0.0)

    def _try(self, conversation: Conversation) -> Turn:
        sent = self._send(self._request(conversation))
        if sent is None:
            return self._mute(finish="length")
        answer, own_s = sent
        try:
            choice = answer["choices"][0]
            message = choice["message"]
            given = {**message, "content": message.get("content") or ""}
            text, calls = read_reply(given)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise _Fault(f"an answer that is no chat completion: {json.dumps(answer)[:200]}") from error
        self._heard = True
        usage = read_usage(answer.get("usage"))
        finish = "length" if choice.get("finish_reason") == "length" else "stop"
        if usage is None:
            self._warn_of_usage(answer.get("usage"))
            return Turn(text, calls=calls, finish=finish, money_usd=None, own_s=own_s)
        price = self.endpoint.price
        return Turn(
            text,
            calls=calls,
            finish=finish,
            tokens_in=usage.tokens_in,
            tokens_out=usage.tokens_out,
            money_usd=price.of(usage) if price else None,
            own_s=own_s,
        )

    def _warn_of_usage(self, told: object) -> None:
        """Say once that tokens are missing: an evaluation without them tells nothing of the costs."""
        if not self._unmetered:
            self._unmetered = True
            _log.warning("%s %s", self._where(), usage_in_words(told))

    def _request(self, conversation: Conversation) -> dict[str, Any]:
        trajectory, endpoint = conversation.trajectory, self.endpoint
        messages = chat_messages(trajectory.messages)
        request: dict[str, Any] = {
            "model": endpoint.model,
            "messages": messages,
            "temperature": endpoint.temperature,
            "seed": (trajectory.seed + len(trajectory.steps)) % 2**31,
            self._limit_name: conversation.max_tokens,
        }
        if endpoint.tools == "text":
            words = tools_in_words(conversation.tools)
            if messages[0]["role"] == "system":
                messages[0]["content"] += f"\n\n{words}"
            else:
                messages.insert(0, {"role": "system", "content": words})
        elif conversation.tools:
            request["tools"] = [dict(tool) for tool in conversation.tools]
        return request

    # ---- one request

    def _send(self, request: dict[str, Any]) -> tuple[dict[str, Any], float] | None:
        """The answer as JSON and the seconds it took; None where the conversation is too long for the model."""
        import openai

        try:
            raw, own_s = fetch(self._client, request, self.endpoint.timeout_s)
            answer = json.loads(raw)
        except (openai.APITimeoutError, TimeoutError) as error:
            raise _Fault(f"no answer within {self.endpoint.timeout_s:g} s") from error
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            # A server that was never there will not be there in a second: say so at once.
            nobody = not self._heard and type(cause).__name__ in _NOBODY_THERE
            raise _Fault(self._safe(f"no connection: {cause}"), again=not nobody) from error
        except openai.APIStatusError as error:
            return self._refused(request, error)
        except (ValueError, RecursionError) as error:
            raise _Fault(f"an answer that is no JSON: {error}") from error
        if not isinstance(answer, dict):
            raise _Fault(f"an answer that is a {type(answer).__name__}, not an object")
        return answer, own_s

    def _refused(self, request: dict[str, Any], error: openai.APIStatusError) -> tuple[dict[str, Any], float] | None:
        """What to do with an error that the endpoint named: try again, end the episode, or stop the evaluation."""
        words, status = self._safe(f"{error.status_code}: {_words(error)}"), error.status_code
        if redirect := redirect_in_words(error):
            raise PolicyError(f"{self._where()} {self._safe(redirect)}: give the URL that answers itself") from error
        if error.code == "insufficient_quota" or status in _REFUSE:
            raise PolicyError(f"{self._where()} refuses model {self.endpoint.model!r}, {words}") from error
        if status >= 500 or status in _TRY_AGAIN:
            raise _Fault(words, wait_s=_seconds(error.response.headers.get("retry-after", ""))) from error
        if error.code == "context_length_exceeded" or _TOO_LONG.search(words):
            # Some servers count the answer's limit as used: a shorter answer may still fit.
            name = "max_tokens" if "max_tokens" in request else "max_completion_tokens"
            limit = request[name] // 2
            return self._send(request | {name: limit}) if limit >= _LEAST_TOKENS else None
        if "max_completion_tokens" in words and "max_tokens" in request:
            self._limit_name = (
                "max_completion_tokens"  # newer models of some endpoints know the limit by this name alone
            )
            limit = request.pop("max_tokens")
            return self._send(request | {"max_completion_tokens": limit})
        if not self._heard:
            raise PolicyError(f"{self._where()} refuses the request, {words}") from error
        raise _Fault(words, again=False) from error


def _words(error: openai.APIStatusError) -> str:
    """What the endpoint said, in a line; never what was sent to it."""
    body = error.body
    said = body.get("message") if isinstance(body, Mapping) else body
    return " ".join(str(said or error.message).split())[:300]


def _seconds(text: str) -> float:
    """A Retry-After header in seconds; 0 where it is a date or nothing."""
    return min(float(text), _MAX_WAIT_S) if re.fullmatch(r"\d{1,6}(\.\d+)?", text) else 0.0
