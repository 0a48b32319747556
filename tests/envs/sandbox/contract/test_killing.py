"""However a program ends, nobody of it is left."""

from __future__ import annotations

import contextlib
import os
import stat
import threading
import time
from collections.abc import Callable

import pytest

from workgym.envs.sandbox.protocol import Process, Sandbox, SandboxPool
from workgym.envs.sandbox.spec import PythonCode, SandboxSpec
from workgym.tasks.errors import SandboxError

LONG_S = 30.0
AllGone = Callable[[bytes | None], None]

SLEEPERS = """
import os, time
for _ in range(3):
    if os.fork() == 0:
        time.sleep(600)
"""
SLEEP = "\nimport time; time.sleep(600)"
DEAF = """
import os, signal, time
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGALRM):
    signal.signal(number, signal.SIG_IGN)
os.close(1); os.close(2)
while True: time.sleep(600)
"""
DAEMON = """
import os, signal, time
if os.fork() == 0:
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    if os.fork() == 0:
        time.sleep(600)
    os._exit(0)
os.wait()
time.sleep(600)
"""
WRITERS = """
import os
for _ in range(6):
    if os.fork() == 0:
        break
file = os.open(str(os.getpid()), os.O_WRONLY | os.O_CREAT)
os.write(3, b"begun\\n")
number = 0
while True:
    number += 1
    os.pwrite(file, str(number).encode(), 0)
"""
FORK_BOMB = """
import os
while True:
    try:
        os.fork()
    except OSError:
        pass
"""


def started(box: Sandbox, source: str) -> tuple[Process, bytes]:
    process = box.start(PythonCode(source), channel=True)
    said = process.receive(LONG_S)
    assert said
    return process, said


@pytest.mark.parametrize(("before", "after"), [(SLEEPERS, SLEEP), ("", DEAF)], ids=["sleepers", "deaf"])
def test_nobody_is_left_after_a_deadline(
    box: Sandbox, all_gone: AllGone, home: str, inhabitants: Callable[[bytes], int], before: str, after: str
) -> None:
    process, said = started(box, before + home + after)
    assert inhabitants(said) >= (4 if before else 1)
    assert process.wait(0.2).status == "timeout_wall"
    all_gone(said)


@pytest.mark.parametrize("source", [DAEMON, FORK_BOMB], ids=["daemon", "fork bomb"])
def test_no_daemon_and_no_bomb_is_left_after_a_deadline(
    box: Sandbox, all_gone: AllGone, home: str, needs: Callable[..., None], source: str
) -> None:
    needs("kill", "processes")
    process, said = started(box, home + source)
    result = process.wait(0.3)
    assert result.status in ("timeout_wall", "timeout_cpu")
    assert result.n_killed >= 2
    all_gone(said)


def test_nobody_is_left_after_the_cpu_limit(box: Sandbox, all_gone: AllGone, home: str) -> None:
    process, said = started(box, home + "import os\nos.fork()\nwhile True: pass")
    assert process.wait(LONG_S).status == "timeout_cpu"
    all_gone(said)


def test_nobody_is_left_after_a_program_that_ended_before_its_children(
    box: Sandbox, all_gone: AllGone, home: str
) -> None:
    process, said = started(box, home + "import os, time\nif os.fork() == 0: time.sleep(600)")
    assert process.wait(LONG_S).status == "ok"
    all_gone(said)


def test_a_child_that_holds_the_output_does_not_keep_us_waiting(box: Sandbox) -> None:
    result = box.exec(("sh", "-c", "sleep 600 & echo done"), timeout_s=LONG_S)
    assert (result.status, result.stdout) == ("ok", b"done\n")
    assert result.wall_s < LONG_S / 2


def test_killing_leaves_nobody(box: Sandbox, all_gone: AllGone, home: str) -> None:
    process, said = started(box, SLEEPERS + home + SLEEP)
    process.kill()
    result = process.wait(LONG_S)
    assert (result.status, result.exit_code, result.signal) == ("killed", -1, 9)
    all_gone(said)


