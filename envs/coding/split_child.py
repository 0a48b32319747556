"""What runs in the two children of a split examination: beside the solution, and beside the tests.

The tests call `candidate` as if it were there; each call travels as a line through the parent to the solution's process
and comes back as a value or an exception. Neither process can see the other. The source of this module is loaded into
the warm interpreters; it needs nothing but the standard library and its two neighbors.
"""

from __future__ import annotations

import builtins
import contextlib
import io
import json
import os
import random
import resource
import sys
import types
from collections.abc import Callable
from typing import Any, Final, NoReturn

from workgym.envs.coding.child import CHANNEL, compile_source, describe, read_line, write_line
from workgym.envs.coding.codec import CodecError, decode, encode

__all__ = ["serve_solution", "serve_tests"]


class SubmissionError(Exception):
    """The solution raised an exception that is not of Python's own."""


def serve_solution() -> NoReturn:
    """Read what to load, load it, answer calls until stdin ends.

    It is asked for as `{"source", "prompt", "entry_point", "in_place", "cpu_s", "prints"}`. What it prints comes out on
    stdout, line by line, where `prints`; else it goes nowhere.

    The channel carries an empty object before the source is touched, then `{"loaded": true}` or `{"failed": label,
    "text": text}`, then one line a call: `{"value": encoded}`, with the `arguments` as they are after the call where
    `in_place`, or `{"raised": [class, text]}`.
    """
    calls = _take_stdin()
    request = json.loads(read_line(calls))
    _silence(2)
    if not request["prints"]:
        _silence(1)
    elif isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    write_line({}, CHANNEL)
    if request["cpu_s"]:
        resource.setrlimit(resource.RLIMIT_CPU, (request["cpu_s"], request["cpu_s"] + 1))
    function = _load(request["source"], request["prompt"], request["entry_point"])
    if not callable(function):
        write_line(function, CHANNEL)
        _leave(request["prints"])
    write_line({"loaded": True}, CHANNEL)
    while True:
        try:
            line = read_line(calls)
        except EOFError:
            _leave(request["prints"])
        write_line(_call(function, line, request["in_place"]), CHANNEL)


def _leave(prints: bool) -> NoReturn:
    """End, and let nothing of the solution run but what writes its last, unfinished line."""
    if prints:
        with contextlib.suppress(BaseException):  # stdout is the solution's to break
            sys.stdout.flush()
    os._exit(0)


def _load(source: str, prompt: str, entry_point: str) -> Any:
    """The function, or what to say instead. What the prompt defines is there beside it, as in the prompt's own file."""
    module = types.ModuleType("solution")
    sys.modules["solution"] = module  # dataclasses look up the module of a class
    try:
        exec(compile(prompt, "<prompt>", "exec"), module.__dict__)
        module.__dict__.pop(entry_point, None)
        exec(compile_source(source, "<solution>", "exec"), module.__dict__)
    except BaseException as error:  # noqa: BLE001 - SystemExit and KeyboardInterrupt are failures to load too
        label = "syntax" if isinstance(error, SyntaxError) else "error"
        return {"failed": label, "text": describe(error)}
    function = module.__dict__.get(entry_point)
    return function if callable(function) else {"failed": "missing", "text": f"no function {entry_point!r}"}


def _call(function: Callable[..., Any], line: bytes, in_place: bool) -> dict[str, Any]:
    try:
        args, kwargs = decode(line.rstrip(b"\n"))
        reply = {"value": encode(function(*args, **kwargs))}
        if in_place:
            reply["arguments"] = encode((args, kwargs))
    except BaseException as error:  # noqa: BLE001 - whatever it raises is its answer
        return {"raised": [type(error).__name__, describe(error)]}
    return reply


