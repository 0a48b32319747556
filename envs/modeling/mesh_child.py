"""What makes parts inside the sandbox: an agent's script, or the calls of the mesh tools.

It is loaded by a zygote before any task is known, with the geometry packages, and runs in a child of it. Nothing here
may start a thread before the child is born: no boolean, no ray. Whatever it says is the agent's word; what it leaves
is a file, read elsewhere.

A failure is told in the last line of stderr, with the phase in which it happened: parse, exec, kernel or export.
"""

from __future__ import annotations

import json
import os
import struct
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import manifold3d
import numpy as np
import trimesh

__all__ = ["make", "run"]

SEGMENTS = 64  # of a script's circles, unless it says otherwise
_SEGMENTS = 128  # of the mesh tools' circles: as many as wanted parts have, since their makers cannot choose
_NAME = "<script>"
_PLY = "out.ply"
_OUTPUTS = ("out.stl", _PLY)
_MOST_ERROR_CHARS = 600
_MOST_TRIANGLES = 2_000_000  # beyond it no file is worth writing: none of its size is read

manifold3d.set_circular_segments(SEGMENTS)
trimesh.util.log.disabled = True


class _Failed(Exception):
    """A phase that failed, and why."""

    def __init__(self, phase: str, words: str) -> None:
        super().__init__(f"{phase}: {words}")


def run() -> None:
    """Run the script that stdin holds. It leaves `result`, or writes out.stl or out.ply itself.

    Raises:
        SystemExit: a phase failed.
    """
    source = sys.stdin.buffer.read()
    _in_words(lambda: _run(source))


def make() -> None:
    """Make bodies by calls: stdin holds a JSON list of them; out.ply holds what is left of them.

    Raises:
        SystemExit: a call failed.
    """
    calls = json.loads(sys.stdin.buffer.read())
    _in_words(lambda: _make(calls))


def _in_words(work: Callable[[], None]) -> None:
    try:
        work()
    except _Failed as failed:
        raise SystemExit(str(failed)) from None  # the interpreter prints it, whatever a script has broken


# ---------------------------------------------------------------------- scripts


def _run(source: bytes) -> None:
    try:
        code = compile(source, _NAME, "exec")
    except (SyntaxError, ValueError) as error:
        raise _Failed("parse", _error_line(error)) from None
    names: dict[str, Any] = {"__name__": "__main__"}
    _on_one_core()
    try:
        exec(code, names)  # noqa: S102 - this is what the sandbox is for
    except SystemExit as stop:
        if stop.code not in (None, 0):
            raise _Failed("exec", f"SystemExit: {stop.code!r}"[:_MOST_ERROR_CHARS]) from None
    except MemoryError:
        raise
    except BaseException as error:  # noqa: BLE001 - the agent's own
        raise _Failed("exec", _error_line(error)) from None
    if not any(os.path.lexists(name) for name in _OUTPUTS):
        _export(names.get("result"))


def _on_one_core() -> None:
    """Have the kernel's pool of threads start while one core alone is to be seen: sums then have one order."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    cube = manifold3d.Manifold.cube((1, 1, 1))
    (cube + cube.translate((0.5, 0.5, 0.5))).volume()
    os.sched_setaffinity(0, cores)


def _error_line(error: BaseException) -> str:
    """Where in the agent's own code, what, and the words for it."""
    frames, line = error.__traceback__, 0
    while frames is not None:
        if frames.tb_frame.f_code.co_filename == _NAME:
            line = frames.tb_lineno
        frames = frames.tb_next
    try:
        words = error.msg if isinstance(error, SyntaxError) else str(error)
    except BaseException:  # noqa: BLE001 - its class may be the agent's too
        words = ""
    if isinstance(error, SyntaxError):
        line = error.lineno or line
    words = " ".join(str(words).split())[:_MOST_ERROR_CHARS]
    return f"{f'line {line}: ' if line else ''}{type(error).__name__}{f': {words}' if words else ''}"


def _export(result: Any) -> None:
    if result is None:
        raise _Failed("export", "the script leaves no `result` and writes neither out.stl nor out.ply")
    if isinstance(result, manifold3d.Manifold):
        _write(*_arrays(result))
    elif isinstance(result, trimesh.Trimesh):
        _write(np.asarray(result.vertices), np.asarray(result.faces))
    else:
        kind = type(result).__name__
        raise _Failed("export", f"`result` is a {kind}; it must be a manifold3d.Manifold or a trimesh.Trimesh")


