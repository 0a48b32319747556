"""What a group is told and what is read of it, on folders that hold the files that the kernel would put there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from workgym.envs.sandbox.cgroup.group import Cgroup, Place
from workgym.envs.sandbox.cgroup.tree import CgroupTree, owner_folder, sweep
from workgym.tasks.errors import SandboxError

V1_FILES = {
    "cgroup.procs": "",
    "tasks": "",
    "memory.limit_in_bytes": "9223372036854771712",
    "memory.memsw.limit_in_bytes": "9223372036854771712",
    "memory.max_usage_in_bytes": "3145728\n",
    "memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n",
    "pids.max": "max",
    "pids.current": "3\n",
    "pids.events": "max 5\n",
    "cpuacct.usage": "1500000000\n",
}
V2_FILES = {
    "cgroup.procs": "",
    "memory.max": "max",
    "memory.swap.max": "max",
    "memory.peak": "2097152\n",
    "memory.events": "low 0\nhigh 0\nmax 9\noom 7\noom_kill 8\n",
    "memory.events.local": "low 0\nhigh 0\nmax 9\noom 1\noom_kill 1\n",
    "pids.max": "max",
    "pids.current": "4\n",
    "pids.events": "max 6\n",
    "cpu.stat": "usage_usec 250000\nuser_usec 1\n",
}


@pytest.fixture
def v1(tmp_path: Path) -> CgroupTree:
    names = ("memory", "pids", "cpuacct", "freezer")
    for name in names:
        (tmp_path / name).mkdir()
    return CgroupTree(tuple(Place(1, frozenset((name,)), tmp_path / name) for name in names))


@pytest.fixture
def v2(tmp_path: Path) -> CgroupTree:
    return CgroupTree((Place(2, frozenset(("memory", "pids", "unified")), tmp_path),))


def made(tree: CgroupTree, files: Mapping[str, str]) -> Cgroup:
    """Make a group "a" whose folders hold what the kernel would put there."""
    for folder in tree.folders("a"):
        folder.mkdir(parents=True)
        (folder.parent / "cgroup.subtree_control").touch()
        for name, text in files.items():
            (folder / name).write_text(text)
    return tree.make("a", memory_mb=64, n_processes=9)


def test_folders_are_known_before_they_are_made(v1: CgroupTree) -> None:
    folders = v1.folders("lease-1")

    assert len(folders) == 4
    assert all(folder.parts[-2:] == (owner_folder(os.getpid()), "lease-1") for folder in folders)
    assert not any(folder.parent.exists() for folder in folders)


def test_version_1_limits_memory_with_swap_and_processes(v1: CgroupTree) -> None:
    tree = v1.keep("pids")

    made(tree, V1_FILES)

    memory, pids = tree.folders("a")
    assert (memory / "memory.limit_in_bytes").read_text() == str(64 << 20)
    assert (memory / "memory.memsw.limit_in_bytes").read_text() == str(64 << 20)
    assert (pids / "pids.max").read_text() == "9"


def test_version_2_limits_memory_without_swap_and_processes(v2: CgroupTree) -> None:
    made(v2, V2_FILES)

    (folder,) = v2.folders("a")
    assert (folder / "memory.max").read_text() == str(64 << 20)
    assert ((folder / "memory.swap.max").read_text(), (folder / "pids.max").read_text()) == ("0", "9")


def test_the_counters_of_version_1_are_read(v1: CgroupTree) -> None:
    usage = made(v1, V1_FILES).usage()

    assert (usage.cpu_s, usage.peak_memory_mb, usage.n_oom_kills) == (1.5, 3.0, 2)
    assert (usage.n_refused_forks, usage.n_processes) == (5, 3)


def test_the_counters_of_version_2_are_the_group_s_own(v2: CgroupTree) -> None:

    usage = made(v2, V2_FILES).usage()

    assert (usage.cpu_s, usage.peak_memory_mb, usage.n_oom_kills) == (0.25, 2.0, 1)
    assert (usage.n_refused_forks, usage.n_processes) == (6, 4)


def test_an_old_kernel_s_counters_do_without_local_events_and_peak(v2: CgroupTree) -> None:
    old = {name: text for name, text in V2_FILES.items() if name not in ("memory.events.local", "memory.peak")}

    group = made(v2, old)

    assert (group.usage().n_oom_kills, group.usage().peak_memory_mb) == (8, None)
    assert not group.reset_peak()


def test_a_limit_that_the_kernel_refuses_is_an_error_with_its_words(v1: CgroupTree) -> None:
    tree = v1.keep()
    (folder,) = tree.folders("a")
    folder.mkdir(parents=True)
    _let_writing_fail(folder / "memory.limit_in_bytes")

    with pytest.raises(
        SandboxError, match=r"memory\.limit_in_bytes: (Input/output error|Permission denied); see `workgym doctor`"
    ):
        tree.make("a", memory_mb=64, n_processes=9)


def test_a_limit_that_the_kernel_does_not_offer_is_an_error_and_leaves_nothing(v1: CgroupTree) -> None:
    tree = v1.keep()

    with pytest.raises(SandboxError, match=r"memory\.limit_in_bytes: No such file"):
        tree.make("a", memory_mb=64, n_processes=9)

    assert not tree.folders("a")[0].exists()


@pytest.mark.parametrize("name", ["", "..", "a/b", ".hidden"])
def test_a_group_s_name_stays_in_its_folder(v1: CgroupTree, name: str) -> None:
    with pytest.raises(ValueError, match="one folder's name"):
        v1.make(name, memory_mb=64, n_processes=9)


def test_limits_below_one_are_refused(v1: CgroupTree) -> None:
    with pytest.raises(ValueError, match="at least 1 MB and 1 process"):
        v1.make("a", memory_mb=0, n_processes=9)


def test_a_group_without_a_freezer_says_so(v1: CgroupTree) -> None:
    group = made(v1.keep("pids"), V1_FILES)

    with pytest.raises(SandboxError, match="cannot be frozen"):
        group.freeze()


def test_a_group_that_is_gone_counts_nothing(v1: CgroupTree) -> None:
    group = made(v1, V1_FILES)
    for folder in group.folders:
        (folder / "memory.oom_control").unlink()

    with pytest.raises(SandboxError, match="is it removed"):
        group.usage()


# What is swept


def test_only_folders_that_workgym_made_are_swept(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="left alone"):
        sweep(tmp_path)

    assert tmp_path.exists()


def test_a_living_owner_s_folder_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / owner_folder(os.getppid()) / "a"
    folder.mkdir(parents=True)

    with pytest.raises(SandboxError, match="which is alive"):
        sweep(folder.parent)

    assert folder.exists()


def test_a_dead_owner_s_folder_is_removed_whole(tmp_path: Path) -> None:
    folder = tmp_path / f"workgym-{os.getppid()}-1" / "a"  # the number was given to another since
    folder.mkdir(parents=True)

    assert sweep(folder.parent) == 0
    assert sweep(folder.parent) == 0
    assert list(tmp_path.iterdir()) == []


def _let_writing_fail(path: Path) -> None:
    """Put a file there that can be read, and that the kernel lets nobody write, root included."""
    path.unlink(missing_ok=True)
    path.symlink_to("/proc/uptime")
