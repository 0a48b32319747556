"""When the machine lacks what a sandbox is made of, or takes it away."""

from __future__ import annotations

import contextlib
import os
import platform
import resource
import signal
import subprocess
import sys
from collections.abc import Callable

import pytest

from workgym.envs.sandbox.local.pool import LocalPool
from workgym.envs.sandbox.protocol import Sandbox
from workgym.envs.sandbox.spec import PythonCode, SandboxSpec
from workgym.tasks.errors import IsolationUnavailable, SandboxError

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


def zygote_of(pool: LocalPool, below: Callable[[int], list[int]]) -> int:
    assert pool.zygote_pid is not None
    return below(pool.zygote_pid)[0]


def test_an_owner_that_ignores_its_children_still_learns_how_they_end(open_local: Open) -> None:
    old = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        with open_local(SandboxSpec()).lease() as box:
            assert box.exec(PythonCode("raise SystemExit(3)"), timeout_s=LONG_S).exit_code == 3
    finally:
        signal.signal(signal.SIGCHLD, old)


def test_a_run_that_cannot_be_set_up_is_a_sandbox_error(open_local: Open) -> None:
    spec = SandboxSpec()
    object.__setattr__(spec, "n_inodes", 10**30)  # more than may be asked for, and than a tmpfs takes
    pool = open_local(spec)
    with pool.lease() as box:
        for _ in range(2):
            with pytest.raises(SandboxError, match="workspace could not be made.*mount tmpfs"):
                says(box, "x")


def test_an_interpreter_that_cannot_be_started_leaves_no_descriptor(
    open_local: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = open_local(SandboxSpec())
    n_open = len(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(sys, "_base_executable", "/nowhere/python")
    with pool.lease() as box:
        for _ in range(3):
            with pytest.raises(SandboxError, match="cannot start the sandbox's zygote"):
                says(box, "x")
    assert len(os.listdir("/proc/self/fd")) == n_open


def test_a_machine_without_a_filter_is_refused(open_local: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = open_local(SandboxSpec())
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pool.lease() as box, pytest.raises(IsolationUnavailable, match="riscv64"):
        says(box, "x")


def test_a_process_out_of_descriptors_raises_sandbox_error(fresh: LocalPool) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    fillers: list[int] = []
    with fresh.lease() as box:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
        try:
            with contextlib.suppress(OSError):
                while True:
                    fillers.append(os.dup(0))
            os.close(fillers.pop())
            with pytest.raises(SandboxError, match="ulimit -n"):
                says(box, "x")
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            for filler in fillers:
                os.close(filler)
        assert says(box, "x") == b"x\n"


UNMOUNT = """
import ctypes, os, sys
c = ctypes.CDLL(None, use_errno=True)
assert c.setns(os.open(f"/proc/{sys.argv[1]}/ns/mnt", os.O_RDONLY), 0) == 0, ctypes.get_errno()
for level in os.listdir("/.leases"):
    assert c.umount2(f"/.leases/{level}".encode(), 2) == 0, ctypes.get_errno()
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root enters the mount namespace of a zygote")
def test_a_disk_that_is_taken_away_under_a_lease_is_a_sandbox_error(
    fresh: LocalPool, below: Callable[[int], list[int]]
) -> None:
    pid = zygote_of(fresh, below)
    with fresh.lease() as box:
        assert says(box, "before") == b"before\n"
        subprocess.run([sys.executable, "-c", UNMOUNT, str(pid)], check=True)
        with pytest.raises(SandboxError, match="could not be set up.*bind"):
            says(box, "after")
        with pytest.raises(SandboxError, match="could not be made|No such file"):
            box.snapshot()
    with fresh.lease() as other:
        assert says(other, "as ever") == b"as ever\n"
