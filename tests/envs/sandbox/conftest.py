"""Sandboxes for the tests, and an eye on what they leave behind."""

from __future__ import annotations

import contextlib
import os
import select
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from docker_daemon import Dockerd, can_run_dockerd, running_dockerd

from workgym.envs.sandbox.local.pool import LocalPool
from workgym.envs.sandbox.pool import open_pool
from workgym.envs.sandbox.protocol import Sandbox
from workgym.envs.sandbox.spec import PythonCode, SandboxSpec

Open = Callable[[SandboxSpec], LocalPool]


@pytest.fixture(scope="session")
def local(require_backend: Callable[[str], None]) -> None:
    """Skip where the backend does not work."""
    require_backend("local")


@pytest.fixture(scope="session")
def dockerd() -> Iterator[Dockerd | None]:
    """A docker daemon of our own with the default image, where we may run one; DOCKER_HOST names it."""
    if not can_run_dockerd():
        yield None
        return
    from workgym.envs.sandbox.docker.image import build_image

    with running_dockerd() as daemon, pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOCKER_HOST", daemon.address)
        build_image(SandboxSpec().image)
        yield daemon


@pytest.fixture(scope="session")
def docker_host(dockerd: Dockerd | None, require_backend: Callable[[str], None]) -> str:
    """Where docker answers: our own daemon, or else the one that this machine has. All its tests share one worker."""
    require_backend("docker")
    return os.environ.get("DOCKER_HOST", "")


@pytest.fixture
def open_local(local: None) -> Iterator[Open]:
    """Open pools that the test need not close."""
    with contextlib.ExitStack() as stack:

        def opened(spec: SandboxSpec) -> LocalPool:
            pool = open_pool("local", spec)
            assert isinstance(pool, LocalPool)
            stack.callback(pool.close)
            return pool

        yield opened


@pytest.fixture(scope="module")
def pool(local: None) -> Iterator[LocalPool]:
    """A pool of the module, with tight limits."""
    spec = SandboxSpec(memory_mb=64, cpu_s=0.5, n_processes=8, n_open_files=32, disk_mb=2, n_inodes=64, output_kb=16)
    opened = open_pool("local", spec)
    assert isinstance(opened, LocalPool)
    yield opened
    opened.close()


@pytest.fixture
def box(pool: LocalPool) -> Iterator[Sandbox]:
    """A lease; afterwards the pool must be as good as new."""
    with pool.lease() as lent:
        yield lent
    _assert_all_gone(pool)
    with pool.lease() as other:
        after = other.exec(PythonCode("print('as ever')"), timeout_s=20)
    assert (after.status, after.stdout) == ("ok", b"as ever\n")


@pytest.fixture(scope="session")
def all_gone() -> Callable[[LocalPool], None]:
    """`all_gone(pool)` asserts that within a second no process of any run is alive."""
    return _assert_all_gone


@pytest.fixture(scope="session")
def below() -> Callable[[int], list[int]]:
    """`below(pid)` lists all descendants of a process."""
    return _below


def _assert_all_gone(pool: LocalPool, within_s: float = 1.0) -> None:
    # Below the process that we started there is its zygote, and below that the runs.
    inhabitants = _below(pool.zygote_pid)[1:] if pool.zygote_pid else []
    for pid in inhabitants:
        with contextlib.suppress(ProcessLookupError):
            handle = os.pidfd_open(pid)
            poll = select.poll()
            poll.register(handle, select.POLLIN)
            ended = poll.poll(within_s * 1000)
            os.close(handle)
            assert ended, f"process {pid} of a run is still alive"


def _below(pid: int) -> list[int]:
    found = [pid]
    for parent in found:
        with contextlib.suppress(OSError), open(f"/proc/{parent}/task/{parent}/children") as file:
            found += map(int, file.read().split())
    return found[1:]
