"""Reading what hostile code left or is still changing: never a byte from outside, never a wait, never too much."""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from workgym.envs.sandbox.openat2 import open_beneath
from workgym.envs.sandbox.workspace import Workspace
from workgym.tasks.errors import ActionError, SandboxError

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root makes devices")
as_plain_user = pytest.mark.skipif(os.geteuid() == 0, reason="root reads whatever its permissions are")
MAX = 1 << 20


def test_a_file_comes_back_as_it_was_written(box):
    data = bytes(range(256)) * 8192
    (box.inside / "data").write_bytes(data)

    assert box.workspace.read("data", len(data)) == data


def test_a_file_of_a_lower_layer_comes_back(mounts):
    workspace = Workspace(os.dup(mounts["overlay"]), user=None, group=None)

    assert workspace.read("frozen.txt", MAX) == b"of a lower layer"

    workspace.close()


def test_a_symlink_is_refused(box, outside):
    (box.inside / "link").symlink_to(outside / "file")

    with pytest.raises(ActionError, match=r"'link': it is a symlink"):
        box.workspace.read("link", MAX)
    assert (box.inside / "link").read_text() == "canary", "a naive open follows it"


def test_a_symlink_on_the_way_is_refused(box, outside):
    (box.inside / "link").symlink_to(outside)

    with pytest.raises(ActionError, match="reached through a symlink"):
        box.workspace.read("link/file", MAX)
    assert (box.inside / "link" / "file").read_text() == "canary", "a naive open follows it"


def test_a_symlink_within_the_workspace_is_refused_too(box):
    (box.inside / "file").write_text("inside")
    (box.inside / "link").symlink_to("file")

    with pytest.raises(ActionError, match="symlink"):
        box.workspace.read("link", MAX)


def test_a_hard_link_is_refused(box):
    descriptor = os.open("..", os.O_RDONLY, dir_fd=box.descriptor)
    name = f"secret-{box.descriptor}-{time.monotonic_ns()}"
    with open(os.open(name, os.O_WRONLY | os.O_CREAT, dir_fd=descriptor), "w") as file:
        file.write("canary")
    os.link(name, "link", src_dir_fd=descriptor, dst_dir_fd=box.descriptor)
    os.close(descriptor)

    with pytest.raises(ActionError, match="one of 2 hard links"):
        box.workspace.read("link", MAX)
    assert (box.inside / "link").read_text() == "canary", "a naive open reads it"


@pytest.mark.parametrize("path", ["../secret", "a/../../secret", "/etc/passwd", ".."])
def test_the_kernel_refuses_ways_out_that_no_check_saw(box, path):
    (box.inside / "a").mkdir()

    with pytest.raises(OSError, match="cross-device"):
        open_beneath(box.descriptor, path, os.O_PATH)
    with pytest.raises(ValueError, match="relative to the workspace"):
        box.workspace.read(path, MAX)


def test_another_mount_is_refused_and_not_entered(mounts):
    workspace = Workspace(os.dup(mounts["tmpfs"]), user=None, group=None)

    with pytest.raises(ActionError, match="lies on another mount"):
        workspace.read("other/file", MAX)
    found = [entry for entry in workspace.walk(100_000, MAX) if entry.path.startswith("other")]
    assert [(entry.path, entry.problem) for entry in found] == [("other", "it lies on another mount")]

    workspace.close()


def test_a_fifo_never_blocks(box):
    os.mkfifo(box.inside / "pipe")

    with pytest.raises(ActionError, match="it is a fifo"):
        box.workspace.read("pipe", MAX)


def test_a_naive_open_of_a_fifo_blocks(box):
    os.mkfifo(box.inside / "pipe")
    naive = [sys.executable, "-I", "-c", f"open('/proc/self/fd/{box.descriptor}/pipe')"]

    with pytest.raises(subprocess.TimeoutExpired):
        subprocess.run(naive, pass_fds=[box.descriptor], check=False, timeout=1)


@as_root
def test_a_device_is_refused_unopened(box):
    os.mknod(box.inside / "zero", 0o666 | 0o020000, os.makedev(1, 5))

    with pytest.raises(ActionError, match="it is a device"):
        box.workspace.read("zero", MAX)
    with open(box.inside / "zero", "rb") as naive:
        assert naive.read(4) == bytes(4), "a naive open reads on and on"


def test_a_socket_is_refused(box):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(box.inside / "socket"))

        with pytest.raises(ActionError, match="it is a socket"):
            box.workspace.read("socket", MAX)


def test_a_folder_is_refused(box):
    (box.inside / "folder").mkdir()

    with pytest.raises(ActionError, match="it is a folder"):
        box.workspace.read("folder", MAX)


def test_a_missing_file_is_refused(box):
    (box.inside / "file").touch()

    with pytest.raises(ActionError, match="'missing': it does not exist"):
        box.workspace.read("missing", MAX)
    with pytest.raises(ActionError, match="a part of its path is not a folder"):
        box.workspace.read("file/below", MAX)


