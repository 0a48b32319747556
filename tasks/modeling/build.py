"""Builds the solid of a feature tree with manifold3d."""

from __future__ import annotations

import functools
import json
import math
import struct
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from workgym.tasks.errors import TaskError
from workgym.tasks.modeling.profile import outline
from workgym.tasks.modeling.shape import Shape, axis_of, lengthened
from workgym.tasks.modeling.solid import Solid
from workgym.tasks.modeling.tree import Tree, pieces

if TYPE_CHECKING:
    from manifold3d import Manifold

__all__ = ["CLEARANCE_MM", "TRUTH_SEGMENTS", "build", "stl_bytes"]

TRUTH_SEGMENTS: Final = 128
"""Chords of a full circle in a truth; what is cut away gets half as many, as an agent is asked to use."""

CLEARANCE_MM: Final = 1.0
"""How far a cutter reaches out of its open sides, so that no face of it lies in a face of the part."""

_CACHED_SOLIDS: Final = 64


def build(tree: Tree, segments: int = TRUTH_SEGMENTS) -> Solid:
    """Make the solid of a tree.

    The arrays are shared by all who ask for the same tree, and cannot be written to.

    Args:
        tree: its features.
        segments: chords of a full circle of what is added; what is cut away gets half as many.

    Raises:
        TaskError: the tree makes no solid.
    """
    return _built(json.dumps(tree.as_json(), sort_keys=True), segments)


def stl_bytes(corners: npt.NDArray[np.float64]) -> bytes:
    """Write triangles as a binary STL file; equal triangles give equal bytes.

    Args:
        corners: in millimetres, [F, 3, 3]: triangle, corner, axis. Those of a solid are `vertices[faces]`.
    """
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = np.divide(normals, lengths, out=np.zeros_like(normals), where=lengths > 0)
    records = np.zeros(len(corners), dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    records["normal"], records["corners"] = normals + 0.0, corners + 0.0  # + 0.0: no negative zeros
    return b"binary STL, millimetres".ljust(80) + struct.pack("<I", len(corners)) + records.tobytes()


@functools.lru_cache(maxsize=_CACHED_SOLIDS)
def _built(text: str, segments: int) -> Solid:
    from manifold3d import Manifold

    tree = Tree.from_json(json.loads(text))
    part = Manifold()
    for piece in pieces(tree):
        if piece.step.verb == "add":
            part = part + _manifold(piece.shape, segments)
        else:
            part = part - _manifold(lengthened(piece.shape, piece.open, CLEARANCE_MM), segments // 2)
    if part.is_empty() or part.volume() <= 0:
        raise TaskError(f"the tree makes no solid: {text[:200]}. Its first feature has to add material.")
    mesh = part.to_mesh64()
    vertices = np.array(mesh.vert_properties[:, :3], dtype=np.float64)
    faces = np.array(mesh.tri_verts, dtype=np.int32)
    vertices.flags.writeable = faces.flags.writeable = False
    return Solid(vertices, faces)


def _manifold(shape: Shape, segments: int) -> Manifold:
    from manifold3d import CrossSection, Manifold

    sizes: Any = shape.sizes
    if shape.kind == "box":
        low, high = sizes["low"], sizes["high"]
        return Manifold.cube([h - b for b, h in zip(low, high, strict=True)]).translate(low)
    if shape.kind == "sphere":
        return Manifold.sphere(sizes["radius"], segments).translate(sizes["center"])
    if shape.kind == "torus":
        tube = CrossSection.circle(sizes["tube"], segments * 3 // 4).translate((sizes["radius"], 0))
        return Manifold.revolve(tube, segments).translate(sizes["center"])
    if shape.kind == "cone":
        return _cone(sizes, axis_of(shape), segments)
    return _along(_extruded(sizes, segments), sizes["axis"])


def _extruded(sizes: Any, segments: int) -> Manifold:
    """Draw an outline along z. manifold3d's own extrusion rounds the outline to a grid, which costs 1e-4 mm."""
    from manifold3d import Manifold, Mesh64, triangulate

    points = np.array(outline([(u, v, r) for u, v, r in sizes["corners"]], segments))
    n = len(points)
    cap = triangulate([points])
    near, far = np.arange(n), np.roll(np.arange(n), -1)
    sides = np.concatenate([np.stack([near, far, far + n], axis=1), np.stack([near, far + n, near + n], axis=1)])
    faces = np.concatenate([cap[:, ::-1], cap + n, sides]).astype(np.uint64)
    ends = [np.column_stack([points, np.full(n, at)]) for at in (sizes["start"], sizes["end"])]
    return Manifold(Mesh64(vert_properties=np.concatenate(ends), tri_verts=faces))


def _cone(sizes: Any, axis: int, segments: int) -> Manifold:
    from manifold3d import Manifold

    start, end = sizes["start"], sizes["end"]
    first, last = sizes["radius_start"], sizes["radius_end"]
    if end[axis] < start[axis]:
        start, end, first, last = end, start, last, first
    length = math.dist(start, end)
    if first > 0:
        upright = Manifold.cylinder(length, first, last, segments)
    else:  # manifold3d wants the point of a cone at its far end
        upright = Manifold.cylinder(length, last, 0, segments).mirror((0, 0, 1)).translate((0, 0, length))
    return _along(upright, axis).translate(start)


def _along(upright: Manifold, axis: int) -> Manifold:
    """Lay what was made along z along another axis, x and y to the two that follow it, without any rounding."""
    if axis == 2:
        return upright
    rows = np.zeros((3, 4))
    for source, target in enumerate(((axis + 1) % 3, (axis + 2) % 3, axis)):
        rows[target, source] = 1.0
    return upright.transform(rows)
