"""What a run does between its birth and the program's first line.

The order matters: descriptors, mounts, identity, limits, then the filter that forbids all of it. Until the line to the
supervisor is closed, a failure is reported there as a fault of the machinery; later all is the program's own doing.
"""

from __future__ import annotations

import ast  # noqa: F401 - tracebacks point with it, and loading it then costs more than the run
import atexit
import builtins
import contextlib
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

__all__ = ["CHANNEL", "MAIN", "OUT_OF_MEMORY", "Limits", "become", "settle"]

CHANNEL = 3
MAIN = "<program>"
OUT_OF_MEMORY = 137  # exit code after an uncaught MemoryError, as container runtimes have it
_MIB = 1 << 20


class Limits:
    """What a run may use, the filter it is put under, and the links in its workspace."""

    def __init__(self, config: dict[str, Any], baseline_bytes: int, links: dict[str, str]) -> None:
        self.filter = bytes.fromhex(config["narrow_filter"])
        self.links = list(links.items())
        self.loopback = config["network"] == "loopback"
        self.tmpfs = f"mode=0700,size={config['disk_mb']}m,nr_inodes={config['n_inodes'] + 1 + len(links)}"
        cpu_s = int(config["cpu_s"]) + 2  # a backstop in whole seconds; the supervisor measures the limit itself
        self._inherited = {
            resource.RLIMIT_AS: baseline_bytes + config["memory_mb"] * _MIB,
            resource.RLIMIT_FSIZE: config["disk_mb"] * _MIB,
            resource.RLIMIT_CORE: 0,
            resource.RLIMIT_MEMLOCK: 64 << 10,
        }
        own = {
            resource.RLIMIT_CPU: cpu_s,
            resource.RLIMIT_NPROC: config["n_processes"],
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


def become(limits: Limits, user: int | None, message: memoryview, files: list[int], line: int) -> NoReturn:
    """Turn this fresh child into the program.

    Args:
        limits: what it may use.
        user: the user id to take; None in a user namespace of its own.
        message: the program, marshalled.
        files: descriptors for stdin, stdout, stderr and, where asked for, the channel.
        line: the socket to the supervisor, for failures up to here.
    """
    try:
        source, env, memory_file = marshal.loads(message)
        if memory_file:
            source = _read_all(files.pop())
        for number, descriptor in enumerate(files):
            os.dup2(descriptor, number)
        _isolate(limits, user)
        os.environ.update(env)
        if len(files) > CHANNEL:
            os.environ["WORKGYM_CHANNEL"] = str(CHANNEL)
        kernel.install_filter(limits.filter)
        kernel.close_from(len(files))
    except BaseException as error:  # noqa: BLE001 - whatever it is, the supervisor must hear of it
        os.write(line, f"E{type(error).__name__}: {error}".encode())
        os._exit(1)
    _run(source)


def _read_all(descriptor: int) -> bytes:
    with os.fdopen(descriptor, "rb") as file:
        file.seek(0)
        return file.read()


def _isolate(limits: Limits, user: int | None) -> None:
    if user is None:
        namespaces.map_identity(namespaces.NOBODY, namespaces.NOBODY, namespaces.NOBODY)
    owner = namespaces.NOBODY if user is None else user  # the group is the zygote's
    flags = kernel.MS_NOSUID | kernel.MS_NODEV
    kernel.mount("tmpfs", namespaces.WORKSPACE, flags, f"{limits.tmpfs},uid={owner},gid={namespaces.NOBODY}")
    # Read-only: a program cannot take back what the OOM killer was told of it.
    kernel.mount("proc", namespaces.PROC, flags | kernel.MS_NOEXEC | kernel.MS_RDONLY, "subset=pid")
    if limits.loopback:
        kernel.raise_loopback()
    os.chdir(namespaces.WORKSPACE)
    for name, target in limits.links:
        os.symlink(target, name)
    if user is None:
        kernel.capability_bounding_clear()
        kernel.capabilities_clear()
    else:
        os.setresuid(user, user, user)
        kernel.set_dumpable()
    for number, value in limits.resources:
        resource.setrlimit(number, (value, value))


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
        code = OUT_OF_MEMORY if isinstance(error, MemoryError) else 1
        _explain(error, source)
    try:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    except BaseException:  # noqa: BLE001 - the program may have broken anything
        code = code or 120  # as the interpreter does when it cannot flush
    os._exit(code)


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