def _arrays(part: manifold3d.Manifold) -> tuple[Any, Any]:
    """Vertices and faces of a manifold.

    Raises:
        _Failed: the kernel failed, or there is nothing.
    """
    status = part.status()
    if status != manifold3d.Error.NoError:
        raise _Failed("kernel", f"manifold3d says {status.name}")
    if part.is_empty():
        raise _Failed("kernel", "the part is empty")
    mesh = part.to_mesh64()
    return np.asarray(mesh.vert_properties)[:, :3], np.asarray(mesh.tri_verts)


def _write(vertices: Any, faces: Any) -> None:
    """Write a part as binary PLY: in double precision, so that nothing is rounded.

    Raises:
        _Failed: it has too many triangles, or it cannot be written.
    """
    if len(faces) > _MOST_TRIANGLES:
        raise _Failed("export", f"{len(faces):,} triangles are too many")
    head = (
        f"ply\nformat binary_little_endian 1.0\ncomment millimetres\nelement vertex {len(vertices)}\n"
        "property double x\nproperty double y\nproperty double z\n"
        f"element face {len(faces)}\nproperty list uchar int vertex_indices\nend_header\n"
    )
    rows = np.zeros(len(faces), dtype=[("n", "u1"), ("corners", "<i4", 3)])
    rows["n"], rows["corners"] = 3, faces
    try:
        with open(_PLY, "wb") as file:
            file.write(head.encode() + np.ascontiguousarray(vertices, dtype="<f8").tobytes() + rows.tobytes())
    except OSError as error:
        raise _Failed("export", f"{_PLY} cannot be written: {error.strerror}") from None


# ----------------------------------------------------------------------- bodies


class _Call(NamedTuple):
    name: str
    arguments: Mapping[str, Any]


def _make(calls: Sequence[Sequence[Any]]) -> None:
    _on_one_core()
    bodies: dict[str, manifold3d.Manifold] = {}
    for call in (_Call(*one) for one in calls):
        try:
            _CALLS[call.name](bodies, **call.arguments)
        except (ValueError, TypeError, RuntimeError) as error:
            raise _Failed("kernel", f"{call.name}: {error}"[:_MOST_ERROR_CHARS]) from None
    if not bodies:
        return
    arrays = [_arrays(body) for body in bodies.values()]
    starts = np.cumsum([0, *(len(vertices) for vertices, _ in arrays)])
    faces = [faces.astype(np.int64) + start for (_, faces), start in zip(arrays, starts, strict=False)]
    _write(np.concatenate([vertices for vertices, _ in arrays]), np.concatenate(faces))


