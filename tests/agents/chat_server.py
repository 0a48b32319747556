"""A real HTTP server that speaks chat completions, for tests: its model is a function; it notes what it is asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Answer:
    """What the server sends: a status, a body (JSON, or bytes as they are) and headers.

    `cut` hangs up instead; `drip` sends the "headers" or the "body" a byte at a time and never comes to their end.
    """

    body: Any
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False
    drip: str = ""


Model = Callable[[dict[str, Any], int], Answer]
"""(request, how many came before it) -> answer."""


@dataclass
class ChatServer:
    """A running server."""

    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    most_at_once: int = 0
    n_hung_up: int = 0
    done: threading.Event = field(default_factory=threading.Event)


def completion(
    content: str | None = None, *calls: tuple[str, Any], finish: str = "stop", usage: Any = (7, 3)
) -> Answer:
    """A chat completion: a text, native calls as (name, arguments), and (prompt, completion) tokens."""
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if calls:
        message["tool_calls"] = [
            {
                "id": f"id-{number}",
                "type": "function",
                "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
            }
            for number, (name, given) in enumerate(calls)
        ]
    body: dict[str, Any] = {
        "id": "c",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if calls else finish}],
    }
    if usage:
        body["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    return Answer(body)


def refusal(status: int, words: str, code: str | None = None, **headers: str) -> Answer:
    """An error as endpoints report it."""
    return Answer({"error": {"message": words, "type": "e", "code": code}}, status, headers)


@contextmanager
def serve(model: Model) -> Iterator[ChatServer]:
    """Serve a model on a free port of 127.0.0.1."""
    state = ChatServer("")
    guard = threading.Lock()
    running = 0

    class Session(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            nonlocal running
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with guard:
                number = len(state.requests)
                state.requests.append({"path": self.path, **request})
                state.headers.append({name.lower(): value for name, value in self.headers.items()})
                running += 1
                state.most_at_once = max(state.most_at_once, running)
            answer = model(request, number)
            with guard:
                running -= 1
            if answer.cut:
                self.close_connection = True
                return
            if answer.drip:
                self.drip(answer.drip)
                return
            body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
            self.send_response(answer.status)
            for name, value in {"Content-Type": "application/json", **answer.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def drip(self, what: str) -> None:
            self.close_connection = True
            rest = "Content-Length: 100000\r\n\r\n" if what == "body" else "X-Long: "
            self.wfile.write(f"HTTP/1.1 200 OK\r\n{rest}".encode())
            try:
                while not state.done.wait(0.05):
                    self.wfile.write(b"x")
            except OSError:
                state.n_hung_up += 1

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = False
        request_queue_size = 64

        def handle_error(self, request: Any, client_address: Any) -> None:
            pass  # a client that gave up while it was answered

    server = Server(("127.0.0.1", 0), Session)
    state.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield state
    finally:
        state.done.set()  # lets go of answers that wait
        server.shutdown()
        server.server_close()
        thread.join()


def doubler(request: dict[str, Any], number: int) -> Answer:
    """Solves the toy domain with native calls: looks first, then submits."""
    messages = request["messages"]
    if messages[-1]["role"] == "tool":
        return completion(None, ("submit", {"text": str(2 * int(messages[-1]["content"].split()[-1]))}))
    return completion("Let me look.", ("look", {"text": "here"}))


def writer(request: dict[str, Any], number: int) -> Answer:
    """Solves the toy domain in plain text."""
    said = request["messages"][-1]["content"]
    if said.startswith("look"):
        return completion(f"submit {2 * int(said.split()[-1])}")
    return completion("look here")
