"""Opening pools, refusing to, and sharing them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any

import pytest

from workgym.envs.sandbox import capabilities
from workgym.envs.sandbox import pool as pool_module
from workgym.envs.sandbox.capabilities import probe, try_guarantees
from workgym.envs.sandbox.cgroup.find import find_cgroups
from workgym.envs.sandbox.cgroup.tree import CgroupTree
from workgym.envs.sandbox.local.pool import LocalPool
from workgym.envs.sandbox.pool import open_pool
from workgym.envs.sandbox.pools import SharedPools, acquire_pools
from workgym.envs.sandbox.spec import Capabilities, PythonCode, SandboxSpec
from workgym.tasks.errors import IsolationUnavailable, SandboxError

LONG_S = 30.0
AGENT, GRADER = SandboxSpec(memory_mb=64), SandboxSpec(memory_mb=65)


@pytest.fixture
def shared(local: None) -> Iterator[SharedPools]:
    pools = acquire_pools("local", AGENT, GRADER)
    yield pools
    pools.close()


def run(pools: SharedPools) -> None:
    for pool in (pools.agent, pools.grader):
        with pool.lease() as box:
            assert box.exec(PythonCode("print(1)"), timeout_s=LONG_S).stdout == b"1\n"


def test_an_unknown_backend_answers_with_the_nearest() -> None:
    with pytest.raises(ValueError, match="unknown sandbox backend 'locl'. Did you mean 'local'?"):
        open_pool("locl", SandboxSpec())
    with pytest.raises(ValueError, match="Did you mean 'local'?"):
        acquire_pools("locl", AGENT, GRADER)


def test_this_machine_holds_what_is_required_by_default(local: None) -> None:
    seen = probe("local")
    assert all(getattr(seen, name) for name in SandboxSpec().require)
    assert (seen.processes, seen.disk, seen.seccomp, seen.workspace, seen.snapshot, seen.freeze) == (True,) * 6
    assert seen.memory == ("cgroup" if isinstance(find_cgroups(), CgroupTree) else "per-process")


def test_a_requirement_that_is_no_guarantee_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown guarantee .magic."):
        SandboxSpec(require=("magic",))


@pytest.mark.parametrize("name", [one.name for one in fields(Capabilities)])
def test_a_guarantee_that_was_seen_to_fail_closes_the_door(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    absent: dict[str, Any] = {name: ""}
    weak = replace(Capabilities(True, True, True, "per-process", True, True, True, True, True, True, True), **absent)
    monkeypatch.setitem(capabilities._seen, "local", weak)
    with pytest.raises(
        IsolationUnavailable, match=f"does not guarantee '{name}' here: .* when it was tried; see `workgym doctor`"
    ):
        open_pool("local", SandboxSpec(require=(name,)))


def test_the_trial_sees_what_a_pool_without_limits_lets_through(open_local: Callable[[SandboxSpec], LocalPool]) -> None:
    wide = SandboxSpec(memory_mb=4096, cpu_s=20.0, n_processes=256, disk_mb=64, n_inodes=4096, n_open_files=64)
    seen = try_guarantees(open_local(wide))
    assert (seen.memory, seen.processes, seen.disk) == ("", False, False)
    assert (seen.files, seen.network, seen.kill) == (True, True, True)


WITHOUT_NAMESPACES = """
from workgym.envs.sandbox import seccomp
from workgym.envs.sandbox.local import kernel
import platform
kernel.no_new_privileges()
seccomp._DENIED.pop("memfd_create")
kernel.install_filter(seccomp.wide_filter(platform.machine(), sockets=True))
from workgym.envs.sandbox.pool import open_pool
from workgym.envs.sandbox.spec import SandboxSpec
from workgym.tasks.errors import IsolationUnavailable
try:
    open_pool("local", SandboxSpec())
except IsolationUnavailable as error:
    print(error)
"""


def test_where_namespaces_are_refused_no_pool_opens(local: None) -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_NAMESPACES], capture_output=True, text=True, check=True)
    assert "Operation not permitted" in done.stdout
    assert "user namespaces" in done.stdout


def test_acquiring_starts_nothing(shared: SharedPools) -> None:
    assert isinstance(shared.agent, LocalPool)
    assert shared.agent.zygote_pid is None


def test_agents_and_graders_share_no_process(shared: SharedPools) -> None:
    shared.check()
    run(shared)
    assert isinstance(shared.agent, LocalPool)
    assert isinstance(shared.grader, LocalPool)
    assert shared.agent.zygote_pid != shared.grader.zygote_pid


def test_equal_specs_do_not_make_agents_and_graders_one(local: None) -> None:
    pools = acquire_pools("local", AGENT, AGENT)
    try:
        run(pools)
        assert isinstance(pools.agent, LocalPool)
        assert isinstance(pools.grader, LocalPool)
        assert pools.agent.zygote_pid != pools.grader.zygote_pid
    finally:
        pools.close()


def test_who_asks_for_the_same_shares_the_pools(shared: SharedPools) -> None:
    again = acquire_pools("local", AGENT, GRADER)
    other = acquire_pools("local", AGENT, AGENT)
    assert again.agent is shared.agent
    assert other.agent is not shared.agent
    again.close()
    other.close()


def test_the_last_handle_closes_the_pools(local: None) -> None:
    first, second = acquire_pools("local", AGENT, GRADER), acquire_pools("local", AGENT, GRADER)
    first.close()
    first.close()
    run(second)
    second.close()
    with pytest.raises(SandboxError, match="closed"), second.agent.lease():
        pass
    third = acquire_pools("local", AGENT, GRADER)
    run(third)
    third.close()


def test_handles_serve_a_forked_process(shared: SharedPools) -> None:
    run(shared)
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            run(shared)
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    run(shared)


def test_pools_that_nobody_closed_end_with_the_process(local: None) -> None:
    source = """
from workgym.envs.sandbox.pools import acquire_pools
from workgym.envs.sandbox.spec import PythonCode, SandboxSpec
pools = acquire_pools("local", SandboxSpec(), SandboxSpec())
with pools.agent.lease() as box:
    box.exec(PythonCode(""), timeout_s=30)
print(pools.agent.zygote_pid)
"""
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert not os.path.exists(f"/proc/{int(done.stdout)}")
    assert done.stderr == ""


def test_the_causes_of_refusal_name_every_guarantee() -> None:
    assert set(pool_module._CAUSES) == set(Capabilities.__dataclass_fields__)
