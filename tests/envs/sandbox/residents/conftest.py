"""Where the shells and kernels of these tests live."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from workgym.envs.sandbox.kernel import Kernel
from workgym.envs.sandbox.pool import open_pool
from workgym.envs.sandbox.protocol import Sandbox
from workgym.envs.sandbox.shell import Shell
from workgym.envs.sandbox.spec import SandboxSpec

LONG_S = 60.0


@pytest.fixture(scope="session")
def tight() -> SandboxSpec:
    """What they may use."""
    return SandboxSpec(cpu_s=20.0, n_processes=12, n_open_files=32, output_kb=16, memory_mb=96)


@pytest.fixture(scope="module")
def room(local: None, tight: SandboxSpec) -> Iterator[Sandbox]:
    """A sandbox in which those of a module follow each other."""
    pool = open_pool("local", tight)
    with pool.lease() as box:
        yield box
    pool.close()


@pytest.fixture
def kernel(room: Sandbox) -> Iterator[Kernel]:
    """A fresh kernel."""
    with Kernel(room, timeout_s=LONG_S) as fresh:
        yield fresh


@pytest.fixture
def shell(room: Sandbox) -> Iterator[Shell]:
    """A fresh shell."""
    with Shell(room, timeout_s=LONG_S) as fresh:
        yield fresh


@pytest.fixture(scope="module")
def posix(room: Sandbox) -> Iterator[Shell]:
    """A shell as it is where there is no bash."""
    with Shell(room, timeout_s=LONG_S, shells=["/bin/nowhere", "/bin/sh"]) as other:
        yield other
