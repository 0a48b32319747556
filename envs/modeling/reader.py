"""Has an artifact read in a child that knows nothing and is thrown away, and believes nothing of it but numbers.

A child that dies is run again. If it dies twice while a child next to it reads a cube, the file is to blame and is
worth nothing; if the cube is not read either, the machinery is, and nobody is judged.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from importlib.resources import files
from pathlib import PurePosixPath
from typing import Final

import numpy as np

from workgym.envs.modeling.mesh import Floats, Ints
from workgym.envs.modeling.mesh_file import HEAD, MAGIC, MESH, REFUSED
from workgym.envs.modeling.surface import MAX_TRIANGLES, Flaw
from workgym.envs.sandbox.protocol import SandboxPool
from workgym.envs.sandbox.spec import ExecResult, PythonCode, SandboxSpec
from workgym.tasks.errors import SandboxError, VerifierError

__all__ = ["CANARY", "MAX_FILE_BYTES", "READER_SANDBOX", "SUFFIXES", "RawMesh", "read_mesh"]

SUFFIXES: Final = (".stl", ".ply")
"""What is read. No format that points to other files, and none that is packed."""

MAX_FILE_BYTES: Final = 16 * 2**20
_TIMEOUT_S: Final = 120.0  # several times the CPU limit, which decides first

READER_SANDBOX: Final = SandboxSpec(
    warm_imports=("numpy",),
    warm_modules=(
        ("workgym_mesh_file", files("workgym.envs.modeling").joinpath("mesh_file.py").read_text(encoding="utf-8")),
    ),
    memory_mb=1024,
    cpu_s=20.0,
    n_processes=4,
    disk_mb=1,
    output_kb=24 * 1024,
)
"""What the reader may use: room for the largest mesh on the channel. Nothing of any task ever enters it."""


@dataclass(frozen=True)
class RawMesh:
    """A mesh as its file has it, with the numbers of the file: they may be anything.

    Attributes:
        vertices: float64 [V, 3].
        faces: int64 [F, 3].
    """

    vertices: Floats
    faces: Ints


def _cube() -> bytes:
    corners = [[float(k >> axis & 1) for axis in range(3)] for k in range(8)]
    faces = (
        (0, 2, 1), (1, 2, 3), (4, 5, 6), (5, 7, 6), (0, 1, 4), (1, 5, 4),
        (2, 6, 3), (3, 6, 7), (0, 4, 2), (2, 4, 6), (1, 3, 5), (3, 7, 5),
    )  # fmt: skip
    facets = b"".join(struct.pack("<12fH", 0, 0, 0, *corners[a], *corners[b], *corners[c], 0) for a, b, c in faces)
    return bytes(80) + struct.pack("<I", len(faces)) + facets


CANARY: Final = _cube()
"""A unit cube as binary STL: a reader that works reads it."""


def read_mesh(pool: SandboxPool, name: str, data: bytes) -> RawMesh | Flaw:
    """Read an artifact, in a child of its own.

    Args:
        pool: opened with `READER_SANDBOX`; agents run in another.
        name: of the file; its suffix decides how it is read.
        data: the file.

    Returns:
        The mesh, or why there is none.

    Raises:
        SandboxError: infrastructure failed.
        VerifierError: the reader does not read a cube either.
    """
    suffix = PurePosixPath(name).suffix.lower()
    if suffix not in SUFFIXES:
        return Flaw("format", f"{', '.join(SUFFIXES)} are read, not {suffix[:20]!r}")
    if len(data) > MAX_FILE_BYTES:
        return Flaw("too_large", f"{len(data):,} bytes; at most {MAX_FILE_BYTES:,} are read")
    ends = []
    for _ in range(2):
        result = _run(pool, suffix, data)
        read = _message(result.channel) if result.status == "ok" and not result.truncated_bytes else None
        if read is not None:
            return read
        ends.append(f"{result.status} {result.signal or result.exit_code}")
    canary = _run(pool, ".stl", CANARY)
    if not isinstance(_message(canary.channel), RawMesh):
        words = canary.stderr[-300:].decode(errors="replace")
        raise VerifierError(
            f"the reader does not read a cube ({canary.status}): {words!r}; is the pool READER_SANDBOX?"
        )
    return Flaw("reader", f"reading it ended the reader twice ({', '.join(ends)})")


def _run(pool: SandboxPool, suffix: str, data: bytes) -> ExecResult:
    program = PythonCode(f"import workgym_mesh_file\nworkgym_mesh_file.main({suffix!r})\n")
    with pool.lease() as box:
        result = box.exec(program, stdin=data, timeout_s=_TIMEOUT_S, channel=True)
    if result.status in ("timeout_wall", "killed"):  # our code neither sleeps nor waits: the machine was too busy
        raise SandboxError(f"the reader did not end within {_TIMEOUT_S:g} s; is the machine overloaded?")
    return result


def _message(data: bytes) -> RawMesh | Flaw | None:
    """What the child says; None where that is no message: it may be in the hands of whoever made the file."""
    if len(data) < HEAD.size:
        return None
    magic, kind, n, n_faces = HEAD.unpack_from(data)
    if magic != MAGIC:
        return None
    body = memoryview(data)[HEAD.size :]
    if kind == REFUSED and n == len(body) <= 500:
        return Flaw("unreadable", bytes(body).decode("ascii", "replace"))
    if kind != MESH or n > 3 * MAX_TRIANGLES or n_faces > MAX_TRIANGLES or len(body) != 24 * (n + n_faces):
        return None
    vertices = np.frombuffer(body, "<f8", 3 * n).reshape(-1, 3)
    faces = np.frombuffer(body, "<i8", 3 * n_faces, 24 * n).reshape(-1, 3)
    return RawMesh(vertices.astype(np.float64), faces.astype(np.int64))
