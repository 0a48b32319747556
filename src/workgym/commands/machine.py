"""What a machine offers to workgym: looked at, not assumed, and without loading anything heavy."""

from __future__ import annotations

import contextlib
import ctypes.util
import importlib.metadata
import importlib.util
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final, Literal

from workgym import __version__
from workgym.envs.sandbox.spec import Capabilities
from workgym.tasks.errors import SandboxError
from workgym.tasks.extras import install_command

__all__ = ["Part", "find_browser", "look_at", "look_at_all", "try_sandboxes"]

State = Literal["ok", "partial", "missing"]


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that a machine may offer.

    Attributes:
        name: "local", "gpu", ...
        state: "ok", "partial" (it works, with less than it could) or "missing".
        found: what there is.
        serves: what it is for.
        mend: the command that mends it; "" where nothing is to mend, or no command would.
    """

    name: str
    state: State
    found: str
    serves: str
    mend: str = ""


def look_at(name: str) -> Part:
    """Look at one part of this machine.

    Raises:
        KeyError: no part has this name.
    """
    return _PARTS[name]()


def look_at_all() -> list[Part]:
    """Look at every part of this machine; takes about a second."""
    return [look() for look in _PARTS.values()]


def find_browser() -> str:
    """The browser that the browser's part tells of, as a path; "" where there is none."""
    found = (shutil.which(name) for name in _browser_names())
    return next((path for path in found if path), "")


def _python() -> Part:
    found = f"{platform.python_implementation()} {platform.python_version()}, workgym {__version__}"
    return Part("python", "ok", found, "everything")


def _cores() -> Part:
    usable = len(os.sched_getaffinity(0))
    found = f"{usable} of {os.cpu_count()} usable" if usable != os.cpu_count() else str(usable)
    return Part("cores", "ok", f"{found} ({platform.machine()})", "sandboxes and training on the CPU")


def _memory() -> Part:
    sizes = dict(re.findall(r"^(\w+):\s+(\d+) kB$", Path("/proc/meminfo").read_text(), flags=re.MULTILINE))
    total_gb, free_gb = (int(sizes[name]) / 2**20 for name in ("MemTotal", "MemAvailable"))
    state: State = "ok" if free_gb >= 2 else "partial"
    return Part("memory", state, f"{free_gb:.1f} of {total_gb:.1f} GiB free", "2 GiB for the quickstart recipe")


def _local() -> Part:
    return _sandbox("local", "every environment that runs code", _allow_namespaces())


def _sandbox(backend: str, serves: str, mend: str) -> Part:
    """A sandbox that is tried, instead of believed."""
    from workgym.envs.sandbox.pool import check_guarantees
    from workgym.envs.sandbox.spec import SandboxSpec

    try:
        seen = check_guarantees(backend, SandboxSpec())
    except SandboxError as error:
        return Part(backend, "missing", str(error), serves, mend)
    lost = [field.name for field in fields(seen) if not getattr(seen, field.name)]
    kept = sum(bool(getattr(seen, field.name)) for field in fields(seen))
    found = f"holds {kept} of {kept + len(lost)} guarantees"
    return Part(backend, "partial" if lost else "ok", found + (f"; not {', '.join(lost)}" if lost else ""), serves)


def try_sandboxes() -> dict[str, Capabilities]:
    """What each sandbox that works here was seen to hold."""
    from workgym.envs.sandbox.backends import ISOLATING
    from workgym.envs.sandbox.capabilities import probe

    seen = {}
    for backend in ISOLATING:
        with contextlib.suppress(SandboxError):
            seen[backend] = probe(backend)
    return seen


def _allow_namespaces() -> str:
    """The command that lets this kernel make user namespaces; "" where none is known to be in the way."""
    ways = {
        "/proc/sys/kernel/unprivileged_userns_clone": ("0", "sudo sysctl kernel.unprivileged_userns_clone=1"),
        "/proc/sys/user/max_user_namespaces": ("0", "sudo sysctl user.max_user_namespaces=10000"),
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": (
            "1",
            "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0",
        ),
    }
    for path, (closed, command) in ways.items():
        if Path(path).exists() and Path(path).read_text().strip() == closed:
            return command
    return ""


def _ledger() -> Part:
    from workgym.envs.sandbox.ledger import ledger_folder, ledger_folders
    from workgym.envs.sandbox.reaping import reap_once

    serves = "removing what a killed process left of its sandboxes"
    try:
        folder = ledger_folder()
    except SandboxError as error:
        return Part("ledger", "missing", str(error), serves, "export WORKGYM_CACHE=FOLDER")
    first = ledger_folders()[0]
    if folder != first:
        return Part("ledger", "partial", f"{folder}, since {first} cannot be written", serves)
    if left := reap_once().left:
        return Part("ledger", "partial", f"{folder}; could not be removed: {'; '.join(left)}", serves)
    return Part("ledger", "ok", str(folder), serves)


