"""What is promised of shells and kernels holds in every backend, and beside what else a sandbox does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from workgym.envs.sandbox.kernel import Kernel
from workgym.envs.sandbox.pool import open_pool
from workgym.envs.sandbox.protocol import Sandbox
from workgym.envs.sandbox.shell import Shell
from workgym.envs.sandbox.spec import SandboxSpec

LONG_S, SHORT_S = 60.0, 0.5
# A plain user's copy of these tests leaves out what is docker's.
IN_DOCKER = [pytest.param("docker", marks=pytest.mark.xdist_group("docker"))]
BACKENDS = ["local", "bwrap", *(IN_DOCKER if Path(__file__).parents[1].joinpath("in_docker").is_dir() else [])]


@pytest.fixture(scope="module", params=BACKENDS)
def room(request: pytest.FixtureRequest, tight: SandboxSpec) -> Iterator[Sandbox]:
    """A sandbox of each backend in turn."""
    name: str = request.param
    if name == "docker":
        request.getfixturevalue("docker_host")
    request.getfixturevalue("require_backend")(name)
    pool = open_pool(name, tight, check=False)
    with pool.lease() as box:
        yield box
    pool.close()


def test_state_stays_and_a_run_over_its_time_costs_none(kernel: Kernel) -> None:
    kernel.run("x = 1")
    assert kernel.run("while True: pass", timeout_s=SHORT_S).status == "timeout"
    assert kernel.run("x").output == "1\n"
    assert kernel.heartbeat().alive


def test_state_stays_and_a_command_over_its_time_costs_none(shell: Shell) -> None:
    shell.run("x=1; sleep 60 &")
    for command in ("sleep 61", "while :; do :; done", "cat"):
        result = shell.run(command, timeout_s=SHORT_S)
        assert (result.timed_out, result.survived) == (True, True)
    assert shell.run("echo $x; test -t 0 && jobs").output == "1\n[1]+  Running                 sleep 60 &\n"
    assert shell.heartbeat().alive


def test_files_outlive_the_interpreter(kernel: Kernel) -> None:
    end = kernel.run("_ = open('kept', 'w').write('here'); import os; os._exit(3)")
    after = kernel.run("open('kept').read()")
    assert (end.status, end.exit_code, end.survived) == ("died", 3, False)
    assert (after.output, after.restarted) == ("'here'\n", True)


def test_files_outlive_the_shell(shell: Shell) -> None:
    end = shell.run("echo here >kept; exit 3")
    after = shell.run("cat kept")
    assert (end.exit_code, end.survived) == (3, False)
    assert (after.output, after.restarted) == ("here\n", True)


def test_a_shell_a_kernel_and_we_share_the_workspace(room: Sandbox, shell: Shell, kernel: Kernel) -> None:
    room.write("by_us", b"1")
    shell.run("cat by_us >by_shell; echo 2 >>by_shell")
    assert kernel.run("open('by_shell').read()").output == "'12\\n'\n"
    assert room.read("by_shell", 100) == b"12\n"


def test_a_workspace_that_is_restored_has_no_shell_or_kernel_of_later(
    room: Sandbox, shell: Shell, kernel: Kernel
) -> None:
    room.write("file", b"before")
    before = room.snapshot()
    shell.run("x=1; echo after >file")
    kernel.run("x = 1")
    room.restore(before)
    after = shell.run("cat file; echo [$x]")
    assert (after.output, after.restarted) == ("before[]\n", True)
    assert kernel.run("'x' in globals()").output == "False\n"
