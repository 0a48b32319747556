"""Every backend in turn, and what it is measured by.

What a backend is known not to hold by design, its capabilities say; where a test needs it, it skips in these words.
Only the unsafe backend may lack anything.
"""

from __future__ import annotations

import contextlib
import functools
import os
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from workgym.envs.sandbox.backends import ISOLATING, UNSAFE
from workgym.envs.sandbox.pool import open_pool
from workgym.envs.sandbox.protocol import Sandbox, SandboxPool
from workgym.envs.sandbox.spec import PythonCode, SandboxSpec

LONG_S = 30.0
TIGHT = SandboxSpec(memory_mb=64, cpu_s=0.5, n_processes=8, n_open_files=32, disk_mb=2, n_inodes=64, output_kb=16)
WIDE = SandboxSpec(memory_mb=64, cpu_s=10.0, n_processes=32, disk_mb=16, n_inodes=2048)

# Where a program lives: the processes that it leaves behind are found by it.
HOME = "import os; os.write(3, f\"{os.readlink('/proc/self/ns/pid')} {os.getcwd()}\\n\".encode())\n"

# A plain user's copy of these tests leaves out what is docker's.
_HAS_DOCKER = Path(__file__).parents[1].joinpath("in_docker").is_dir()
_BACKENDS = [
    pytest.param(name, marks=pytest.mark.xdist_group("docker" if name == "docker" else "alone"))
    for name in (*ISOLATING, UNSAFE)
    if name != "docker" or _HAS_DOCKER
]


@pytest.fixture(scope="session", params=_BACKENDS)
def backend(request: pytest.FixtureRequest, require_backend: Callable[[str], None]) -> str:
    """The name of each backend in turn, where it works."""
    name: str = request.param
    if name == "docker":
        request.getfixturevalue("docker_host")
    elif name != UNSAFE:
        require_backend(name)
    return name


@pytest.fixture(scope="session")
def open_backend(backend: str) -> Iterator[Callable[[SandboxSpec], SandboxPool]]:
    """`open_backend(spec)` is an open pool, the same for the same spec; the test need not close it."""
    with contextlib.ExitStack() as stack:

        @functools.cache
        def opened(spec: SandboxSpec) -> SandboxPool:
            pool = open_anew(backend, spec)
            stack.callback(pool.close)
            return pool

        yield opened


@pytest.fixture
def open_own(backend: str) -> Iterator[Callable[[SandboxSpec], SandboxPool]]:
    """`open_own(spec)` is a pool for this test alone, which may close it."""
    with contextlib.ExitStack() as stack:

        def opened(spec: SandboxSpec) -> SandboxPool:
            pool = open_anew(backend, spec)
            stack.callback(pool.close)
            return pool

        yield opened


def open_anew(backend: str, spec: SandboxSpec) -> SandboxPool:
    with warnings.catch_warnings():
        if backend == UNSAFE:
            warnings.simplefilter("ignore", RuntimeWarning)
        return open_pool(backend, spec, allow_unsafe=backend == UNSAFE)


@pytest.fixture(scope="session")
def backend_pool(open_backend: Callable[[SandboxSpec], SandboxPool]) -> SandboxPool:
    """A pool with tight limits."""
    return open_backend(TIGHT)


@pytest.fixture(scope="session")
def wide_pool(open_backend: Callable[[SandboxSpec], SandboxPool]) -> SandboxPool:
    """A pool with room for many files and much CPU time."""
    return open_backend(WIDE)


@pytest.fixture(scope="session")
def needs(backend: str, backend_pool: SandboxPool) -> Callable[..., None]:
    """`needs("kill", ...)` goes on where the backend holds these."""

    def check(*names: str) -> None:
        lacking = [name for name in names if not getattr(backend_pool.capabilities, name)]
        if lacking:
            assert backend == UNSAFE, f"{backend} does not hold {lacking}"
            pytest.skip(f"{backend} does not hold {', '.join(lacking)}, by design")

    return check


@pytest.fixture
def box(backend_pool: SandboxPool) -> Iterator[Sandbox]:
    """A lease with tight limits; after the test it must be as good as new."""
    with backend_pool.lease() as lent:
        yield lent
        assert_as_ever(lent)


@pytest.fixture(scope="session")
def worn_lease(backend_pool: SandboxPool) -> Iterator[Sandbox]:
    with backend_pool.lease() as lent:
        yield lent


@pytest.fixture
def worn(worn_lease: Sandbox) -> Iterator[Sandbox]:
    """One lease for many tests: each must find it as good as new."""
    yield worn_lease
    assert_as_ever(worn_lease)


@pytest.fixture
def roomy(wide_pool: SandboxPool) -> Iterator[Sandbox]:
    """A lease with wide limits."""
    with wide_pool.lease() as lent:
        yield lent
        assert_as_ever(lent)


def assert_as_ever(box: Sandbox) -> None:
    after = box.exec(PythonCode("print('as ever')"), timeout_s=LONG_S)
    assert (after.status, after.stdout) == ("ok", b"as ever\n"), after


@pytest.fixture(scope="session")
def home() -> str:
    """Source that says on the channel where the program lives."""
    return HOME


@pytest.fixture(scope="session")
def inhabitants() -> Callable[[bytes | None], int]:
    """`inhabitants(said)` is how many processes live where a program said it lives."""
    return count_inhabitants


@pytest.fixture
def all_gone(box: Sandbox) -> Callable[[bytes | None], None]:
    """`all_gone(said)` asserts that within a second nobody lives there but who lived in the lease before the test."""
    quiet = box.exec(PythonCode(HOME), timeout_s=LONG_S, channel=True).channel
    n_quiet = count_inhabitants(quiet)

    def check(said: bytes | None) -> None:
        deadline = time.monotonic() + 1.0
        while (n_left := count_inhabitants(said)) > n_quiet:
            assert time.monotonic() < deadline, f"{n_left - n_quiet} processes are left"

    return check


def count_inhabitants(said: bytes | None) -> int:
    assert said
    namespace, folder = said.decode().split()
    is_ours = namespace == os.readlink("/proc/self/ns/pid")
    n = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):  # not ours to see, or gone
            lives_there = os.readlink(f"/proc/{pid}/ns/pid") == namespace
            n += lives_there and (not is_ours or os.readlink(f"/proc/{pid}/cwd").startswith(folder))
    return n
