"""What runs the same program in the benchmark of the sandbox: bare processes, containers, and the sandbox's workers."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import resources, util
from pathlib import Path
from typing import Any, Final, Protocol

from workgym.envs.sandbox.census import children_of

__all__ = [
    "ANSWER",
    "BareForker",
    "Command",
    "Cost",
    "Peer",
    "Unavailable",
    "Worker",
    "bwrap",
    "copy_readable",
    "program_of",
]

_NOBODY: Final = 65534
ANSWER: Final = b"285\n"
_PR_SET_CHILD_SUBREAPER: Final = 36

_FORKER = """
import gc, importlib, json, os, sys, time
for name in sys.argv[1:]:
    importlib.import_module(name)
source = json.loads(sys.stdin.readline())
compile("", "<warm>", "exec")
gc.collect()
gc.freeze()
for _ in sys.stdin:
    began, before = time.perf_counter(), time.process_time()
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(writer, 1)
        exec(compile(source, "<program>", "exec"), {"__name__": "__main__"})
        sys.stdout.flush()
        os._exit(0)
    os.close(writer)
    with open(reader, "rb") as pipe:
        output = pipe.read()
    _, status, usage = os.wait4(pid, 0)
    cpu = time.process_time() - before + usage.ru_utime + usage.ru_stime
    print(json.dumps([output.decode(), status, cpu, time.perf_counter() - began]), file=sys.stderr, flush=True)
"""


class Unavailable(Exception):
    """A peer is not on this machine; says why."""


@dataclass(frozen=True, slots=True)
class Cost:
    """One run: CPU seconds by who spent them (`child_s` is all of it where that cannot be told), and wall seconds."""

    child_s: float
    wall_s: float
    zygote_s: float = 0.0
    caller_s: float = 0.0

    @property
    def cpu_s(self) -> float:
        """All of it."""
        return self.child_s + self.zygote_s + self.caller_s


class Peer(Protocol):
    """Something that can run the program."""

    def run(self) -> Cost:
        """Run it once."""
        ...

    def close(self) -> None:
        """End what it needs for that. Idempotent."""
        ...


def program_of(warm: Sequence[str]) -> str:
    """The program's source."""
    return "".join(f"import {name}\n" for name in warm) + "print(sum(n * n for n in range(10)))"


