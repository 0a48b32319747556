"""Reads STL and PLY into arrays. Runs in a child that is thrown away: what it is given may be anything.

It needs numpy alone, and the child holds nothing of any task. The bytes come by stdin; what goes out, by the channel,
is one flat message: `HEAD`, then float64 vertices and int64 faces, or a sentence that says why there are none.
"""

from __future__ import annotations

import os
import re
import struct
import sys
from typing import Any

import numpy as np

__all__ = ["HEAD", "MAGIC", "MESH", "MOST_TRIANGLES", "REFUSED", "Unreadable", "main", "parse"]

MAGIC = b"wgmesh1\n"
HEAD = struct.Struct("<8sBQQ")  # magic, MESH or REFUSED, number of vertices (or of bytes of the sentence), of faces
MESH, REFUSED = 0, 1
MOST_TRIANGLES = 200_000

_Mesh = tuple[Any, Any]
_SCALARS = {
    "char": "i1", "int8": "i1", "uchar": "u1", "uint8": "u1", "short": "i2", "int16": "i2", "ushort": "u2",
    "uint16": "u2", "int": "i4", "int32": "i4", "uint": "u4", "uint32": "u4", "float": "f4", "float32": "f4",
    "double": "f8", "float64": "f8",
}  # fmt: skip
_FACET = (b"facet", b"normal", b"outer", b"loop", b"vertex", b"vertex", b"vertex", b"endloop", b"endfacet")
_FACET_AT = (0, 1, 5, 6, 7, 11, 15, 19, 20)
_NUMBERS_AT = (8, 9, 10, 12, 13, 14, 16, 17, 18)


class Unreadable(Exception):
    """The bytes are no mesh of this format; the message says why."""


def parse(suffix: str, data: bytes) -> _Mesh:
    """Read a mesh.

    Args:
        suffix: ".stl" or ".ply".
        data: the file.

    Returns:
        Vertices, float64 [V, 3], and faces, int64 [F, 3]. Neither finite nor in range, unless the file was.

    Raises:
        Unreadable: it is no such file.
    """
    if suffix == ".stl":
        return _stl(data)
    if suffix == ".ply":
        return _ply(data)
    raise Unreadable(f"no reader for {suffix!r}")


def _within(n: int) -> None:
    if n > MOST_TRIANGLES:
        raise Unreadable(f"{n:,} triangles; at most {MOST_TRIANGLES:,} are read")


def _stl(data: bytes) -> _Mesh:
    if len(data) >= 84:
        (n,) = struct.unpack_from("<I", data, 80)
        if len(data) == 84 + 50 * n:
            _within(n)
            facet = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")])
            corners = np.frombuffer(data, facet, n, 84)["corners"].astype(np.float64)
            return corners.reshape(-1, 3), np.arange(3 * n).reshape(-1, 3)
    if data.lstrip()[:5].lower() == b"solid":
        return _ascii_stl(data)
    if len(data) < 84:
        raise Unreadable(f"{len(data)} bytes are too few for a binary STL file, and it does not begin with 'solid'")
    raise Unreadable(f"the file names {n:,} triangles, which take {84 + 50 * n:,} bytes; it has {len(data):,}")