def _bubblewrap() -> Part:
    serves = "the sandbox `bwrap`, whose walls bubblewrap builds"
    if shutil.which("bwrap") is None:
        return _program("bwrap", ("bwrap",), serves, "apt-get install bubblewrap")
    return _sandbox("bwrap", serves, _allow_namespaces())


def _docker() -> Part:
    from workgym.envs.sandbox.docker.daemon import find_daemon, require_image
    from workgym.envs.sandbox.spec import SandboxSpec

    serves = "the sandbox `docker`, off Linux or where it is preferred"
    image = SandboxSpec().image
    if importlib.util.find_spec("docker") is None:
        return Part("docker", "missing", "the package docker is not installed", serves, install_command("docker"))
    try:
        daemon = find_daemon()
    except SandboxError as error:
        start = "service docker start" if shutil.which("dockerd") else "apt-get install docker.io"
        return Part("docker", "missing", str(error), serves, _as_root(start))
    try:
        require_image(daemon, image)
    except SandboxError as error:
        make = f"{shlex.quote(sys.executable)} -m workgym.envs.sandbox.docker.image"
        return Part("docker", "missing", str(error), serves, make)
    return _sandbox("docker", serves, "")


def _browser() -> Part:
    serves = "the tests of pages (`archive show --html`); no domain of this version needs it"
    named = os.environ.get("WORKGYM_CHROMIUM", "")
    if named and not os.access(named, os.X_OK):
        found = f"WORKGYM_CHROMIUM names no program: {named}"
        return Part("browser", "missing", found, serves, "unset WORKGYM_CHROMIUM")
    return _program("browser", _browser_names(), serves, "apt-get install chromium-headless-shell")


def _browser_names() -> tuple[str, ...]:
    named = os.environ.get("WORKGYM_CHROMIUM", "")
    return (named,) if named else ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def _gl() -> Part:
    serves = "pictures of Modeling-v0; without it rays are cast, which takes longer"
    missing = [name for name in ("EGL", "GL") if not ctypes.util.find_library(name)]
    if not missing:
        return Part("gl", "ok", "without a screen by EGL", serves)
    mend = _as_root("apt-get install libegl1 libegl-mesa0 libgl1-mesa-dri libglx-mesa0 libgl1")
    return Part("gl", "missing", f"no lib{' and no lib'.join(missing)}", serves, mend)


def _gpu() -> Part:
    serves = "larger models; every recipe of this version runs on the CPU"
    cards = _output("nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader").splitlines()
    if not cards:
        return Part("gpu", "missing", "no NVIDIA driver answers", serves)
    try:
        torch = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        torch = ""
    if torch.endswith("+cpu"):
        found = f"{cards[0]}, but torch {torch} is built without CUDA"
        return Part("gpu", "partial", found, serves, "pip install --force-reinstall torch")
    return Part("gpu", "ok", "; ".join(cards), serves)


def _extra(extra: str, serves: str) -> Callable[[], Part]:
    def look() -> Part:
        have, lack = [], []
        for requirement in importlib.metadata.requires("workgym") or ():
            match = re.match(r"([\w.-]+).*extra == ['\"]([\w-]+)['\"]", requirement)
            if not match or match[2] != extra:
                continue
            try:
                have.append(f"{match[1]} {importlib.metadata.version(match[1])}")
            except importlib.metadata.PackageNotFoundError:
                lack.append(match[1])
        state: State = "missing" if lack else "ok"
        found = ", ".join(have) if not lack else f"not installed: {', '.join(lack)}"
        return Part(extra, state, found, serves, install_command(extra) if lack else "")

    return look


def _program(part: str, names: tuple[str, ...], serves: str, mend: str) -> Part:
    for name in names:
        path = shutil.which(name)
        if path:
            version = _output(path, "--version").strip()
            return Part(part, "ok", f"{version or 'of unknown version'} ({path})", serves)
    return Part(part, "missing", f"no {' or '.join(names)} on the PATH", serves, _as_root(mend))


def _output(*command: str) -> str:
    """What a program prints; "" where it is missing, fails or takes more than 10 seconds."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def _as_root(command: str) -> str:
    return command if os.geteuid() == 0 else f"sudo {command}"


_PARTS: Final[dict[str, Callable[[], Part]]] = {
    "local": _local,
    "ledger": _ledger,
    "python": _python,
    "train": _extra("train", "`workgym train`, and playing checkpoints"),
    "finance": _extra("finance", "the domain Finance-v0"),
    "modeling": _extra("modeling", "the domain Modeling-v0"),
    "openai": _extra("openai", "`workgym eval --agent openai:MODEL`"),
    "bench": _extra("bench", "comparisons with TRL, and `examples/trl_grpo.py`"),
    "cores": _cores,
    "memory": _memory,
    "gpu": _gpu,
    "bwrap": _bubblewrap,
    "docker": _docker,
    "browser": _browser,
    "gl": _gl,
}
"""Name -> how it is looked at. Sandbox backends and extras bear their own names."""
