"""Containers for the tests of what is special to docker."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from workgym.envs.sandbox.docker.pool import DockerPool
from workgym.envs.sandbox.docker.sandbox import DockerSandbox
from workgym.envs.sandbox.spec import Capabilities, SandboxSpec, SnapshotId

Open = Callable[..., DockerPool]
SPEC = SandboxSpec(memory_mb=64, cpu_s=2.0, n_processes=16, n_open_files=32, disk_mb=4, n_inodes=256, output_kb=16)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """They go where the daemon runs."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("docker"))


@pytest.fixture
def open_docker(docker_host: str) -> Iterator[Open]:
    """`open_docker(spec=..., min_idle=...)` opens a pool that the test need not close."""
    with contextlib.ExitStack() as stack:

        def opened(spec: SandboxSpec = SPEC, **options: Any) -> DockerPool:
            pool = DockerPool(spec, Capabilities, **options)
            stack.callback(pool.close)
            return pool

        yield opened


@pytest.fixture(scope="module")
def pool(docker_host: str) -> Iterator[DockerPool]:
    """A pool of the module."""
    opened = DockerPool(SPEC, Capabilities)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def container(pool: DockerPool) -> Iterator[tuple[DockerSandbox, SnapshotId]]:
    """A lease of the module, and its workspace when it was empty: to make a container takes half a second."""
    with pool.lease() as lent:
        yield lent, lent.snapshot()


@pytest.fixture
def box(container: tuple[DockerSandbox, SnapshotId]) -> Iterator[DockerSandbox]:
    """A sandbox with an empty workspace, in which nothing runs."""
    lent, empty = container
    yield lent
    lent.restore(empty)


@pytest.fixture
def client(docker_host: str) -> Iterator[Any]:
    """Docker's own client, to look from outside."""
    import docker

    with contextlib.closing(docker.APIClient(base_url=docker_host or None, version="auto", timeout=20)) as opened:
        yield opened
