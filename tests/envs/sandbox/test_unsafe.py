"""The backend that isolates nothing: opened by name alone, with a warning, and honest about itself."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import fields

import pytest

from workgym.envs.sandbox import capabilities
from workgym.envs.sandbox.backends import AUTO, ISOLATING, UNSAFE
from workgym.envs.sandbox.capabilities import try_guarantees
from workgym.envs.sandbox.pool import open_pool
from workgym.envs.sandbox.protocol import Sandbox
from workgym.envs.sandbox.spec import Capabilities, PythonCode, SandboxSpec
from workgym.envs.sandbox.unsafe import UnsafePool
from workgym.tasks.errors import IsolationUnavailable

LONG_S = 30.0
SPEC = SandboxSpec(memory_mb=64, cpu_s=5.0, disk_mb=2)


@pytest.fixture
def pool() -> Iterator[UnsafePool]:
    opened = UnsafePool(SPEC)
    yield opened
    opened.close()


@pytest.fixture
def box(pool: UnsafePool) -> Iterator[Sandbox]:
    with pool.lease() as lent:
        yield lent


def test_it_is_refused_unless_allowed() -> None:
    with pytest.raises(ValueError, match="allow_unsafe=True"):
        open_pool(UNSAFE, SPEC)


def test_it_warns_when_it_is_opened() -> None:
    with pytest.warns(RuntimeWarning, match="isolates nothing"):
        pool = open_pool(UNSAFE, SPEC, allow_unsafe=True)
    assert isinstance(pool, UnsafePool)
    pool.close()


@pytest.mark.parametrize("allow_unsafe", [False, True])
def test_it_is_not_chosen_where_no_other_backend_isolates(monkeypatch: pytest.MonkeyPatch, allow_unsafe: bool) -> None:
    assert UNSAFE not in ISOLATING
    for tried in (*ISOLATING, f"docker {SPEC.image}"):
        monkeypatch.setitem(capabilities._seen, tried, Capabilities())
    with pytest.raises(IsolationUnavailable, match="no sandbox backend holds here what is required"):
        open_pool(AUTO, SPEC, allow_unsafe=allow_unsafe)


@pytest.mark.xdist_group("alone")
def test_it_claims_nothing_that_was_not_seen(pool: UnsafePool) -> None:
    claimed, seen = pool.capabilities, try_guarantees(pool)
    assert all(getattr(seen, one.name) for one in fields(claimed) if getattr(claimed, one.name))
    assert not any((claimed.files, claimed.network, claimed.process_tree, claimed.memory, claimed.kill))


def test_it_says_in_a_lease_what_it_says_of_the_pool(pool: UnsafePool, box: Sandbox) -> None:
    assert (box.capabilities, box.spec) == (pool.capabilities, pool.spec)


def test_a_lease_leaves_no_folder(pool: UnsafePool) -> None:
    with pool.lease() as box:
        said = box.exec(PythonCode("import os; print(os.getcwd(), os.environ['TMPDIR'])"), timeout_s=LONG_S).stdout
        box.snapshot()
        box.fork(1)
        folders = said.decode().split()
        assert all(map(os.path.isdir, folders))
    assert not any(map(os.path.exists, (os.path.dirname(folder) for folder in folders)))


def test_its_programs_are_given_no_variables_of_ours(box: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "canary")
    result = box.exec(("env",), timeout_s=LONG_S)
    names = {line.partition("=")[0] for line in result.stdout.decode().splitlines()}
    assert names == {"PATH", "LANG", "PYTHONHASHSEED", "TMPDIR", "HOME"}
