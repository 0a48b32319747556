"""When the machinery itself breaks, or is used by many at once."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from workgym.envs.sandbox.local.pool import LocalPool
from workgym.envs.sandbox.protocol import Sandbox
from workgym.envs.sandbox.spec import PythonCode, SandboxSpec
from workgym.tasks.errors import SandboxError

pytestmark = pytest.mark.xdist_group("alone")

LONG_S = 30.0
SLEEP = PythonCode("import os, time; os.write(3, b'ready\\n'); time.sleep(600)")
Open = Callable[[SandboxSpec], LocalPool]


@pytest.fixture
def fresh(open_local: Open) -> LocalPool:
    """A pool of the test's own, warm."""
    pool = open_local(SandboxSpec())
    with pool.lease() as box:
        assert says(box, "warm") == b"warm\n"
    return pool


def says(box: Sandbox, word: str) -> bytes:
    return box.exec(PythonCode(f"print({word!r})"), timeout_s=LONG_S).stdout


@contextlib.contextmanager
def watched(pids: list[int]) -> Iterator[Callable[[float], bool]]:
    """Tell whether all these processes end within some seconds."""
    handles = [os.pidfd_open(pid) for pid in pids]

    def all_end(within_s: float) -> bool:
        deadline = time.monotonic() + within_s
        return all(select.select([handle], [], [], max(0.0, deadline - time.monotonic()))[0] for handle in handles)

    try:
        yield all_end
    finally:
        for handle in handles:
            os.close(handle)


def zygote_of(pool: LocalPool, below: Callable[[int], list[int]]) -> int:
    assert pool.zygote_pid is not None
    return below(pool.zygote_pid)[0]


@pytest.mark.parametrize("victim", ["zygote", "its parent"])
def test_a_dead_zygote_raises_sandbox_error_and_is_replaced(
    fresh: LocalPool, below: Callable[[int], list[int]], victim: str
) -> None:
    assert fresh.zygote_pid is not None
    pid = zygote_of(fresh, below) if victim == "zygote" else fresh.zygote_pid
    with fresh.lease() as box, watched(below(fresh.zygote_pid)):
        process = box.start(SLEEP, channel=True)
        assert process.receive(LONG_S) == b"ready"
        with watched(below(fresh.zygote_pid)) as all_end:
            os.kill(pid, signal.SIGKILL)
            began = time.monotonic()
            with pytest.raises(SandboxError, match="died under a program"):
                process.wait(LONG_S)
            assert time.monotonic() - began < 5
            assert all_end(5)
        with pytest.raises(SandboxError, match="lost"):
            process.wait(LONG_S)
        with pytest.raises(SandboxError, match="died with the workspace in it.*lease another"):
            says(box, "again")
    with fresh.lease() as other:
        assert says(other, "and again") == b"and again\n"


def test_a_zygote_that_died_while_idle_is_replaced_unnoticed(
    fresh: LocalPool, below: Callable[[int], list[int]]
) -> None:
    pid = zygote_of(fresh, below)
    with watched([pid]) as all_end:
        os.kill(pid, signal.SIGKILL)
        assert all_end(5)
    with fresh.lease() as box:
        assert says(box, "as ever") == b"as ever\n"


