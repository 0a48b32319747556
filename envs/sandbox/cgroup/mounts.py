"""Where the hierarchies of control groups are mounted, and where in them a process is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from workgym.tasks.errors import SandboxError

__all__ = ["Mount", "read_mounts"]

_V1_CONTROLLERS = frozenset(("memory", "pids", "cpuacct", "freezer"))  # those that we have a use for
_ESCAPE = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True)
class Mount:
    """One mounted hierarchy.

    Attributes:
        version: 1 or 2.
        controllers: of version 1 those of memory, pids, cpuacct and freezer that it has; empty for version 2.
        top: where it is mounted, which is the highest group that can be seen.
        own: the group that the process is in, or `top` where that cannot be seen.
        read_only: whether it is mounted read-only.
    """

    version: int
    controllers: frozenset[str]
    top: Path
    own: Path
    read_only: bool


def read_mounts(root: Path, process: str) -> list[Mount]:
    """Find every hierarchy that is mounted, the best of its mounts each: writable, and showing the process's group.

    Args:
        root: the folder that holds `proc` and what is mounted; "/" but for recorded trees.
        process: "self" or a process id.

    Raises:
        SandboxError: proc cannot be read.
    """
    proc = root / "proc" / process
    try:
        table = (proc / "mountinfo").read_text(encoding="utf-8", errors="surrogateescape")
        groups = _own_groups((proc / "cgroup").read_text(encoding="utf-8", errors="surrogateescape"))
    except OSError as error:
        raise SandboxError(
            f"cannot read the control groups of process {process!r} in {proc}: {error.strerror}; is proc mounted?"
        ) from error
    best: dict[tuple[int, frozenset[str]], tuple[tuple[bool, bool], Mount]] = {}
    for line in table.splitlines():
        found = _parse(line, root, groups)
        if found is None:
            continue
        mount, is_visible = found
        key, rank = (mount.version, mount.controllers), (not mount.read_only, is_visible)
        if key not in best or rank > best[key][0]:
            best[key] = rank, mount
    return [mount for _, mount in best.values()]


def _own_groups(text: str) -> dict[str, str]:
    """Controller -> path of the group; "" stands for version 2."""
    groups = {}
    for line in text.splitlines():
        _, controllers, path = line.split(":", 2)
        groups.update(dict.fromkeys(controllers.split(","), path))
    return groups


def _parse(line: str, root: Path, groups: dict[str, str]) -> tuple[Mount, bool] | None:
    """Read one line of mountinfo (proc(5)); the bool says whether the process's own group lies in what is mounted."""
    before, _, after = line.partition(" - ")
    kind, _, options = after.split(" ", 2)
    fields = before.split(" ")
    shown, point, flags = _unescape(fields[3]), _unescape(fields[4]), fields[5].split(",")
    options_of_all = options.split(",")
    if kind == "cgroup2":
        version, controllers, path = 2, frozenset[str](), groups.get("")
    elif kind == "cgroup" and (controllers := _V1_CONTROLLERS.intersection(options_of_all)):
        version, path = 1, groups.get(min(controllers))
    else:
        return None
    top = root / point.lstrip("/")
    below = _relative(path, shown)
    own = top / below if below is not None else top
    return Mount(version, controllers, top, own, "ro" in flags or "ro" in options_of_all), below is not None


def _relative(path: str | None, shown: str) -> str | None:
    """The group's path below the part of its hierarchy that a mount shows; None where it lies elsewhere."""
    if path is None or "/.." in path:
        return None
    inside = path == shown or path.startswith(shown.rstrip("/") + "/")
    return path[len(shown) :].strip("/") if inside else None


def _unescape(text: str) -> str:
    return _ESCAPE.sub(lambda match: chr(int(match[1], 8)), text)
