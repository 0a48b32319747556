"""Requests to an endpoint: many at once, each within its deadline, and to nobody but the endpoint itself."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urljoin, urlsplit

from workgym.tasks.errors import PolicyError
from workgym.tasks.extras import install_command

if TYPE_CHECKING:
    import openai

__all__ = ["at_once", "fetch", "open_client", "redirect_in_words"]

_A = TypeVar("_A")
_B = TypeVar("_B")


def open_client(base_url: str, api_key: str, timeout_s: float) -> openai.OpenAI:
    """A client that sends, and no more: it neither tries again nor follows redirects.

    A POST that is redirected arrives as a GET, or takes a conversation to where nobody said that it may go.

    Raises:
        PolicyError: the package `openai` is not installed.
    """
    try:
        import openai
    except ModuleNotFoundError as error:
        raise PolicyError(f"an endpoint needs {error.name}: {install_command('openai')}") from error
    return openai.OpenAI(
        api_key=api_key or "none",
        base_url=base_url or None,
        timeout=timeout_s,
        max_retries=0,
        http_client=openai.DefaultHttpxClient(timeout=timeout_s, follow_redirects=False),
    )


def fetch(client: openai.OpenAI, request: dict[str, Any], timeout_s: float) -> tuple[bytes, float]:
    """Send a request and read the answer.

    Args:
        client: sends it.
        request: arguments of a chat completion.
        timeout_s: seconds from now until the answer must be there, however slowly it drips in. The client's own timeout
            is one of silence.

    Returns:
        The answer, and the seconds that it took.

    Raises:
        TimeoutError: it is not there in time.
        openai.APIError: the endpoint refuses it, or the connection broke.
    """
    began_s = time.monotonic()
    body = _within(timeout_s, lambda: _read(client, request, began_s + timeout_s))
    return body, time.monotonic() - began_s


def _read(client: openai.OpenAI, request: dict[str, Any], deadline_s: float) -> bytes:
    """The body of an answer; cut off after the deadline, when nobody waits for it, so that the connection is closed."""
    import openai

    body = bytearray()
    with client.chat.completions.with_streaming_response.create(**request) as response:
        try:
            for piece in response.iter_bytes():
                body += piece
                if time.monotonic() > deadline_s:
                    break
        except Exception as error:  # of whichever HTTP client the package brings
            raise openai.APIConnectionError(request=response.http_request) from error
    return bytes(body)


def _within(timeout_s: float, act: Callable[[], _B]) -> _B:
    """Do something in a thread of its own, and wait for it no longer than that.

    The thread is a daemon and is left alone where it is late: what it comes to is read by nobody.

    Raises:
        TimeoutError: it is not done by then.
        Exception: what it raised.
    """
    (future,) = _begin(lambda _: act(), [None])
    return future.result(timeout_s)


def at_once(act: Callable[[_A], _B], items: Sequence[_A]) -> list[_B]:
    """Do something with each item, in a thread of its own.

    The threads are daemons: an evaluation that is interrupted does not wait for answers that nobody will read.

    Raises:
        Exception: what the first item in order raised.
    """
    return [future.result() for future in _begin(act, items)]


def _begin(act: Callable[[_A], _B], items: Sequence[_A]) -> list[Future[_B]]:
    futures: list[Future[_B]] = [Future() for _ in items]

    def run(item: _A, future: Future[_B]) -> None:
        try:
            future.set_result(act(item))
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is awaited
            future.set_exception(error)

    for item, future in zip(items, futures, strict=True):
        threading.Thread(target=run, args=(item, future), name="workgym-openai", daemon=True).start()
    return futures


def redirect_in_words(error: openai.APIStatusError) -> str:
    """Where an endpoint sends a request instead of answering it; "" where it does not.

    What may be a secret in a URL, its user, password, query and fragment, is not told, and then no path either.
    """
    if not 300 <= error.status_code < 400:
        return ""
    said = f"answers with a redirect ({error.status_code})"
    location = error.response.headers.get("location", "")
    try:
        url = urlsplit(urljoin(str(error.response.url), location))
        host = f"{url.hostname}:{url.port}" if url.port else url.hostname
    except ValueError:
        host = None
    if not location or not host:
        return f"{said} that leads nowhere"
    is_plain = not (url.username or url.password or url.query or url.fragment)
    return f"{said} to {url.scheme}://{host}{url.path if is_plain else '/...'}"
