"""Evaluates an untrusted expression in a sandbox, and compares values that came back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from workgym.envs.coding.codec import CodecError, decode, encode
from workgym.envs.coding.show import printable
from workgym.envs.coding.warm import WARM_MODULES
from workgym.envs.sandbox.protocol import SandboxPool
from workgym.envs.sandbox.spec import ExecResult, PythonCode
from workgym.tasks.errors import SandboxError

__all__ = ["WARM_MODULES", "Evaluation", "Failure", "Label", "evaluate_expression", "same_value"]

Label = Literal["ok", "syntax", "error", "timeout", "oom", "output", "crash", "silent"]

_DRIVER: Final = PythonCode("import workgym_child\nworkgym_child.serve_expression()\n")


@dataclass(frozen=True, slots=True)
class Failure:
    """Stands where a value is missing.

    Attributes:
        label: why.
        text: what the expression raised, or what became of the process; the expression's own words among it.
    """

    label: Label
    text: str


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What an expression gave.

    Attributes:
        status: "ok" if every input gave a value, though it may be opaque; else the first reason why not.
        values: one for each input, in order: a builtin value, an `Opaque` or a `Failure`.
        detail: one line on what went wrong, "" if nothing did; the expression's own words among it.
        cpu_s: CPU seconds of the child.
    """

    status: Label
    values: tuple[Any, ...]
    detail: str = ""
    cpu_s: float = 0.0


def evaluate_expression(
    pool: SandboxPool, expression: str, inputs: Sequence[int], *, timeout_s: float = 10.0
) -> Evaluation:
    """Evaluate an expression of `x` once for each input, in a sandbox of its own.

    The child sees the inputs and nothing of what is expected, so a line that the expression forges on the channel
    can say no more than a line it earns.

    Args:
        pool: sandboxes whose `warm_modules` are `workgym.envs.coding.warm.WARM_MODULES`.
        expression: Python; whatever it does, an answer comes back.
        inputs: values of `x`; all are evaluated in one process, in order.
        timeout_s: wall-clock seconds; several times the pool's `cpu_s`, so that the CPU limit decides first.

    Returns:
        The values, and why some are missing.

    Raises:
        SandboxError: infrastructure failed, also where the deadline passed before the expression was begun.
    """
    request = {
        "expression": expression,
        "inputs": [encode(x, strict=True) for x in inputs],
        # A message in the answer is quoted once more, which makes it twice as long at worst.
        "max_bytes": (pool.spec.output_kb * 1024 - 1024) // (2 * max(1, len(inputs))),
    }
    with pool.lease() as box:
        result = box.exec(_DRIVER, stdin=json.dumps(request).encode() + b"\n", timeout_s=timeout_s, channel=True)
    begun, *lines = result.channel.split(b"\n")
    if begun != b"{}":
        raise SandboxError(
            f"a child ended ({result.status}, exit {result.exit_code}) before the expression was begun: "
            f"{result.stderr[-300:].decode(errors='replace')!r}. Is {pool!r} opened with WARM_MODULES?"
        )
    answer = _process_failure(result) or _read_answer(lines, len(inputs))
    if isinstance(answer, Failure):
        return Evaluation(answer.label, (answer,) * len(inputs), answer.text, result.cpu_s)
    for value in answer:
        if isinstance(value, Failure):
            return Evaluation(value.label, answer, value.text, result.cpu_s)
    return Evaluation("ok", answer, cpu_s=result.cpu_s)


def _process_failure(result: ExecResult) -> Failure | None:
    """What the process came to, where that alone says that there is no answer."""
    if result.status == "killed":
        raise SandboxError("the child was killed from outside")
    if result.status in ("timeout_cpu", "timeout_wall"):
        return Failure("timeout", "out of time")
    if result.status == "oom":
        return Failure("oom", "out of memory")
    if result.status == "output_limit":
        return Failure("output", "too much output")
    if result.status != "ok":
        return Failure("crash", f"the process ended with {result.status} {result.signal or result.exit_code}")
    return None


def _read_answer(lines: list[bytes], n_inputs: int) -> tuple[Any, ...] | Failure:
    """Read the lines after the first; whoever wrote them is not trusted."""
    if not lines or lines == [b""]:
        return Failure("silent", "the process ended without an answer")
    if len(lines) != 2 or lines[1]:
        return Failure("crash", "the answer is not one line")
    try:
        answer = json.loads(lines[0])
    except (ValueError, RecursionError):
        return Failure("crash", "the answer is malformed")
    if isinstance(answer, dict) and isinstance(answer.get("syntax"), str):
        return Failure("syntax", printable(answer["syntax"]))
    values = answer.get("ok") if isinstance(answer, dict) else None
    if not isinstance(values, list) or len(values) != n_inputs:
        return Failure("crash", "the answer is malformed")
    return tuple(_read_value(value) for value in values)


def _read_value(value: object) -> Any:
    if isinstance(value, dict) and isinstance(value.get("error"), str):
        text = printable(value["error"])
        return Failure("oom" if text.startswith("MemoryError") else "error", text)
    try:
        return decode(value) if isinstance(value, str) else Failure("crash", "the answer is malformed")
    except CodecError as error:
        return Failure("crash", f"the answer is malformed: {error}")


def same_value(left: object, right: object) -> bool:
    """Whether two decoded values are equal, by the types that they are made of.

    Numbers are equal as Python has it, whatever their types: 30, 30.0 and 30+0j. A boolean equals a boolean alone, a
    list a list alone and a tuple a tuple alone; a set equals a frozenset of the same elements. One NaN equals another,
    so that NaN can be an expected answer. An `Opaque`, a `Failure` and whatever `decode` does not make equal nothing.
    """
    return bool(_key(left) == _key(right))


def _key(value: Any) -> Any:
    """A value whose `==` is `same_value`; hashable where the value is."""
    kind = type(value)
    if value is None or kind in (bool, str, bytes):
        return kind.__name__, value
    if kind in (int, float, complex):
        return ("number", value) if value == value else ("nan", repr(value))
    if kind is list:
        return "list", [_key(item) for item in value]
    if kind is tuple:
        return "tuple", tuple(_key(item) for item in value)
    if kind in (set, frozenset):
        return "set", frozenset(_key(item) for item in value)
    if kind is dict:
        return "dict", {_key(key): _key(item) for key, item in value.items()}
    return object()