def _primitive(
    bodies: dict[str, manifold3d.Manifold],
    name: str,
    kind: str,
    at: Sequence[float] = (0, 0, 0),
    axis: str = "z",
    **sizes: Any,
) -> None:
    if kind == "box":
        body = manifold3d.Manifold.cube(tuple(map(float, sizes["size"])))
    elif kind == "sphere":
        body = manifold3d.Manifold.sphere(sizes["radius"], _SEGMENTS)
    elif kind == "torus":
        tube = manifold3d.CrossSection.circle(sizes["tube"], _SEGMENTS * 3 // 4).translate((sizes["radius"], 0))
        body = manifold3d.Manifold.revolve(tube, _SEGMENTS)
    else:
        body = _cone(sizes["height"], sizes["radius"], sizes.get("top", sizes["radius"]))
    bodies[name] = _along(body, axis).translate(tuple(map(float, at)))


def _cone(height: float, base: float, top: float) -> manifold3d.Manifold:
    return manifold3d.Manifold.cylinder(height, base, top, _SEGMENTS)


def _along(upright: manifold3d.Manifold, axis: str) -> manifold3d.Manifold:
    """Lay what was made along z along another axis, x and y to the two that follow it, without any rounding."""
    number = "xyz".index(axis)
    if number == 2:
        return upright
    rows = np.zeros((3, 4))
    for source, target in enumerate(((number + 1) % 3, (number + 2) % 3, number)):
        rows[target, source] = 1.0
    return upright.transform(rows)


def _extrude(
    bodies: dict[str, manifold3d.Manifold],
    name: str,
    outline: Sequence[Sequence[float]],
    height: float,
    axis: str = "z",
    start: float = 0.0,
) -> None:
    points = np.array(outline, dtype=np.float64)
    if axis == "y":  # an outline has its coordinates in the order x, y, z: here x, z; along y they go round as z, x
        points = points[:, ::-1]
    area = 0.5 * float(np.sum(points[:, 0] * np.roll(points[:, 1], -1) - np.roll(points[:, 0], -1) * points[:, 1]))
    if abs(area) < 1e-9:
        raise ValueError("the outline has no area")
    if _touches_itself(points):
        raise ValueError("the outline crosses or touches itself")
    if area < 0:
        points = points[::-1]
    cap = manifold3d.triangulate([points])
    n = len(points)
    near, far = np.arange(n), np.roll(np.arange(n), -1)
    sides = np.concatenate([np.stack([near, far, far + n], axis=1), np.stack([near, far + n, near + n], axis=1)])
    faces = np.concatenate([cap[:, ::-1], cap + n, sides]).astype(np.uint64)
    ends = np.concatenate([np.column_stack([points, np.full(n, at)]) for at in (start, start + height)])
    body = manifold3d.Manifold(manifold3d.Mesh64(vert_properties=ends, tri_verts=faces))
    if body.status() != manifold3d.Error.NoError:
        raise ValueError(f"manifold3d says {body.status().name}")
    bodies[name] = _along(body, axis)


def _touches_itself(points: Any) -> bool:
    """Whether a closed outline crosses or touches itself, turns back on itself, or has one corner twice.

    Args:
        points: float64 [N, 2].
    """
    ends = np.roll(points, -1, axis=0)
    along, after = ends - points, np.roll(ends - points, -1, axis=0)
    turns, goes_on = along[:, 0] * after[:, 1] - along[:, 1] * after[:, 0], (along * after).sum(axis=1)
    if (~along.any(axis=1)).any() or ((turns == 0) & (goes_on < 0)).any():
        return True
    i, j = np.triu_indices(len(points), 2)
    apart = (i > 0) | (j < len(points) - 1)  # the first and the last edge are neighbors
    i, j = i[apart], j[apart]

    def side(a: Any, b: Any, c: Any) -> Any:
        return np.sign((b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0]))

    a, b, c, d = points[i], ends[i], points[j], ends[j]
    across = (side(a, b, c) * side(a, b, d) <= 0) & (side(c, d, a) * side(c, d, b) <= 0)
    lows, highs = (np.minimum(a, b), np.minimum(c, d)), (np.maximum(a, b), np.maximum(c, d))
    near = (np.maximum(*lows) <= np.minimum(*highs)).all(axis=1)
    return bool((across & near).any())


def _boolean(bodies: dict[str, manifold3d.Manifold], op: str, a: str, b: str) -> None:
    second = bodies.pop(b)
    if op == "union":
        bodies[a] = bodies[a] + second
    elif op == "difference":
        bodies[a] = bodies[a] - second
    else:
        bodies[a] = bodies[a] ^ second


def _transform(
    bodies: dict[str, manifold3d.Manifold],
    name: str,
    turn: Sequence[float] = (0, 0, 0),
    mirror: str = "",
    move: Sequence[float] = (0, 0, 0),
    copy: str = "",
) -> None:
    body = bodies[name]
    if any(turn):
        body = body.rotate(tuple(map(float, turn)))
    if mirror:
        body = body.mirror(tuple(float(one == mirror) for one in "xyz"))
    bodies[copy or name] = body.translate(tuple(map(float, move)))


def _delete(bodies: dict[str, manifold3d.Manifold], name: str) -> None:
    del bodies[name]


def _load(bodies: dict[str, manifold3d.Manifold], name: str, file: str) -> None:
    bodies[name] = _read_stl(file)


_CALLS: dict[str, Callable[..., None]] = {
    "load": _load,
    "primitive": _primitive,
    "extrude": _extrude,
    "boolean": _boolean,
    "transform": _transform,
    "delete": _delete,
}


def _read_stl(path: str) -> manifold3d.Manifold:
    """The mesh that a task hands out, which is a sound one, as a body.

    Raises:
        _Failed: it is none.
    """
    with open(path, "rb") as file:
        data = file.read()
    (n,) = struct.unpack_from("<I", data, 80)
    record = [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")]
    corners = np.frombuffer(data, record, n, 84)["corners"].reshape(-1, 3).astype(np.float64)
    vertices, faces = np.unique(corners.round(4), axis=0, return_inverse=True)
    body = manifold3d.Manifold(
        manifold3d.Mesh64(vert_properties=vertices, tri_verts=faces.reshape(-1, 3).astype(np.uint64))
    )
    if body.status() != manifold3d.Error.NoError:
        raise _Failed("kernel", f"{path} cannot be used as a body: manifold3d says {body.status().name}")
    return body
