"""What a run does between its birth and the program's first line.

The order matters: descriptors, mounts, identity, limits, then the filter that forbids all of it. Until the line to the
supervisor is closed, a failure is reported there as a fault of the machinery; later all is the program's own doing.
"""

from __future__ import annotations

import ast  # noqa: F401 - tracebacks point with it, and loading it then costs more than the run
import atexit
import builtins
import contextlib
import errno
import gc
import linecache
import marshal
import os
import resource
import sys
import threading
import traceback
from types import ModuleType
from typing import Any, NoReturn

from workgym.envs.sandbox.local import kernel, namespaces
from workgym.envs.sandbox.local.store import Place

__all__ = ["CHANNEL", "MAIN", "OUT_OF_DISK", "OUT_OF_MEMORY", "OUT_OF_PROCESSES", "Limits", "become", "settle"]

CHANNEL = 3
MAIN = "<program>"
OUT_OF_MEMORY = 137  # exit code after an uncaught MemoryError, as container runtimes have it
OUT_OF_DISK, OUT_OF_PROCESSES = 121, 122  # and of uncaught errors of a full disk and of a fork too many
_NO_THREAD = "can't start new thread"
_MIB = 1 << 20


class Limits:
    """What a run may use, and the filter it is put under."""

    def __init__(self, config: dict[str, Any], baseline_bytes: int) -> None:
        self.filter = bytes.fromhex(config["narrow_filter"])
        self.loopback = config["network"] == "loopback"
        self.n_processes = config["n_processes"]
        cpu_s = int(config["cpu_s"]) + 2  # a backstop in whole seconds; the supervisor measures the limit itself
        self._inherited = {
            resource.RLIMIT_FSIZE: config["disk_mb"] * _MIB,
            resource.RLIMIT_CORE: 0,
            resource.RLIMIT_MEMLOCK: 64 << 10,
        }
        if not config[
            "has_memory_cgroup"
        ]:  # it breaks programs that map much and touch little, and counts each process apart
            self._inherited[resource.RLIMIT_AS] = baseline_bytes + config["memory_mb"] * _MIB
        own = {
            resource.RLIMIT_CPU: cpu_s,
            resource.RLIMIT_NOFILE: config["n_open_files"],
        }
        self.resources = [(number, _lowered(number, value)) for number, value in own.items()]

    def hand_down(self) -> None:
        """Take on, in the zygote, what all its children inherit: what is set once costs a run nothing."""
        for number, value in self._inherited.items():
            lowered = _lowered(number, value)
            resource.setrlimit(number, (lowered, lowered))
        # When the machine runs out of memory, a program goes before its supervisor. A wish, no guarantee.
        with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")


def _lowered(number: int, wanted: int) -> int:
    """A hard limit cannot be raised again: ask for no more than there is."""
    hard = resource.getrlimit(number)[1]
    return wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)


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
            source = _read_all(files.pop())
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
    _run(source)


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
    # The kernel counts the processes of a user: those of all members of the family together.
    n_processes = _lowered(resource.RLIMIT_NPROC, limits.n_processes * max(1, place.family.n_places))
    resource.setrlimit(resource.RLIMIT_NPROC, (n_processes, n_processes))
    for number, value in limits.resources:
        resource.setrlimit(number, (value, value))


def _exec(argv: list[str]) -> NoReturn:
    """Become another program, or say as a shell would why not."""
    try:
        os.execvp(argv[0], argv)
    except OSError as error:
        os.write(2, f"{argv[0]}: {error.strerror}\n".encode("utf-8", "surrogateescape"))
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


def _run(source: bytes) -> NoReturn:
    """Run the program as `__main__` and end as the interpreter would, without taking it apart."""
    main = ModuleType("__main__")
    main.__dict__["__builtins__"] = builtins
    sys.modules["__main__"] = main
    sys.argv[:] = [MAIN]
    code = 0
    try:
        exec(compile(source, MAIN, "exec"), main.__dict__)  # noqa: S102 - this is what the sandbox is for
    except SystemExit as stop:
        code = _exit_code(stop)
    except BaseException as error:  # noqa: BLE001 - the program's own, told as the interpreter would
        code = _cause(error)
        _explain(error, source)
    try:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    except BaseException:  # noqa: BLE001 - the program may have broken anything
        code = code or 120  # as the interpreter does when it cannot flush
    os._exit(code)


def _cause(error: BaseException) -> int:
    """Exit codes of the limits that a program ran into and did not catch, where nobody outside may have seen it."""
    if isinstance(error, MemoryError):
        return OUT_OF_MEMORY
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return OUT_OF_DISK
    if isinstance(error, BlockingIOError) or (isinstance(error, RuntimeError) and str(error) == _NO_THREAD):
        return OUT_OF_PROCESSES
    return 1


def _exit_code(stop: SystemExit) -> int:
    if stop.code is None:
        return 0
    if isinstance(stop.code, int):
        return stop.code & 0xFF
    with contextlib.suppress(BaseException):  # the program may have broken anything
        print(stop.code, file=sys.stderr)
    return 1


def _explain(error: BaseException, source: bytes) -> None:
    """Print the traceback, beginning at the program's own first frame."""
    try:
        lines = source.decode("utf-8", "replace").splitlines(keepends=True)
        linecache.cache[MAIN] = (len(source), None, lines, MAIN)
        frames = error.__traceback__
        traceback.print_exception(type(error), error, frames and frames.tb_next)
    except BaseException:  # noqa: BLE001 - the program may have broken anything
        os.write(2, type(error).__name__.encode("utf-8", "replace") + b"\n")


def settle() -> None:
    """Move all that exists out of the collector's sight, so that children do not copy its pages."""
    gc.collect()
    gc.freeze()