def test_kill_all_leaves_nobody_and_is_idempotent(box: Sandbox, all_gone: AllGone, home: str) -> None:
    (one, said), (_, also) = started(box, home + DEAF), started(box, home + DEAF)
    assert box.kill_all() >= 2
    all_gone(said)
    all_gone(also)
    assert box.kill_all() == 0
    with pytest.raises(SandboxError, match="lost"):
        one.wait(1.0)


def test_copies_of_our_descriptors_keep_no_program_alive(box: Sandbox, all_gone: AllGone, home: str) -> None:
    _, said = started(box, home + SLEEP)
    copies = []
    for number in map(int, os.listdir("/proc/self/fd")):
        with contextlib.suppress(OSError):  # the listing's own
            if stat.S_ISSOCK(os.fstat(number).st_mode):
                copies.append(os.dup(number))  # as a process has that was forked from another thread
    try:
        box.kill_all()
        all_gone(said)
    finally:
        for copy in copies:
            os.close(copy)


def test_what_stands_when_all_are_killed_is_what_is_remembered(roomy: Sandbox, needs: Callable[..., None]) -> None:
    needs("snapshot")
    for _ in range(5):
        started(roomy, WRITERS)
        roomy.kill_all()
        remembered = roomy.snapshot()
        stood = dict(roomy.diff().written)
        roomy.restore(remembered)
        assert dict(roomy.diff().written) == stood


def test_restoring_kills_what_runs(box: Sandbox, all_gone: AllGone, home: str) -> None:
    before = box.snapshot()
    process, said = started(box, home + DEAF)
    box.restore(before)
    all_gone(said)
    with pytest.raises(SandboxError, match="lost"):
        process.wait(1.0)


def test_the_end_of_a_lease_kills_what_still_runs(
    backend_pool: SandboxPool, home: str, inhabitants: Callable[[bytes], int], all_gone: AllGone
) -> None:
    with backend_pool.lease() as box:
        _, said = started(box, SLEEPERS + home + SLEEP)
        assert inhabitants(said) >= 4
    all_gone(said)
    assert inhabitants(said) == 0


def test_closing_under_a_running_program_loses_its_result(backend_pool: SandboxPool, home: str) -> None:
    with backend_pool.lease() as box:
        process, _ = started(box, SLEEPERS + home + SLEEP)
        box.close()
        with pytest.raises(SandboxError):
            process.wait(LONG_S)


def test_closing_is_idempotent_and_a_closed_sandbox_runs_nothing(backend_pool: SandboxPool) -> None:
    with backend_pool.lease() as box:
        box.close()
        box.close()
        assert box.kill_all() == 0
        with pytest.raises(SandboxError, match="closed"):
            box.exec(PythonCode("pass"), timeout_s=LONG_S)
        with pytest.raises(SandboxError, match="closed"):
            box.write("note", b"x")


def test_a_pool_closed_under_a_running_program_ends_it(
    open_own: Callable[[SandboxSpec], SandboxPool], home: str, inhabitants: Callable[[bytes], int]
) -> None:
    pool = open_own(SandboxSpec(memory_mb=64))
    with pool.lease() as box:
        process, said = started(box, SLEEPERS + home + SLEEP)
        closer = threading.Thread(target=pool.close)
        closer.start()
        with pytest.raises(SandboxError):
            process.wait(LONG_S)
        closer.join()
    deadline = time.monotonic() + 1.0
    while inhabitants(said) and time.monotonic() < deadline:
        pass
    assert inhabitants(said) == 0


def test_a_closed_pool_lends_nothing(open_own: Callable[[SandboxSpec], SandboxPool]) -> None:
    pool = open_own(SandboxSpec(memory_mb=64))
    pool.close()
    pool.close()
    with pytest.raises(SandboxError, match="closed"), pool.lease():
        pass


def test_a_pool_closes_itself_where_its_with_ends(open_own: Callable[[SandboxSpec], SandboxPool]) -> None:
    with open_own(SandboxSpec(memory_mb=64)) as pool, pool.lease() as box:
        assert box.exec(PythonCode("pass"), timeout_s=LONG_S).status == "ok"
    with pytest.raises(SandboxError, match="closed"), pool.lease():
        pass
