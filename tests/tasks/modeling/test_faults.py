"""Each fault breaks a mesh in its own way and leaves its shape to be found again."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from workgym.tasks.errors import TaskError
from workgym.tasks.modeling.build import build
from workgym.tasks.modeling.families.catalog import TEMPLATES
from workgym.tasks.modeling.faults import FAULTS, broken

pytest.importorskip("manifold3d")

NAMES = ("block", "tube", "slotted_block", "heat_sink")
SOLIDS = [
    build(template.tree(template.draw(np.random.default_rng(4)))) for template in TEMPLATES if template.name in NAMES
]


def _edges(triangles):
    """How often each edge is walked, by direction."""
    found = Counter()
    for a, b, c in np.round(triangles, 6).tolist():
        found.update([(tuple(a), tuple(b)), (tuple(b), tuple(c)), (tuple(c), tuple(a))])
    return found


def _area(triangles):
    sides = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    return float(np.linalg.norm(sides, axis=1).sum() / 2)


def _is_closed(edges):
    return all(edges[b, a] == count == 1 for (a, b), count in edges.items())


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault != "inverted"])
def test_a_faulty_mesh_is_not_closed_and_its_whole_was(fault):
    for solid in SOLIDS:
        assert _is_closed(_edges(solid.vertices[solid.faces]))
        for seed in range(5):
            assert not _is_closed(_edges(broken(solid, fault, seed)))


def test_an_inverted_mesh_is_closed_with_a_negative_volume(volume):
    for solid in SOLIDS:
        triangles = broken(solid, "inverted", 0)
        a, b, c = np.moveaxis(triangles, 1, 0)
        assert np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6 == pytest.approx(-volume(solid))


def test_t_junctions_leave_the_surface_as_it_is():
    for solid in SOLIDS:
        triangles = broken(solid, "T-junctions", 1)
        assert _area(triangles) == pytest.approx(_area(solid.vertices[solid.faces]))
        assert len(triangles) > len(solid.faces)


def test_duplicates_can_be_told_from_each_other_by_nothing():
    triangles = broken(SOLIDS[0], "duplicates", 1)
    assert len(np.unique(triangles.reshape(len(triangles), -1), axis=0)) == len(SOLIDS[0].faces) < len(triangles)


def test_what_is_missing_is_flat():
    for solid in SOLIDS:
        whole = {triangle.tobytes() for triangle in solid.vertices[solid.faces]}
        for fault in ("side missing", "triangles missing"):
            left = {triangle.tobytes() for triangle in broken(solid, fault, 2)}
            for gone in whole - left:
                corners = np.frombuffer(gone).reshape(3, 3)
                assert np.ptp(corners, axis=0).min() < 1e-6


def test_a_seed_decides_where_the_fault_is():
    one, again, other = (broken(SOLIDS[1], "T-junctions", seed) for seed in (1, 1, 2))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


def test_an_unknown_fault_is_refused():
    with pytest.raises(TaskError, match="Did you mean 'duplicates'"):
        broken(SOLIDS[0], "duplicate", 0)
