"""Expressions are evaluated apart; whatever they do, the answer is values or a reason, never an exception."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from workgym.envs.coding.codec import Opaque
from workgym.envs.coding.evaluate import WARM_MODULES, Evaluation, Failure, evaluate_expression, same_value
from workgym.envs.sandbox.pool import open_pool
from workgym.envs.sandbox.protocol import SandboxPool
from workgym.envs.sandbox.spec import SandboxSpec
from workgym.tasks.errors import SandboxError

SPEC = SandboxSpec(warm_modules=WARM_MODULES, memory_mb=128, cpu_s=0.5)


@pytest.fixture(scope="module")
def pool(require_backend: Callable[[str], None]) -> Iterator[SandboxPool]:
    require_backend("local")
    pool = open_pool("local", SPEC)
    yield pool
    pool.close()


def test_an_expression_is_evaluated_once_for_each_input(pool: SandboxPool) -> None:
    result = evaluate_expression(pool, " 3*x+1\n", [0, -5, 10**30])
    assert result.status == "ok"
    assert result.values == (1, -14, 3 * 10**30 + 1)
    assert 0 < result.cpu_s < 0.5


def test_no_inputs_give_no_values(pool: SandboxPool) -> None:
    assert evaluate_expression(pool, "x", []).values == ()


def test_inputs_do_not_see_one_another(pool: SandboxPool) -> None:
    assert evaluate_expression(pool, "globals().setdefault('seen', x)", [1, 2]).values == (1, 2)


def test_one_failing_input_leaves_the_other_values(pool: SandboxPool) -> None:
    result = evaluate_expression(pool, "6 // x", [3, 0])
    assert result.status == "error"
    assert result.values == (2, Failure("error", "ZeroDivisionError: integer division or modulo by zero"))
    assert result.detail == "ZeroDivisionError: integer division or modulo by zero"


@pytest.mark.parametrize(
    ("expression", "label", "words"),
    [
        ("3*x+", "syntax", "SyntaxError: invalid syntax"),
        ("x = 1", "syntax", "SyntaxError"),
        ("", "syntax", "SyntaxError"),
        ("x\x00", "syntax", "SyntaxError"),
        ("\ud800", "syntax", "UnicodeEncodeError"),
        ("(" * 3000, "syntax", ""),
        ("-" * 3000 + "x", "syntax", "RecursionError"),
        ("y", "error", "NameError"),
        ("__import__('sys').exit(0)", "error", "SystemExit: 0"),
        ("(_ for _ in ()).throw(KeyboardInterrupt)", "error", "KeyboardInterrupt"),
        ("(_ for _ in ()).throw(type('E', (Exception,), {'__str__': lambda e: 1 / 0}))", "error", "E"),
        ("(1 / n for n in [0])", "error", "ZeroDivisionError"),
        ("(lambda f: f(f))(lambda f: f(f))", "error", "RecursionError"),
        ("[0 for _ in iter(int, 1)]", "timeout", "out of time"),
        ("[b'9' * 10 ** 8 for _ in range(9)]", "oom", ""),
        ("__import__('os')._exit(0)", "silent", "without an answer"),
        ("__import__('os')._exit(7)", "crash", "nonzero 7"),
        ("__import__('os').abort()", "crash", ""),
        ("__import__('os').close(3)", "crash", ""),
        ("__import__('os').write(3, b'{}\\n')", "crash", "not one line"),
    ],
)
def test_what_goes_wrong_has_a_label_and_words(pool: SandboxPool, expression: str, label: str, words: str) -> None:
    result = evaluate_expression(pool, expression, [1, 2])
    assert result.status == label
    assert len(result.values) == 2
    assert isinstance(result.values[0], Failure)
    assert words in result.detail
    assert len(result.detail) <= 200
    assert "\n" not in result.detail


def forge(answer: bytes) -> str:
    return f"__import__('os').write(3, {answer!r}) and __import__('os')._exit(0)"


@pytest.mark.parametrize(
    "answer",
    [
        b"\n",
        b"nonsense\n",
        b"[1, 2]\n",
        b"[" * 9000 + b"\n",
        b'{"ok": 3}\n',
        b'{"ok": ["1"]}\n',
        b'{"ok": ["1", "2", "3"]}\n',
        b'{"ok": [1, 2]}\n',
        b'{"ok": ["[", "{}"]}\n',
        b'{"ok": [{"error": 1}, {}]}\n',
        b'{"syntax": 3}\n',
        b'{"ok": ["1", "2"]}',
        b'{"ok": ["1", "2"]}\n\n',
        b'{"ok": ["1", "2"]}\n{"ok": ["1", "2"]}\n',
        b"\xff\xfe\n",
        b"9" * 9000 + b"\n",
    ],
    ids=lambda answer: repr(answer[:24]),
)
def test_a_malformed_answer_is_a_crash(pool: SandboxPool, answer: bytes) -> None:
    assert evaluate_expression(pool, forge(answer), [1, 2]).status == "crash"


def test_a_well_forged_answer_says_no_more_than_a_constant_would(pool: SandboxPool) -> None:
    result = evaluate_expression(pool, forge(b'{"ok": ["5", "[\\"o\\",\\"int\\"]"]}\n'), [1, 2])
    assert result.status == "ok"
    assert result.values[0] == 5
    assert type(result.values[1]) is Opaque


@pytest.mark.parametrize(
    "answer", [b'{"syntax": "a\\nx = 1: 3\\u001b"}\n', b'{"ok": [{"error": "a\\nx = 1: 3\\u001b"}]}\n']
)
def test_words_that_were_forged_are_one_printable_line(pool: SandboxPool, answer: bytes) -> None:
    assert evaluate_expression(pool, forge(answer), [1]).detail == "a x = 1: 3?"


def test_what_is_printed_neither_helps_nor_harms(pool: SandboxPool) -> None:
    printing = "print('9' * 10 ** 5) or print('PASSED') or x"
    assert evaluate_expression(pool, printing, [1, 2]).values == (1, 2)


def test_a_value_beyond_the_room_for_answers_is_opaque(pool: SandboxPool) -> None:
    result = evaluate_expression(pool, "'\"' * 10 ** x", [0, 1, 2, 3, 4, 5])
    assert [type(value) for value in result.values] == [str] * 4 + [Opaque] * 2
    assert result.status == "ok"


def test_a_submission_that_sleeps_is_out_of_time(pool: SandboxPool) -> None:
    began = time.monotonic()
    result = evaluate_expression(pool, "__import__('time').sleep(10 ** 6)", [1], timeout_s=1.0)
    assert result.status == "timeout"
    assert time.monotonic() - began < 10


def test_the_same_expression_gives_the_same_answer_to_the_letter(pool: SandboxPool) -> None:
    text = "sorted({str(n) for n in range(9)}, key=hash), [*{'a', 'b', 'c'}], __import__('random').random() and id"
    assert len({repr(evaluate_expression(pool, text, [1]).values) for _ in range(5)}) == 1


def test_a_pool_without_the_drivers_is_an_infrastructure_failure() -> None:
    bare = open_pool("local", replace(SPEC, warm_modules=()))
    try:
        with pytest.raises(SandboxError, match="opened with WARM_MODULES"):
            evaluate_expression(bare, "x", [1])
    finally:
        bare.close()


def test_a_closed_pool_is_an_infrastructure_failure() -> None:
    closed = open_pool("local", SPEC)
    closed.close()
    with pytest.raises(SandboxError, match="closed"):
        evaluate_expression(closed, "x", [1])


def test_a_deadline_before_the_expression_began_is_an_infrastructure_failure() -> None:
    stuck = "import time\ndef serve_expression():\n    time.sleep(10 ** 6)\n"
    slow = open_pool("local", replace(SPEC, warm_modules=(("workgym_child", stuck),)))
    try:
        with pytest.raises(SandboxError, match="before the expression was begun"):
            evaluate_expression(slow, "x", [1], timeout_s=0.2)
    finally:
        slow.close()


def test_an_evaluation_is_plain_data() -> None:
    assert Evaluation("ok", (1,)) == Evaluation("ok", (1,))


class AlwaysEqual:
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (30, 30.0, True),
        (30, 30 + 0j, True),
        (True, 1, False),
        ([True], [1], False),
        ({True}, {1}, False),
        ({1: True}, {1: 1}, False),
        (math.nan, math.nan, True),
        ([1, 2], (1, 2), False),
        ({1, 2}, frozenset({2, 1}), True),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ("1", 1, False),
        (b"a", "a", False),
        (0.1 + 0.2, 0.3, False),
        (None, False, False),
        (10**20, 1e20, True),
        (10**20 + 1, 1e20, False),
        (object(), object(), False),
        (AlwaysEqual(), 1, False),
        (1, AlwaysEqual(), False),
    ],
)
def test_same_value_compares_by_type(left: object, right: object, same: bool) -> None:
    assert same_value(left, right) is same
