"""The warm interpreter whose children the programs become.

Nothing of any task ever enters it: a child can read all that its zygote holds. It is single-threaded, pid 1 of a PID
namespace of its own (when it dies the kernel kills every run), and ends when its supervisor does.

The control socket brings one datagram a run: a byte of flags, the marshalled program, and descriptors: the run's line,
stdout, stderr [, stdin][, channel][, a file with the source]. On its line the run is spoken about: to us b"K" (kill)
and b"U" (usage), from us b"X" + REPORT when it has ended, b"U" + USAGE, b"E" + text where a child could not be set up.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import select
import signal
import socket
import struct
import sys
import time
import traceback
from types import ModuleType
from typing import Any, NoReturn

from workgym.envs.sandbox.local import child, kernel, namespaces

__all__ = ["FLAG_CHANNEL", "FLAG_FILE", "FLAG_STDIN", "REPORT", "USAGE", "main"]

CONTROL, SETTINGS, SUPERVISOR = 3, 4, 5
FLAG_STDIN, FLAG_CHANNEL, FLAG_FILE = 1, 2, 4
REPORT = struct.Struct("<iiddq")  # wait status, processes killed, CPU seconds, wall seconds, peak memory in KiB
USAGE = struct.Struct("<d")  # CPU seconds so far
_LARGEST_MESSAGE = 1 << 17
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")


class _Run:
    """A child, from its birth until its report."""

    __slots__ = ("began", "line", "n_killed", "pid", "pidfd", "user")

    def __init__(self, pid: int, pidfd: int, line: int, user: int | None) -> None:
        self.pid, self.pidfd, self.line, self.user = pid, pidfd, line, user
        self.n_killed = 0
        self.began = time.monotonic()


def load_module(name: str, source: str) -> ModuleType:
    """Make a module of source text, with empty packages above it."""
    parent, _, last = name.rpartition(".")
    module = ModuleType(name)
    module.__dict__["__file__"] = f"<{name}>"
    sys.modules[name] = module
    exec(compile(source, f"<{name}>", "exec"), module.__dict__)  # noqa: S102 - our own source, or the pool's owner's
    if parent:
        setattr(sys.modules[parent], last, module)
    return module


def main(config: dict[str, Any]) -> NoReturn:
    """Enter the namespaces, start the zygote as their pid 1, and wait for it."""
    kernel.close_from(SUPERVISOR + 1)  # what the supervisor's process leaked
    os.umask(0o022)
    control = socket.socket(fileno=CONTROL)
    try:
        admin = namespaces.has_admin()
        users = namespaces.user_ids(os.getpid()) if admin else []
        namespaces.enter(admin)
        pid = os.fork()
        if pid:
            control.close()
            kernel.close_from(CONTROL)
            os._exit(min(255, abs(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))))
        limits = _warm_up(config, admin)
        kernel.set_death_signal(signal.SIGKILL)  # a change of user or group would clear it
    except namespaces.Denied as denied:
        _say(control, {"step": denied.step, "errno": denied.errno, "message": str(denied)})
        os._exit(3)
    except BaseException:  # noqa: BLE001 - whatever it is, the supervisor must hear of it
        _say(control, {"step": "start", "errno": 0, "message": traceback.format_exc()})
        os._exit(4)
    _say(control, {"ready": True, "admin": admin})
    _Zygote(control, limits, users).serve()


def _say(control: socket.socket, answer: dict[str, Any]) -> None:
    control.send(json.dumps(answer)[:60_000].encode())


def _warm_up(config: dict[str, Any], admin: bool) -> child.Limits:
    links = namespaces.build_root(config["visible"], config["hidden"])
    if admin:
        kernel.capability_bounding_clear()
        namespaces.leave_groups()
    kernel.no_new_privileges()
    kernel.install_filter(bytes.fromhex(config["wide_filter"]))
    sys.path += config["site"]
    for name in config["warm_imports"]:
        importlib.import_module(name)
    for name, source in config["warm_modules"]:
        _load_with_parents(name, source)
    os.environ.update(config["env"])
    with open("/proc/self/statm") as file:
        baseline = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    limits = child.Limits(config, baseline, links)
    limits.hand_down()
    child.settle()
    return limits


def _load_with_parents(name: str, source: str) -> None:
    parts = name.split(".")[:-1]
    for depth in range(1, len(parts) + 1):
        parent = ".".join(parts[:depth])
        if parent not in sys.modules:
            package = load_module(parent, "")
            package.__dict__["__path__"] = []
    load_module(name, source)


class _Zygote:
    """The loop that starts runs and reports their ends."""

    def __init__(self, control: socket.socket, limits: child.Limits, users: list[int]) -> None:
        self._control, self._limits, self._users = control, limits, users
        self._namespaces = kernel.CLONE_NEWPID | kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC
        if not users:
            self._namespaces |= kernel.CLONE_NEWUSER
        if limits.loopback:
            self._namespaces |= kernel.CLONE_NEWNET
        self._admin = bool(users)
        self._buffer = bytearray(_LARGEST_MESSAGE)
        self._ends: dict[int, _Run] = {}  # by pidfd
        self._lines: dict[int, _Run] = {}  # by line
        self._watched: set[int] = set()  # descriptors of runs that the epoll knows
        self._epoll = select.epoll()

    def serve(self) -> NoReturn:
        """Serve until the supervisor is gone; every run dies with us."""
        for descriptor in (CONTROL, SUPERVISOR):
            self._epoll.register(descriptor, select.EPOLLIN)
        while True:
            for descriptor, _ in self._epoll.poll():
                if descriptor in self._ends:
                    self._report(self._ends[descriptor])
                elif descriptor in self._lines:
                    self._obey(self._lines[descriptor])
                elif descriptor == CONTROL:
                    self._start()
                elif descriptor == SUPERVISOR:
                    os._exit(0)

    def _start(self) -> None:
        size, ancillary, _, _ = self._control.recvmsg_into(
            [self._buffer], socket.CMSG_SPACE(6 * 4), socket.MSG_CMSG_CLOEXEC
        )
        if size == 0:
            os._exit(0)
        files = [number for _, _, data in ancillary for number in memoryview(data).cast("i")]
        line, stdout, stderr, *rest = files
        flags = self._buffer[0]
        user = self._users.pop() if self._admin else None
        try:
            if flags & FLAG_STDIN:
                stdin = rest.pop(0)
            else:  # one of its own: an open file has flags that the next program to hold it would find
                stdin = os.open("/dev/null", os.O_RDONLY)
                files.append(stdin)
            pid, pidfd = kernel.clone(self._namespaces)
        except OSError as error:
            os.write(line, f"E{type(error).__name__}: {error}".encode())
            for descriptor in files:
                os.close(descriptor)
            if user is not None:
                self._users.append(user)
            return
        if pid == 0:
            child.become(self._limits, user, memoryview(self._buffer)[1:size], [stdin, stdout, stderr, *rest], line)
        self._buffer[:size] = bytes(size)  # a child sees our memory: it must not find its predecessor's program there
        for descriptor in files[1:]:
            os.close(descriptor)
        run = _Run(pid, pidfd, line, user)
        self._ends[pidfd] = self._lines[line] = run
        for descriptor in (pidfd, line):
            self._watched.add(descriptor)
            self._epoll.register(descriptor, select.EPOLLIN)

    def _obey(self, run: _Run) -> None:
        try:
            command = os.read(run.line, 1)
        except BlockingIOError:  # an event of a descriptor that had this number before
            return
        except OSError:
            command = b""
        if command == b"U":
            self._send(run, b"U" + USAGE.pack(self._cpu_seconds(run)))
            return
        if not command:  # whoever waited for it is gone
            self._stop_watching(run.line)
        run.n_killed = max(run.n_killed, len(_descendants(run.pid)))
        signal.pidfd_send_signal(run.pidfd, signal.SIGKILL)

    def _report(self, run: _Run) -> None:
        pid, status, usage = os.wait4(run.pid, os.WNOHANG)
        if not pid:  # an event of a descriptor that had this number before
            return
        del self._ends[run.pidfd], self._lines[run.line]
        report = REPORT.pack(
            status, run.n_killed, usage.ru_utime + usage.ru_stime, time.monotonic() - run.began, usage.ru_maxrss
        )
        self._send(run, b"X" + report)
        for descriptor in (run.pidfd, run.line):
            self._stop_watching(descriptor)
            os.close(descriptor)
        if run.user is not None:
            self._users.append(run.user)

    def _stop_watching(self, descriptor: int) -> None:
        """To close it is not enough: a child that was just born still holds a copy, and its events would go on."""
        if descriptor in self._watched:
            self._watched.remove(descriptor)
            self._epoll.unregister(descriptor)

    def _send(self, run: _Run, message: bytes) -> None:
        with contextlib.suppress(OSError):  # nobody waits for it anymore
            os.write(run.line, message)

    def _cpu_seconds(self, run: _Run) -> float:
        """CPU of the first process, to the nanosecond, and of its descendants, dead ones too, to the tick."""
        try:
            total = time.clock_gettime((~run.pid << 3) | 2)
        except OSError:
            return 0.0
        first, *others = _descendants(run.pid)
        total += _ticks(first, own=False) * _TICK_S
        for pid in others:
            total += _ticks(pid) * _TICK_S
        return total


def _descendants(pid: int) -> list[int]:
    """A process and all below it: in a PID namespace nobody leaves that tree."""
    found = [pid]
    for parent in found:
        try:
            threads = os.listdir(f"/proc/{parent}/task")
            for thread in threads:
                with open(f"/proc/{parent}/task/{thread}/children") as file:
                    found += map(int, file.read().split())
        except OSError:
            continue  # it ended while we looked
    return found


def _ticks(pid: int, *, own: bool = True) -> int:
    """CPU of a process and of the children it waited for, or of those alone."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return 0
    return sum(map(int, fields[11 if own else 13 : 15]))
