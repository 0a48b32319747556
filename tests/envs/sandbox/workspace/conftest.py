"""Workspaces as sandboxes have them: file systems in a mount namespace of which we hold nothing but a descriptor."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest

from workgym.envs.sandbox.local import kernel
from workgym.envs.sandbox.workspace import Workspace

_MOUNT = """
import os, runpy, socket, sys
from types import SimpleNamespace

kernel = SimpleNamespace(**runpy.run_path(sys.argv[1]))
top, user, group = sys.argv[2], os.geteuid(), os.getegid()
if user == 0:
    kernel.unshare(kernel.CLONE_NEWNS)
else:
    kernel.unshare(kernel.CLONE_NEWNS | kernel.CLONE_NEWUSER)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)
kernel.make_private("/")
kernel.mount("tmpfs", top, 0, "size=16m,nr_inodes=40k,mode=0755")
os.chdir(top)
for name in ("tmpfs", "lower", "upper", "work", "overlay", "full", "tmpfs/other"):
    os.mkdir(name)
for name in ("lower/frozen.txt", "lower/changed.txt"):
    with open(name, "w") as file:
        file.write("of a lower layer")
layers = f"lowerdir={top}/lower,upperdir={top}/upper,workdir={top}/work"
kernel.mount("overlay", f"{top}/overlay", 0, layers + ",userxattr" * (user != 0))
kernel.mount("tmpfs", f"{top}/full", 0, "size=64k,nr_inodes=8")
kernel.mount("tmpfs", f"{top}/tmpfs/other", 0, "size=64k,nr_inodes=8")
with open("tmpfs/other/file", "w") as file:
    file.write("of another mount")
names = ("tmpfs", "overlay", "full")
line = socket.socket(fileno=int(sys.argv[3]))
socket.send_fds(line, [b"!"], [os.open(name, os.O_RDONLY | os.O_DIRECTORY) for name in names])
line.recv(1)  # the mounts are there as long as we are
"""


@dataclass
class Box:
    """A folder that the tests fill as an attacker would, and the workspace that is to be read back from it."""

    descriptor: int
    workspace: Workspace
    attackers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def inside(self) -> Path:
        """The folder by a path."""
        return Path(f"/proc/self/fd/{self.descriptor}")

    def swap(self) -> None:
        """Have another process exchange what is called `seen` with what is called `other`, over and over."""
        self.attack("libc.renameat2(-100, b'seen', -100, b'other', 2)")

    def attack(self, loop: str) -> None:
        """Have another process do this in the folder, over and over, until the test ends."""
        lines = "\n    ".join(loop.strip().splitlines())
        code = f"import ctypes, os\nlibc = ctypes.CDLL(None)\nos.chdir('/proc/self/fd/{self.descriptor}')\n"
        code += f"print(flush=True)\nwhile True:\n    {lines}"
        command = [sys.executable, "-I", "-c", code]
        attacker = subprocess.Popen(command, stdout=subprocess.PIPE, pass_fds=[self.descriptor])
        self.attackers.append(attacker)
        assert attacker.stdout is not None
        assert attacker.stdout.readline() == b"\n"


@pytest.fixture(scope="session")
def mounts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, int]]:
    """Descriptors of a tmpfs (with another mount on it), of an overlay and of a tmpfs of 64 KiB."""
    top = tmp_path_factory.mktemp("mounts")
    ours, theirs = socket.socketpair()
    with ours, theirs:
        command = [sys.executable, "-I", "-c", _MOUNT, kernel.__file__, str(top), str(theirs.fileno())]
        keeper = subprocess.Popen(command, pass_fds=[theirs.fileno()], stderr=subprocess.PIPE, text=True)
        theirs.close()
        _, descriptors, _, _ = socket.recv_fds(ours, 1, 3)
        if descriptors:
            yield dict(zip(("tmpfs", "overlay", "full"), descriptors, strict=True))
            for descriptor in descriptors:
                os.close(descriptor)
    _, complaint = keeper.communicate(timeout=60)
    if not descriptors:
        pytest.skip(f"no tmpfs and overlay for the tests: {complaint.strip().splitlines()[-1]}")


_numbers = count()


@pytest.fixture(params=["tmpfs", "overlay"])
def box(request: pytest.FixtureRequest, mounts: dict[str, int]) -> Iterator[Box]:
    """An empty workspace on either kind of file system."""
    name = f"box-{next(_numbers)}"
    os.mkdir(name, dir_fd=mounts[request.param])
    descriptor = os.open(name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=mounts[request.param])
    made = Box(descriptor, Workspace(os.dup(descriptor), user=None, group=None))
    yield made
    for attacker in made.attackers:
        attacker.kill()
        attacker.communicate()
    made.workspace.close()
    os.close(descriptor)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder of the host with a file that nobody inside may get at."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "file").write_text("canary")
    return folder


@pytest.fixture
def same_descriptors() -> Callable[[], contextlib.AbstractContextManager[None]]:
    """`with same_descriptors():` asserts that as many descriptors are open afterwards as before."""

    @contextlib.contextmanager
    def watch() -> Iterator[None]:
        before = os.listdir("/proc/self/fd")
        yield
        assert os.listdir("/proc/self/fd") == before

    return watch
