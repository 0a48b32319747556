"""Where groups can be made, on every kind of machine: recorded trees that look as the kernel's do."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from workgym.envs.sandbox.cgroup.find import Missing, find_cgroups
from workgym.envs.sandbox.cgroup.tree import CgroupTree
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


def _let_writing_fail(path: Path) -> None:
    """Put a file there that can be read, and that the kernel lets nobody write, root included."""
    path.unlink(missing_ok=True)
    path.symlink_to("/proc/uptime")