def _ascii_stl(data: bytes) -> _Mesh:
    body = re.sub(rb"^[ \t]*(end)?solid\b[^\n]*$", b"", data.replace(b"\r", b"\n"), flags=re.MULTILINE | re.IGNORECASE)
    if b"_" in body:  # Python takes 1_0 for a number
        raise Unreadable("an STL facet holds something else than words and numbers")
    words = body.lower().split()
    if len(words) % 21:
        raise Unreadable("an STL facet is cut short, or holds something else than a normal and three vertices")
    _within(len(words) // 21)
    for at, word in zip(_FACET_AT, _FACET, strict=True):
        if any(one != word for one in words[at::21]):
            raise Unreadable(f"an STL facet lacks {word.decode()!r} where it should be")
    try:
        columns = [list(map(float, words[at::21])) for at in _NUMBERS_AT]
    except ValueError as error:
        raise Unreadable("a coordinate of an STL facet is no number") from error
    vertices = np.array(columns, dtype=np.float64).T.reshape(-1, 3)
    return vertices, np.arange(len(vertices)).reshape(-1, 3)


def _ply(data: bytes) -> _Mesh:
    match = re.match(rb"ply\r?\n(.*?)\bend_header\r?\n", data[:100_000], re.DOTALL)
    if not match:
        raise Unreadable("it does not begin with the header of a PLY file")
    kind, n_vertices, vertex, n_faces, face = _ply_header(match[1].decode("ascii", "replace"))
    _within(n_faces)
    if n_vertices > 3 * MOST_TRIANGLES:
        raise Unreadable(f"{n_vertices:,} vertices; at most {3 * MOST_TRIANGLES:,} are read")
    body = data[match.end() :]
    if kind == "ascii":
        rows, corners = _ascii_rows(body, n_vertices, vertex, n_faces)
    else:
        rows, corners = _binary_rows(
            body, "<" if kind == "binary_little_endian" else ">", n_vertices, vertex, n_faces, face
        )
    names = [name for name, _ in vertex]
    with np.errstate(invalid="ignore"):
        vertices = np.stack([np.asarray(rows[names.index(one)], dtype=np.float64) for one in "xyz"], axis=1)
    return vertices, corners


def _ply_header(text: str) -> tuple[str, int, list[tuple[str, str]], int, tuple[str, str]]:
    """Format, number of vertices, their properties, number of faces, and the types of their list."""
    kind, element = "", ""
    counts: dict[str, int] = {}
    properties: dict[str, list[list[str]]] = {"vertex": [], "face": []}
    for line in text.splitlines():
        words = line.split()
        if not words or words[0] in ("comment", "obj_info"):
            continue
        if words[0] == "format" and len(words) == 3:
            kind = words[1]
        elif words[0] == "element" and len(words) == 3 and words[2].isdecimal() and len(words[2]) < 10:
            element = words[1]
            if element not in properties or element in counts:
                raise Unreadable(f"a PLY file of vertices and faces is read, not of {element!r}")
            counts[element] = int(words[2])
        elif words[0] == "property" and element:
            properties[element].append(words[1:])
        else:
            raise Unreadable(f"the header of the PLY file holds {line[:60]!r}")
    if kind not in ("ascii", "binary_little_endian", "binary_big_endian") or list(counts) != ["vertex", "face"]:
        raise Unreadable("the PLY file names no known format, or not first vertices and then faces")
    vertex, face = _vertex_types(properties["vertex"]), _face_types(properties["face"])
    return kind, counts["vertex"], vertex, counts["face"], face


def _vertex_types(properties: list[list[str]]) -> list[tuple[str, str]]:
    vertex: list[tuple[str, str]] = []
    for one in properties:
        if len(one) != 2 or one[0] not in _SCALARS or one[1] in [name for name, _ in vertex]:
            raise Unreadable(f"a PLY vertex has the property {' '.join(one)[:60]!r}")
        vertex.append((one[1], _SCALARS[one[0]]))
    if not {"x", "y", "z"} <= {name for name, _ in vertex}:
        raise Unreadable("the PLY file's vertices have no x, y and z")
    return vertex


def _face_types(face: list[list[str]]) -> tuple[str, str]:
    if (
        len(face) != 1
        or len(face[0]) != 4
        or face[0][0] != "list"
        or face[0][3] not in ("vertex_indices", "vertex_index")
    ):
        raise Unreadable("the PLY file's faces must have one property, the list vertex_indices")
    count, index = (_SCALARS.get(one, "f") for one in face[0][1:3])
    if "f" in count or "f" in index:
        raise Unreadable("the PLY file's faces are no lists of whole numbers")
    return count, index


def _ascii_rows(body: bytes, n_vertices: int, vertex: list[tuple[str, str]], n_faces: int) -> _Mesh:
    words, width = body.split(), len(vertex)
    if len(words) != n_vertices * width + 4 * n_faces or b"_" in body:
        raise Unreadable("the PLY file holds another number of values than its header says, or a face is no triangle")
    try:
        columns = [list(map(float, words[k : n_vertices * width : width])) for k in range(width)]
        faces = np.array(list(map(int, words[n_vertices * width :])), dtype=np.int64).reshape(-1, 4)
    except (ValueError, OverflowError) as error:
        raise Unreadable("a value of the PLY file is no number") from error
    if n_faces and (faces[:, 0] != 3).any():
        raise Unreadable("a face of the PLY file is no triangle")
    return columns, np.ascontiguousarray(faces[:, 1:])


def _binary_rows(
    body: bytes, order: str, n_vertices: int, vertex: list[tuple[str, str]], n_faces: int, face: tuple[str, str]
) -> _Mesh:
    row = np.dtype([(name, order + kind) for name, kind in vertex])
    triangle = np.dtype([("count", order + face[0]), ("corners", order + face[1], 3)])
    if len(body) != n_vertices * row.itemsize + n_faces * triangle.itemsize:
        raise Unreadable("the PLY file has another length than its header says, or a face is no triangle")
    rows = np.frombuffer(body, row, n_vertices)
    faces = np.frombuffer(body, triangle, n_faces, n_vertices * row.itemsize)
    if n_faces and (faces["count"] != 3).any():
        raise Unreadable("a face of the PLY file is no triangle")
    return [rows[name] for name, _ in vertex], faces["corners"].astype(np.int64)


def main(suffix: str) -> None:
    """Read stdin, and write the message to the channel."""
    try:
        vertices, faces = parse(suffix, sys.stdin.buffer.read())
    except Unreadable as error:
        words = str(error).encode("ascii", "replace")[:500]
        parts = [HEAD.pack(MAGIC, REFUSED, len(words), 0), words]
    else:
        parts = [
            HEAD.pack(MAGIC, MESH, len(vertices), len(faces)),
            np.ascontiguousarray(vertices, dtype="<f8").tobytes(),
            np.ascontiguousarray(faces, dtype="<i8").tobytes(),
        ]
    with open(int(os.environ["WORKGYM_CHANNEL"]), "wb") as channel:
        channel.writelines(parts)
