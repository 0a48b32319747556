"""What a sandbox is asked to be, and what it says of a program that ran."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Final, Literal, NewType

from workgym.tasks.naming import unknown_name

__all__ = [
    "Capabilities",
    "ExecResult",
    "Health",
    "PoolSize",
    "PythonCode",
    "SandboxSpec",
    "SnapshotId",
    "Status",
    "WorkspaceDiff",
]

SnapshotId = NewType("SnapshotId", str)
"""Names a remembered state of a sandbox."""


Status = Literal[
    "ok",
    "nonzero",
    "signal",
    "timeout_wall",
    "timeout_cpu",
    "oom",
    "output_limit",
    "disk_limit",
    "processes_limit",
    "killed",
]

_MOST: Final = 1 << 22


@dataclass(frozen=True, slots=True)
class PythonCode:
    """Python source to run as `__main__` in a child of a warm interpreter."""

    source: str


@dataclass(frozen=True)
class SandboxSpec:
    """What the code may use. Hashable: one pool serves all who ask for the same.

    Attributes:
        warm_imports: modules the zygote imports once, so that children find them loaded.
        warm_modules: (name, source) of further modules the zygote loads once. Never anything of a task.
        memory_mb: memory of one run.
        cpu_s: CPU seconds of one run, children included where the kernel can count them.
        n_processes: processes and threads at once.
        n_open_files: descriptors.
        disk_mb: private scratch space.
        n_inodes: files in it.
        output_kb: kept of each of stdout, stderr and the channel; the rest is discarded and counted.
        network: "none" (not even loopback) or "loopback" (its own).
        env: variables of the child, beside a fixed minimal set.
        image: root file system, where the backend takes one (docker); the others show the host's system folders.
        require: names of fields of `Capabilities` that must read true, else the pool does not open.

    Raises:
        ValueError: a limit is not positive, or larger than any machine.
    """

    warm_imports: tuple[str, ...] = ()
    warm_modules: tuple[tuple[str, str], ...] = ()
    memory_mb: int = 256
    cpu_s: float = 2.0
    n_processes: int = 16
    n_open_files: int = 64
    disk_mb: int = 16
    n_inodes: int = 1024
    output_kb: int = 64
    network: Literal["none", "loopback"] = "none"
    env: tuple[tuple[str, str], ...] = ()
    image: str = "workgym/py:1"
    require: tuple[str, ...] = ("files", "network", "process_tree", "memory", "kill")

    def __post_init__(self) -> None:
        self._check_limits()
        if isinstance(self.env, Mapping):  # as everybody writes it first; a tuple can be hashed
            object.__setattr__(self, "env", tuple(sorted(self.env.items())))
        for name in ("warm_imports", "warm_modules", "require"):
            if isinstance(getattr(self, name), str):
                raise ValueError(f"{name} must be a tuple of names, not the text {getattr(self, name)!r}")
        for name, value in self.env:
            if not name or "=" in name or "\0" in name + value:
                raise ValueError(f"environment variable {name!r} has no valid name or value")
        if self.network not in ("none", "loopback"):
            raise ValueError(unknown_name("network", self.network, ("none", "loopback")))
        known = [one.name for one in fields(Capabilities)]
        for name in self.require:
            if name not in known:
                raise ValueError(unknown_name("guarantee", name, known))

    def _check_limits(self) -> None:
        for name in ("memory_mb", "n_processes", "n_open_files", "disk_mb", "n_inodes", "output_kb"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool):
                raise ValueError(f"{name} must be a whole number, not {value!r}")
            if not 0 < value <= _MOST:
                raise ValueError(f"{name} must be > 0 and at most {_MOST}, not {value!r}")
        if not 0 < self.cpu_s <= _MOST:
            raise ValueError(f"cpu_s must be > 0 and at most {_MOST}, not {self.cpu_s!r}")


@dataclass(frozen=True, slots=True)
class PoolSize:
    """How many sandboxes a pool lends, and how long it uses what they are made of.

    Attributes:
        min_idle: kept ready before anybody asks; where sandboxes are made in no time, one interpreter is.
        max_size: lent at once; who wants one more waits.
        max_uses: sandboxes that are made of the same interpreter before a fresh one takes its place.
        max_age_s: seconds after which it does so.

    Raises:
        ValueError: a number is out of range.
    """

    min_idle: int = 0
    max_size: int = 128
    max_uses: int = 100_000
    max_age_s: float = 86_400.0

    def __post_init__(self) -> None:
        if not 1 <= self.max_size <= 200:
            raise ValueError(f"max_size must be from 1 to 200, not {self.max_size!r}")
        if not 0 <= self.min_idle <= self.max_size:
            raise ValueError(f"min_idle must be from 0 to max_size ({self.max_size}), not {self.min_idle!r}")
        if self.max_uses < 1 or not self.max_age_s > 0:
            raise ValueError(f"max_uses and max_age_s must be > 0, not {self.max_uses!r} and {self.max_age_s!r}")


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a backend was seen to hold on this machine. Each is tried, never assumed.

    Attributes:
        files: no host file outside the read-only binds opens.
        network: no socket reaches anything.
        process_tree: only the run's own processes are visible.
        memory: a run cannot exceed its memory ("" no, else "cgroup" or "per-process").
        processes: a run cannot exceed its number of processes.
        disk: scratch space is capped.
        seccomp: a system call filter is in force.
        kill: a run dies with all its descendants.
        workspace: read, write and diff work.
        snapshot: snapshot, restore and fork work.
        freeze: freeze and thaw work.
    """

    files: bool = False
    network: bool = False
    process_tree: bool = False
    memory: Literal["", "cgroup", "per-process"] = ""
    processes: bool = False
    disk: bool = False
    seccomp: bool = False
    kill: bool = False
    workspace: bool = False
    snapshot: bool = False
    freeze: bool = False


@dataclass(frozen=True, slots=True)
class ExecResult:
    """What became of one program, all measured from outside.

    Attributes:
        status: how it ended; an infrastructure fault is no status but a SandboxError.
        exit_code: of the first process, -1 where it was killed.
        signal: the signal that ended it, 0 if none.
        stdout, stderr, channel: what it wrote, up to the cap.
        truncated_bytes: what it wrote beyond the cap.
        wall_s, cpu_s: seconds.
        peak_memory_mb: of the largest process, or of the group where a cgroup counts.
        n_killed: processes found alive when we killed the program, at its end or before.
    """

    status: Status
    exit_code: int
    signal: int = 0
    stdout: bytes = b""
    stderr: bytes = b""
    channel: bytes = b""
    truncated_bytes: int = 0
    wall_s: float = 0.0
    cpu_s: float = 0.0
    peak_memory_mb: float = 0.0
    n_killed: int = 0


@dataclass(frozen=True, slots=True)
class WorkspaceDiff:
    """How a workspace differs from what its owner wrote there.

    Attributes:
        written: path -> content of the regular files that are new or have other content.
        removed: paths that the owner wrote and that are gone.
        skipped: path -> reason, for what is there and was not read: links, devices, pipes, files that are too large.
    """

    written: Mapping[str, bytes]
    removed: tuple[str, ...] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Health:
    """Answer to a heartbeat: `alive`, and how long it took in seconds."""

    alive: bool
    latency_s: float
    detail: Mapping[str, str] | None = None
