"""The warm interpreter whose children the programs become.

Nothing of any task ever enters it: a child can read all that its zygote holds. It is single-threaded, pid 1 of a PID
namespace of its own (when it dies the kernel kills every run), and ends when its supervisor does.

The control socket brings one datagram a workspace and one a run, each with a line on which it is spoken about:

- A workspace: FLAG_PLACE, marshalled (its number, the number of another of its family or 0, frozen levels below), the
  line. To us come b"S" (remember it) and b"R" + levels (go back); we answer with b"D" + PLACE and a descriptor of its
  folder, or b"E" + text, or b"N" + text where what programs left fills it. It is dropped when its line is closed.
- A run: its flags, the number of its workspace, the marshalled program, and descriptors: the line, stdout, stderr
  [, stdin][, channel][, a file with the source][, cgroups to enter]. To us come b"K" (kill), b"F" (freeze), b"T" (thaw)
  and b"U" (usage), from us b"X" + REPORT when it has ended, b"U" + USAGE, b"E" + text where it could not be set up.
- FLAG_PING: a few bytes to be said back on the line.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import marshal
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

from workgym.envs.sandbox.local import bwrapped, child, kernel, namespaces, processes
from workgym.envs.sandbox.local.store import NoRoom, Place, Store

__all__ = [
    "FLAG_CHANNEL",
    "FLAG_FILE",
    "FLAG_PING",
    "FLAG_PLACE",
    "FLAG_STDIN",
    "HEAD",
    "PLACE",
    "REPORT",
    "USAGE",
    "main",
]

CONTROL, SETTINGS, SUPERVISOR = 3, 4, 5
FLAG_STDIN, FLAG_CHANNEL, FLAG_FILE, FLAG_PLACE, FLAG_PING = 1, 2, 4, 8, 16
HEAD = struct.Struct("<Bq")  # flags, number of the workspace
PLACE = struct.Struct("<qq")  # the level that is written to, the user id of its programs or -1
REPORT = struct.Struct("<iiddq")  # wait status, processes killed, CPU seconds, wall seconds, peak memory in KiB
USAGE = struct.Struct("<d")  # CPU seconds so far
_LARGEST_MESSAGE = 1 << 17
_MOST_FILES = 12
_O_PATH = 0o10000000
_BARE_BYTES = 16 << 20  # address space of an interpreter that has just started

Walls = child.Walls | bwrapped.Walls


class _Run:
    """A child, from its birth until its report."""

    __slots__ = ("began", "cpu_s", "line", "n_killed", "pid", "pidfd", "place", "proof")

    def __init__(self, pid: int, pidfd: int, line: int, place: Place, proof: int) -> None:
        self.pid, self.pidfd, self.line, self.place, self.proof = pid, pidfd, line, place, proof
        self.n_killed, self.cpu_s = 0, 0.0
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
        walls, shelf, links = (_stand_by if config["bwrap"] else _warm_up)(config, admin)
        kernel.set_death_signal(signal.SIGKILL)  # a change of user or group would clear it
    except namespaces.Denied as denied:
        _say(control, {"step": denied.step, "errno": denied.errno, "message": str(denied)})
        os._exit(3)
    except BaseException:  # noqa: BLE001 - whatever it is, the supervisor must hear of it
        _say(control, {"step": "start", "errno": 0, "message": traceback.format_exc()})
        os._exit(4)
    store = Store(shelf, config["disk_mb"] << 20, config["n_inodes"], links, users)
    _say(control, {"ready": True, "admin": admin, "links": list(links)})
    _Zygote(control, walls, store).serve()


def _say(control: socket.socket, answer: dict[str, Any]) -> None:
    control.send(json.dumps(answer)[:60_000].encode())


def _warm_up(config: dict[str, Any], admin: bool) -> tuple[Walls, str, dict[str, str]]:
    """Become the interpreter that programs are forked from."""
    links = namespaces.build_root(config["visible"], config["hidden"], config["shown"])
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
    limits = child.Limits(config, baseline)
    limits.hand_down()
    warm = ", ".join([*config["warm_imports"], *(name for name, _ in config["warm_modules"])])
    processes.require_one_thread(warm)
    child.settle()
    return child.Walls(limits, admin, warm), namespaces.SHELF, links


def _stand_by(config: dict[str, Any], admin: bool) -> tuple[Walls, str, dict[str, str]]:
    """Become what starts programs behind bubblewrap's walls."""
    shelf, links = bwrapped.prepare(config)
    if admin:
        namespaces.leave_groups()
    kernel.no_new_privileges()
    limits = child.Limits(config, _BARE_BYTES)
    limits.hand_down()
    return bwrapped.Walls(config, limits, shelf, admin), shelf, links


