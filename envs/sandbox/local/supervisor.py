"""The parent's end of one zygote: start it, hand it runs, end it."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import platform
import select
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict
from importlib import resources
from pathlib import Path

from workgym.envs.sandbox.loading import LOADER
from workgym.envs.sandbox.seccomp import ARCHITECTURES, narrow_filter, wide_filter
from workgym.envs.sandbox.spec import SandboxSpec
from workgym.tasks.errors import IsolationUnavailable, SandboxError

__all__ = ["MAX_RUNS", "PING", "Zygote"]

MAX_RUNS = 200  # at once in one zygote, below the number of its user ids
PING = struct.pack("<Bq", 16, 0)  # as local/zygote.py has it
_START_S = 60.0
_END_S = 10.0
_PACKAGE = "workgym.envs.sandbox.local"
_MODULES = ("kernel", "namespaces", "processes", "program", "store", "child", "bwrapped", "zygote")
_FLAGS = ("-P", "-s", "-S", "-B", "-X", "utf8")
_FIRST_DESCRIPTOR = 10  # above all that the zygote expects at fixed numbers
_ENVIRON = {
    "HOME": "/workspace",
    "TMPDIR": "/workspace",
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",  # the same program prints its sets in the same order every time
    "OPENBLAS_NUM_THREADS": "1",  # a zygote with threads could not fork
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}
_BOOTSTRAP = f"""{LOADER}
import json
with open(4) as file:
    config = json.load(file)
