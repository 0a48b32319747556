"""What runs beside an untrusted expression: reads one request, evaluates, answers on the channel.

The source of this module is loaded into the warm interpreter from which the children fork; it needs nothing but the
standard library and the codec. Nothing here is trusted: whoever reads the channel checks what it says.
"""

from __future__ import annotations

import json
import os
from types import CodeType
from typing import Any, Final

from workgym.envs.coding.codec import decode, encode

__all__ = ["CHANNEL", "compile_source", "describe", "read_line", "serve_expression", "write_line"]

CHANNEL: Final = 3
"""Descriptor of the private line to the parent: the only one above 2."""


def serve_expression() -> None:
    """Read `{"expression": text, "inputs": [encoded x, ...], "max_bytes": n}`, evaluate for each x, answer, and end.

    The channel carries an empty object, written before the expression is touched, and then the answer: either
    `{"ok": [encoded value or {"error": text}, ...]}`, a value opaque whose message is longer than `max_bytes`, or
    `{"syntax": text}`.
    """
    request = json.loads(read_line(0))
    write_line({}, CHANNEL)
    write_line(_evaluate(request["expression"], request["inputs"], request["max_bytes"]), CHANNEL)
    os._exit(0)


def _evaluate(expression: str, inputs: list[str], max_bytes: int) -> dict[str, Any]:
    try:
        code = compile_source(expression.strip(), "<expression>", "eval")
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        return {"syntax": describe(error)}
    answers: list[object] = []
    for line in inputs:
        try:
            answers.append(encode(eval(code, {"x": decode(line)}), max_bytes=max_bytes))
        except BaseException as error:  # noqa: BLE001 - SystemExit and KeyboardInterrupt are answers too
            answers.append({"error": describe(error)})
    return {"ok": answers}


def compile_source(source: str, name: str, mode: str) -> CodeType:
    """Compile; a NUL is an error of syntax, as Python has it since 3.11.4, and not of a value."""
    if "\0" in source:
        raise SyntaxError("source code string cannot contain null bytes")
    return compile(source, name, mode)


def describe(error: BaseException) -> str:
    """Name the class of an error, and say what it says of itself, in one line of at most 200 characters."""
    name = type(error).__name__
    try:
        text = error.msg if isinstance(error, SyntaxError) else str(error)
    except BaseException:  # noqa: BLE001 - an exception of the submission may refuse to be printed
        return name
    return " ".join(f"{name}: {text}".split()).removesuffix(":")[:200]


def read_line(descriptor: int) -> bytes:
    """Read up to the next newline, and nothing after it.

    Raises:
        EOFError: there is no further line.
    """
    line = bytearray()
    while not line.endswith(b"\n"):
        chunk = os.read(descriptor, 65536)
        if not chunk:
            raise EOFError("the parent has closed stdin")
        line += chunk
    return bytes(line)


def write_line(value: object, descriptor: int) -> None:
    """Write one value of JSON types as a line."""
    rest = memoryview(json.dumps(value, separators=(",", ":")).encode() + b"\n")
    while rest:
        rest = rest[os.write(descriptor, rest) :]
