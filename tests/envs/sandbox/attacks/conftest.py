"""Four backends, one set of attacks, and a free process beside them."""

from __future__ import annotations

import contextlib
import functools
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from arena import Free, run_free
from host import Host
from plain_user import PYTHON, PlainUser
from ring import NAMES, SPEC, Ring, program

from workgym.envs.sandbox.pool import open_pool
from workgym.envs.sandbox.spec import SandboxSpec

PoolOf = Callable[[str, SandboxSpec], Any]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """They time things and count processes; those of docker go where its daemon runs."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            group = "docker" if "[docker" in item.name else "alone"
            item.add_marker(pytest.mark.xdist_group(group))


@pytest.fixture(params=NAMES)
def backend(request: pytest.FixtureRequest, require_backend: Callable[[str], None]) -> str:
    """The name of each backend in turn, where it works."""
    name: str = request.param
    if name == "docker":
        request.getfixturevalue("docker_host")
    require_backend(name.partition("-")[0])
    if name == "local-root" and os.geteuid() != 0:
        pytest.skip("local as root needs root")
    if name == "local-unprivileged" and os.geteuid() == 0 and not _is_new_enough(PYTHON):
        pytest.skip(f"a plain user needs {PYTHON} of 3.11 or newer: apt-get install python3")
    return name


@functools.cache
def _is_new_enough(python: str) -> bool:
    if not os.access(python, os.X_OK):
        return False
    test = "import sys; sys.exit(sys.version_info < (3, 11))"
    return subprocess.run([python, "-I", "-c", test], check=False).returncode == 0


@pytest.fixture(scope="session")
def host() -> Iterator[Host]:
    """What lies about on the host for an attack to find. Made before any pool."""
    with contextlib.ExitStack() as stack:  # not below pytest's own folder, which is closed to other users
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="workgym-host-"))
        yield Host.built(Path(folder), stack)


@pytest.fixture
def shown() -> Iterator[Path]:
    """A folder of the host that a plain user may read."""
    with tempfile.TemporaryDirectory(prefix="workgym-shown-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@pytest.fixture(scope="session")
def plain_user(pytestconfig: pytest.Config, host: Host) -> Iterator[Callable[[], PlainUser]]:
    """The process of a plain user, started when it is first asked for."""
    started: list[PlainUser] = []

    def start() -> PlainUser:
        if not started:
            started.append(PlainUser(pytestconfig.rootpath))
        return started[0]

    yield start
    for user in started:
        user.close()


@pytest.fixture(scope="session")
def docker_pools(docker_host: str) -> Iterator[contextlib.ExitStack]:
    """Closes pools of docker, before its daemon ends."""
    with contextlib.ExitStack() as stack:
        yield stack


@pytest.fixture(scope="session")
def pool_of(request: pytest.FixtureRequest, host: Host, plain_user: Callable[[], PlainUser]) -> Iterator[PoolOf]:
    """`pool_of(backend, spec)` is an open pool, the same for the same question."""
    with contextlib.ExitStack() as stack:

        @functools.cache
        def opened(backend: str, spec: SandboxSpec) -> Any:
            kind = backend.partition("-")[0]
            elsewhere = backend == "local-unprivileged" and os.geteuid() == 0
            pool = plain_user().open_pool(kind, spec) if elsewhere else open_pool(kind, spec)
            closing = request.getfixturevalue("docker_pools") if kind == "docker" else stack
            closing.callback(pool.close)
            return pool

        yield opened


@pytest.fixture(scope="session")
def rings(pool_of: PoolOf) -> Callable[[str], Ring]:
    """`rings(backend)` is where attacks meet it."""

    @functools.cache
    def ring_of(name: str) -> Ring:
        known = "bwrap-unprivileged" if name == "bwrap" and os.geteuid() != 0 else name
        return Ring(known, pool_of(name, SPEC))

    return ring_of


@pytest.fixture
def ring(backend: str, rings: Callable[[str], Ring]) -> Ring:
    """Where attacks meet each backend in turn."""
    return rings(backend)


@pytest.fixture(scope="session")
def control(host: Host, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Free]:
    """`control(number, bound=...)` is what a free process does with the same source, found out once."""

    @functools.cache
    def tried(number: int, bound: int = 1, timeout_s: float = 10.0, behind: str = "", **env: str) -> Free:
        folder = tmp_path_factory.mktemp(f"free{number}")
        source = f"{program(number)}\n{behind}"
        return run_free(source, folder, bound=bound, env={**host.facts, **env}, timeout_s=timeout_s)

    return tried


@pytest.fixture(autouse=True)
def untouched(host: Host) -> Iterator[None]:
    """After every attack the host is as it was."""
    yield
    host.assert_untouched()
