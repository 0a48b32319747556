"""The tool `python`: what code finds, and what its agent reads of an error."""

from __future__ import annotations

import pytest
from paper import REPORT, TABLES

from workgym.envs.finance.python_tool import MAX_CODE_CHARS, PYTHON_SANDBOX, run_python
from workgym.envs.sandbox.local.pool import LocalPool
from workgym.envs.sandbox.pool import open_pool
from workgym.envs.sandbox.protocol import SandboxPool
from workgym.tasks.errors import ActionError


@pytest.fixture
def pool(python_pool: LocalPool) -> LocalPool:
    return python_pool


def run(pool: SandboxPool, code: str) -> str:
    return run_python(pool, code, TABLES, [REPORT])


# What code finds


def test_the_value_of_the_last_expression_is_shown_behind_what_was_printed(pool):
    assert run(pool, "x = 6\nprint('six')\nx * 7") == "six\n42"


def test_code_that_shows_nothing_is_told_so(pool):
    assert run(pool, "x = 6") == "no output"
    assert run(pool, "") == "no output"
    assert run(pool, "None") == "no output"


def test_a_table_is_a_frame_of_the_digits_with_their_sign(pool):
    assert run(pool, "tables['d1:t1'].loc['Net sales', '2024'] * 2") == "np.float64(2468.0)"
    assert run(pool, "float(tables['d1:t1'].loc['Loss', '2024'])") == "-5.6"
    assert run(pool, "list(tables['d1:t1'].index), list(tables['d1:t1'].columns), tables['d1:t1'].attrs['title']") == (
        "(['Net sales', 'Loss', 'Loss of others'], ['2024', '2023', '2023'], 'A table')"
    )


def test_a_blank_cell_is_not_a_zero(pool):
    assert run(pool, "tables['d1:t1'].iloc[:, 1].isna().tolist()") == "[False, True, False]"


def test_a_table_of_words_is_a_frame_of_words(pool):
    assert run(pool, "tables['d1:t2'].loc['Debt', 'Policy']") == "'see note 4'"


def test_tables_are_a_mapping_that_shows_their_titles(pool):
    assert run(pool, "tables") == "d1:t1: A table\nd1:t2: A table"
    assert run(pool, "list(tables), len(tables), 'd1:t1' in tables") == "(['d1:t1', 'd1:t2'], 2, True)"
    assert run_python(pool, "tables") == "no tables"


def test_a_table_that_was_not_fetched_is_told_with_those_that_were(pool):
    assert run(pool, "tables['d1:t9']") == (
        "error: line 1: KeyError: no table 'd1:t9' was fetched; there are: d1:t1, d1:t2"
    )


def test_cells_are_exact(pool):
    assert run(pool, "cells['d1:t1!r3c2'].value, cells['d1:t1!r3c2'].amount") == (
        "(Decimal('-5.6'), Decimal('-5600000.0'))"
    )
    assert run(pool, "c = cells['d1:t1!r2c2']; c.text, c.unit, c.period, c.row_path") == (
        "('$1,234', 'USD', '2024', ('Net sales',))"
    )


def test_documents_lie_below_docs_as_text(pool):
    assert run(pool, "print(open('/docs/d1.txt').read())") == (
        "=== page 1 ===\nAnnual report\n[d1:t1: A table, 4 rows, 3 columns]\n=== page 2 ===\nSecond page"
    )


def test_another_backend_gives_the_same(require_backend):
    require_backend("bwrap")
    with open_pool("bwrap", PYTHON_SANDBOX) as pool:
        assert run(pool, "print(tables['d1:t1'].loc['Loss', '2024'], open('/docs/d1.txt').readline())") == (
            "-5.6 === page 1 ==="
        )


# What an agent reads of an error


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("x = 1\n\n1 / 0", "error: line 3: ZeroDivisionError: division by zero"),
        (
            "def f():\n    return int('x')\nf()",
            "error: line 2: ValueError: invalid literal for int() with base 10: 'x'",
        ),
        ("x = 1\ndef f(:", "error: line 2: SyntaxError: invalid syntax"),
        ("raise ValueError('a\\nb')", "error: line 1: ValueError: a b"),
        ("raise KeyboardInterrupt", "error: line 1: KeyboardInterrupt"),
        ("import sys; sys.exit('stop')", "error: stop"),
        ("import sys; sys.exit(3)", "error: exit code 3"),
        ("class E(Exception):\n    def __str__(self): 1 / 0\nraise E", "error: E"),
        ("a\x00b", "error: SyntaxError: source code string cannot contain null bytes"),
        ("input()", "error: line 1: EOFError: EOF when reading a line"),
    ],
)
def test_an_error_is_one_line_with_the_line_of_the_code(pool, code, wanted):
    assert run(pool, code) == wanted


def test_what_was_printed_before_an_error_is_shown(pool):
    assert run(pool, "print('before')\n1 / 0") == "before\nerror: line 2: ZeroDivisionError: division by zero"


def test_a_lone_surrogate_in_the_code_is_an_error_in_words(pool):
    assert "UnicodeEncodeError" in run(pool, "'\ud800'")


def test_no_place_in_memory_and_no_folder_of_ours_is_told(pool):
    assert run(pool, "object()") == "<object object at 0x..>"
    assert run(pool, "from pandas import nothing") == (
        "error: line 1: ImportError: cannot import name 'nothing' from 'pandas' (pandas/__init__.py)"
    )


def test_what_is_printed_is_cut_at_4_kb(pool):
    for code in ("print('é' * 3000)", "print('x' * 100_000)", "print('x' * 4090)\n1 / 0", "print('é' * 2047)"):
        shown = run(pool, code)
        assert len(shown.encode()) <= 4096
        assert shown.startswith(("é" * 1000, "x" * 2000))
    assert run(pool, "print('x' * 4095)") == "x" * 4095
    assert "[the output is cut" in run(pool, "print('x' * 100_000)")
    assert run(pool, "print('x' * 4090)\n1 / 0").endswith("error: line 2: ZeroDivisionError: division by zero")


def test_code_that_is_too_long_is_refused(pool):
    with pytest.raises(ActionError, match=f"at most {MAX_CODE_CHARS} characters"):
        run(pool, "x" * (MAX_CODE_CHARS + 1))


def test_what_code_runs_into_is_told_in_words(pool):
    assert run(pool, "while True: pass") == "error: it took more than 1 seconds of CPU time"
    assert run(pool, "x = [bytearray(1 << 24) for _ in range(64)]") in (
        "error: it needed more than 128 MB of memory",
        "error: line 1: MemoryError",  # where no control group counts
    )
    assert run(pool, "open('big', 'wb').write(bytes(64 << 20))").startswith(
        ("error: it wrote more", "error: line 1: OS")
    )
    assert run(pool, "import os; os.kill(os.getpid(), 9)") in ("no output", "error: it was ended by signal 9")
    late = run_python(pool, "import time; time.sleep(60)", timeout_s=0.5)
    assert late == "error: it was not done in time; does it wait for something?"


def test_a_bomb_of_processes_ends_in_words(pool):
    shown = run(pool, "import os\nwhile True: os.fork()")

    assert shown.startswith(
        ("error: it started more than 16 processes", "error: line 2: BlockingIOError", "error: it took")
    )
    assert run(pool, "1") == "1"
