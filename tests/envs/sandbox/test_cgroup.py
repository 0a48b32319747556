"""Control groups: how every kind of machine is read, by recorded trees that look as the kernel's do."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from workgym.envs.sandbox.cgroup.find import Missing, find_cgroups
from workgym.envs.sandbox.cgroup.group import Cgroup
from workgym.envs.sandbox.cgroup.tree import CgroupTree, owner_folder, sweep
from workgym.tasks.errors import SandboxError

V1 = """\
30 23 0:29 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
31 23 0:30 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids
32 23 0:31 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
33 23 0:32 / /sys/fs/cgroup/freezer rw,relatime - cgroup cgroup rw,freezer
34 23 0:33 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd
"""
V1_GROUPS = "9:name=systemd:/\n8:pids:/\n6:freezer:/\n4:memory:/job/1\n3:cpu,cpuacct:/job\n"
V1_FOLDERS = ("memory/job/1", "pids", "cpu,cpuacct/job", "freezer")
V2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
V2_BESIDE = "40 23 0:40 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"
NOTHING = "23 1 0:5 / /proc rw - proc proc rw\n"
SCOPE = "user.slice/run-7.scope"

Record = Callable[[str, str, Mapping[str, str]], Path]


@pytest.fixture
def record(tmp_path: Path) -> Record:
    """`record(mountinfo, groups, files)` makes a tree; files are below sys/fs/cgroup, "" as text makes a folder."""

    def recorded(mountinfo: str, groups: str, files: Mapping[str, str]) -> Path:
        proc = tmp_path / "proc" / "self"
        proc.mkdir(parents=True)
        (proc / "mountinfo").write_text(mountinfo)
        (proc / "cgroup").write_text(groups)
        for name, text in files.items():
            path = tmp_path / "sys/fs/cgroup" / name
            (path.parent if text else path).mkdir(parents=True, exist_ok=True)
            if text:
                path.write_text(text)
        return tmp_path

    return recorded


@pytest.fixture
def v1(record: Record) -> Path:
    return record(V1, V1_GROUPS, dict.fromkeys(V1_FOLDERS, ""))


@pytest.fixture
def v2(record: Record) -> Path:
    files = {f"{SCOPE}/cgroup.controllers": "cpu memory pids\n", f"{SCOPE}/cgroup.subtree_control": "\n"}
    return record(V2, f"0::/{SCOPE}\n", files)


def found(root: Path) -> CgroupTree:
    tree = find_cgroups(root)
    assert isinstance(tree, CgroupTree), tree
    return tree


def missing(root: Path) -> Missing:
    tree = find_cgroups(root)
    assert isinstance(tree, Missing), tree
    return tree


def made(tree: CgroupTree, files: Mapping[str, str]) -> Cgroup:
    """Make a group "a" whose folders hold what the kernel would put there."""
    for folder in tree.folders("a"):
        folder.mkdir(parents=True)
        (folder.parent / "cgroup.subtree_control").touch()
        for name, text in files.items():
            (folder / name).write_text(text)
    return tree.make("a", memory_mb=64, n_processes=9)


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


# What there is


def test_version_1_is_used_where_each_controller_is_mounted(v1: Path) -> None:
    tree = found(v1)

    assert (tree.kind, tree.limits_processes) == ("v1", True)
    assert tree.places[0].folder == v1 / "sys/fs/cgroup/memory/job/1"
    assert {place.folder for place in tree.places} == {v1 / "sys/fs/cgroup" / name for name in V1_FOLDERS}


def test_a_hybrid_limits_in_version_1_and_keeps_version_2_for_killing(record: Record) -> None:
    root = record(V1 + V2_BESIDE, V1_GROUPS + "0::/\n", {**dict.fromkeys(V1_FOLDERS, ""), "unified": ""})

    tree = found(root)

    assert tree.kind == "hybrid"
    assert [sorted(place.controllers) for place in tree.keep("unified").places] == [["memory"], ["unified"]]


def test_version_2_gives_its_own_children_limits_where_it_may(v2: Path) -> None:
    (v2 / f"sys/fs/cgroup/{SCOPE}/cgroup.subtree_control").write_text("memory pids\n")

    tree = found(v2)

    assert (tree.kind, tree.limits_processes) == ("v2", True)
    assert [place.folder for place in tree.places] == [v2 / "sys/fs/cgroup" / SCOPE]


def test_version_2_is_asked_to_give_its_children_limits(v2: Path) -> None:
    found(v2)

    assert "+" in (v2 / f"sys/fs/cgroup/{SCOPE}/cgroup.subtree_control").read_text()


def test_a_sibling_is_made_where_the_own_group_holds_processes(v2: Path) -> None:
    _let_writing_fail(v2 / f"sys/fs/cgroup/{SCOPE}/cgroup.subtree_control")
    (v2 / "sys/fs/cgroup/user.slice/cgroup.subtree_control").write_text("memory pids\n")

    assert [place.folder for place in found(v2).places] == [v2 / "sys/fs/cgroup/user.slice"]


def test_version_2_that_is_not_delegated_says_how_to_get_there(v2: Path) -> None:
    _let_writing_fail(v2 / f"sys/fs/cgroup/{SCOPE}/cgroup.subtree_control")

    reason = missing(v2)

    assert "while it holds processes" in reason.cause
    assert "cgroup.procs" in reason.fix
    assert "systemd-run --user --scope -p Delegate=yes" in reason.fix


def test_version_2_without_the_memory_controller_says_so(record: Record) -> None:
    reason = missing(record(V2, f"0::/{SCOPE}\n", {f"{SCOPE}/cgroup.controllers": "cpu pids\n"}))

    assert "the memory controller is not enabled" in reason.cause
    assert "user.slice/cgroup.subtree_control" in reason.fix


def test_a_version_2_tree_without_controllers_limits_nothing(record: Record) -> None:
    reason = missing(record(V2, "0::/\n", {"cgroup.controllers": "\n"}))

    assert "cgroup_enable=memory" in reason.fix


def test_a_machine_without_control_groups_says_what_to_mount(record: Record) -> None:
    reason = missing(record(NOTHING, "", {}))

    assert reason.cause == "no control groups are mounted"
    assert "mount -t cgroup2" in reason.fix


def test_version_1_without_memory_says_what_to_mount(record: Record) -> None:
    only_pids = "".join(line + "\n" for line in V1.splitlines() if "pids" in line)

    assert "mount -t cgroup -o memory" in missing(record(only_pids, V1_GROUPS, {"pids": ""})).fix


@pytest.mark.parametrize(("mountinfo", "groups"), [(V1, V1_GROUPS), (V2, f"0::/{SCOPE}\n")], ids=["v1", "v2"])
def test_a_read_only_mount_is_named(record: Record, mountinfo: str, groups: str) -> None:
    folders = dict.fromkeys((*V1_FOLDERS, SCOPE), "")

    reason = missing(record(mountinfo.replace(" rw,", " ro,"), groups, folders))

    assert "mounted read-only" in reason.cause
    assert "remount,rw" in reason.fix


def test_a_folder_that_may_not_be_written_is_named() -> None:
    """A plain user's look at the tree of this machine, or at one of a user that nobody is."""
    code = (
        "import os, sys\n"
        "from workgym.envs.sandbox.cgroup.find import Missing, find_cgroups\n"
        "if os.geteuid() == 0: os.setresuid(65534, 65534, 65534)\n"
        "tree = find_cgroups()\n"
        "print(f'{tree.cause}; {tree.fix}' if isinstance(tree, Missing) else 'delegated')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)

    assert "may not make groups in" in done.stdout or os.geteuid() != 0


def test_a_container_s_part_of_a_hierarchy_is_found_below_its_mount(record: Record) -> None:
    mountinfo = "30 23 0:29 /docker/abc /sys/fs/cgroup/memory\\040of rw - cgroup cgroup rw,memory\n"

    tree = found(record(mountinfo, "4:memory:/docker/abc/worker\n", {"memory of/worker": ""}))

    assert tree.places[0].folder.parts[-2:] == ("memory of", "worker")


def test_a_group_out_of_sight_is_replaced_by_the_top_of_what_is_mounted(record: Record) -> None:
    mountinfo = "30 23 0:29 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"

    assert found(record(mountinfo, "4:memory:/docker/xyz\n", {"memory": ""})).places[0].folder.name == "memory"


def test_of_two_mounts_the_writable_one_is_taken(record: Record) -> None:
    twice = V1 + "50 23 0:29 / /mnt/memory ro - cgroup cgroup ro,memory\n"

    assert found(record(twice, V1_GROUPS, dict.fromkeys(V1_FOLDERS, ""))).kind == "v1"


def test_a_process_that_is_gone_is_an_error(v1: Path) -> None:
    with pytest.raises(SandboxError, match="process '77'"):
        find_cgroups(v1, pid=77)


# What is made


def test_folders_are_known_before_they_are_made(v1: Path) -> None:
    tree = found(v1)

    folders = tree.folders("lease-1")

    assert len(folders) == 4
    assert all(folder.parts[-2:] == (owner_folder(os.getpid()), "lease-1") for folder in folders)
    assert not any(folder.parent.exists() for folder in folders)


def test_version_1_limits_memory_with_swap_and_processes(v1: Path) -> None:
    tree = found(v1).keep("pids")

    made(tree, V1_FILES)

    memory, pids = tree.folders("a")
    assert (memory / "memory.limit_in_bytes").read_text() == str(64 << 20)
    assert (memory / "memory.memsw.limit_in_bytes").read_text() == str(64 << 20)
    assert (pids / "pids.max").read_text() == "9"


def test_version_2_limits_memory_without_swap_and_processes(v2: Path) -> None:
    (v2 / f"sys/fs/cgroup/{SCOPE}/cgroup.subtree_control").write_text("memory pids\n")
    tree = found(v2)

    made(tree, V2_FILES)

    (folder,) = tree.folders("a")
    assert (folder / "memory.max").read_text() == str(64 << 20)
    assert ((folder / "memory.swap.max").read_text(), (folder / "pids.max").read_text()) == ("0", "9")


def test_the_counters_of_version_1_are_read(v1: Path) -> None:
    usage = made(found(v1), V1_FILES).usage()

    assert (usage.cpu_s, usage.peak_memory_mb, usage.n_oom_kills) == (1.5, 3.0, 2)
    assert (usage.n_refused_forks, usage.n_processes) == (5, 3)


def test_the_counters_of_version_2_are_the_group_s_own(v2: Path) -> None:
    (v2 / f"sys/fs/cgroup/{SCOPE}/cgroup.subtree_control").write_text("memory pids\n")

    usage = made(found(v2), V2_FILES).usage()

    assert (usage.cpu_s, usage.peak_memory_mb, usage.n_oom_kills) == (0.25, 2.0, 1)
    assert (usage.n_refused_forks, usage.n_processes) == (6, 4)


def test_an_old_kernel_s_counters_do_without_local_events_and_peak(v2: Path) -> None:
    (v2 / f"sys/fs/cgroup/{SCOPE}/cgroup.subtree_control").write_text("memory pids\n")
    old = {name: text for name, text in V2_FILES.items() if name not in ("memory.events.local", "memory.peak")}

    group = made(found(v2), old)

    assert (group.usage().n_oom_kills, group.usage().peak_memory_mb) == (8, None)
    assert not group.reset_peak()


def test_a_limit_that_the_kernel_refuses_is_an_error_with_its_words(v1: Path) -> None:
    tree = found(v1).keep()
    (folder,) = tree.folders("a")
    folder.mkdir(parents=True)
    _let_writing_fail(folder / "memory.limit_in_bytes")

    with pytest.raises(
        SandboxError, match=r"memory\.limit_in_bytes: (Input/output error|Permission denied); see `workgym doctor`"
    ):
        tree.make("a", memory_mb=64, n_processes=9)


def test_a_limit_that_the_kernel_does_not_offer_is_an_error_and_leaves_nothing(v1: Path) -> None:
    tree = found(v1).keep()

    with pytest.raises(SandboxError, match=r"memory\.limit_in_bytes: No such file"):
        tree.make("a", memory_mb=64, n_processes=9)

    assert not tree.folders("a")[0].exists()


@pytest.mark.parametrize("name", ["", "..", "a/b", ".hidden"])
def test_a_group_s_name_stays_in_its_folder(v1: Path, name: str) -> None:
    with pytest.raises(ValueError, match="one folder's name"):
        found(v1).make(name, memory_mb=64, n_processes=9)


def test_limits_below_one_are_refused(v1: Path) -> None:
    with pytest.raises(ValueError, match="at least 1 MB and 1 process"):
        found(v1).make("a", memory_mb=0, n_processes=9)


def test_a_group_without_a_freezer_says_so(v1: Path) -> None:
    group = made(found(v1).keep("pids"), V1_FILES)

    with pytest.raises(SandboxError, match="cannot be frozen"):
        group.freeze()


def test_a_group_that_is_gone_counts_nothing(v1: Path) -> None:
    group = made(found(v1), V1_FILES)
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
