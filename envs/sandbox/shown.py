"""Folders of the host that a sandbox shows, and where."""

from __future__ import annotations

import os
from collections.abc import Mapping

__all__ = ["checked_folders"]

_TAKEN = ("bin", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "sbin", "sys", "tmp", "usr", "workspace")


def checked_folders(read_only: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Bring the folders of a lease into one form.

    Args:
        read_only: absolute path inside -> folder of the host.

    Returns:
        (path inside, path of the host), sorted.

    Raises:
        ValueError: a path is not absolute, is taken by the sandbox itself, lies in another, or there is no such folder.
    """
    for inside, host in read_only.items():
        if not inside.startswith("/") or os.path.normpath(inside) != inside or inside == "/" or "\0" in inside:
            raise ValueError(f"a shown folder's path inside must be absolute and plain, not {inside!r}")
        first = inside.split("/")[1]
        if first in _TAKEN or first.startswith("."):
            raise ValueError(f"a folder cannot be shown at {inside!r}: /{first} is the sandbox's own; take /data, say")
        if not os.path.isdir(host):
            raise ValueError(f"there is no folder {host!r} to be shown at {inside!r}")
    for inside in read_only:
        if any(inside.startswith(other + "/") for other in read_only):
            raise ValueError(f"a folder cannot be shown at {inside!r}, inside another that is shown")
    return tuple(sorted((inside, os.path.realpath(host)) for inside, host in read_only.items()))
