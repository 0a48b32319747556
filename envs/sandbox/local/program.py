"""The program itself: Python source, run as `__main__`, and how its interpreter ends.

It runs in a child of a warm interpreter, or at the beginning of a bare one: it needs the standard library alone.
"""

from __future__ import annotations

import ast  # noqa: F401 - tracebacks point with it, and loading it then costs more than the run
import atexit
import builtins
import contextlib
import errno
import linecache
import os
import sys
import threading
import traceback
from types import ModuleType
from typing import NoReturn

__all__ = ["MAIN", "OUT_OF_DISK", "OUT_OF_MEMORY", "OUT_OF_PROCESSES", "run"]

MAIN = "<program>"
OUT_OF_MEMORY = 137  # exit code after an uncaught MemoryError, as container runtimes have it
OUT_OF_DISK, OUT_OF_PROCESSES = 121, 122  # and of uncaught errors of a full disk and of a fork too many
_NO_THREAD = "can't start new thread"


def run(source: bytes) -> NoReturn:
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
