"""The workspace of a container, its copies, and the pool."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workgym.envs.sandbox.docker.pool import DockerPool
from workgym.envs.sandbox.docker.sandbox import DockerSandbox
from workgym.envs.sandbox.spec import PythonCode, SandboxSpec
from workgym.tasks.errors import ActionError, SandboxError

LONG_S = 30.0
Open = Callable[..., DockerPool]
# What a workspace may be, all at once: links of both kinds, a pipe, holes, closed folders, names that are no text.
STRANGE = r"""
umask 027
mkdir -p deep/er closed; echo text > deep/er/file; ln -s ../../../etc/passwd deep/link; ln deep/er/file deep/again
ln -P deep/link deep/link2; mkfifo pipe; truncate -s 3000000 hole; printf x >> hole; echo x > $'odd\xff\nname'
echo secret > closed/file; chmod 000 closed/file closed; touch -d 2001-02-03 old; chmod 4755 old; chmod 0311 .
"""
DESCRIBE = r"""
chmod u+rwx .; chmod u+rwx closed; chmod u+r closed/file
find . -mindepth 1 ! -path ./closed ! -path ./closed/file ! -name old -printf '%P %y %m %n %s %l\n' | sort
stat -c '%n %a %Y' old; cat deep/again closed/file; tail -c 1 hole; stat -c %b hole; [ deep/er/file -ef deep/again ]
"""


def describe(box: DockerSandbox) -> bytes:
    result = box.exec(("bash", "-c", DESCRIBE), timeout_s=LONG_S)
    assert result.status == "ok", result
    return result.stdout


def test_a_snapshot_brings_back_all_that_a_workspace_can_be(box: DockerSandbox) -> None:
    assert box.exec(("bash", "-c", STRANGE), timeout_s=LONG_S).status == "ok"
    snapshot = box.snapshot()
    before = describe(box)
    assert before.count(b"\n") >= 12
    assert box.exec(("bash", "-c", "rm -rf deep pipe hole old; echo other > old"), timeout_s=LONG_S).status == "ok"
    for _ in range(2):
        box.restore(snapshot)
        assert describe(box) == before


def test_forty_snapshots_come_back_byte_for_byte(box: DockerSandbox) -> None:
    snapshots = []
    for n in range(40):
        box.write(f"files/{n % 7}", os.urandom(100) + bytes([n]))
        snapshots.append((box.snapshot(), dict(box.diff().written), [box.read(f"files/{n % 7}", 200)]))
    for n, (snapshot, _, content) in reversed(list(enumerate(snapshots))):
        box.restore(snapshot)
        assert [box.read(f"files/{n % 7}", 200)] == content


def test_forks_write_the_same_path_and_see_their_own(open_docker: Open) -> None:
    with open_docker().lease() as box:
        box.write("shared", b"from before")
        forks = box.fork(3)
        for n, fork in enumerate(forks):
            fork.exec(PythonCode(f"open('path', 'w').write('{n}')"), timeout_s=LONG_S)
        assert [fork.read("path", 10) for fork in forks] == [b"0", b"1", b"2"]
        assert {fork.read("shared", 20) for fork in forks} == {b"from before"}
        with pytest.raises(ActionError, match="does not exist"):
            box.read("path", 10)
        forks[0].close()
        assert forks[1].read("path", 10) == b"1"


def test_a_fork_may_go_back_to_what_its_parent_remembered(box: DockerSandbox) -> None:
    box.write("state", b"one")
    snapshot = box.snapshot()
    box.write("state", b"two")
    (fork,) = box.fork(1)
    assert fork.read("state", 10) == b"two"
    fork.restore(snapshot)
    assert (fork.read("state", 10), box.read("state", 10)) == (b"one", b"two")
    mine = fork.snapshot()
    with pytest.raises(SandboxError, match="has no snapshot"):
        box.restore(mine)


def test_what_is_written_reads_as_unchanged_and_changes_show(box: DockerSandbox) -> None:
    for name in ("kept", "changed", "removed"):
        box.write(name, b"before")
    box.exec(("sh", "-c", "echo after > changed; rm removed; echo new > new; ln -s /etc/passwd link"), timeout_s=LONG_S)
    diff = box.diff()
    assert diff.written == {"changed": b"after\n", "new": b"new\n"}
    assert (diff.removed, set(diff.skipped)) == (("removed",), {"link"})


@pytest.mark.parametrize("path", ["link", "pipe", "twice", "folder", "missing", "large"])
def test_what_is_no_plain_small_file_is_not_read(box: DockerSandbox, path: str) -> None:
    script = "ln -s /etc/passwd link; mkfifo pipe; echo x > one; ln one twice; mkdir folder; truncate -s 4M large"
    box.exec(("bash", "-c", script), timeout_s=LONG_S)
    with pytest.raises(ActionError, match=path):
        box.read(path, 1 << 20)


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../x", "a/../../x", "a\0b", "."])
def test_a_path_out_of_the_workspace_is_refused_before_anything_starts(open_docker: Open, path: str) -> None:
    pool = open_docker()
    with pool.lease() as box:
        for attempt in (lambda: box.read(path, 10), lambda: box.write(path, b"")):
            with pytest.raises(ValueError, match="path"):
                attempt()
    assert not pool._living


def test_more_than_the_workspace_holds_is_not_written(box: DockerSandbox) -> None:
    box.exec(("sh", "-c", "head -c 2M /dev/zero > ballast"), timeout_s=LONG_S)
    with pytest.raises(ActionError, match="workspace is full"):
        box.write("large", bytes(3 << 20))
    with pytest.raises(SandboxError, match="holds 4 MB"):
        box.write("large", bytes(5 << 20))


def test_a_workspace_that_was_closed_by_a_program_can_be_entered_by_the_next(box: DockerSandbox) -> None:
    box.exec(("chmod", "0", "."), timeout_s=LONG_S)
    assert box.exec(("sh", "-c", "echo here > file; cat file"), timeout_s=LONG_S).stdout == b"here\n"


def test_no_snapshot_is_taken_of_what_moves(box: DockerSandbox) -> None:
    process = box.start(("sleep", "300"))
    with pytest.raises(SandboxError, match="while a program is running"):
        box.snapshot()
    with pytest.raises(SandboxError, match="while a program is running"):
        box.fork(2)
    assert box.kill_all() == 1
    box.snapshot()
    with pytest.raises(SandboxError, match="lost"):
        process.wait(1.0)


def test_a_restore_kills_what_runs(box: DockerSandbox) -> None:
    snapshot = box.snapshot()
    box.start(("sleep", "300"))
    box.restore(snapshot)
    assert box.kill_all() == 0


def test_a_folder_of_the_host_is_shown_and_cannot_be_changed(open_docker: Open, tmp_path: Path) -> None:
    folder = tmp_path / "a:b"
    folder.mkdir()
    (folder / "file").write_text("shown")
    for path in (tmp_path, *tmp_path.parents):
        if path.stat().st_mode & 0o5 != 0o5 and path.is_relative_to("/tmp/pytest-of-root"):
            path.chmod(0o755)
    with open_docker().lease(read_only={"/data/set": str(folder)}) as box:
        assert box.exec(("cat", "/data/set/file"), timeout_s=LONG_S).stdout == b"shown"
        script = "echo x > /data/set/file; rm /data/set/file; mount -o remount,rw /data/set; touch /data/set/new"
        assert box.exec(("sh", "-c", script), timeout_s=LONG_S).status == "nonzero"
        (fork,) = box.fork(1)
        assert fork.exec(("cat", "/data/set/file"), timeout_s=LONG_S).stdout == b"shown"
    assert [(path.name, path.read_text()) for path in folder.iterdir()] == [("file", "shown")]


@pytest.mark.parametrize("path", ["relative", "/a/../b", "/", "/proc/x", "/workspace", "/dev/shm"])
def test_a_folder_is_shown_only_where_it_covers_nothing(open_docker: Open, tmp_path: Path, path: str) -> None:
    with pytest.raises(ValueError, match="shown"), open_docker().lease(read_only={path: str(tmp_path)}):
        pass
    with pytest.raises(ValueError, match="no folder '/nowhere'"), open_docker().lease(read_only={"/x": "/nowhere"}):
        pass


def test_threads_lease_without_a_deadlock_and_nothing_is_left(open_docker: Open, client: Any) -> None:
    pool = open_docker(SandboxSpec(cpu_s=20), max_size=3, min_idle=1)
    seen: list[bytes] = []

    def use(n: int) -> None:
        for _ in range(2):
            with pool.lease() as box:
                seen.append(box.exec(PythonCode(f"print({n})"), timeout_s=60).stdout)

    threads = [threading.Thread(target=use, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert sorted(seen) == sorted(f"{n}\n".encode() for n in range(4) for _ in range(2))
    names = {container.name for container in pool._living}
    assert len(names) <= 2  # idle ones
    pool.close()
    assert not names & {one["Id"] for one in client.containers(all=True)}
    with pytest.raises(SandboxError, match="closed"), pool.lease():
        pass


def test_a_lease_that_needs_nothing_starts_nothing(open_docker: Open) -> None:
    pool = open_docker()
    with pool.lease() as box:
        assert box.kill_all() == 0
    assert not pool._living


def test_a_lease_whose_container_is_gone_says_so(open_docker: Open, client: Any) -> None:
    pool = open_docker()
    with pool.lease() as box:
        process = box.start(("sleep", "300"))
        (container,) = pool._living
        client.kill(container.name)
        with pytest.raises(SandboxError, match="died under a program"):
            process.wait(LONG_S)
        with pytest.raises(SandboxError, match="died"):
            box.exec(PythonCode("pass"), timeout_s=LONG_S)
        assert not box.heartbeat(1.0).alive
    with pool.lease() as other:
        assert other.heartbeat(5.0).alive


def test_a_forked_process_leaves_its_parents_containers_alone(pool: DockerPool) -> None:
    with pool.lease() as box:
        box.write("file", b"mine")
        reader, writer = os.pipe()
        if (pid := os.fork()) == 0:
            try:
                with pool.lease() as other:
                    os.write(writer, other.exec(PythonCode("print('child')"), timeout_s=LONG_S).stdout)
                pool.close()
            finally:
                os._exit(0)
        os.close(writer)
        with open(reader, "rb") as told:
            assert told.read() == b"child\n"
        os.waitpid(pid, 0)
        assert box.read("file", 10) == b"mine"
