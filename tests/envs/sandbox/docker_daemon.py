"""A docker daemon of the tests' own: in a temporary folder, without a network, removed after them."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

__all__ = ["Dockerd", "can_run_dockerd", "running_dockerd"]

_START_S, _END_S = 120.0, 30.0
_CGROUPS = Path("/sys/fs/cgroup")
_QUIET = ("--iptables=false", "--ip6tables=false", "--bridge=none", "--ip-forward=false", "--ip-masq=false")


def can_run_dockerd() -> bool:
    """Whether this machine has a daemon to run, and we may."""
    return os.geteuid() == 0 and all(map(shutil.which, ("dockerd", "containerd", "runc", "docker", "setpriv")))


class Dockerd:
    """A daemon. `kill` and `start` may be repeated; images stay.

    Attributes:
        address: for DOCKER_HOST.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.address = f"unix://{folder}/docker.sock"
        # Ours by name, so that what it leaves of control groups can be removed without touching another daemon's.
        self._group = folder.name
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Of the daemon."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start it, and wait until it answers. It dies with us."""
        paths = ("--data-root", "data", "--exec-root", "exec", "--pidfile", "pid")
        options = [str(self._folder / part) if not part.startswith("--") else part for part in paths]
        command = ["setpriv", "--pdeathsig", "TERM", "dockerd", *options, "-H", self.address, *_QUIET]
        deadline = time.monotonic() + _START_S
        ask = ["docker", "-H", self.address, "version"]
        while self._process is None or subprocess.run(ask, capture_output=True, check=False).returncode:
            assert time.monotonic() < deadline, f"dockerd does not answer: {self.log()}"
            if self._process is None or self._process.poll() is not None:  # its containerd may come too late for it
                with open(self._folder / "log", "ab") as log:
                    self._process = subprocess.Popen(
                        [*command, f"--cgroup-parent=/{self._group}"], stdout=log, stderr=log, start_new_session=True
                    )

    def log(self) -> str:
        """The end of what it said."""
        return (self._folder / "log").read_text(errors="replace")[-2000:]

    def end(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Signal it, and wait until it is dead. Idempotent."""
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(number)
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(_END_S)

    def clean_up(self) -> None:
        """Remove what it made outside of its folder, and what it mounted in it."""
        for pid in self._left():
            with contextlib.suppress(ProcessLookupError):
                handle = os.pidfd_open(pid)
                signal.pidfd_send_signal(handle, signal.SIGKILL)
                poll = select.poll()
                poll.register(handle, select.POLLIN)
                poll.poll(_END_S * 1000)
                os.close(handle)
        mounted = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
        for path in reversed([path for path in mounted if path.startswith(f"{self._folder}/")]):
            subprocess.run(["umount", "--lazy", path], check=True)
        for group in [*_CGROUPS.glob(self._group), *_CGROUPS.glob(f"*/{self._group}")]:
            for path in sorted(group.rglob("*/"), reverse=True):
                path.rmdir()
            group.rmdir()

    def _left(self) -> list[int]:
        """Processes that it started and that outlived it: its containerd and that one's shims name its folder."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                if f"{self._folder}/".encode() in Path(f"/proc/{pid}/cmdline").read_bytes():
                    found.append(int(pid))
        return found


@contextlib.contextmanager
def running_dockerd() -> Iterator[Dockerd]:
    """A daemon that answers, with the default image; all of it is removed behind it."""
    folder = Path(tempfile.mkdtemp(prefix="workgym-dockerd-"))
    daemon = Dockerd(folder)
    try:
        daemon.start()
        yield daemon
    finally:
        daemon.end()
        daemon.clean_up()
        shutil.rmtree(folder)
