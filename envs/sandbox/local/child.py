"""What a run does between its birth and the program's first line.

The order matters: descriptors, mounts, identity, limits, then the filter that forbids all of it. Until the line to the
supervisor is closed, a failure is reported there as a fault of the machinery; later all is the program's own doing.
"""

from __future__ import annotations

import contextlib
import gc
import marshal
import os
import resource
from typing import Any, NoReturn

from workgym.envs.sandbox.local import kernel, namespaces, program
from workgym.envs.sandbox.local.store import Place

__all__ = ["CHANNEL", "Limits", "Walls", "become", "settle"]

CHANNEL = 3
_MIB = 1 << 20


class Limits:
    """What a run may use, and the filter it is put under.

    Attributes:
        filter: of system calls.
        loopback: whether it has a network of its own.
    """

    def __init__(self, config: dict[str, Any], baseline_bytes: int) -> None:
        self.filter = bytes.fromhex(config["narrow_filter"])
        self.loopback = config["network"] == "loopback"
        self._n_processes = config["n_processes"]
        cpu_s = int(config["cpu_s"]) + 2  # a backstop in whole seconds; the supervisor measures the limit itself
        self._inherited = {
            resource.RLIMIT_FSIZE: config["disk_mb"] * _MIB,
            resource.RLIMIT_CORE: 0,
            resource.RLIMIT_MEMLOCK: 64 << 10,
        }
        # Where a cgroup limits memory, this one is left out: it breaks programs that map much and touch little.
        if not config["has_memory_cgroup"]:
            self._inherited[resource.RLIMIT_AS] = baseline_bytes + config["memory_mb"] * _MIB
        own = {
            resource.RLIMIT_CPU: cpu_s,
            resource.RLIMIT_NOFILE: config["n_open_files"],
        }
        self._resources = [(number, _lowered(number, value)) for number, value in own.items()]

    def hand_down(self) -> None:
        """Take on, in the zygote, what all its children inherit: what is set once costs a run nothing."""
        for number, value in self._inherited.items():
            lowered = _lowered(number, value)
            resource.setrlimit(number, (lowered, lowered))
        # When the machine runs out of memory, a program goes before its supervisor. A wish, no guarantee.
        with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")

    def take(self, place: Place, n_more: int = 0) -> None:
        """Take on, in a run, what is its own. Of processes it may have as many more as its walls need.

        The kernel counts the processes of a user: those of all members of the family together.
        """
        n_processes = self._n_processes * max(1, place.family.n_places) + n_more
        for number, value in (*self._resources, (resource.RLIMIT_NPROC, n_processes)):
            lowered = _lowered(number, value)
            resource.setrlimit(number, (lowered, lowered))


def _lowered(number: int, wanted: int) -> int:
    """A hard limit cannot be raised again: ask for no more than there is."""
    hard = resource.getrlimit(number)[1]
    return wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)


class Walls:
    """What a fresh child of the zygote goes through.

    Attributes:
        namespaces: into which it is born.
        n_monitors: processes of a run that are no program's.
        warm: names of what the zygote has loaded.
    """

    n_monitors = 0

    def __init__(self, limits: Limits, admin: bool, warm: str = "") -> None:
        self._limits = limits
        self.warm = warm
        self.namespaces = kernel.CLONE_NEWPID | kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC
        if not admin:
            self.namespaces |= kernel.CLONE_NEWUSER
        if limits.loopback:
            self.namespaces |= kernel.CLONE_NEWNET

    def open_proof(self) -> tuple[int, int]:
        """Nothing need be proved: what cannot be built is told on the line."""
        return -1, -1

    def judge(self, status: int, killed: bool, proof: int) -> tuple[int, str]:
        """The program's wait status, and what of the walls failed."""
        return status, ""

    def become(self, place: Place, message: memoryview, files: list[int], line: int, proof: int) -> NoReturn:
        """Turn this fresh child into the program; see `become`."""
        become(self._limits, place, message, files, line)


def become(limits: Limits, place: Place, message: memoryview, files: list[int], line: int) -> NoReturn:
    """Turn this fresh child into the program.

    Args:
        limits: what it may use.
        place: its workspace, and the user it becomes.
        message: the program, marshalled.
        files: descriptors for stdin, stdout, stderr, the channel and the source where there are any, and of the
            cgroups to enter.
        line: the socket to the supervisor, for failures up to here.
    """
    try:
        source, argv, env, memory_file, n_cgroups = marshal.loads(message)
        for _ in range(n_cgroups):
            os.write(files.pop(), b"0")
        if memory_file:
            source, argv, env = marshal.loads(_read_all(files.pop()))
        for number, descriptor in enumerate(files):
            os.dup2(descriptor, number)
        _isolate(limits, place)
        os.environ.update(env)
        if len(files) > CHANNEL:
            os.environ["WORKGYM_CHANNEL"] = str(CHANNEL)
        kernel.install_filter(limits.filter)
        kernel.close_from(len(files))
    except BaseException as error:  # noqa: BLE001 - whatever it is, the supervisor must hear of it
        os.write(line, f"E{type(error).__name__}: {error}".encode())
        os._exit(1)
    if argv:
        _exec(argv)
    program.run(source)


def _read_all(descriptor: int) -> bytes:
    with os.fdopen(descriptor, "rb") as file:
        file.seek(0)
        return file.read()


def _isolate(limits: Limits, place: Place) -> None:
    user = place.family.user
    if user is None:
        namespaces.map_identity(namespaces.NOBODY, namespaces.NOBODY, namespaces.NOBODY)
    namespaces.enter_workspace(place.folder)
    flags = kernel.MS_NOSUID | kernel.MS_NODEV
    # Read-only: a program cannot take back what the OOM killer was told of it.
    kernel.mount("proc", namespaces.PROC, flags | kernel.MS_NOEXEC | kernel.MS_RDONLY, "subset=pid")
    namespaces.lay_terminals()
    if limits.loopback:
        kernel.raise_loopback()
    if user is None:
        kernel.capability_bounding_clear()
        kernel.capabilities_clear()
    else:
        os.setresuid(user, user, user)
        kernel.set_dumpable()
    limits.take(place)


def _exec(argv: list[str]) -> NoReturn:
    """Become another program, or say as a shell would why not."""
    try:
        os.execvp(argv[0], argv)
    except OSError as error:
        os.write(2, f"{argv[0]}: {error.strerror}\n".encode("utf-8", "surrogateescape"))
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


def settle() -> None:
    """Move all that exists out of the collector's sight, so that children do not copy its pages."""
    gc.collect()
    gc.freeze()
