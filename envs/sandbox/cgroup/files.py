"""The small files that control groups are made of."""

from __future__ import annotations

import os
from pathlib import Path

from workgym.tasks.errors import SandboxError

__all__ = ["read_number", "read_pids", "read_table", "read_text", "write_text"]

_WAY_OUT = "see `workgym doctor`, or choose another sandbox backend"


def read_text(path: Path) -> str:
    """What a file of a control group says.

    Raises:
        SandboxError: it cannot be read.
    """
    try:
        return _read(path)
    except OSError as error:
        raise SandboxError(f"cannot read {path}: {error.strerror}; {_WAY_OUT}") from error


def write_text(path: Path, text: str) -> None:
    """Tell a file of a control group something. It is never created: what the kernel does not offer is an error.

    Raises:
        SandboxError: it is not there, may not be written, or the kernel refuses the value.
    """
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
        try:
            os.write(descriptor, text.encode("ascii"))
        finally:
            os.close(descriptor)
    except OSError as error:
        raise SandboxError(f"cannot write {text!r} to {path}: {error.strerror}; {_WAY_OUT}") from error


def read_number(path: Path) -> int | None:
    """The number in a file; None where the kernel has no such file.

    Raises:
        SandboxError: the file is there and cannot be read.
    """
    try:
        return int(_read(path))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise SandboxError(f"cannot read a number from {path}: {error}; {_WAY_OUT}") from error


def read_table(path: Path) -> dict[str, int]:
    """The lines `name number` of a file; nothing where the kernel has no such file.

    Raises:
        SandboxError: the file is there and cannot be read.
    """
    try:
        lines = _read(path).splitlines()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise SandboxError(f"cannot read {path}: {error.strerror}; {_WAY_OUT}") from error
    pairs = (line.split() for line in lines)
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}


def read_pids(folder: Path) -> list[int]:
    """The living processes of one group, without those of the groups below; none where the group is gone.

    Raises:
        SandboxError: they cannot be listed.
    """
    try:
        return [int(line) for line in _read(folder / "cgroup.procs").split()]
    except FileNotFoundError:
        return []
    except OSError as error:
        if not folder.exists():  # removed while we read
            return []
        raise SandboxError(f"cannot list the processes of {folder}: {error.strerror}; {_WAY_OUT}") from error


def _read(path: Path) -> str:
    """Half of the time that `Path.read_text` takes, and every run of a sandbox reads some."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        parts = []
        while part := os.read(descriptor, 1 << 16):
            parts.append(part)
    finally:
        os.close(descriptor)
    return b"".join(parts).decode("ascii", "replace")