load(config["machinery"]).main(config)
"""
_FIXES = {
    errno.EPERM: "run as root, or allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, "
    "kernel.apparmor_restrict_unprivileged_userns=0; in docker: --privileged or --security-opt seccomp=unconfined)",
    errno.EACCES: "let everybody read the folders of the Python in use, or allow user namespaces "
    "(sysctl kernel.apparmor_restrict_unprivileged_userns=0)",
    errno.ENOSPC: "raise the number of user namespaces (sysctl user.max_user_namespaces=10000)",
    errno.ENOSYS: "use Linux 5.12 or newer",
    errno.EINVAL: "use Linux 5.12 or newer, with namespaces built in",
}


class Zygote:
    """A warm interpreter in its own namespaces, whose children the programs become.

    Args:
        spec: what its children may use.
        shown: (path inside, folder of the host), to be read by all of them.
        has_memory_cgroup: a cgroup limits their memory, so that no limit of address space need do it.
        bwrap: path of bubblewrap, where that shall build the walls.

    Attributes:
        pid: of the process that we started; the zygote itself is below it, in a PID namespace of its own.
        links: names of the links in each fresh workspace.
        heard: when it last said something, by `time.monotonic()`.

    Raises:
        IsolationUnavailable: the kernel refused a namespace, a mount or a filter.
        SandboxError: it did not start.
    """

    links: frozenset[str]

    def __init__(
        self, spec: SandboxSpec, *, shown: Sequence[tuple[str, str]] = (), has_memory_cgroup: bool, bwrap: str = ""
    ) -> None:
        if not sys.platform.startswith("linux") or platform.machine() not in ARCHITECTURES:
            raise IsolationUnavailable(
                f"sandbox backend 'local' needs Linux on {' or '.join(ARCHITECTURES)}; "
                f"this is {sys.platform} on {platform.machine()}"
            )
        self.heard = time.monotonic()
        self._bwrap = bwrap
        self._lock = threading.Lock()
        self._end_lock = threading.Lock()
        self._ended = False
        self._last_words = ""
        try:
            self._spawn(_config(spec, shown, has_memory_cgroup, bwrap))
        except OSError as error:
            raise SandboxError(
                f"cannot start the sandbox's zygote: {error}; free some processes or descriptors"
            ) from error
        try:
            self._greet()
        except BaseException:
            self.kill()
            raise

    def _spawn(self, config: dict[str, object]) -> None:
        """Start the interpreter; control socket, settings and a handle of ours are its descriptors 3, 4 and 5."""
        with contextlib.ExitStack() as stack, contextlib.ExitStack() as ours:
            self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            ours.callback(self._control.close)  # ends the interpreter too, where it is running already
            stack.callback(theirs.close)
            settings = os.memfd_create("workgym-zygote")
            stack.callback(os.close, settings)
            with open(settings, "w", closefd=False) as file:
                json.dump(config, file)
            os.lseek(settings, 0, os.SEEK_SET)
            ourselves = os.pidfd_open(os.getpid())
            stack.callback(os.close, ourselves)
            silence_in, silence_out = os.pipe()  # pipes, as the children's own will be
            stack.callback(os.close, silence_in)
            stack.callback(os.close, silence_out)
            self._errors, errors = os.pipe()
            ours.callback(os.close, self._errors)
            stack.callback(os.close, errors)
            wanted = (silence_in, silence_out, errors, theirs.fileno(), settings, ourselves)
            high = [_duplicate_high(descriptor) for descriptor in wanted]
            for descriptor in high:
                stack.callback(os.close, descriptor)
            actions = [(os.POSIX_SPAWN_DUP2, descriptor, number) for number, descriptor in enumerate(high)]
            python = _interpreter()
            command = [python, *_FLAGS, "-c", _BOOTSTRAP]
            # A session of its own: a Ctrl-C at the terminal is not meant for it. And SIGCHLD as it was born: whoever
            # ignores it cannot wait for its children, and no child may change that again.
            self.pid = os.posix_spawn(
                python,
                command,
                _environ(),
                file_actions=actions,
                setsid=True,
                setsigmask=(),
                setsigdef=(signal.SIGCHLD,),
            )
            self._pidfd = os.pidfd_open(self.pid)
            ours.pop_all()
        os.set_blocking(self._errors, False)

    def _greet(self) -> None:
        self._control.settimeout(_START_S)
        try:
            answer = json.loads(self._control.recv(1 << 16) or b"null")
        except TimeoutError:
            answer = None
        self._control.settimeout(_END_S)
        if not answer:
            raise SandboxError(
                f"the sandbox's zygote (pid {self.pid}) did not start: {self.last_words() or 'it said nothing'}"
            )
        if answer.get("ready"):
            self.links = frozenset(answer["links"])
            return
        if answer["step"] == "start":
            raise SandboxError(f"the sandbox's zygote could not start:\n{answer['message']}")
        fix = _FIXES.get(answer["errno"], "see `workgym doctor`")
        name = "bwrap" if self._bwrap else "local"
        raise IsolationUnavailable(f"sandbox backend {name!r} cannot isolate: {answer['message']}; {fix}")

    def last_words(self) -> str:
        """What it wrote to its stderr, if anything."""
        with self._end_lock:
            self._listen()
            return self._last_words.strip()

    def _listen(self) -> None:
        if not self._ended:
            with contextlib.suppress(BlockingIOError):
                self._last_words += os.read(self._errors, 1 << 16).decode("utf-8", "replace")

    def hand_over(self, message: bytes, files: list[int]) -> bool:
        """Give it a run.

        Returns:
            False if it was gone before it got the message, so that the run may be given to another.

        Raises:
            SandboxError: it does not take messages anymore.
        """
        with self._lock:
            try:
                socket.send_fds(self._control, [message], files)
            except TimeoutError as error:
                raise SandboxError(
                    f"the sandbox's zygote (pid {self.pid}) has not taken a message for {_END_S:g} s"
                ) from error
            except OSError as error:
                if error.errno in (errno.EPIPE, errno.ECONNRESET, errno.ENOTCONN, errno.EBADF):
                    return False
                raise SandboxError(f"cannot hand a program to the sandbox's zygote: {error}") from error
        return True

    def was_heard(self, within_s: float) -> bool:
        """Whether it said something in the last seconds."""
        return time.monotonic() - self.heard < within_s

    def answers(self, timeout_s: float) -> bool:
        """Ask it to repeat a few bytes, and say whether it did."""
        nonce = os.urandom(8)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with ours, theirs:
            ours.settimeout(timeout_s)
            try:
                if not self.hand_over(PING + nonce, [theirs.fileno()]):
                    return False
                theirs.close()
                answered = ours.recv(len(nonce)) == nonce
            except (OSError, SandboxError):
                return False
        self.heard = time.monotonic()
        return answered

    def kill(self) -> None:
        """End it at once; the kernel ends all its runs with it. Idempotent."""
        with self._end_lock:
            if not self._ended:
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
                self._reap()

    def close(self) -> None:
        """Let it end, and wait for it; kill it if it does not. Idempotent."""
        with self._end_lock:
            if self._ended:
                return
            self._control.close()
            if not _becomes_readable(self._pidfd, _END_S):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
            self._reap()

    def _reap(self) -> None:
        self._control.close()
        _becomes_readable(self._pidfd, _END_S)
        self._listen()
        self._ended = True
        with contextlib.suppress(ChildProcessError):  # somebody else's os.wait() took it
            os.waitpid(self.pid, os.WNOHANG)
        os.close(self._pidfd)
        os.close(self._errors)

    def forsake(self) -> None:
        """Close our copies of its descriptors after a fork: it belongs to the parent process."""
        self._end_lock = threading.Lock()
        if not self._ended:
            self._ended = True
            self._control.close()
            os.close(self._pidfd)
            os.close(self._errors)


def _becomes_readable(descriptor: int, timeout_s: float) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(timeout_s * 1000))


def _duplicate_high(descriptor: int) -> int:
    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _FIRST_DESCRIPTOR)


def _interpreter() -> str:
    return getattr(sys, "_base_executable", None) or sys.executable


def _environ() -> dict[str, str]:
    return _ENVIRON | {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}


def _config(
    spec: SandboxSpec, shown: Sequence[tuple[str, str]], has_memory_cgroup: bool, bwrap: str
) -> dict[str, object]:
    """All that a zygote needs to know, as JSON."""
    machinery = [
        (f"{_PACKAGE}.{name}", resources.files(_PACKAGE).joinpath(f"{name}.py").read_text(encoding="utf-8"))
        for name in _MODULES
    ]
    site = [
        path
        for path in sys.path
        if os.path.basename(path) in ("site-packages", "dist-packages") and os.path.isdir(path)
    ]
    return {
        **asdict(spec),
        "env": dict(spec.env),
        "shown": list(shown),
        "has_memory_cgroup": has_memory_cgroup,
        "bwrap": bwrap,
        "loader": LOADER,
        "program": resources.files(_PACKAGE).joinpath("program.py").read_text(encoding="utf-8"),
        "python": [_interpreter(), *_FLAGS],
        "environ": _environ(),
        "machinery": machinery,
        "site": site,
        "visible": [sys.base_prefix, sys.base_exec_prefix, *site],
        "hidden": [str(Path(path, "workgym")) for path in site],
        "wide_filter": wide_filter(platform.machine(), sockets=spec.network == "loopback").hex(),
        "narrow_filter": narrow_filter(platform.machine()).hex(),
    }
