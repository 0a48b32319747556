"""What a program of the unsafe backend is run by: a fresh interpreter that takes on limits and becomes it.

Run as a file, with the numbers of two descriptors: settings as JSON, and a pipe on which it says b"+" before the
program's first line, or why there will be none.
"""

from __future__ import annotations

import atexit
import builtins
import contextlib
import errno
import importlib
import json
import linecache
import os
import resource
import signal
import sys
import traceback
from types import ModuleType, TracebackType
from typing import Any, NoReturn

__all__ = ["CHANNEL", "FAILURES", "READY", "main"]

CHANNEL = 3
READY = b"+"
FAILURES = {"oom": 137, "disk_limit": 121, "processes_limit": 122}
"""Exit codes of programs that ended because of these and did not catch it."""

_MAIN = "<program>"
_MIB = 1 << 20


def main() -> None:
    """Become the program."""
    told = int(sys.argv[2])
    try:
        with os.fdopen(int(sys.argv[1])) as file:
            file.seek(0)
            settings = json.load(file)
        for name in settings["warm_imports"]:
            importlib.import_module(name)
        for name, source in settings["warm_modules"]:
            _load_module(name, source)
        _take_on(settings)
        if settings["channel"] >= 0 and settings["channel"] != CHANNEL:
            told = _move_away(told)
            os.dup2(settings["channel"], CHANNEL)
            os.close(settings["channel"])
    except BaseException:  # noqa: BLE001 - whatever it is, who started us must hear of it
        os.write(told, traceback.format_exc().encode("utf-8", "replace")[-4000:])
        os._exit(1)
    os.write(told, READY)
    os.close(told)
    if settings["argv"]:
        _exec(settings["argv"])
    _run(settings["source"].encode("utf-8", "surrogatepass"))


def _load_module(name: str, source: str) -> None:
    """Make a module of source text, with empty packages above it."""
    parts = name.split(".")
    for n in range(1, len(parts) + 1):
        whole = ".".join(parts[:n])
        if whole not in sys.modules or n == len(parts):
            sys.modules[whole] = module = ModuleType(whole)
            if n < len(parts):
                module.__dict__["__path__"] = []
            if n > 1:
                setattr(sys.modules[".".join(parts[: n - 1])], parts[n - 1], module)
    exec(compile(source, f"<{name}>", "exec"), sys.modules[name].__dict__)  # noqa: S102 - the pool owner's own


def _take_on(settings: dict[str, Any]) -> None:
    with open("/proc/self/statm") as file:
        held = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    wanted = {
        resource.RLIMIT_AS: held + settings["memory_mb"] * _MIB,
        resource.RLIMIT_FSIZE: settings["disk_mb"] * _MIB,
        resource.RLIMIT_NOFILE: settings["n_open_files"],
        resource.RLIMIT_CPU: int(settings["cpu_s"]) + 2,  # of each process; who started us measures the limit itself
        resource.RLIMIT_CORE: 0,
    }
    for number, value in wanted.items():
        hard = resource.getrlimit(number)[1]
        lowered = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(number, (lowered, lowered))


def _move_away(descriptor: int) -> int:
    """Another number for a descriptor, past the channel's."""
    moved = os.dup(descriptor)
    while moved <= CHANNEL:
        moved = os.dup(descriptor)
    os.close(descriptor)
    return moved


def _exec(argv: list[str]) -> NoReturn:
    """Become another program, or say as a shell would why not."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and what is ignored stays so
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(argv[0], argv)
    except OSError as error:
        os.write(2, f"{argv[0]}: {error.strerror}\n".encode("utf-8", "surrogateescape"))
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


def _run(source: bytes) -> None:
    """Run Python source as `__main__`; this interpreter ends as any does."""
    main_module = ModuleType("__main__")
    main_module.__dict__["__builtins__"] = builtins
    sys.modules["__main__"] = main_module
    sys.argv[:] = [_MAIN]
    sys.excepthook = _explain
    linecache.cache[_MAIN] = (len(source), None, source.decode("utf-8", "replace").splitlines(keepends=True), _MAIN)
    exec(compile(source, _MAIN, "exec"), main_module.__dict__)  # noqa: S102 - this is what it is for


def _explain(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print the traceback from the program's own first frame on, and end with the code that names the cause."""
    while trace and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    traceback.print_exception(kind, error, trace)
    code = _cause(error)
    if code:
        atexit.register(_end, code)


def _cause(error: BaseException) -> int:
    if isinstance(error, KeyboardInterrupt):
        return 1  # where the interpreter would end by a signal
    if isinstance(error, MemoryError):
        return FAILURES["oom"]
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return FAILURES["disk_limit"]
    if isinstance(error, BlockingIOError) or str(error) == "can't start new thread":
        return FAILURES["processes_limit"]
    return 0


def _end(code: int) -> NoReturn:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(BaseException):  # the program may have broken anything
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
