"""The gate takes parts and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import made_meshes as made
import numpy as np
import pytest

from workgym.envs.modeling.sound import Soundness, is_sound
from workgym.envs.modeling.surface import MAX_TRIANGLES

Arrays = made.Arrays
CUBE = made.box()


def label(mesh: Arrays, **asked: Any) -> str:
    flaw = is_sound(*mesh, **asked).flaw
    return "" if flaw is None else flaw.label


def with_coordinate(value: float) -> Arrays:
    vertices, faces = made.box()
    vertices[3, 1] = value
    return vertices, faces


def with_index(value: int) -> Arrays:
    vertices, faces = made.box()
    faces[4, 1] = value
    return vertices, faces


def with_faces(*more: tuple[int, int, int]) -> Arrays:
    return CUBE[0], np.concatenate([CUBE[1], np.array(more)])


NO_SURFACE = {
    "open face": (CUBE[0], CUBE[1][1:]),
    "no face": (CUBE[0], CUBE[1][:0]),
    "nothing": (CUBE[0][:0], CUBE[1][:0]),
    "nan": with_coordinate(np.nan),
    "infinity": with_coordinate(np.inf),
    "1e300": with_coordinate(1e300),
    "1e9": with_coordinate(1e9),
    "index beyond": with_index(8),
    "index below": with_index(-1),
    "index of 40 bits": with_index(2**40),
    "face of two corners": with_faces((0, 0, 1)),
    "face of two equal places": (np.concatenate([CUBE[0], CUBE[0][:1]]), np.concatenate([CUBE[1], [(0, 8, 1)]])),
    "face given twice": with_faces(tuple(CUBE[1][0])),
    "all faces given twice": (CUBE[0], np.concatenate([CUBE[1], CUBE[1]])),
    "one face turned": (CUBE[0], np.concatenate([CUBE[1][:1, ::-1], CUBE[1][1:]])),
    "T-junction": made.split_edge(CUBE),
    "bodies that touch at an edge": made.joined(CUBE, made.moved(CUBE, (10, 10, 0))),
    "bodies that touch at a vertex": made.joined(CUBE, made.moved(CUBE, (10, 10, 10))),
    "two faces back to back": (CUBE[0], np.array([(0, 1, 2), (0, 2, 1)])),
    "a flap of no thickness": made.folded_fin(),
    "exact copy": made.joined(CUBE, CUBE),
    "exact copy, inverted": made.joined(CUBE, made.inverted(CUBE)),
    "a body below the weld": made.scattered(1e-5, 3),
}

NO_VOLUME = {
    "inverted": made.inverted(CUBE),
    "a sheet of 0.1 micrometres": made.box((0, 0, 0), (10, 10, 1e-4)),
    "a sheet of half a micrometre": made.box((0, 0, 0), (10, 10, 5e-4)),
    "micro tetrahedra": made.scattered(1e-3),
    "a pillow beside it": made.joined(CUBE, (CUBE[0] + 20, np.array([(0, 1, 2), (0, 2, 1)]))),
}

MEETS_ITSELF = {
    "tube through itself": made.loop_tube(0.0),
    "tube half through itself": made.loop_tube(1.0),
    "tube that grazes itself": made.loop_tube(1.9),
    "spike through the bottom": made.spiked(10.5),
    "tip of a spike through the bottom": made.spiked(10.001),
    "spike to the bottom": made.spiked(10.0),
    "pleats 0.2 micrometres apart": made.pleated(2e-4),
}

SEVERAL_BODIES = {
    "copy 0.01 beside": made.joined(CUBE, made.moved(CUBE, (0.01, 0.01, 0.01))),
    "copy 0.001 beside": made.joined(CUBE, made.moved(CUBE, (1e-3, 0, 0))),
    "copy 0.0002 beside": made.joined(CUBE, made.moved(CUBE, (2e-4, 0, 0))),
    "copy 0.00015 beside": made.joined(CUBE, made.moved(CUBE, (1.5e-4, 1.5e-4, 1.5e-4))),
    "copy a thousandth larger": made.joined(CUBE, made.scaled(CUBE, 1.001)),
    "copy a ten thousandth larger": made.joined(CUBE, made.scaled(CUBE, 1.0001)),
    "overlap": made.joined(CUBE, made.moved(CUBE, (5, 3, 2))),
    "overlap with common planes": made.joined(CUBE, made.moved(CUBE, (5, 0, 0))),
    "overlap through the diagonals": made.joined(CUBE, made.box((5, 2, 2), (15, 8, 8))),
    "overlap of 0.001": made.joined(CUBE, made.box((9.999, 2, 2), (15, 8, 8))),
    "sunk to the equator": made.joined(CUBE, made.octahedron((5, 5.2, 10), 3)),
    "sunk to the equator on the diagonal": made.joined(CUBE, made.octahedron((5, 5, 10), 3)),
    "face on face": made.joined(CUBE, made.box((10, 2, 3), (15, 7, 8))),
    "tip on face": made.joined(CUBE, made.octahedron((5, 5.2, 15), 5)),
    "inner solid": made.joined(CUBE, made.box((3, 3, 3), (6, 6, 6))),
    "void outside": made.joined(CUBE, made.inverted(made.box((20, 0, 0), (25, 5, 5)))),
    "void through the wall": made.joined(CUBE, made.inverted(made.box((5, 3, 3), (15, 6, 6)))),
    "void without a wall": made.joined(CUBE, made.inverted(made.box((3, 3, 3), (6, 6, 10)))),
    "void in a void": made.joined(
        CUBE, made.inverted(made.box((2, 2, 2), (8, 8, 8))), made.inverted(made.box((3, 3, 3), (6, 6, 6)))
    ),
    "voids that overlap": made.joined(
        CUBE, made.inverted(made.box((2, 2, 2), (6, 6, 6))), made.inverted(made.box((4, 4, 4), (8, 8, 8)))
    ),
    "shell around the wall of a void": made.joined(
        CUBE, made.inverted(made.box((2, 2, 2), (8, 8, 8))), made.box((1, 1, 1), (9, 9, 9))
    ),
}

SOUND = {
    "cube": (CUBE, 1, 0),
    "octahedron": (made.octahedron((0, 0, 0), 5), 1, 0),
    "tube over itself": (made.loop_tube(3.0), 1, 0),
    "spike that ends before the bottom": (made.spiked(9.9), 1, 0),
    "void": (made.joined(CUBE, made.inverted(made.box((3, 3, 3), (6, 6, 6)))), 1, 1),
    "two solids": (made.joined(CUBE, made.moved(CUBE, (10.1, 0, 0))), 2, 0),
    "solid in a void": (
        made.joined(CUBE, made.inverted(made.box((2, 2, 2), (8, 8, 8))), made.box((3, 3, 3), (6, 6, 6))),
        2,
        1,
    ),
    "pleats 0.05 mm apart": (made.pleated(0.05), 1, 0),
    "a foil": (made.box((0, 0, 0), (100, 100, 0.05)), 1, 0),
    "far away": (made.box((1e4, 1e4, 1e4), (10010, 10010, 10010)), 1, 0),
}


@pytest.mark.parametrize("name", NO_SURFACE)
def test_what_is_no_closed_surface_is_no_part(name: str) -> None:
    found = is_sound(*NO_SURFACE[name])
    assert found.flaw is not None
    assert found.flaw.label in {"open", "empty", "not_finite", "too_large", "index", "degenerate", "nonmanifold",
                                "winding", "flat"}  # fmt: skip


@pytest.mark.parametrize("name", NO_VOLUME)
def test_what_has_no_volume_or_a_negative_one_is_no_part(name: str) -> None:
    assert label(NO_VOLUME[name]) in {"inverted", "flat"}


@pytest.mark.parametrize("name", MEETS_ITSELF)
@pytest.mark.parametrize("seed", range(3))
def test_a_surface_that_meets_itself_is_no_part(name: str, seed: int) -> None:
    assert label(MEETS_ITSELF[name], seed=seed) in {"crossing", "contact", "overlap"}


@pytest.mark.parametrize("name", SEVERAL_BODIES)
def test_bodies_that_share_space_are_no_part_however_many_are_asked_for(name: str) -> None:
    assert label(SEVERAL_BODIES[name]) in {"crossing", "overlap", "contact", "inverted"}
    assert label(SEVERAL_BODIES[name], solids=1, voids=0) != ""


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_part_passes_with_every_seed(name: str) -> None:
    mesh, solids, voids = SOUND[name]
    assert [label(mesh, solids=solids, voids=voids, seed=seed) for seed in range(5)] == [""] * 5


def test_a_part_of_other_solids_or_voids_than_asked_for_is_refused() -> None:
    hollow = SOUND["void"][0]
    assert label(hollow, solids=1, voids=0) == "voids"
    assert label(CUBE, solids=1, voids=1) == "voids"
    assert label(SOUND["two solids"][0], solids=1, voids=0) == "solids"
    assert label(CUBE, solids=2, voids=0) == "solids"
    assert label(made.scattered(0.01), solids=1, voids=0) == "solids"


def test_a_thin_shell_is_a_void_that_nobody_asked_for() -> None:
    shell = made.joined(CUBE, made.inverted(made.scaled(CUBE, 0.96)))
    assert label(shell, solids=1, voids=0) == "voids"


def test_more_triangles_than_are_judged_are_refused_unseen() -> None:
    faces = np.broadcast_to(CUBE[1][0], (MAX_TRIANGLES + 1, 3))
    assert label((CUBE[0], faces)) == "too_large"


def test_the_winding_of_lines_finds_a_crossing_by_itself() -> None:
    from workgym.envs.modeling.surface import close_surface
    from workgym.envs.modeling.winding import WindingProbe

    for seed in range(5):
        mesh = close_surface(*made.loop_tube(0.5))
        assert not hasattr(mesh, "label")
        assert WindingProbe(mesh).fault(np.random.default_rng(seed), 1e-3) is not None


def test_measures_of_a_sound_part_are_right() -> None:
    found = is_sound(*made.box((1, 2, 3), (3, 6, 9)))
    assert found.mesh is not None
    center, inertia = found.mesh.moments
    assert found.mesh.volumes == pytest.approx([48.0])
    assert found.mesh.areas == pytest.approx([2 * (8 + 12 + 24)])
    assert center == pytest.approx([2, 4, 6])
    assert np.diag(inertia) == pytest.approx([48 / 12 * (16 + 36), 48 / 12 * (4 + 36), 48 / 12 * (4 + 16)])
    assert list(found.mesh.genera) == [0]


def loaded(path: Path) -> Arrays:
    import trimesh

    mesh = trimesh.load(path, process=False, force="mesh")
    return np.array(mesh.vertices, dtype=np.float64), np.array(mesh.faces, dtype=np.int64)


REAL = {
    "20mm-xyz-cube.stl": 0,
    "angle_block.STL": 1,
    "featuretype.STL": 9,
    "plate_holes.STL": 5,
    "unit_cube.STL": 0,
    "unit_sphere.STL": 0,
}


@pytest.mark.parametrize("name", REAL)
def test_a_real_part_is_sound_with_every_seed(name: str, test_data: Callable[[str], Path]) -> None:
    mesh = loaded(test_data("trimesh-models") / name)
    found: list[Soundness] = [is_sound(*mesh, solids=1, voids=0, seed=seed) for seed in range(5)]
    assert [one.flaw for one in found] == [None] * 5
    assert found[0].mesh is not None
    assert list(found[0].mesh.genera) == [REAL[name]]


@pytest.mark.parametrize(
    "name", ["multibody.stl", "soup.stl", "wallhole.obj", "joined_tetrahedra.obj", "not_convex.obj"]
)
def test_a_real_mesh_that_is_no_part_is_refused(name: str, test_data: Callable[[str], Path]) -> None:
    assert label(loaded(test_data("trimesh-models") / name)) in {"open", "nonmanifold", "winding"}


def drawn_solid(rng: np.random.Generator) -> Any:
    """Boxes, cylinders and balls on a grid, added and taken away: many of their planes coincide."""
    import manifold3d

    def piece() -> Any:
        a, b, c = (float(one) for one in rng.integers(2, 20, 3))
        kind = rng.integers(3)
        solid = (
            manifold3d.Manifold.cube((a, b, c))
            if kind == 0
            else manifold3d.Manifold.cylinder(a, b / 2, circular_segments=64)
            if kind == 1
            else manifold3d.Manifold.sphere(b / 2, 32)
        )
        return solid.rotate((float(rng.choice([0, 90])), 0.0, float(rng.choice([0, 30])))).translate(
            [float(one) for one in rng.uniform(-8, 8, 3)]
        )

    solid = piece()
    for _ in range(rng.integers(1, 5)):
        solid = solid + piece() if rng.random() < 0.5 else solid - piece()
    return solid


def assert_drawn_solids_pass(seeds: range) -> None:
    for seed in seeds:
        rng = np.random.default_rng(seed)
        solid = drawn_solid(rng)
        while solid.is_empty():
            solid = drawn_solid(rng)
        vertices, faces = made.of_manifold(solid)
        single = vertices.astype(np.float32).astype(np.float64)
        assert label((vertices, faces), seed=seed) == "", seed
        assert label((single, faces), seed=seed) == "", f"{seed} in single precision"


def test_what_the_kernel_makes_is_sound_in_double_and_in_single_precision() -> None:
    assert_drawn_solids_pass(range(15))


@pytest.mark.slow
def test_what_the_kernel_makes_is_sound_many_times() -> None:
    assert_drawn_solids_pass(range(15, 400))
