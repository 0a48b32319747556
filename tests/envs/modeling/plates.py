"""The test plate, as a task and as an agent might make it: right, and wrong in one thing or another."""

from __future__ import annotations

from typing import Any

import made_meshes as made
import numpy as np

from workgym.envs.sandbox.protocol import SandboxPool
from workgym.envs.verify import Attempt
from workgym.tasks.modeling.groups import Group, Predicate, bbox, bodies, empty, full, genus, hole, to_json, volume
from workgym.tasks.modeling.shape import cylinder, prism
from workgym.tasks.modeling.tree import Step, Tree, grid
from workgym.tasks.task import Task

SIZE = (100.0, 60.0, 10.0)
FILLET = 5.0
HOLE = 4.0
PLACES = [(x, y) for x in (10.0, 90.0) for y in (10.0, 50.0)]


def plate(
    hole: float = HOLE,
    fillet: float = FILLET,
    shift: float = 0.0,
    segments: int = 64,
    scale: float = 1.0,
    turn: float = 0.0,
    move: float = 0.0,
) -> made.Arrays:
    import manifold3d as m3

    x, y, z = SIZE
    outline = m3.CrossSection.square((x, y))
    if fillet:
        inner = m3.CrossSection.square((x - 2 * fillet, y - 2 * fillet)).translate((fillet, fillet))
        outline = inner.offset(fillet, m3.JoinType.Round, circular_segments=segments)
    part = m3.Manifold.extrude(outline, z)
    for a, b in PLACES if hole else []:
        part = part - m3.Manifold.cylinder(z + 2, hole, circular_segments=segments).translate((a + shift, b, -1))
    part = (
        part.translate((-x / 2, -y / 2, 0)).rotate((0, 0, turn)).translate((x / 2 + move, y / 2, 0)).scale((scale,) * 3)
    )
    return made.of_manifold(part)


def stl(mesh: made.Arrays) -> bytes:
    rows = np.zeros(len(mesh[1]), dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")])
    rows["corners"] = mesh[0][mesh[1]]
    return bytes(80) + len(rows).to_bytes(4, "little") + rows.tobytes()


def ply(mesh: made.Arrays) -> bytes:
    vertices, faces = mesh
    head = (
        f"ply\nformat binary_little_endian 1.0\nelement vertex {len(vertices)}\nproperty double x\nproperty double y\n"
        f"property double z\nelement face {len(faces)}\nproperty list uchar int vertex_indices\nend_header\n"
    )
    rows = np.zeros(len(faces), dtype=[("n", "u1"), ("corners", "<i4", 3)])
    rows["n"], rows["corners"] = 3, faces
    return head.encode() + vertices.astype("<f8").tobytes() + rows.tobytes()


def plate_task(given: bytes = b"") -> Task:
    x, y, z = SIZE
    tree = Tree(
        (
            Step("plate", "add", prism([(0, 0, FILLET), (x, 0, FILLET), (x, y, FILLET), (0, y, FILLET)], 2, 0, z)),
            Step(
                "holes",
                "cut",
                cylinder((10, 10, 0), (10, 10, z), HOLE),
                open=("start", "end"),
                pattern=grid(2, 2, 80, 40),
                ways=1,
            ),
        )
    )
    rims = [one for a in (FILLET, x - FILLET) for b in (FILLET, y - FILLET) for one in _rim(a, b)]
    mm3 = (x * y - (4 - np.pi) * FILLET**2 - 4 * np.pi * HOLE**2) * z
    groups = (
        Group("size", (bbox((0, 0, 0), SIZE, 2), bodies(1))),
        Group("plate", (*rims, volume(mm3, 2))),
        Group("holes", (genus(4), *(one for a, b in PLACES for one in hole((a, b, 0), (a, b, z), HOLE, 2)))),
    )
    hidden: dict[str, Any] = {
        "tree": tree.as_json(),
        "groups": to_json(groups),
        "solids": 1,
        "voids": 0,
        "views_seed": 7,
    }
    files = {"input.stl": given} if given else {}
    return Task("plate-1", "modeling", "text_to_part", 2, "train", "Make a plate.", files=files, hidden=hidden)


def _rim(a: float, b: float) -> tuple[Predicate, Predicate]:
    """Just within the rounding of a corner there is material, and just beyond there is none."""
    outward = [(1 if at > middle / 2 else -1) / 2**0.5 for at, middle in ((a, SIZE[0]), (b, SIZE[1]))]
    balls = [
        {"shape": "ball", "center": [a + outward[0] * far, b + outward[1] * far, SIZE[2] / 2], "radius": 0.3}
        for far in (FILLET - 0.36, FILLET + 0.36)
    ]
    return full(balls[0]), empty(balls[1])


class ReaderPools:
    """Pools of which only the reader's is there."""

    def __init__(self, grader: SandboxPool) -> None:
        self.grader = self.agent = grader

    def check(self) -> None:
        return

    def close(self) -> None:
        return


def attempt(data: bytes | None, name: str = "out.stl") -> Attempt:
    return Attempt("plate-1", files={} if data is None else {name: data})
