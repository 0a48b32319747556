"""What a program's first process does between its birth and the program's first line.

Whoever bears it is root, and may change its user and drop capabilities. What it becomes may nothing of that.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import resource
import signal
from dataclasses import dataclass
from typing import NoReturn

from workgym.envs.sandbox.docker.inside.frames import FrameReader
from workgym.envs.sandbox.local import kernel
from workgym.envs.sandbox.local.program import run

__all__ = ["NOBODY", "WORKSPACE", "Limits", "become"]

NOBODY = 65534
WORKSPACE = "/workspace"
CHANNEL = 3
_MIB = 1 << 20
_CANNOT_RUN, _NOT_FOUND = 126, 127  # as shells have them


@dataclass(frozen=True)
class Limits:
    """What a program may use, as far as the container does not say it: what no other process shares with it."""

    disk_mb: int
    n_open_files: int
    cpu_s: float
    filters: tuple[bytes, ...]

    def take_on(self) -> None:
        """Put them in force for this process and its children, for good."""
        wanted = {
            resource.RLIMIT_FSIZE: self.disk_mb * _MIB,
            resource.RLIMIT_NOFILE: self.n_open_files,
            resource.RLIMIT_CPU: int(self.cpu_s) + 2,  # a backstop in whole seconds; the group's time is what counts
            resource.RLIMIT_CORE: 0,
            resource.RLIMIT_MEMLOCK: 64 << 10,
            resource.RLIMIT_MSGQUEUE: 0,
        }
        for number, value in wanted.items():
            hard = resource.getrlimit(number)[1]
            lowered = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(number, (lowered, lowered))


def become(what: int, files: list[int], fault: int, limits: Limits) -> NoReturn:
    """Turn this fresh child into the program.

    Args:
        what: a file with a message: "argv" (a list, or None for Python source), "env"; the source.
        files: descriptors for stdin, stdout, stderr and, where asked for, the channel.
        fault: a pipe to process 1, for failures up to the program's first line. Closed by then.
        limits: what it may use.
    """
    try:
        with open(what, "rb") as file:
            file.seek(0)
            meta, source = next(FrameReader().feed(file.read()))
        fault = _take_places(files, fault)
        os.environ.update(meta["env"])
        if len(files) > CHANNEL:
            os.environ["WORKGYM_CHANNEL"] = str(CHANNEL)
        os.setsid()
        _drop_rights()
        os.chmod(WORKSPACE, 0o700)  # it is theirs: they may have closed it to themselves
        os.chdir(WORKSPACE)
        limits.take_on()
        for filter_program in limits.filters:
            kernel.install_filter(filter_program)
    except BaseException as error:  # noqa: BLE001 - whatever it is, process 1 must hear of it
        os.write(fault, f"{type(error).__name__}: {error}".encode())
        os._exit(1)
    os.close(fault)
    if meta["argv"]:
        _execute(meta["argv"])
    run(source)


def _take_places(files: list[int], fault: int) -> int:
    """Put descriptors at 0, 1, ... and the pipe for failures behind them, and close all others."""
    high = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, 32) for descriptor in (*files, fault)]
    for number, descriptor in enumerate(high):
        os.dup2(descriptor, number, inheritable=number < len(files))
    kernel.close_from(len(high))
    return len(files)


def _drop_rights() -> None:
    """Be nobody, with no way back."""
    # When memory runs out, a program goes before process 1.
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")
    kernel.no_new_privileges()
    kernel.capability_bounding_clear()
    os.setresuid(NOBODY, NOBODY, NOBODY)
    kernel.capabilities_clear()
    kernel.set_dumpable()


def _execute(argv: list[str]) -> NoReturn:
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and what is ignored stays so
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(argv[0], argv)
    except (OSError, ValueError) as error:
        os.write(2, f"{argv[0]}: {getattr(error, 'strerror', None) or error}\n".encode("utf-8", "replace"))
        os._exit(_NOT_FOUND if getattr(error, "errno", 0) == errno.ENOENT else _CANNOT_RUN)