def serve_tests() -> NoReturn:
    """Read `{"nonce", "prompt", "entry_point", "tests": [code, ...], "in_place"}`, run the tests, report, and end.

    Every line on the channel is `[nonce, kind, value]`: "begun"; "call" with the encoded arguments, answered by a line
    on stdin; "result" with "passed" or the name of what the test raised, one for each test in order; "end".
    """
    replies = _take_stdin()
    _silence(1, 2)
    request = json.loads(read_line(replies))
    nonce: Final = request["nonce"]
    in_place: Final = request["in_place"]

    def candidate(*args: Any, **kwargs: Any) -> Any:
        write_line([nonce, "call", _encode_arguments(args, kwargs)], CHANNEL)
        reply = _read_reply(read_line(replies))
        if in_place and "arguments" in reply:
            _changed((args, kwargs), decode(reply["arguments"]))
        return decode(reply["value"])

    random.seed(0)  # the same submission meets the same tests
    write_line([nonce, "begun", None], CHANNEL)
    for code in request["tests"]:
        outcome = _run_test(code, request["prompt"], {request["entry_point"]: candidate, "candidate": candidate})
        write_line([nonce, "result", outcome], CHANNEL)
    write_line([nonce, "end", None], CHANNEL)
    os._exit(0)


def _run_test(code: str, prompt: str, names: dict[str, Any]) -> str:
    """What the prompt defines runs here from the prompt's own text, so that a solution cannot redefine it."""
    module = types.ModuleType("tests")
    sys.modules["tests"] = module
    try:
        exec(compile(prompt, "<prompt>", "exec"), module.__dict__)
        module.__dict__.update(names)
        exec(compile(code, "<tests>", "exec"), module.__dict__)
    except BaseException as error:  # noqa: BLE001 - a test that does not end in silence has failed
        return type(error).__name__
    return "passed"


def _encode_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """The arguments of a call. Where they cannot travel the test fails for every solution, the reference included."""
    try:
        return encode((args, kwargs), strict=True)
    except CodecError as error:
        raise TypeError(f"the arguments of the solution cannot travel: {error}") from error


def _read_reply(line: bytes) -> dict[str, str]:
    """The answer to a call, from a process that nobody trusts.

    Raises:
        Exception: what the solution raised, of the builtin class of that name where there is one.
    """
    try:
        reply = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise SubmissionError("the answer is no JSON") from error
    if type(reply) is not dict:
        raise SubmissionError("the answer is malformed")
    raised = reply.get("raised")
    if type(raised) is list and len(raised) == 2:
        raise _exception(str(raised[0]), str(raised[1]))
    if not all(type(reply.get(key, "")) is str for key in ("value", "arguments")) or "value" not in reply:
        raise SubmissionError("the answer is malformed")
    return reply


def _exception(name: str, text: str) -> Exception:
    kind = getattr(builtins, name, None)
    # An iteration that is said to be over would end a test's own loop over its cases as if all had been tried.
    if isinstance(kind, type) and issubclass(kind, Exception) and kind not in (StopIteration, StopAsyncIteration):
        try:
            return kind(text)
        except TypeError:  # UnicodeDecodeError takes five arguments
            pass
    return SubmissionError(f"{name}: {text}")


def _changed(old: Any, new: Any) -> Any:
    """Bring containers of the caller to the content that the solution left in its copies of them.

    Returns:
        `old`, changed, where both are lists, dicts or sets; else `new`.
    """
    if type(old) is not type(new):
        return new
    if type(old) is list:
        old[:] = [_changed(*pair) for pair in zip(old, new, strict=False)] + new[len(old) :]
        return old
    if type(old) is dict:
        items = {key: _changed(old[key], value) if key in old else value for key, value in new.items()}
        old.clear()
        old.update(items)
        return old
    if type(old) is set:
        old.clear()
        old.update(new)
        return old
    if type(old) is tuple and len(old) == len(new):
        return tuple(_changed(*pair) for pair in zip(old, new, strict=True))
    return new


def _take_stdin() -> int:
    """Keep stdin for ourselves, and give the code an empty one."""
    ours = os.dup(0)
    _silence(0)
    return ours


def _silence(*descriptors: int) -> None:
    """What is written there goes nowhere, and what is read from there is empty."""
    empty = os.open(os.devnull, os.O_RDWR)
    for descriptor in descriptors:
        os.dup2(empty, descriptor)
    os.close(empty)
