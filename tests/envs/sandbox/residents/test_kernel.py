"""A Python that stays: what lives from run to run, and what comes back of each."""

from __future__ import annotations

import pytest

from workgym.envs.sandbox.kernel import Kernel, KernelResult
from workgym.envs.sandbox.protocol import Sandbox

LONG_S = 60.0


def shown(result: KernelResult) -> tuple[str, str]:
    return result.status, result.output


def test_the_value_of_the_last_expression_is_shown(kernel: Kernel) -> None:
    assert shown(kernel.run("x = 20\nx + 1\nx * 2")) == ("ok", "40\n")


def test_none_is_not_shown(kernel: Kernel) -> None:
    assert shown(kernel.run("print('said')")) == ("ok", "said\n")


def test_the_last_value_has_a_name_as_in_the_interactive_interpreter(kernel: Kernel) -> None:
    kernel.run("6 * 7")
    assert shown(kernel.run("_")) == ("ok", "42\n")


def test_nothing_runs_well(kernel: Kernel) -> None:
    assert shown(kernel.run("# only a comment")) == ("ok", "")


def test_variables_imports_and_functions_stay(kernel: Kernel) -> None:
    kernel.run("import math as m\nx = 2.0\ndef f(): return m.sqrt(x)")
    kernel.run("x = 9.0")
    assert shown(kernel.run("f()")) == ("ok", "3.0\n")


def test_the_folder_and_open_files_stay(kernel: Kernel) -> None:
    kernel.run("import os; os.makedirs('deep', exist_ok=True); os.chdir('deep'); f = open('note', 'w+')")
    kernel.run("_ = f.write('kept')")
    assert shown(kernel.run("_ = f.seek(0); f.read(), os.getcwd()")) == ("ok", "('kept', '/workspace/deep')\n")


def test_classes_are_of_main_and_can_be_pickled(kernel: Kernel) -> None:
    kernel.run("class A: pass")
    assert shown(kernel.run("import pickle; type(pickle.loads(pickle.dumps(A()))) is A, __name__")) == (
        "ok",
        "(True, '__main__')\n",
    )


def test_modules_of_the_workspace_can_be_imported(kernel: Kernel) -> None:
    kernel.run("open('mine_to_import.py', 'w').write('VALUE = 5')")
    assert shown(kernel.run("import mine_to_import; mine_to_import.VALUE")) == ("ok", "5\n")


def test_stdout_and_stderr_come_in_their_order(kernel: Kernel) -> None:
    result = kernel.run("import sys\nfor n in range(3): print(n); print('e', n, file=sys.stderr)")
    assert result.output == "0\ne 0\n1\ne 1\n2\ne 2\n"


def test_what_programs_print_is_output_too(kernel: Kernel) -> None:
    assert kernel.run("import subprocess; _ = subprocess.run(['echo', 'hi'])").output == "hi\n"


def test_there_is_no_input(kernel: Kernel) -> None:
    result = kernel.run("input()")
    assert (result.status, result.error.splitlines()[-1]) == ("error", "EOFError: EOF when reading a line")


def test_a_traceback_shows_the_programs_own_lines_and_nothing_of_ours(kernel: Kernel) -> None:
    kernel.run("def f():\n    return 1 / 0")
    result = kernel.run("print('before')\nf()")
    assert shown(result) == ("error", "before\n")
    assert result.error.startswith(
        'Traceback (most recent call last):\n  File "<run 2>", line 2, in <module>\n    f()\n'
    )
    assert '  File "<run 1>", line 2, in f\n    return 1 / 0\n' in result.error
    assert result.error.endswith("ZeroDivisionError: division by zero\n")
    assert "workgym" not in result.error


@pytest.mark.parametrize("source", ["def", "x = '", "a\0b", "return 1", "'\\ud800'.encode() if '\ud800' else 1"])
def test_what_is_no_python_is_an_error_and_costs_nothing(kernel: Kernel, source: str) -> None:
    kernel.run("x = 1")
    result = kernel.run(source)
    assert (result.status, result.survived) == ("error", True)
    assert "Error" in result.error
    assert shown(kernel.run("x")) == ("ok", "1\n")


@pytest.mark.parametrize(
    ("source", "code", "error"),
    [("sys.exit(3)", 3, ""), ("exit()", 0, ""), ("sys.exit('words')", 1, "words\n"), ("raise SystemExit", 0, "")],
)
def test_an_exit_ends_the_run_alone(kernel: Kernel, source: str, code: int, error: str) -> None:
    kernel.run("import sys, builtins; builtins.exit = sys.exit; x = 1")
    result = kernel.run(f"print('a'); {source}; print('b')")
    assert (result.status, result.output, result.exit_code, result.error) == ("exited", "a\n", code, error)
    assert shown(kernel.run("x")) == ("ok", "1\n")


def test_output_that_is_no_text_stays_readable(kernel: Kernel) -> None:
    assert kernel.run(r"import os; _ = os.write(1, b'\xff\x00\x1b[31m\r\n')").output == "\\xff\x00\x1b[31m\r\n"


def test_of_ten_megabytes_beginning_and_end_come_back(kernel: Kernel) -> None:
    result = kernel.run("print('first'); print('x' * 10_000_000); print('last')")
    assert result.output.startswith("first\nxxx")
    assert result.output.endswith("xxx\nlast\n")
    assert len(result.output) < 16 << 10
    assert result.truncated_bytes > 9_900_000
    assert f"[... {result.truncated_bytes:,} bytes left out ...]" in result.output


def test_a_long_traceback_comes_back_shortened(kernel: Kernel) -> None:
    result = kernel.run("raise ValueError('é' * 1_000_000)")
    assert (result.status, result.survived) == ("error", True)
    assert len(result.error) < 16 << 10


def test_an_exception_that_cannot_be_told_is_an_error(kernel: Kernel) -> None:
    result = kernel.run("class Bad(Exception):\n    def __str__(self): raise SystemExit\nraise Bad")
    assert (result.status, result.survived) == ("error", True)
    assert "Bad" in result.error


def test_what_is_printed_between_runs_comes_with_the_next(kernel: Kernel) -> None:
    first = kernel.run("import threading; t = threading.Timer(0.2, print, ('late',)); t.start()")
    assert first.output + kernel.run("t.join()").output == "late\n"


def test_a_large_program_runs(kernel: Kernel) -> None:
    assert kernel.run("#" + "x" * 1_000_000 + "\n'end'").output == "'end'\n"


def test_more_variables_may_be_set(room: Sandbox) -> None:
    with Kernel(room, timeout_s=LONG_S, env={"MINE": "set"}) as kernel:
        assert kernel.run("import os; os.environ['MINE']").output == "'set'\n"
