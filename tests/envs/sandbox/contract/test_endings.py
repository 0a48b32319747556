"""How a program ended, said rightly by every backend."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from workgym.envs.sandbox.protocol import Sandbox, SandboxPool
from workgym.envs.sandbox.spec import ExecResult, PythonCode

LONG_S = 30.0
FORK_UNTIL_REFUSED = """
import os, time
while True:
    if os.fork() == 0:
        time.sleep(600)
        os._exit(0)
"""
THREADS_UNTIL_REFUSED = """
import threading, time
while True:
    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
"""
FILL_WITH_FILES = """
for n in range(100):
    with open(f"many{n}", "wb", buffering=0) as file:
        file.write(bytes(100 << 10))
"""


def run(box: Sandbox, source: str, timeout_s: float = LONG_S) -> ExecResult:
    return box.exec(PythonCode(source), timeout_s=timeout_s)


def test_a_loop_ends_at_its_cpu_limit(box: Sandbox) -> None:
    result = run(box, "while True: pass")
    assert (result.status, result.exit_code, result.signal) == ("timeout_cpu", -1, 9)
    assert 0.4 <= result.cpu_s < 1.5


def test_a_loop_of_a_child_counts(box: Sandbox) -> None:
    assert run(box, "import os\nif os.fork() == 0:\n    while True: pass\nos.wait()").status == "timeout_cpu"


def test_a_loop_of_a_shell_ends_at_its_cpu_limit(box: Sandbox) -> None:
    assert box.exec(("sh", "-c", "while :; do :; done"), timeout_s=LONG_S).status == "timeout_cpu"


def test_a_sleeper_ends_at_its_deadline(box: Sandbox) -> None:
    began = time.monotonic()
    result = run(box, "import time; time.sleep(60)", timeout_s=0.3)
    assert (result.status, result.exit_code, result.signal) == ("timeout_wall", -1, 9)
    assert 0.2 <= result.wall_s < 5
    assert time.monotonic() - began < 10


def test_a_sleeping_command_ends_at_its_deadline(box: Sandbox) -> None:
    assert box.exec(("sleep", "60"), timeout_s=0.3).status == "timeout_wall"


def test_a_program_that_wants_too_much_memory_is_out_of_it(box: Sandbox) -> None:
    assert run(box, "x = b'x' * (200 << 20)").status == "oom"


def test_a_program_that_takes_memory_bit_by_bit_is_out_of_it(box: Sandbox) -> None:
    assert run(box, "x = []\nwhile True: x.append(b'x' * (1 << 20))").status == "oom"


def test_a_command_out_of_memory_says_so_where_a_group_counts(box: Sandbox) -> None:
    result = box.exec(("sh", "-c", "head -c 300000000 /dev/zero | tail"), timeout_s=LONG_S)
    assert result.status == ("oom" if box.capabilities.memory == "cgroup" else "nonzero")


def test_a_program_that_catches_what_it_lacks_goes_on(box: Sandbox) -> None:
    needs_both = "import errno\ntry: open('big', 'wb').write(bytes(8 << 20))\nexcept OSError: print('caught')"
    assert run(box, needs_both).stdout == b"caught\n"


@pytest.mark.parametrize("stream", [1, 2])
def test_a_flood_of_output_is_ended(wide_pool: SandboxPool, stream: int) -> None:
    with wide_pool.lease() as box:
        result = run(box, f"import os\nwhile True: os.write({stream}, bytes(1 << 16))")
    assert result.status == "output_limit"
    assert result.truncated_bytes > 0
    assert len((result.stdout, result.stderr)[stream - 1]) == box.spec.output_kb << 10


def test_a_file_too_large_is_a_full_disk(box: Sandbox) -> None:
    assert run(box, "open('big', 'wb').write(bytes(8 << 20))").status == "disk_limit"


def test_many_files_fill_the_disk_too(box: Sandbox, needs: Callable[..., None]) -> None:
    needs("disk")
    assert run(box, FILL_WITH_FILES).status == "disk_limit"


def test_a_file_too_many_is_a_full_disk(box: Sandbox, needs: Callable[..., None]) -> None:
    needs("disk")
    assert run(box, "for n in range(1000): open(f'empty{n}', 'w').close()").status == "disk_limit"


def test_a_command_that_fills_the_disk_says_so(box: Sandbox) -> None:
    assert box.exec(("sh", "-c", "exec head -c 8000000 /dev/zero > big"), timeout_s=LONG_S).status == "disk_limit"


@pytest.mark.parametrize("source", [FORK_UNTIL_REFUSED, THREADS_UNTIL_REFUSED], ids=["processes", "threads"])
def test_one_process_too_many_is_a_limit(box: Sandbox, needs: Callable[..., None], source: str) -> None:
    needs("processes")
    assert run(box, source).status == "processes_limit"


def test_a_crash_is_a_signal(box: Sandbox) -> None:
    result = run(box, "import ctypes; ctypes.string_at(0)")
    assert (result.status, result.exit_code, result.signal) == ("signal", -1, 11)


def test_an_abort_is_a_signal(box: Sandbox) -> None:
    assert run(box, "import os; os.abort()").status == "signal"


def test_an_exit_code_is_told(box: Sandbox) -> None:
    result = box.exec(("sh", "-c", "exit 42"), timeout_s=LONG_S)
    assert (result.status, result.exit_code, result.signal) == ("nonzero", 42, 0)


def test_a_limit_met_by_one_program_is_not_told_of_the_next(box: Sandbox) -> None:
    assert run(box, "x = b'x' * (200 << 20)").status == "oom"
    assert run(box, "open('big', 'wb').write(bytes(8 << 20))").status == "disk_limit"
    assert run(box, "import os; os.unlink('big')").status == "ok"
    assert run(box, "raise SystemExit(3)").status == "nonzero"


def test_what_a_killed_program_said_before_is_kept(box: Sandbox) -> None:
    source = "import time\nprint('before', flush=True)\ntime.sleep(60)"
    result = run(box, source, timeout_s=2.0)
    assert (result.status, result.stdout) == ("timeout_wall", b"before\n")