def test_a_stopped_zygote_raises_sandbox_error_in_bounded_time(
    fresh: LocalPool, below: Callable[[int], list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workgym.envs.sandbox.local.run._DEATH_S", 0.2)
    pid = zygote_of(fresh, below)
    with fresh.lease() as box:
        process = box.start(SLEEP, channel=True)
        assert process.receive(LONG_S) == b"ready"
        os.kill(pid, signal.SIGSTOP)
        with watched([pid]) as all_end:
            with pytest.raises(SandboxError, match="its zygote was killed too"):
                process.wait(0.1)
            assert all_end(5)
    with fresh.lease() as other:
        assert says(other, "again") == b"again\n"


def test_closing_a_pool_ends_a_running_program_with_sandbox_error(
    fresh: LocalPool, below: Callable[[int], list[int]]
) -> None:
    assert fresh.zygote_pid is not None
    with fresh.lease() as box:
        process = box.start(SLEEP, channel=True)
        assert process.receive(LONG_S) == b"ready"
        with watched([fresh.zygote_pid, *below(fresh.zygote_pid)]) as all_end:
            fresh.close()
            assert all_end(5)
        with pytest.raises(SandboxError):
            process.wait(LONG_S)


OWNER = """
import sys
from workgym.envs.sandbox.pool import open_pool
from workgym.envs.sandbox.spec import PythonCode, SandboxSpec
pool = open_pool("local", SandboxSpec())
with pool.lease() as box:
    process = box.start(PythonCode("import os, time; os.write(3, b'ready\\\\n'); time.sleep(600)"), channel=True)
    assert process.receive(30) == b"ready"
    print(pool.zygote_pid, flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("forked", [False, True])
def test_the_owners_death_leaves_nothing(local: None, below: Callable[[int], list[int]], forked: bool) -> None:
    fork = "import os\nif os.fork() == 0:\n    sys.stdin.read()\n    os._exit(0)\n" if forked else ""
    source = OWNER.replace(
        "    sys.stdin.read()\n", "".join(f"    {line}\n" for line in (fork + "sys.stdin.read()").splitlines())
    )
    command = [sys.executable, "-c", source]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=dict(os.environ)) as owner:
        assert owner.stdout is not None
        pid = int(owner.stdout.readline())
        family = [pid, *below(pid)]
        with watched(family) as all_end:
            assert len(family) == 3  # what we started, its zygote and the run
            owner.kill()
            assert all_end(5)


def test_many_threads_share_a_pool(fresh: LocalPool, all_gone: Callable[[LocalPool], None]) -> None:
    def work(n: int) -> list[bytes]:
        outputs = []
        for i in range(30):
            with fresh.lease() as box:
                outputs.append(says(box, f"{n} {i}"))
        return outputs

    with ThreadPoolExecutor(16) as threads:
        for n, outputs in enumerate(threads.map(work, range(16))):
            assert outputs == [f"{n} {i}\n".encode() for i in range(30)]
    all_gone(fresh)


def test_runs_that_are_given_up_by_many_threads_do_not_confuse_the_zygote(
    fresh: LocalPool, below: Callable[[int], list[int]], all_gone: Callable[[LocalPool], None]
) -> None:
    pid = zygote_of(fresh, below)

    def work(n: int) -> None:
        for i in range(40):
            with fresh.lease() as box:
                if (n + i) % 2:
                    box.start(PythonCode("import time; time.sleep(600)"))
                else:
                    assert says(box, "x") == b"x\n"

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(8)))
    all_gone(fresh)
    assert zygote_of(fresh, below) == pid


def test_many_leases_are_open_at_once(fresh: LocalPool) -> None:
    with contextlib.ExitStack() as stack:
        boxes = [stack.enter_context(fresh.lease()) for _ in range(128)]
        processes = [box.start(PythonCode("import sys; print(sys.stdin.read())")) for box in boxes]
        for n, process in enumerate(processes):
            process.send(str(n).encode())
        outputs = [process.wait(LONG_S).stdout for process in processes]
    assert outputs == [f"{n}\n".encode() for n in range(128)]


def test_a_forked_process_starts_its_own_zygote(fresh: LocalPool) -> None:
    reader, writer = os.pipe()
    before = fresh.zygote_pid
    pid = os.fork()
    if pid == 0:
        with fresh.lease() as box:
            output = says(box, "from the fork").decode().strip()
        other = fresh.zygote_pid
        fresh.close()
        os.write(writer, f"{other} {output}".encode())
        os._exit(0)
    os.close(writer)
    os.waitpid(pid, 0)
    theirs, _, output = os.read(reader, 1000).decode().partition(" ")
    os.close(reader)
    with fresh.lease() as box:
        assert says(box, "the first still serves") == b"the first still serves\n"
    assert output == "from the fork"
    assert int(theirs) != before == fresh.zygote_pid


def test_a_fork_during_a_run_disturbs_neither(fresh: LocalPool) -> None:
    with fresh.lease() as box:
        process = box.start(PythonCode("import sys; print(sys.stdin.read())"))
        pid = os.fork()
        if pid == 0:
            with fresh.lease() as other:
                os._exit(0 if says(other, "x") == b"x\n" else 1)
        process.send(b"undisturbed")
        assert process.wait(LONG_S).stdout == b"undisturbed\n"
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_no_descriptor_is_left_after_many_runs(fresh: LocalPool) -> None:
    with fresh.lease() as box:
        box.exec(PythonCode("1 / 0"), timeout_s=LONG_S)
        before = len(os.listdir("/proc/self/fd"))
        for n in range(500):
            box.exec(
                PythonCode("1 / 0" if n % 2 else "print(1)"), stdin=b"x" * (n % 3), timeout_s=LONG_S, channel=n % 5 == 0
            )
        assert len(os.listdir("/proc/self/fd")) == before


def test_the_zygote_keeps_nothing_of_many_runs(fresh: LocalPool, below: Callable[[int], list[int]]) -> None:
    pid = zygote_of(fresh, below)
    counts = []
    with fresh.lease() as box:
        for _ in range(2):
            for _ in range(50):
                says(box, "x")
            counts.append((Path(f"/proc/{pid}/maps").read_text(), len(os.listdir(f"/proc/{pid}/fd"))))
    assert counts[0][0] == counts[1][0]
    assert abs(counts[0][1] - counts[1][1]) <= 2  # it may be about to close the last run's
    assert os.listdir(f"/proc/{pid}/task") == [str(pid)]
    assert below(pid) == []


def test_a_closed_pool_leaves_no_process_and_no_descriptor(open_local: Open, below: Callable[[int], list[int]]) -> None:
    open_local(SandboxSpec()).close()
    processes, descriptors = below(os.getpid()), len(os.listdir("/proc/self/fd"))
    pool = open_local(SandboxSpec())
    with pool.lease() as box:
        says(box, "x")
    pool.close()
    assert below(os.getpid()) == processes
    assert len(os.listdir("/proc/self/fd")) == descriptors


def test_an_interrupted_wait_kills_the_program(fresh: LocalPool, all_gone: Callable[[LocalPool], None]) -> None:
    def interrupt() -> None:
        os.kill(os.getpid(), signal.SIGUSR1)

    def handler(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    old = signal.signal(signal.SIGUSR1, handler)
    try:
        with fresh.lease() as box:
            timer = threading.Timer(0.2, interrupt)
            timer.start()
            with pytest.raises(KeyboardInterrupt):
                box.exec(PythonCode("import time; time.sleep(600)"), timeout_s=LONG_S)
            timer.join()
            all_gone(fresh)
    finally:
        signal.signal(signal.SIGUSR1, old)