def _load_with_parents(name: str, source: str) -> None:
    parts = name.split(".")[:-1]
    for depth in range(1, len(parts) + 1):
        parent = ".".join(parts[:depth])
        if parent not in sys.modules:
            package = load_module(parent, "")
            package.__dict__["__path__"] = []
    load_module(name, source)


class _Zygote:
    """The loop that makes workspaces, starts runs and reports their ends."""

    def __init__(self, control: socket.socket, walls: Walls, store: Store) -> None:
        self._control, self._walls, self._store = control, walls, store
        self._buffer = bytearray(_LARGEST_MESSAGE)
        self._places: dict[int, Place] = {}  # by number
        self._place_lines: dict[int, int] = {}  # line -> number
        self._ends: dict[int, _Run] = {}  # by pidfd
        self._lines: dict[int, _Run] = {}  # by line
        self._watched: set[int] = set()  # descriptors of lines and runs that the epoll knows
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
                elif descriptor in self._place_lines:
                    self._rearrange(descriptor)
                elif descriptor == CONTROL:
                    self._receive()
                elif descriptor == SUPERVISOR:
                    os._exit(0)

    def _receive(self) -> None:
        size, ancillary, _, _ = self._control.recvmsg_into(
            [self._buffer], socket.CMSG_SPACE(_MOST_FILES * 4), socket.MSG_CMSG_CLOEXEC
        )
        if size == 0:
            os._exit(0)
        files = [number for _, _, data in ancillary for number in memoryview(data).cast("i")]
        flags, number = HEAD.unpack_from(self._buffer)
        if flags & FLAG_PING:
            _say_back(files[0], bytes(self._buffer[HEAD.size : size]))
        elif flags & FLAG_PLACE:
            self._make_place(number, bytes(self._buffer[HEAD.size : size]), files[0])
        else:
            self._start(flags, number, size, files)

    # Workspaces

    def _make_place(self, number: int, message: bytes, line: int) -> None:
        relative, below = marshal.loads(message)
        try:
            family = self._places[relative].family if relative else None
            place = self._places[number] = self._store.open(family, below)
        except (OSError, IndexError, KeyError) as error:
            _complain(line, error)
            os.close(line)
            return
        self._place_lines[line] = number
        self._watch(line)
        self._show(place, line)

    def _rearrange(self, line: int) -> None:
        number = self._place_lines[line]
        place = self._places[number]
        try:
            command = os.read(line, _LARGEST_MESSAGE)
        except BlockingIOError:  # an event of a descriptor that had this number before
            return
        except OSError:
            command = b""
        if not command:
            del self._place_lines[line], self._places[number]
            self._stop_watching(line)
            os.close(line)
            self._store.drop(place)
            return
        try:
            if command[:1] == b"S":
                self._store.freeze(place)
            else:
                self._store.restore(place, marshal.loads(command[1:]))
        except OSError as error:
            _complain(line, error)
        else:
            self._show(place, line)

    def _show(self, place: Place, line: int) -> None:
        """Answer with a descriptor of the workspace's folder, for our supervisor alone."""
        user = -1 if place.family.user is None else place.family.user
        folder = os.open(place.folder, _O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            with socket.socket(fileno=os.dup(line)) as answer, contextlib.suppress(OSError):
                socket.send_fds(answer, [b"D" + PLACE.pack(place.top, user)], [folder])
        finally:
            os.close(folder)

    # Runs

    def _start(self, flags: int, number: int, size: int, files: list[int]) -> None:
        line, stdout, stderr, *rest = files
        try:
            place = self._places[number]
            if flags & FLAG_STDIN:
                stdin = rest.pop(0)
            else:  # one of its own: an open file has flags that the next program to hold it would find
                stdin = os.open("/dev/null", os.O_RDONLY)
                files.append(stdin)
            processes.require_one_thread(self._walls.warm)
            proof, pledge = self._walls.open_proof()
            files += [] if pledge < 0 else [pledge]
            pid, pidfd = kernel.clone(self._walls.namespaces)
        except (OSError, KeyError) as error:
            _complain(line, error)
            for descriptor in files:
                os.close(descriptor)
            return
        if pid == 0:
            message = memoryview(self._buffer)[HEAD.size : size]
            self._walls.become(place, message, [stdin, stdout, stderr, *rest], line, pledge)
        self._buffer[:size] = bytes(size)  # a child sees our memory: it must not find its predecessor's program there
        for descriptor in files[1:]:
            os.close(descriptor)
        place.family.n_runs += 1
        run = _Run(pid, pidfd, line, place, proof)
        self._ends[pidfd] = self._lines[line] = run
        for descriptor in (pidfd, line):
            self._watch(descriptor)

    def _obey(self, run: _Run) -> None:
        try:
            command = os.read(run.line, 1)
        except BlockingIOError:  # an event of a descriptor that had this number before
            return
        except OSError:
            command = b""
        if command == b"U":
            self._send(run, b"U" + USAGE.pack(processes.cpu_seconds(run.pid)))
            return
        if command in (b"F", b"T"):
            processes.stop_all(run.pid) if command == b"F" else processes.signal_all(run.pid, signal.SIGCONT)
            self._send(run, command)
            return
        if not command:  # whoever waited for it is gone
            self._stop_watching(run.line)
        run.n_killed = max(run.n_killed, len(processes.descendants(run.pid)) - self._walls.n_monitors)
        run.cpu_s = processes.cpu_seconds(run.pid)  # the kernel forgets those that nobody waits for
        signal.pidfd_send_signal(run.pidfd, signal.SIGKILL)

    def _report(self, run: _Run) -> None:
        pid, status, usage = os.wait4(run.pid, os.WNOHANG)
        if not pid:  # an event of a descriptor that had this number before
            return
        del self._ends[run.pidfd], self._lines[run.line]
        status, failure = self._walls.judge(status, run.n_killed > 0, run.proof)
        cpu_s = max(run.cpu_s, usage.ru_utime + usage.ru_stime)
        report = REPORT.pack(status, run.n_killed, cpu_s, time.monotonic() - run.began, usage.ru_maxrss)
        self._send(run, b"E" + failure.encode() if failure else b"X" + report)
        if run.proof >= 0:
            os.close(run.proof)
        for descriptor in (run.pidfd, run.line):
            self._stop_watching(descriptor)
            os.close(descriptor)
        run.place.family.n_runs -= 1
        self._store.bury(run.place.family)

    def _watch(self, descriptor: int) -> None:
        self._watched.add(descriptor)
        self._epoll.register(descriptor, select.EPOLLIN)

    def _stop_watching(self, descriptor: int) -> None:
        """To close it is not enough: a child that was just born still holds a copy, and its events would go on."""
        if descriptor in self._watched:
            self._watched.remove(descriptor)
            self._epoll.unregister(descriptor)

    def _send(self, run: _Run, message: bytes) -> None:
        with contextlib.suppress(OSError):  # nobody waits for it anymore
            os.write(run.line, message)


def _say_back(line: int, nonce: bytes) -> None:
    with contextlib.suppress(OSError):  # nobody waits for it anymore
        os.write(line, nonce)
    os.close(line)


def _complain(line: int, error: Exception) -> None:
    with contextlib.suppress(OSError):  # nobody waits for it anymore
        os.write(line, (f"N{error}" if isinstance(error, NoRoom) else f"E{type(error).__name__}: {error}").encode())
