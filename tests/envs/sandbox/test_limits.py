"""Programs that want more than their share, beside those of attacks/.

After each the next run is as ever and nobody is left: the fixture `box` looks.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from workgym.envs.sandbox.local.pool import LocalPool
from workgym.envs.sandbox.protocol import Sandbox
from workgym.envs.sandbox.spec import ExecResult, PythonCode, SandboxSpec

pytestmark = pytest.mark.xdist_group("alone")

LONG_S = 30.0
DAEMON = """
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    if os.fork() == 0:
        print('daemon', flush=True)
        time.sleep(600)
    os._exit(0)
os.wait()
"""


def run(box: Sandbox, source: str, timeout_s: float = LONG_S) -> ExecResult:
    return box.exec(PythonCode(source), timeout_s=timeout_s)


def test_a_loop_ends_at_its_cpu_limit(box: Sandbox) -> None:
    result = run(box, "while True: pass")
    assert (result.status, result.exit_code) == ("timeout_cpu", -1)
    assert 0.5 <= result.cpu_s < 1.0


def test_a_loop_in_a_child_ends_at_its_cpu_limit(box: Sandbox) -> None:
    result = run(box, "import os\nif os.fork() == 0:\n    while True: pass\nos.wait()")
    assert result.status == "timeout_cpu"
    assert result.n_killed == 2


def test_loops_in_threads_end_at_their_cpu_limit(box: Sandbox) -> None:
    source = "import threading\ndef f():\n    while True: pass\nfor _ in range(3): threading.Thread(target=f).start()"
    assert run(box, source).status == "timeout_cpu"


def test_a_loop_that_hides_its_dead_children_ends_too(box: Sandbox) -> None:
    source = """
import os, signal, time
try: signal.signal(signal.SIGCHLD, signal.SIG_IGN)
except PermissionError: pass
while True:
    try:
        if os.fork() == 0:
            end = time.process_time() + 0.01
            while time.process_time() < end: pass
            os._exit(0)
    except OSError:
        pass
"""
    assert run(box, source, timeout_s=1.0).status in ("timeout_cpu", "timeout_wall")


def test_a_program_over_its_cpu_limit_says_so_even_if_it_ends_by_itself(box: Sandbox) -> None:
    source = "import time\nwhile time.process_time() < 0.501: pass"
    assert run(box, source).status == "timeout_cpu"


def test_the_next_run_starts_with_a_full_allowance_of_cpu(box: Sandbox) -> None:
    for _ in range(2):
        assert run(box, "import time\nwhile time.process_time() < 0.3: pass").status == "ok"


def test_a_sleeper_ends_at_its_deadline(box: Sandbox) -> None:
    began = time.monotonic()
    result = run(box, "import time; time.sleep(60)", timeout_s=0.2)
    assert result.status == "timeout_wall"
    assert 0.1 <= result.wall_s < 5
    assert time.monotonic() - began < 5


def test_a_program_that_waits_for_stdin_forever_ends_at_its_deadline(box: Sandbox) -> None:
    process = box.start(PythonCode("import time, sys; sys.stdin.read(); time.sleep(60)"))
    assert process.wait(0.1).status == "timeout_wall"


def test_a_daemon_dies_at_the_deadline(box: Sandbox) -> None:
    result = run(box, DAEMON + "time.sleep(600)", timeout_s=1.0)
    assert (result.status, result.stdout) == ("timeout_wall", b"daemon\n")
    assert result.n_killed >= 2


def test_processes_are_counted_for_each_run_apart(pool: LocalPool) -> None:
    source = """
import os, sys, time
n = 0
try:
    while n < 50:
        if os.fork() == 0:
            time.sleep(600)
        n += 1
except OSError:
    pass
os.write(3, b'%d\\n' % n)
sys.stdin.read()
"""
    with pool.lease() as one, pool.lease() as other:
        processes = [one.start(PythonCode(source), channel=True), other.start(PythonCode(source), channel=True)]
        assert [process.receive(LONG_S) for process in processes] == [b"7", b"7"]
        assert [process.wait(LONG_S).status for process in processes] == ["ok", "ok"]


def test_one_large_request_for_memory_is_refused(box: Sandbox) -> None:
    assert run(box, "bytearray(1 << 30)").status == "oom"


def test_limits_cannot_be_raised_again(box: Sandbox) -> None:
    source = """
import resource
for name in ('CPU', 'NPROC', 'NOFILE', 'FSIZE', 'CORE'):
    number = getattr(resource, 'RLIMIT_' + name)
    hard = resource.getrlimit(number)[1]
    try:
        resource.setrlimit(number, (hard + 1, hard + 1))
        print(name)
    except ValueError:
        pass
"""
    result = run(box, source)
    assert (result.status, result.stdout) == ("ok", b"")


def test_memory_is_counted_above_what_the_warm_interpreter_holds(
    open_local: Callable[[SandboxSpec], LocalPool],
) -> None:
    source = "x = bytearray(24 << 20)"
    ballast = (("ballast", "DATA = bytearray(100 << 20)"),)
    with open_local(SandboxSpec(memory_mb=32, warm_modules=ballast)).lease() as box:
        assert run(box, source).status == "ok"
