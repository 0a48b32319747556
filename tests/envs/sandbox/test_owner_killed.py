"""SIGKILL of the process that owns sandboxes: nothing of them is left, and nothing of another owner's is touched."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from workgym.envs.sandbox.cgroup.find import find_cgroups
from workgym.envs.sandbox.cgroup.tree import CgroupTree, owner_folder
from workgym.envs.sandbox.reaping import reap

pytestmark = pytest.mark.xdist_group("alone")

# Three programs run when it says so; then it runs one more for each line that it is sent.
OWNER = """
import itertools, sys
from workgym.envs.sandbox.pool import open_pool
from workgym.envs.sandbox.spec import PythonCode, SandboxSpec

BUSY = (
    "import os, time; os.write(3, b'x\\\\n'); time.sleep(600)",
    "import os\\nos.write(3, b'x\\\\n')\\nwhile True: pass",
    "import os, time\\nfor _ in range(3): os.fork() or os.setsid()\\nos.write(3, b'x\\\\n')\\ntime.sleep(600)",
)
pool = open_pool(sys.argv[1], SandboxSpec(cpu_s=100.0, n_processes=20), check=False)
leases = [pool.lease() for _ in range(4)]
boxes = [lease.__enter__() for lease in leases]
for box, source in zip(boxes, BUSY):
    box.start(PythonCode(source), channel=True).receive(60)
for line in itertools.chain(["ready"], sys.stdin):
    print(boxes[3].exec(PythonCode(f"print({line!r})"), timeout_s=60).stdout.decode().strip(), flush=True)
"""


@pytest.fixture(autouse=True)
def ledgers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Ledgers of the test's own."""
    monkeypatch.setenv("WORKGYM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "sandboxes"


@contextlib.contextmanager
def owner(backend: str) -> Iterator[subprocess.Popen[str]]:
    """A process that has a pool in which programs run."""
    command = [sys.executable, "-c", OWNER, backend]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()
            process.wait()
            reap()


@contextlib.contextmanager
def watched(pids: list[int]) -> Iterator[Callable[[float], list[int]]]:
    """Tell which of these processes have not ended within some seconds."""
    handles = {os.pidfd_open(pid): pid for pid in pids}
    poll = select.poll()
    for handle in handles:
        poll.register(handle, select.POLLIN)

    def alive(within_s: float) -> list[int]:
        left = dict(handles)
        while left and (ended := poll.poll(within_s * 1000)):
            for handle, _ in ended:
                poll.unregister(handle)
                del left[handle]
        return list(left.values())

    try:
        yield alive
    finally:
        for handle in handles:
            os.close(handle)


def groups_of(pid: int) -> list[Path]:
    """The control groups of a process's sandboxes."""
    tree = find_cgroups()
    name = owner_folder(pid)
    places = tree.places if isinstance(tree, CgroupTree) else ()
    return [place.folder / name for place in places if (place.folder / name).exists()]


@pytest.mark.parametrize("backend", ["local", "bwrap"])
def test_nothing_is_left_of_a_killed_owner_and_all_of_another_one(
    backend: str, require_backend: Callable[[str], None], below: Callable[[int], list[int]], ledgers: Path
) -> None:
    require_backend(backend)
    with owner(backend) as other, owner(backend) as victim:
        processes, groups = below(victim.pid), groups_of(victim.pid)
        assert groups or not isinstance(find_cgroups(), CgroupTree)
        assert len(processes) >= 11  # a program that sleeps, one that loops, eight of a third, and what keeps them
        with watched(processes) as alive:
            victim.kill()
            assert alive(5.0) == []
        victim.wait()
        done = reap()
        assert done.left == []
        assert [group for group in groups if group.exists()] == []
        assert [path.name for path in ledgers.glob(f"owner-{victim.pid}-*")] == []
        assert other.stdin is not None
        assert other.stdout is not None
        other.stdin.write("as ever\n")
        other.stdin.flush()
        assert other.stdout.readline() == "as ever\n"
        assert len(below(other.pid)) >= 11
