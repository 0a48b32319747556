"""The first process of a container: starts programs, relays what they write, ends them, reports what became of them.

It is root with a few capabilities (to kill, to change its user, to drop capabilities), single-threaded, and reads
nothing that a program wrote but to pass it on. Nobody inside can signal or trace it, and when it dies the kernel kills
all others. It ends with its input, that is, when whoever holds the other end is gone.
"""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import sys
import time
from collections import deque
from collections.abc import Iterator
from typing import Any, NoReturn

from workgym.envs.sandbox.docker.inside import birth
from workgym.envs.sandbox.docker.inside.counters import Counters, descendants_of, read_parents
from workgym.envs.sandbox.docker.inside.files import Files
from workgym.envs.sandbox.docker.inside.frames import FrameReader, pack_frame
from workgym.envs.sandbox.docker.inside.running import Running
from workgym.envs.sandbox.docker.inside.zygote import Zygote

__all__ = ["main"]

_BACKLOG_BYTES = 1 << 20  # waiting to be read by the other end; beyond it programs wait
_TICK_S = 0.02
_ALONE_S = 0.5  # to end one program among others; then all are ended
_DEATH_S = 8.0
_N_CPUS = os.cpu_count() or 1


def main(config: dict[str, Any]) -> NoReturn:
    """Warm up, say so, and serve."""
    os.umask(0o022)
    os.setgroups([])
    os.setresgid(birth.NOBODY, birth.NOBODY, birth.NOBODY)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with contextlib.suppress(OSError):
        os.symlink(birth.WORKSPACE, "/dev/shm")
    os.environ.clear()
    os.environ.update(config["env"])
    _Launcher(config).serve()


def _is_full() -> bool:
    room = os.statvfs(birth.WORKSPACE)
    return room.f_bavail == 0 or room.f_favail == 0


