"""The positive control: the same program in a plain process, without any wall, bounded from outside.

It has a PID namespace of its own, only so that nothing of it stays: it ends with its first process. Beside the program
lives a victim, whose pid the program finds in VICTIM. WORKGYM_BOUND tells a bomb where to stop.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Free", "run_free", "words"]

_NEW = {"mount": 0x20000, "uts": 0x04000000, "user": 0x10000000, "pid": 0x20000000}
_PRIVATE = 0x40000 | 0x4000  # MS_PRIVATE | MS_REC
_REPORT = 3
_LIMITS = {
    resource.RLIMIT_AS: 1 << 30,
    resource.RLIMIT_CPU: 10,
    resource.RLIMIT_FSIZE: 256 << 20,
    resource.RLIMIT_CORE: 0,
}


@dataclass(frozen=True)
class Free:
    """What a free process did.

    Attributes:
        code: its exit code, negative for a signal.
        stopped: whether it was found stopped.
        n_survivors: processes that were left when it had ended.
        victim_lives: whether the bystander did.
        cpu_s, wall_s: seconds.
        stdout, stderr: all of it.
        folder: where it ran.
    """

    code: int
    stopped: bool
    n_survivors: int
    victim_lives: bool
    cpu_s: float
    wall_s: float
    stdout: bytes
    stderr: bytes
    folder: Path

    @property
    def free(self) -> set[str]:
        """The walls that it met and walked through."""
        return words(self.stdout, "free")

    def assert_free(self, *walls: str) -> None:
        """It walked through these and no others; a plain user, through some of them."""
        assert self.free == set(walls) if os.geteuid() == 0 else self.free & set(walls), self


def words(stdout: bytes, kind: str) -> set[str]:
    """What a program said was "free", or "held"."""
    lines = stdout.decode("utf-8", "replace").splitlines()
    return {line.removeprefix(f"{kind}: ") for line in lines if line.startswith(f"{kind}: ")}


def run_free(
    source: str, folder: Path, *, bound: int, env: Mapping[str, str], stdin: bytes = b"", timeout_s: float = 10.0
) -> Free:
    """Run a program in a folder as a plain process, and end it with all that it started."""
    reader, writer = os.pipe()
    with open(reader, "rb") as report:
        try:
            done = subprocess.run(
                [sys.executable, "-I", "-S", __file__, str(writer), str(timeout_s), source],
                cwd=folder,
                env={**os.environ, **env, "WORKGYM_BOUND": str(bound)},
                input=stdin,
                capture_output=True,
                pass_fds=[writer],
                timeout=timeout_s + 20,
                check=False,
            )
        finally:
            os.close(writer)
        said = report.read()
    assert said, done.stderr.decode()
    return Free(**json.loads(said), stdout=done.stdout, stderr=done.stderr, folder=folder)


def _main(writer: int, timeout_s: float, source: str) -> None:
    os.dup2(writer, _REPORT)
    os.closerange(_REPORT + 1, 64)
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.geteuid(), os.getegid()
    spaces = ("mount", "uts", "pid") if user == 0 else tuple(_NEW)
    assert libc.unshare(sum(_NEW[name] for name in spaces)) == 0, os.strerror(ctypes.get_errno())
    if user:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    first = os.fork()
    if first:
        os.waitpid(first, 0)
        os._exit(0)
    libc.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    libc.mount(b"none", b"/", None, _PRIVATE, None)
    libc.mount(b"proc", b"/proc", b"proc", 0, None)
    for number, value in _LIMITS.items():
        resource.setrlimit(number, (value, value))
    _watch(timeout_s, source)


def _watch(timeout_s: float, source: str) -> None:
    """As the first process of the namespace: start the program, wait for it, count, and end everything."""
    os.set_inheritable(_REPORT, False)
    victim = subprocess.Popen(["sleep", "60"], env={"SECRET": os.environ.get("SECRET", "")}, stdin=subprocess.DEVNULL)
    began = time.monotonic()
    program = os.posix_spawn(sys.executable, [sys.executable, "-c", source], {**os.environ, "VICTIM": str(victim.pid)})
    ended, status, usage = 0, 0, resource.getrusage(resource.RUSAGE_CHILDREN)
    while not ended and time.monotonic() - began < timeout_s:
        ended, status, usage = os.wait4(program, os.WNOHANG | os.WUNTRACED)
        time.sleep(0.005)
    wall_s = time.monotonic() - began
    stopped = bool(ended) and os.WIFSTOPPED(status)
    others = {int(name) for name in os.listdir("/proc") if name.isdigit()} - {os.getpid(), victim.pid, program}
    report = {
        "code": os.waitstatus_to_exitcode(status) if ended and not stopped else 0,
        "stopped": stopped,
        "n_survivors": len(others),
        "victim_lives": victim.poll() is None,
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "wall_s": wall_s,
    }
    os.write(_REPORT, json.dumps(report).encode())
    os._exit(0)  # and with the first process everything


if __name__ == "__main__":
    _main(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3])