@as_plain_user
def test_what_its_permissions_hide_is_refused(box):
    (box.inside / "file").touch(mode=0)

    with pytest.raises(ActionError, match="its permissions forbid it"):
        box.workspace.read("file", MAX)


def test_a_lease_on_a_file_never_blocks(box):
    (box.inside / "file").write_text("text")
    before = signal.signal(signal.SIGIO, signal.SIG_IGN)
    with open(box.inside / "file", "r+") as held:
        fcntl.fcntl(held, fcntl.F_SETLEASE, fcntl.F_WRLCK)

        with pytest.raises(ActionError, match="holds a lease"):
            box.workspace.read("file", MAX)

        fcntl.fcntl(held, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    signal.signal(signal.SIGIO, before)


def test_a_sparse_file_of_10_gb_costs_nothing(box):
    with open(box.inside / "sparse", "wb") as file:
        file.truncate(10 << 30)
    began = time.process_time()

    with pytest.raises(ActionError, match=f"it has {10 << 30} bytes, more than the {MAX} that may be read"):
        box.workspace.read("sparse", MAX)

    assert time.process_time() - began < 0.1


def test_a_file_that_grows_is_read_no_further_than_allowed(box):
    (box.inside / "log").touch()
    box.attack("""
with open("log", "wb") as file:
    for _ in range(200):
        file.write(bytes(4096)); file.flush()
""")

    lengths = _outcomes(lambda: len(box.workspace.read("log", 100_000)), at_least=2000, until={"refused"})

    assert "refused" in lengths, "it does grow beyond"
    assert max(lengths - {"refused"}) <= 100_000


def test_folders_that_are_swapped_with_symlinks_lead_nowhere(box, outside):
    (box.inside / "seen").mkdir()
    (box.inside / "seen" / "file").write_text("inside")
    (box.inside / "other").symlink_to(outside)
    box.swap()

    read = _outcomes(lambda: box.workspace.read("seen/file", MAX), at_least=2000, until={b"inside", "refused"})

    assert read == {b"inside", "refused"}
    naive = _outcomes(lambda: (box.inside / "seen" / "file").read_bytes(), at_least=1, until={b"canary"})
    assert b"canary" in naive, "a naive open reads what is outside"


def test_files_that_are_swapped_with_symlinks_lead_nowhere(box, outside):
    (box.inside / "seen").write_text("inside")
    (box.inside / "other").symlink_to(outside / "file")
    box.swap()

    read = _outcomes(lambda: box.workspace.read("seen", MAX), at_least=2000, until={b"inside", "refused"})

    assert read == {b"inside", "refused"}


def test_files_that_are_swapped_with_fifos_never_block(box):
    (box.inside / "seen").write_text("inside")
    os.mkfifo(box.inside / "other")
    box.swap()

    read = _outcomes(lambda: box.workspace.read("seen", MAX), at_least=2000, until={b"inside", "refused"})

    assert read == {b"inside", "refused"}


def test_no_refusal_leaves_a_descriptor_open(box, outside, same_descriptors):
    (box.inside / "link").symlink_to(outside)
    (box.inside / "folder").mkdir()
    os.mkfifo(box.inside / "pipe")
    (box.inside / "large").write_bytes(bytes(100))

    with same_descriptors():
        for path in ("link", "link/file", "folder", "pipe", "large", "missing"):
            with pytest.raises(ActionError):
                box.workspace.read(path, 10)
        list(box.workspace.walk(2, 10))


def test_what_the_machine_lacks_is_no_fault_of_the_program(box):
    (box.inside / "file").touch()
    lowered = f"""
import os, resource, sys
from workgym.envs.sandbox.workspace import Workspace
from workgym.tasks.errors import SandboxError
workspace = Workspace({box.descriptor}, user=None, group=None)
resource.setrlimit(resource.RLIMIT_NOFILE, ({box.descriptor}, {box.descriptor}))
held = []
try:
    while True:
        held.append(os.dup(0))
except OSError:
    pass
try:
    workspace.read("file", 10)
except SandboxError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", lowered], pass_fds=[box.descriptor], capture_output=True, text=True, check=True
    )

    assert done.stdout.startswith("cannot read 'file' of a workspace: Too many open files")


def test_a_workspace_that_is_no_folder_is_refused_and_closed(tmp_path):
    (tmp_path / "file").touch()
    descriptor = os.open(tmp_path / "file", os.O_RDONLY)

    with pytest.raises(SandboxError, match="Not a directory"):
        Workspace(descriptor, user=None, group=None)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)


def test_a_closed_workspace_says_so(box):
    box.workspace.close()
    box.workspace.close()

    with pytest.raises(SandboxError, match="closed"):
        box.workspace.read("file", 1)


def _outcomes(read, *, at_least, until):
    """What so many reads and more gave, until these were among it, or a minute has passed."""
    seen = set()
    n_read, deadline = 0, time.monotonic() + 60
    while n_read < at_least or (not until <= seen and time.monotonic() < deadline):
        n_read += 1
        try:
            seen.add(read())
        except ActionError:
            seen.add("refused")
        except OSError:
            seen.add("missed")
    return seen
