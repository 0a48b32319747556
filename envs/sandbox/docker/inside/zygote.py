"""The warm interpreter whose children programs become, beside process 1.

What a program is given (its source, its environment, its input) never enters this process: a child is born with our
memory, and reads what it shall be from a file when it is already on its own. Children are process 1's from birth.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import socket
import sys
from types import ModuleType
from typing import Any, NoReturn

from workgym.envs.sandbox.docker.inside import birth
from workgym.envs.sandbox.local import kernel
from workgym.envs.sandbox.local.program import MAIN

__all__ = ["Zygote"]

_CLONE_PARENT = 0x8000
_ANSWER_S = 30.0
_MOST_FILES = 6
_BEAR = b"\0"  # no signal has this number


class Zygote:
    """Process 1's handle on it. It lives as long as process 1.

    Args:
        config: what is to be warm, and what programs may use.

    Attributes:
        pid: of the process.
        line: readable only when it has died.
        held_kib: what it holds, warm.

    Raises:
        SystemExit: it could not warm up, and has said why on stderr.
    """

    def __init__(self, config: dict[str, Any]) -> None:
        self.line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.pid = os.fork()
        if self.pid == 0:
            self.line.close()
            _serve(config, theirs)
        theirs.close()
        said = self.line.recv(64)
        if not said:
            sys.exit(1)
        self.held_kib = int(said)
        self.line.settimeout(_ANSWER_S)

    def bear(self, files: list[int]) -> int:
        """Make a child that becomes a program.

        Args:
            files: a file that says what to become, stdin, stdout, stderr, perhaps the channel, the pipe for failures.

        Returns:
            Its pid.

        Raises:
            OSError: there may be no more processes.
        """
        socket.send_fds(self.line, [_BEAR], files)
        answer = self._answer()
        if answer < 0:
            raise OSError(-answer, os.strerror(-answer))
        return answer

    def signal_all(self, number: int) -> None:
        """Signal every process but these two, in one call that no fork can outrun.

        To signal all leaves out process 1 and whoever does it.
        """
        self.line.send(bytes([number]))
        self._answer()

    def _answer(self) -> int:
        return int(self.line.recv(64) or sys.exit("the zygote has died"))


def _serve(config: dict[str, Any], line: socket.socket) -> NoReturn:
    silence = os.open("/dev/null", os.O_RDWR)
    for descriptor in (0, 1):
        os.dup2(silence, descriptor)
    sys.argv[:] = [MAIN]
    for name in config["warm_imports"]:
        importlib.import_module(name)
    for name, source in config["warm_modules"]:
        _load(name, source)
    limits = birth.Limits(
        disk_mb=config["disk_mb"],
        n_open_files=config["n_open_files"],
        cpu_s=config["cpu_s"],
        filters=tuple(bytes.fromhex(text) for text in config["filters"]),
    )
    gc.collect()
    gc.freeze()
    with open("/proc/self/statm") as file:
        line.send(str(int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 10).encode())
    while True:
        data, files, _, _ = socket.recv_fds(line, 1, _MOST_FILES)
        if not data:
            os._exit(0)
        if data == _BEAR:
            line.send(str(_bear(files, limits)).encode())
            continue
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, data[0])
        line.send(b"0")


def _bear(files: list[int], limits: birth.Limits) -> int:
    """Make a child of process 1 that becomes a program; returns its pid, or an error's number, negative."""
    try:
        pid, handle = kernel.clone(_CLONE_PARENT)
    except OSError as error:
        pid, handle = -(error.errno or 1), -1
    if pid == 0:
        birth.become(files[0], files[1:-1], files[-1], limits)
    for descriptor in (*files, handle):
        if descriptor >= 0:
            os.close(descriptor)
    return pid


def _load(name: str, source: str) -> None:
    """Make a module of source text, with empty packages above it."""
    parts = name.split(".")
    for depth in range(1, len(parts) + 1):
        path = ".".join(parts[:depth])
        if path in sys.modules and depth < len(parts):
            continue
        module = sys.modules[path] = ModuleType(path)
        if depth > 1:
            setattr(sys.modules[".".join(parts[: depth - 1])], parts[depth - 1], module)
        if depth < len(parts):
            module.__dict__["__path__"] = []
    module.__dict__["__file__"] = f"<{name}>"
    exec(compile(source, f"<{name}>", "exec"), module.__dict__)  # noqa: S102 - the pool's owner's
