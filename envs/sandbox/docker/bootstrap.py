"""How a container is told what to run: its first command, and the modules that it is sent."""

from __future__ import annotations

from importlib import resources
from typing import Any

from workgym.envs.sandbox.loading import LOADER
from workgym.envs.sandbox.seccomp import narrow_filter, wide_filter
from workgym.envs.sandbox.spec import SandboxSpec

__all__ = ["COMMAND", "ENVIRON", "settings"]

_BOOTSTRAP = f"""\
import sys
if sys.version_info < (3, 11):
    sys.exit(f"its python3 is {{sys.version.split()[0]}}; workgym needs 3.11 or newer")
{LOADER}
import json, os
def take(n):
    data = b""
    while len(data) < n:
        data += os.read(0, n - len(data)) or sys.exit(0)
    return data
config = json.loads(take(int.from_bytes(take(4), "big")))
load(config.pop("machinery")).main(config)
"""
COMMAND = ("python3", "-P", "-s", "-B", "-X", "utf8", "-c", _BOOTSTRAP)
ENVIRON = {
    "HOME": "/workspace",
    "TMPDIR": "/workspace",
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",  # the same program prints its sets in the same order every time
    "OPENBLAS_NUM_THREADS": "1",  # with threads it could not fork
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}
_MODULES = (  # each after those that it imports
    ("workgym.tasks", ("errors", "naming")),
    ("workgym.envs.sandbox", ("spec", "openat2", "paths", "readback", "workspace")),
    ("workgym.envs.sandbox.local", ("kernel", "program")),
    (
        "workgym.envs.sandbox.docker.inside",
        ("frames", "birth", "rights", "zygote", "counters", "files", "running", "launcher"),
    ),
)


def settings(spec: SandboxSpec, machine: str) -> dict[str, Any]:
    """All that a container's first process needs to know, as JSON.

    Args:
        spec: what programs may use.
        machine: the processor, as `platform.machine()` says it where the container runs.

    Raises:
        ValueError: there is no system call filter for this machine.
    """
    machinery = [
        (f"{package}.{name}", resources.files(package).joinpath(f"{name}.py").read_text(encoding="utf-8"))
        for package, names in _MODULES
        for name in names
    ]
    return {
        "machinery": machinery,
        "warm_imports": spec.warm_imports,
        "warm_modules": spec.warm_modules,
        "env": {**ENVIRON, **dict(spec.env)},
        "disk_mb": spec.disk_mb,
        "n_open_files": spec.n_open_files,
        "cpu_s": spec.cpu_s,
        "filters": [
            wide_filter(machine, sockets=spec.network == "loopback").hex(),
            narrow_filter(machine).hex(),
        ],
    }
