"""Control groups of this machine, where it lets us make them: processes are limited, counted, frozen and killed."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from workgym.envs.sandbox.cgroup.find import Missing, find_cgroups
from workgym.envs.sandbox.cgroup.group import Cgroup
from workgym.envs.sandbox.cgroup.tree import CgroupTree, sweep
from workgym.tasks.errors import SandboxError

pytestmark = pytest.mark.xdist_group("alone")

Child = subprocess.Popen[str]
Run = Callable[[str], Child]

LONG_S = 30.0
KEPT = {"version 2 beside it": ("pids", "unified"), "version 1 alone": ("pids", "freezer", "cpuacct")}
MEMORY_BOMB = "bytearray(100 << 20); print('free')"
FORK_BOMB = """
import os
said = False
while True:
    try:
        os.fork()
    except OSError:
        said or print("full", flush=True)
        said = True
"""


@pytest.fixture(params=KEPT.values(), ids=KEPT)
def tree(request: pytest.FixtureRequest) -> Iterator[CgroupTree]:
    """What is found here, by version 2's means and by version 1's; alike where there is one version only."""
    found = find_cgroups()
    if isinstance(found, Missing):
        pytest.skip(f"{found.cause}; {found.fix}")
    kept = found.keep(*request.param)
    yield kept
    kept.close()
    assert not any(folder.exists() for folder in kept.owner_folders())


@pytest.fixture
def group(tree: CgroupTree) -> Iterator[Cgroup]:
    made = tree.make("test", memory_mb=64, n_processes=30)
    yield made
    made.kill()
    made.remove()


@pytest.fixture
def run(group: Cgroup) -> Iterator[Run]:
    """`run(source)` starts a Python program that goes into the group through its doors."""
    with contextlib.ExitStack() as stack:

        def started(source: str) -> Child:
            doors = group.open_doors()
            enter = "import os, sys\nfor door in map(int, sys.argv[1:]): os.write(door, b'0')\n"
            command = [sys.executable, "-I", "-S", "-c", enter + source, *map(str, doors)]
            child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, pass_fds=doors)
            for door in doors:
                os.close(door)
            stack.enter_context(child)
            stack.callback(child.kill)
            return child

        yield started


def first_line(child: Child) -> str:
    assert child.stdout is not None
    return child.stdout.readline().strip()


def test_a_memory_bomb_is_killed_and_counted(group: Cgroup, run: Run) -> None:
    assert run(MEMORY_BOMB).wait(LONG_S) == -9

    usage = group.usage()
    assert usage.n_oom_kills == 1
    assert usage.peak_memory_mb is None or 60 <= usage.peak_memory_mb <= 64


def test_the_same_bomb_goes_free_outside() -> None:
    done = subprocess.run([sys.executable, "-I", "-S", "-c", MEMORY_BOMB], capture_output=True, timeout=LONG_S)

    assert (done.returncode, done.stdout) == (0, b"free\n")


def test_memory_is_counted_for_all_processes_together(group: Cgroup, run: Run) -> None:
    """Each holds 20 MB, which RLIMIT_AS of 64 MB would let pass."""
    source = """
import signal
for _ in range(6):
    if os.fork() == 0:
        held = b'x' * (20 << 20)
        signal.pause()