class BareForker:
    """A warm interpreter without any isolation or limit, that forks, runs the source and waits."""

    def __init__(self, warm: Sequence[str]) -> None:
        command = [sys.executable, "-P", "-s", "-S", "-X", "utf8", "-c", _FORKER, *warm]
        environ = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path.endswith("site-packages"))}
        environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stderr=pipe, text=True, env=environ)
        self._say(json.dumps(program_of(warm)))

    def _say(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def run(self) -> Cost:
        """Run the program once."""
        self._say("")
        assert self._process.stderr is not None
        output, status, cpu_s, wall_s = json.loads(self._process.stderr.readline())
        if (output.encode(), status) != (ANSWER, 0):
            raise RuntimeError(f"the bare fork answered {output!r} and ended with {status}")
        return Cost(cpu_s, wall_s)

    def close(self) -> None:
        """End it."""
        self._process.communicate()


class Command:
    """A command that is started anew for each run. This process adopts what it leaves, to count its CPU."""

    def __init__(self, *command: str) -> None:
        self._command = command
        prctl = ctypes.CDLL(None).prctl
        prctl(_PR_SET_CHILD_SUBREAPER, ctypes.c_long(1), *[ctypes.c_long(0)] * 3)

    def run(self) -> Cost:
        """Run it once."""
        others = set(children_of(os.getpid()))
        began, before = time.perf_counter(), time.process_time()
        reader, writer = os.pipe()
        actions = [(os.POSIX_SPAWN_DUP2, writer, 1)]
        pid = os.posix_spawn(self._command[0], self._command, dict(os.environ), file_actions=actions)
        os.close(writer)
        with open(reader, "rb") as pipe:
            output = pipe.read()
        _, status, usage = os.wait4(pid, 0)
        wall_s = time.perf_counter() - began
        caller_s = time.process_time() - before
        if (output, status) != (ANSWER, 0):
            raise RuntimeError(f"{self._command[0]} answered {output!r} and ended with {status}")
        cpu_s = usage.ru_utime + usage.ru_stime
        for orphan in set(children_of(os.getpid())) - others:
            _, _, usage = os.wait4(orphan, 0)
            cpu_s += usage.ru_utime + usage.ru_stime
        return Cost(cpu_s, wall_s, caller_s=caller_s)

    def close(self) -> None:
        """It has ended."""


def bwrap(warm: Sequence[str]) -> Command:
    """Bubblewrap around a fresh interpreter: new namespaces, the system and the interpreter read-only, no network.

    Raises:
        Unavailable: there is no bwrap.
    """
    program = shutil.which("bwrap")
    if program is None:
        raise Unavailable("no bwrap on the PATH (apt-get install bubblewrap)")
    shown = [path for path in ("/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache") if os.path.exists(path)]
    shown += [sys.base_prefix, sys.prefix]
    options = ["--unshare-all", "--die-with-parent", "--new-session", "--clearenv", "--proc", "/proc", "--dev", "/dev"]
    options += ["--tmpfs", "/tmp"]
    for path in dict.fromkeys(shown):
        options += ["--ro-bind", path, path]
    return Command(program, *options, "--", sys.executable, "-I", "-c", program_of(warm))


class Worker:
    """A process with a pool of sandboxes.

    Args:
        backend: of its pool.
        warm: modules that are imported first.
        n_cores: the cores that it and its sandboxes may use.
        python: its interpreter.
        folder: a copy of the code that others than its owner may read, in which it then runs as user 65534.
        is_root: stay root in that folder.

    Raises:
        Unavailable: it does not start.
    """

    def __init__(
        self,
        backend: str,
        warm: Sequence[str],
        n_cores: int = 1024,
        *,
        python: str = sys.executable,
        folder: Path | None = None,
        is_root: bool = False,
    ) -> None:
        options: dict[str, Any] = {}
        if folder is not None:
            options = {"cwd": folder, "env": {"PYTHONPATH": str(folder), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}}
            options["env"]["PYTHONDONTWRITEBYTECODE"] = "1"
        if folder is not None and not is_root:
            options |= {"user": _NOBODY, "group": _NOBODY, "extra_groups": []}
        command = [python, "-m", "workgym.benchmarks.perf.sandbox_worker", backend, str(n_cores), *warm]
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - lives as long as the worker
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=self._errors, text=True, start_new_session=True, **options
        )
        self.has_snapshots = bool(self._hear()["capabilities"])

    def _hear(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._process.wait()
            self._errors.seek(0)
            raise Unavailable((self._errors.read().strip().splitlines() or ["it died without a word"])[-1])
        return dict(json.loads(line))

    def ask(self, *request: str | int) -> dict[str, Any]:
        """One request and its answer.

        Raises:
            Unavailable: it died.
        """
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return self._hear()

    def run(self) -> Cost:
        """Run the program once."""
        return Cost(**self.ask("run"))

    def close(self) -> None:
        """Let it close its pool and end."""
        self._process.communicate()
        self._errors.close()


@contextlib.contextmanager
def copy_readable(warm: Sequence[str]) -> Iterator[Path]:
    """A copy of the code that a worker needs, which everybody may read, with the modules that are to be warm."""
    leave_out = shutil.ignore_patterns("__pycache__", "tests")
    with tempfile.TemporaryDirectory(prefix="workgym-nobody-") as name:
        site = Path(name, "site-packages")  # a zygote looks for modules in folders of that name
        package = site / "workgym"
        for floor in ("tasks", "envs", "benchmarks"):
            with resources.as_file(resources.files(f"workgym.{floor}")) as source:
                shutil.copytree(source, package / floor, ignore=leave_out)
        (package / "__init__.py").touch()
        for module in warm:
            spec = util.find_spec(module)
            if spec is None or spec.origin is None:
                raise Unavailable(f"no module {module} to be warm")
            source = Path(spec.origin).parent
            shutil.copytree(source, site / module, ignore=leave_out)
            libraries = source.with_name(f"{module}.libs")
            if libraries.is_dir():
                shutil.copytree(libraries, site / libraries.name)
        for path in (Path(name), *Path(name).rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        yield site
