"""What every backend promises to whoever runs a program."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from typing import Any

import pytest

from workgym.envs.sandbox.protocol import Sandbox, SandboxPool
from workgym.envs.sandbox.spec import ExecResult, PythonCode, SandboxSpec
from workgym.tasks.errors import SandboxError

LONG_S = 30.0


def run(box: Sandbox, source: str, *, stdin: bytes = b"", channel: bool = False) -> ExecResult:
    return box.exec(PythonCode(source), stdin=stdin, timeout_s=LONG_S, channel=channel)


def test_what_a_program_prints_comes_back_apart(worn: Sandbox) -> None:
    result = run(worn, "import sys\nprint('out')\nprint('err', file=sys.stderr)")
    assert (result.status, result.exit_code, result.stdout, result.stderr) == ("ok", 0, b"out\n", b"err\n")


def test_output_is_bytes_and_stays_as_it_was(worn: Sandbox) -> None:
    result = run(worn, r"import os; os.write(1, b'\xff\x00\x1b[31m\r\n')")
    assert result.stdout == b"\xff\x00\x1b[31m\r\n"


@pytest.mark.parametrize(
    ("source", "status", "code"),
    [
        ("pass", "ok", 0),
        ("import sys; sys.exit()", "ok", 0),
        ("import sys; sys.exit(0)", "ok", 0),
        ("import sys; sys.exit(3)", "nonzero", 3),
        ("import sys; sys.exit('no')", "nonzero", 1),
        ("import os; os._exit(7)", "nonzero", 7),
        ("1 / 0", "nonzero", 1),
        ("syntax error", "nonzero", 1),
        ("print(1)\0", "nonzero", 1),
        ("raise KeyboardInterrupt", "nonzero", 1),
        ("import sys, threading; threading.Thread(target=sys.exit, args=(5,)).start()", "ok", 0),
    ],
)
def test_an_exit_code_decides_the_status(worn: Sandbox, source: str, status: str, code: int) -> None:
    result = run(worn, source)
    assert (result.status, result.exit_code, result.signal) == (status, code, 0)


def test_a_crash_is_a_signal(worn: Sandbox) -> None:
    result = run(worn, "import ctypes; ctypes.string_at(0)")
    assert (result.status, result.exit_code, result.signal) == ("signal", -1, 11)


def test_an_abort_is_a_signal(worn: Sandbox) -> None:
    assert run(worn, "import os; os.abort()").status == "signal"


def test_a_traceback_shows_the_programs_own_lines_and_nothing_of_ours(worn: Sandbox) -> None:
    error = run(worn, "def f():\n    return 1 / 0\nf()").stderr.decode()
    assert error.startswith('Traceback (most recent call last):\n  File "<program>", line 3, in <module>\n    f()\n')
    assert error.endswith("ZeroDivisionError: division by zero\n")
    assert "workgym" not in error


def test_a_program_is_main(worn: Sandbox) -> None:
    source = "import pickle\nclass A: pass\nprint(__name__, type(pickle.loads(pickle.dumps(A()))) is A)"
    assert run(worn, source).stdout == b"__main__ True\n"


def test_what_runs_at_exit_runs(worn: Sandbox) -> None:
    assert run(worn, "import atexit; atexit.register(print, 'late'); print('early')").stdout == b"early\nlate\n"


def test_a_thread_that_still_runs_is_waited_for(worn: Sandbox) -> None:
    source = "import threading, time\ndef f(): time.sleep(0.05); print('done')\nthreading.Thread(target=f).start()"
    assert run(worn, source).stdout == b"done\n"


def test_a_program_larger_than_a_message_runs(worn: Sandbox) -> None:
    assert run(worn, "#" + "x" * 1_000_000 + "\nprint('end')").stdout == b"end\n"


def test_stdin_is_read_to_its_end(worn: Sandbox) -> None:
    data = os.urandom(1 << 20)
    source = "import sys, hashlib; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())"
    assert run(worn, source, stdin=data).stdout.decode().strip() == hashlib.sha256(data).hexdigest()


def test_without_stdin_there_is_nothing_to_read(worn: Sandbox) -> None:
    assert run(worn, "import sys; print(repr(sys.stdin.read()))").stdout == b"''\n"


def test_stdin_that_is_never_read_does_not_hang(worn: Sandbox) -> None:
    assert run(worn, "print('done')", stdin=bytes(10 << 20)).stdout == b"done\n"


def test_the_channel_is_apart_from_stdout(worn: Sandbox) -> None:
    source = "import os\nprint('public')\nos.write(int(os.environ['WORKGYM_CHANNEL']), b'private')"
    result = run(worn, source, channel=True)
    assert (result.stdout, result.channel) == (b"public\n", b"private")


def test_without_a_channel_there_is_no_fourth_descriptor(worn: Sandbox) -> None:
    assert run(worn, "import os; os.write(3, b'x')").stderr.endswith(b"OSError: [Errno 9] Bad file descriptor\n")


def test_output_beyond_the_cap_is_dropped_and_counted(worn: Sandbox) -> None:
    result = run(worn, "import sys; sys.stdout.write('a' * 20_000); sys.stderr.write('b' * 20_000)")
    assert (len(result.stdout), len(result.stderr)) == (16 << 10, 16 << 10)
    assert result.truncated_bytes == 2 * (20_000 - (16 << 10))
    assert result.status == "ok"


def test_no_variable_of_the_host_reaches_a_program(worn: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "canary")
    assert b"canary" not in run(worn, "import os; print(dict(os.environ), open('/proc/self/environ').read())").stdout


def test_variables_come_from_the_spec_and_from_the_call(open_backend: Callable[[SandboxSpec], SandboxPool]) -> None:
    pool = open_backend(SandboxSpec(env=(("A", "of the spec"),)))
    with pool.lease() as box:
        program = PythonCode("import os; print(os.environ['A'], os.environ['B'])")
        result = box.exec(program, timeout_s=LONG_S, env={"B": "of the call"})
        after = box.exec(PythonCode("import os; print('B' in os.environ)"), timeout_s=LONG_S)
    assert result.stdout == b"of the spec of the call\n"
    assert after.stdout == b"False\n"


def test_a_program_may_write_and_read_files(worn: Sandbox) -> None:
    source = "import tempfile\nwith tempfile.TemporaryFile() as f: f.write(b'x'); f.seek(0); print(f.read())"
    assert run(worn, source).stdout == b"b'x'\n"


def test_a_program_may_start_others(worn: Sandbox) -> None:
    assert run(worn, "import subprocess; print(subprocess.check_output(['echo', 'hi']))").stdout == b"b'hi\\n'\n"


def test_modules_that_are_no_files_can_be_imported(open_backend: Callable[[SandboxSpec], SandboxPool]) -> None:
    modules = (("some.deep.module", "VALUE = 42"), ("flat", "from some.deep.module import VALUE"))
    with open_backend(SandboxSpec(warm_imports=("decimal",), warm_modules=modules)).lease() as box:
        result = run(box, "import decimal, flat, some.deep.module; print(flat.VALUE, some.deep.module.VALUE)")
    assert result.stdout == b"42 42\n", result.stderr


def test_a_warm_module_that_does_not_load_is_a_sandbox_error(
    open_backend: Callable[[SandboxSpec], SandboxPool],
) -> None:
    pool = open_backend(SandboxSpec(warm_modules=(("broken", "raise RuntimeError('the cause')"),)))
    with pool.lease() as box, pytest.raises(SandboxError, match="the cause"):
        run(box, "pass")


def test_modules_that_were_not_warm_still_import(worn: Sandbox) -> None:
    assert run(worn, "import sqlite3, decimal, asyncio, hashlib; print('ok')").stdout == b"ok\n"


def test_the_same_program_prints_its_sets_in_the_same_order(open_backend: Callable[[SandboxSpec], SandboxPool]) -> None:
    outputs = []
    for _ in range(2):
        with open_backend(SandboxSpec()).lease() as box:
            outputs.append(run(box, "print({'a', 'b', 'c', 'd', 'e'}, hash('x'))").stdout)
    assert outputs[0] == outputs[1]


def test_two_runs_draw_different_random_numbers(open_backend: Callable[[SandboxSpec], SandboxPool]) -> None:
    pool = open_backend(SandboxSpec(warm_imports=("random",)))
    with pool.lease() as box:
        drawn = {run(box, "import random; print(random.random())").stdout for _ in range(3)}
    assert len(drawn) == 3


def test_time_is_measured_from_outside(worn: Sandbox) -> None:
    busy = run(worn, "import time\nt = time.process_time()\nwhile time.process_time() < t + 0.2: pass")
    idle = run(worn, "import time; time.sleep(0.2)")
    assert busy.cpu_s >= 0.2
    assert idle.wall_s >= 0.2
    assert idle.cpu_s < 0.1


def test_the_peak_of_memory_is_measured(worn: Sandbox) -> None:
    assert run(worn, "x = b'x' * (30 << 20)").peak_memory_mb >= 30


@pytest.mark.parametrize("timeout_s", [0, -1, float("nan")])
def test_a_timeout_must_be_positive(worn: Sandbox, timeout_s: float) -> None:
    with pytest.raises(ValueError, match="timeout_s must be > 0"):
        worn.exec(PythonCode("pass"), timeout_s=timeout_s)


@pytest.mark.parametrize("env", [{"": "x"}, {"A=B": "x"}, {"A": "x\0"}])
def test_a_variable_must_be_one(worn: Sandbox, env: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="environment variable"):
        worn.exec(PythonCode("pass"), timeout_s=LONG_S, env=env)


def test_a_command_line_runs_as_given(worn: Sandbox) -> None:
    result = worn.exec(
        ("/bin/sh", "-c", "cat; echo err >&2; echo $1; exit 3", "sh", "a b"), stdin=b"in ", timeout_s=LONG_S
    )
    assert (result.status, result.exit_code, result.stdout, result.stderr) == ("nonzero", 3, b"in a b\n", b"err\n")


def test_a_command_that_does_not_exist_ends_as_in_a_shell(worn: Sandbox) -> None:
    result = worn.exec(("nowhere",), timeout_s=LONG_S)
    assert (result.status, result.exit_code) == ("nonzero", 127)
    assert b"nowhere: " in result.stderr


@pytest.mark.parametrize("program", [(), "ls -l", ("ls", 3), ("a\0b",)])
def test_what_is_no_program_is_refused_before_it_starts(worn: Sandbox, program: Any) -> None:
    with pytest.raises(ValueError, match="program"):
        worn.exec(program, timeout_s=LONG_S)
