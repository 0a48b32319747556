"""Docker as a peer in the benchmark of the sandbox: a program in a running container, and a container for a program."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from workgym.benchmarks.perf.sandbox_peers import ANSWER, Cost, Unavailable, program_of
from workgym.envs.sandbox.census import children_of
from workgym.envs.sandbox.docker.daemon import Daemon, find_daemon
from workgym.envs.sandbox.docker.image import build_image
from workgym.envs.sandbox.spec import SandboxSpec
from workgym.tasks.errors import SandboxError

__all__ = ["DockerExec", "DockerRun", "docker_daemon"]

_IMAGE: Final = SandboxSpec().image
_START_S, _END_S = 30.0, 20.0
_TICK_S: Final = 1 / os.sysconf("SC_CLK_TCK")
_OPTIONS: Final = ("--iptables=false", "--ip6tables=false", "--bridge=none", "--ip-forward=false", "--ip-masq=false")


@contextlib.contextmanager
def docker_daemon() -> Iterator[tuple[Daemon, Callable[[], float]]]:
    """The daemon that DOCKER_HOST names, or one of our own, with the image; and what tells its CPU seconds so far.

    Raises:
        Unavailable: there is none, and none can be started.
    """
    others = set(children_of(os.getpid()))
    with contextlib.ExitStack() as stack:
        if "DOCKER_HOST" not in os.environ:
            os.environ["DOCKER_HOST"] = stack.enter_context(_own_daemon())
            stack.callback(os.environ.pop, "DOCKER_HOST")
        try:
            daemon = find_daemon()
            with daemon.client() as client:
                lacks_image = not client.images(_IMAGE)
            if lacks_image:
                build_image(_IMAGE)
        except SandboxError as error:
            raise Unavailable(str(error)) from error
        yield daemon, lambda: _cpu_seconds(others)


@contextlib.contextmanager
def _own_daemon() -> Iterator[str]:
    """A daemon in a folder of its own; its address."""
    program = shutil.which("dockerd")
    if program is None or os.geteuid() != 0:
        raise Unavailable("no DOCKER_HOST, and no dockerd to start as root (apt-get install docker.io)")
    with tempfile.TemporaryDirectory(prefix="workgym-docker-", ignore_cleanup_errors=True) as name:
        address = f"unix://{name}/docker.sock"
        folders = ["--data-root", f"{name}/data", "--exec-root", f"{name}/exec", "--pidfile", f"{name}/pid"]
        with Path(name, "log").open("w") as log:
            daemon = subprocess.Popen(
                [program, *folders, "-H", address, f"--cgroup-parent=/{Path(name).name}", *_OPTIONS],
                stdout=log,
                stderr=log,
            )
        try:
            deadline = time.monotonic() + _START_S
            while not os.path.exists(f"{name}/docker.sock"):
                if daemon.poll() is not None or time.monotonic() > deadline:
                    raise Unavailable(f"dockerd does not start: {Path(name, 'log').read_text()[-300:]}")
                time.sleep(0.1)
            yield address
        finally:
            daemon.terminate()
            try:
                daemon.wait(_END_S)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
            _remove_groups(Path(name).name)


def _remove_groups(name: str) -> None:
    """A daemon leaves the control groups of its containers."""
    top = Path("/sys/fs/cgroup")
    for group in (top / name, *top.glob(f"*/{name}")):
        for folder, _, _ in os.walk(group, topdown=False):
            with contextlib.suppress(OSError):
                os.rmdir(folder)


def _cpu_seconds(others: set[int]) -> float:
    """CPU of all that we started but the others, and of what of it is dead: to the tick of the machine's clock."""
    total = 0.0
    found = [pid for pid in children_of(os.getpid()) if pid not in others]
    for pid in found:
        found += children_of(pid)
        with contextlib.suppress(OSError, IndexError), open(f"/proc/{pid}/stat") as file:
            total += sum(map(int, file.read().rpartition(")")[2].split()[11:15])) * _TICK_S
    dead = resource.getrusage(resource.RUSAGE_CHILDREN)
    return total + dead.ru_utime + dead.ru_stime


class _Docker:
    """What both ways share: the daemon's interface over its socket, without the start of a command-line client."""

    def __init__(self, daemon: Daemon, cpu_seconds: Callable[[], float]) -> None:
        self._stack = contextlib.ExitStack()
        self._client = self._stack.enter_context(daemon.client())
        self._cpu_seconds = cpu_seconds
        self._command = ["python3", "-I", "-c", program_of(())]

    def run(self) -> Cost:
        """Run the program once."""
        before, caller, began = self._cpu_seconds(), time.process_time(), time.perf_counter()
        output = self._answer()
        wall_s, caller_s = time.perf_counter() - began, time.process_time() - caller
        if output != ANSWER:
            raise RuntimeError(f"docker answered {output!r}")
        return Cost(self._cpu_seconds() - before, wall_s, caller_s=caller_s)

    def _answer(self) -> bytes:
        raise NotImplementedError

    def _create(self, command: list[str]) -> str:
        config = self._client.create_host_config(network_mode="none")
        return str(self._client.create_container(_IMAGE, command, host_config=config)["Id"])

    def close(self) -> None:
        """Remove what is left. Idempotent."""
        self._stack.close()


class DockerExec(_Docker):
    """`docker exec` of a fresh interpreter in a container that runs."""

    def __init__(self, daemon: Daemon, cpu_seconds: Callable[[], float]) -> None:
        super().__init__(daemon, cpu_seconds)
        self._container = self._create(["sleep", "3600"])
        self._stack.callback(self._client.remove_container, self._container, force=True)
        self._client.start(self._container)

    def _answer(self) -> bytes:
        execution: dict[str, Any] = self._client.exec_create(self._container, self._command)
        return bytes(self._client.exec_start(execution["Id"]))


class DockerRun(_Docker):
    """`docker run --rm`: a container for each run."""

    def _answer(self) -> bytes:
        container = self._create(self._command)
        self._client.start(container)
        self._client.wait(container)
        output = bytes(self._client.logs(container))
        self._client.remove_container(container, force=True)
        return output
