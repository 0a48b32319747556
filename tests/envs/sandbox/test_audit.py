"""The audit: that nothing is left behind, and that it would see it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from workgym.envs.sandbox.cgroup.find import find_cgroups
from workgym.envs.sandbox.cgroup.tree import CgroupTree

pytestmark = pytest.mark.xdist_group("alone")

PLANT = """
import os, subprocess, sys, tempfile, threading
from workgym.envs.sandbox import audit, audit_runs

def plant(pool, nonce):
    {plant}
    return "ok"

audit_runs.CASES[:] = [audit_runs.Case("leaves something", plant)]
sys.exit(audit.main(["--runs", "1"]))
"""
LEAVE_ALL = """
    from workgym.envs.sandbox.cgroup.find import find_cgroups
    from workgym.envs.sandbox.cgroup.tree import CgroupTree
    from workgym.envs.sandbox.ledger import own_ledger
    print(subprocess.Popen(["sleep", "60"]).pid, flush=True)
    subprocess.run(["sh", "-c", "setsid sleep 60 >/dev/null 2>&1 & echo $!"])
    os.posix_spawn("/bin/true", ["true"], dict())
    threading.Thread(target=threading.Event().wait, daemon=True).start()
    os.dup(0)
    tempfile.mkdtemp()
    open("/var/tmp/" + nonce, "w").close()
    own_ledger().note("folder", path="/tmp/workgym-none")
    tree = find_cgroups()
    if isinstance(tree, CgroupTree):
        for folder in tree.owner_folders():
            own_ledger().note("cgroup", path=str(folder))
        tree.make("left", memory_mb=10, n_processes=10)
    if os.geteuid() == 0:
        subprocess.run(["mount", "-t", "tmpfs", "none", FOLDER], check=True)
"""


def rows(table: str) -> dict[str, int]:
    """What was counted -> the number of differences."""
    lines = table.partition("left behind")[2].partition("\n")[2].partition("\n\n")[0].splitlines()
    return {line[:22].strip(): int(line.split()[-1]) for line in lines if not line.startswith("    ")}


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("backend", ["local", "bwrap"])
def test_a_short_audit_finds_nothing_left(backend: str, require_backend: Callable[[str], None]) -> None:
    require_backend(backend)
    done = run("-m", "workgym.envs.sandbox.audit", "--backend", backend, "--runs", "15")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith(f"clean: {backend}, 16 runs\n")
    assert not any(rows(done.stdout).values())
    assert len(rows(done.stdout)) == 10


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["local", "bwrap"])
def test_a_long_audit_finds_nothing_left(backend: str, require_backend: Callable[[str], None]) -> None:
    require_backend(backend)
    done = run("-m", "workgym.envs.sandbox.audit", "--backend", backend, "--runs", "500")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def planted(local: None, tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """An audit during which one of everything was left, in a mount namespace of its own: others count mounts too."""
    folder = tmp_path_factory.mktemp("mounted")
    program = [sys.executable, "-c", PLANT.format(plant=LEAVE_ALL.strip().replace("FOLDER", repr(str(folder))))]
    apart = ["unshare", "--mount", "--propagation", "private"] if os.geteuid() == 0 else []
    return subprocess.run([*apart, *program], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("what", ["processes", "zombies", "threads", "descriptors", "folders", "shared files", "notes"])
def test_what_is_left_is_found(planted: subprocess.CompletedProcess[str], what: str) -> None:
    assert planted.returncode == 1, planted.stdout + planted.stderr
    assert rows(planted.stdout)[what] >= 1
    assert "NOT clean" in planted.stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="a plain user can leave no mounts")
def test_a_mount_that_is_left_is_found(planted: subprocess.CompletedProcess[str]) -> None:
    assert rows(planted.stdout)["mounts"] >= 1


@pytest.mark.skipif(not isinstance(find_cgroups(), CgroupTree), reason="no control group can be made here")
def test_a_control_group_that_is_left_is_found_and_removed(planted: subprocess.CompletedProcess[str]) -> None:
    assert rows(planted.stdout)["cgroups"] >= 2
    left = [line.split()[-1] for line in planted.stdout.splitlines() if line.startswith("    + /") and "cgroup" in line]
    assert left
    assert [path for path in left if Path(path).exists()] == []


def test_an_orphan_is_found_too_and_all_are_killed_once_counted(planted: subprocess.CompletedProcess[str]) -> None:
    pids = [int(line) for line in planted.stdout.splitlines()[:2]]
    assert rows(planted.stdout)["processes"] == 2
    assert [pid for pid in pids if Path(f"/proc/{pid}").exists()] == []


def test_a_backend_that_isolates_nothing_leaves_processes_and_files_which_are_removed_once_counted() -> None:
    done = run("-W", "ignore", "-m", "workgym.envs.sandbox.audit", "--backend", "unsafe-subprocess", "--runs", "13")
    assert done.returncode == 1
    found = rows(done.stdout)
    assert found["processes"] >= 1
    assert found["shared files"] >= 2
    left = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("    + /")]
    assert [path for path in left if Path(path).exists()] == []


def test_a_program_that_ends_otherwise_than_it_may_is_told(local: None) -> None:
    done = run("-c", PLANT.format(plant="return 'oom'"))
    assert done.returncode == 1
    assert "unexpected" in done.stdout
    assert not any(rows(done.stdout).values())


def test_an_unknown_backend_is_told_with_the_nearest_name(local: None) -> None:
    done = run("-m", "workgym.envs.sandbox.audit", "--backend", "locl")
    assert done.returncode == 1
    assert "Did you mean 'local'" in done.stderr