os.wait()
"""
    run(source).wait(LONG_S)

    assert group.usage().n_oom_kills >= 1


def test_a_fork_bomb_is_emptied_and_the_group_is_as_good_as_new(tree: CgroupTree, group: Cgroup, run: Run) -> None:
    if not tree.limits_processes:
        pytest.skip("no pids controller, so that a fork bomb is not let loose")
    bomb = run(FORK_BOMB)
    assert first_line(bomb) == "full"

    n_killed = group.kill()

    assert 2 <= n_killed <= 30 + (group.usage().n_refused_forks or 0)
    assert (bomb.wait(LONG_S), group.pids()) == (-9, [])
    assert (group.usage().n_refused_forks or 0) > 0
    assert run("print('as ever')").communicate(timeout=LONG_S)[0] == "as ever\n"


def test_a_frozen_loop_uses_no_time_until_it_is_thawed(group: Cgroup, run: Run) -> None:
    child = run("print('on', flush=True)\nwhile True: pass")
    assert first_line(child) == "on"

    group.freeze()
    group.freeze()
    frozen_s = cpu_s(group)
    spend(0.05)
    assert cpu_s(group) == frozen_s
    group.thaw()
    deadline = time.monotonic() + LONG_S
    while cpu_s(group) == frozen_s:
        assert time.monotonic() < deadline
        spend(0.01)
    assert child.poll() is None


def test_what_is_frozen_can_be_killed_and_the_group_is_thawed(group: Cgroup, run: Run) -> None:
    child = run("print('on', flush=True)\nwhile True: pass")
    assert first_line(child) == "on"
    group.freeze()

    assert group.kill() == 1

    assert child.wait(LONG_S) == -9
    assert run("print('as ever')").communicate(timeout=LONG_S)[0] == "as ever\n"


def test_a_peak_begins_anew_where_the_kernel_can(group: Cgroup, run: Run) -> None:
    run("held = b'x' * (40 << 20)").wait(LONG_S)
    if not group.reset_peak():
        pytest.skip("this kernel cannot reset a peak of memory")
    first = group.usage().peak_memory_mb
    run("held = b'x' * (20 << 20)").wait(LONG_S)
    second = group.usage().peak_memory_mb

    assert first is not None
    assert second is not None
    assert first < 20 <= second < 40


def test_a_process_can_be_added_from_outside(group: Cgroup) -> None:
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", "input()"], stdin=subprocess.PIPE) as child:
        group.add(child.pid)

        assert group.pids() == [child.pid]
        child.communicate(b"\n", timeout=LONG_S)
    assert group.pids() == []


def test_a_process_that_is_gone_cannot_be_added(group: Cgroup) -> None:
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", ""]) as child:
        child.wait(LONG_S)

    with pytest.raises(SandboxError, match="No such process"):
        group.add(child.pid)


def test_a_group_in_use_is_not_removed_and_an_empty_one_leaves_nothing(group: Cgroup, run: Run) -> None:
    child = run("print('on', flush=True)\nwhile True: pass")
    assert first_line(child) == "on"
    with pytest.raises(SandboxError, match="kill what is in it first"):
        group.remove()

    assert group.kill() == 1
    assert group.kill() == 0
    group.remove()
    group.remove()

    assert not any(folder.exists() for folder in group.folders)


def test_a_directory_for_clone3_is_there_where_version_2_is_used(tree: CgroupTree, group: Cgroup) -> None:
    descriptor = group.open_directory()

    assert (descriptor is None) == (tree.kind == "v1")
    if descriptor is not None:
        os.close(descriptor)


def test_a_dead_owner_s_groups_are_swept_with_what_is_frozen_in_them(tree: CgroupTree) -> None:
    kept = sorted({name for place in tree.places for name in place.controllers})
    source = f"""
import subprocess, sys
from workgym.envs.sandbox.cgroup.find import find_cgroups
tree = find_cgroups().keep(*{kept!r})
group = tree.make("a", memory_mb=64, n_processes=9)
child = subprocess.Popen([sys.executable, "-I", "-S", "-c", "while True: pass"], stdout=subprocess.DEVNULL)
group.add(child.pid)
group.freeze()
print(*tree.owner_folders(), sep="\\t", flush=True)
input()
"""
    with subprocess.Popen(
        [sys.executable, "-c", source], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as owner:
        folders = [Path(name) for name in first_line(owner).split("\t")]
        with pytest.raises(SandboxError, match="which is alive"):
            sweep(*folders)
        owner.kill()
    assert len(folders) == len(tree.places)

    assert sweep(*folders) == 1

    assert not any(folder.exists() for folder in folders)


def cpu_s(group: Cgroup) -> float:
    used = group.usage().cpu_s
    assert used is not None
    return used


def spend(seconds: float) -> None:
    """Let time pass in which others could work, too."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