class _Launcher:
    """The loop."""

    def __init__(self, config: dict[str, Any]) -> None:
        self._zygote = Zygote(config)  # before anything is known that a program must not know
        self._cpu_s = config["cpu_s"]
        self._counters = Counters(self._zygote.pid)
        self._files = Files(config["disk_mb"])
        self._reader = FrameReader()
        self._runs: dict[int, Running] = {}
        self._answers: deque[Iterator[bytes]] = deque()  # made piece by piece, as the other end takes them
        self._emptied: list[dict[str, Any]] = []  # answers for when no program is left
        self._out = bytearray()
        self._wake, wakes = os.pipe()
        for descriptor in (0, 1, self._wake, wakes):
            os.set_blocking(descriptor, False)
        signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._say({"op": "ready", "held_kib": self._zygote.held_kib})

    def serve(self) -> NoReturn:
        """Serve until the input ends; the kernel then ends every program."""
        while True:
            ready = self._poll()
            if self._zygote.line.fileno() in ready:
                sys.exit("the zygote has died")
            if 1 in ready:
                self._flush()
            if 0 in ready:
                self._listen()
            if self._wake in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(self._wake, 1 << 12)
            self._reap()
            for run in list(self._runs.values()):
                for message in run.attend(ready):
                    self._say(*message)
                self._look_after(run)
            if not self._runs:
                while self._emptied:
                    self._say(self._emptied.pop())
            self._make_answers()

    def _poll(self) -> set[int]:
        poll = select.poll()
        poll.register(0, select.POLLIN)
        poll.register(self._wake, select.POLLIN)
        poll.register(self._zygote.line, select.POLLIN)
        if self._out:
            poll.register(1, select.POLLOUT)
        is_clogged = len(self._out) > _BACKLOG_BYTES
        for run in self._runs.values():
            for descriptor, events in run.wants(is_clogged):
                poll.register(descriptor, events)
        return {descriptor for descriptor, _ in poll.poll(self._patience_ms())}

    def _patience_ms(self) -> float | None:
        if self._answers and len(self._out) <= _BACKLOG_BYTES:
            return 0
        if any(run.is_ending for run in self._runs.values()):
            return 2
        left = [self._cpu_s - self._used_s(run) for run in self._runs.values() if not run.is_over]
        return max(_TICK_S, min(left) / _N_CPUS) * 1000 if left else None

    def _used_s(self, run: Running) -> float:
        return max(run.cpu_s, self._counters.cpu_s() - run.cpu_before_s)

    # To and from the other end

    def _say(self, meta: dict[str, Any], blob: bytes = b"") -> None:
        self._out += pack_frame(meta, blob)

    def _flush(self) -> None:
        with contextlib.suppress(BlockingIOError):
            del self._out[: os.write(1, self._out[: 1 << 18])]

    def _listen(self) -> None:
        with contextlib.suppress(BlockingIOError):
            data = os.read(0, 1 << 18)
            if not data:
                os._exit(0)
            for meta, blob in self._reader.feed(data):
                self._obey(meta, blob)

    def _obey(self, meta: dict[str, Any], blob: bytes) -> None:
        run = self._runs.get(meta.get("run", 0))
        match meta["op"]:
            case "start":
                self._start(meta, blob)
            case "stdin" if run:
                run.feed(blob, ends=meta["ends"])
            case "kill" if run:
                self._end(run, meta["reason"])
            case "kill_all":
                self._emptied.append({"op": "answer", "ask": meta["ask"], "n": len(self._parents()), "last": True})
                for other in self._runs.values():
                    self._end(other, "killed")
            case "freeze" | "thaw" as what:
                self._zygote.signal_all(signal.SIGSTOP if what == "freeze" else signal.SIGCONT)
                self._say({"op": "answer", "ask": meta["ask"], "last": True})
            case "stdin" | "kill":
                pass  # it has just ended
            case _:
                self._answers.append(self._files.answer(meta, blob, n_programs=len(self._runs)))

    def _make_answers(self) -> None:
        while self._answers and len(self._out) <= _BACKLOG_BYTES:
            piece = next(self._answers[0], None)
            if piece is None:
                self._answers.popleft()
            else:
                self._out += piece

    # Programs

    def _start(self, meta: dict[str, Any], what: bytes) -> None:
        number = meta["run"]
        try:
            run = Running(number, what, channel=meta["channel"])
        except OSError as error:
            self._say({"op": "fault", "run": number, "text": f"cannot open its pipes: {error}"})
            return
        run.cpu_before_s = self._counters.cpu_s()
        run.was_full = _is_full()
        run.oom_before, run.refused_before = self._counters.n_oom_kills(), self._counters.n_forks_refused()
        try:
            run.pid = self._zygote.bear(run.theirs)
        except OSError as error:  # programs of this lease have taken all processes that there are
            run.close()
            self._say({"op": "refused", "run": number, "text": str(error)})
            return
        run.close_theirs()
        self._runs[number] = run

    def _reap(self) -> None:
        """Wait for whoever has ended: programs, and what they left behind."""
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
                if not pid:
                    return
                for run in self._runs.values():
                    run.peak_kib = max(run.peak_kib, usage.ru_maxrss)
                    if run.pid == pid:
                        run.status = status
                        run.wall_s = time.monotonic() - run.began
                        run.cpu_s = usage.ru_utime + usage.ru_stime

    def _look_after(self, run: Running) -> None:
        """Hold a program to its time, clear away what it leaves, report it when nothing is left."""
        if not run.is_over:
            if self._used_s(run) >= self._cpu_s and not run.is_ending:
                self._end(run, "timeout_cpu")
            elif run.is_ending:
                self._kill(run)
            return
        if self._kill(run):
            self._report(run)

    def _parents(self) -> dict[int, int]:
        parents = read_parents()
        parents.pop(self._zygote.pid, None)
        return parents

    def _end(self, run: Running, reason: str) -> None:
        run.reason = run.reason or reason
        run.is_ending = True
        self._kill(run)

    def _kill(self, run: Running) -> bool:
        """Kill a program and what descends from it.

        Returns:
            Whether nothing is left of it.
        """
        parents = self._parents()
        others = {other.pid for other in self._runs.values() if other is not run and not other.is_over}
        left = set(parents) - descendants_of(others, parents)
        if not left and run.is_over:
            return True
        if not run.ends_at:
            run.ends_at = time.monotonic()
            run.n_killed = len(left)
        waited_s = time.monotonic() - run.ends_at
        run.is_ending = True
        if waited_s > _DEATH_S:
            self._say({"op": "fault", "run": run.number, "text": f"not dead {_DEATH_S:g} s after it was killed"})
            run.ends_at = time.monotonic()
        if not others or waited_s > _ALONE_S:  # one call of the kernel's, which no fork can outrun
            self._zygote.signal_all(signal.SIGKILL)
            for other in self._runs.values():
                other.reason = other.reason or ("" if other is run or other.is_over else "killed")
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return False

    def _report(self, run: Running) -> None:
        for message in run.drain():
            self._say(*message)
        self._say(
            {
                "op": "report",
                "run": run.number,
                "status": run.status,
                "reason": run.reason,
                "cpu_s": self._used_s(run),
                "wall_s": run.wall_s,
                "peak_kib": run.peak_kib,
                "n_killed": run.n_killed,
                "n_oom_kills": self._counters.n_oom_kills() - run.oom_before,
                "n_forks_refused": self._counters.n_forks_refused() - run.refused_before,
                "has_filled_disk": _is_full() and not run.was_full,
            }
        )
        run.close()
        del self._runs[run.number]
