"""The solid that a tree makes has the volume, the size and the ways through it that the tree says."""

from __future__ import annotations

import numpy as np
import pytest

from workgym.tasks.errors import TaskError
from workgym.tasks.modeling.build import build, stl_bytes
from workgym.tasks.modeling.families.catalog import TEMPLATES
from workgym.tasks.modeling.profile import area_and_center, outline
from workgym.tasks.modeling.shape import box, cylinder, measure, mirrored, prism
from workgym.tasks.modeling.tree import Pattern, Step, Tree, center_of, extent, mirror, pieces, volume_of

pytest.importorskip("manifold3d")

CLOSED_FORM = 2e-3


def _check(template, seeds, volume):
    for seed in seeds:
        tree = template.tree(template.draw(np.random.default_rng(seed)))
        solid = build(tree)
        assert volume(solid) == pytest.approx(volume_of(tree), rel=CLOSED_FORM), (template.name, seed)
        low, high = extent(tree)
        assert solid.vertices.min(axis=0) == pytest.approx(low, abs=1e-6)
        assert solid.vertices.max(axis=0) == pytest.approx(high, abs=1e-6)
        edges = 3 * len(solid.faces) / 2
        assert len(solid.vertices) - edges + len(solid.faces) == 2 - 2 * tree.genus, (template.name, seed)


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.name)
def test_the_solid_agrees_with_the_closed_form_to_a_fifth_of_a_percent(template, volume):
    _check(template, range(2), volume)


@pytest.mark.slow
@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.name)
def test_the_solid_agrees_with_the_closed_form_over_20_seeds(template, volume):
    _check(template, range(20), volume)


def test_the_center_of_mass_is_that_of_the_solid():
    outline = [(0, 0, 2.0), (30, 0, 0.0), (30, 6, 2.0), (6, 6, 4.0), (6, 40, 0.0), (0, 40, 1.0)]
    tree = Tree((Step("body", "add", prism(outline, 1, 2, 12)),))
    solid = build(tree)
    corners = solid.vertices[solid.faces]
    weights = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    center = (weights[:, None] * corners.sum(axis=1) / 4).sum(axis=0) / weights.sum()
    assert center == pytest.approx(center_of(tree), abs=1e-3)


def test_an_outline_with_fillets_has_the_area_of_its_points():
    corners = [(0, 0, 3.0), (40, 0, 5.0), (40, 10, 0.0), (10, 10, 6.0), (10, 30, 2.0), (0, 30, 1.0)]
    x, y = np.array(outline(corners, 4096)).T
    shoelace = 0.5 * float(x @ np.roll(y, -1) - y @ np.roll(x, -1))
    assert area_and_center(corners)[0] == pytest.approx(shoelace, rel=1e-6)


def test_a_tree_survives_json():
    for template in TEMPLATES:
        tree = template.tree(template.draw(np.random.default_rng(3)))
        assert Tree.from_json(tree.as_json()).as_json() == tree.as_json()


def test_a_mirror_image_has_its_own_place_and_the_same_volume():
    shape = prism([(0, 0, 1.0), (9, 0, 0.0), (0, 5, 0.0)], 0, 2, 6)
    image = mirrored(shape, 1, 10)
    assert measure(image)[0] == pytest.approx(measure(shape)[0])
    assert measure(image)[1][1] == pytest.approx(20 - measure(shape)[1][1])
    step = Step("a", "add", box((1, 0, 0), (3, 1, 1)), ("x-",), mirror(0, 5))
    assert [piece.open for piece in pieces(Tree((step,)))] == [("x-",), ("x+",)]


def test_only_upright_cylinders_are_repeated_around_a_circle():
    lying = Step("a", "cut", cylinder((0, 0, 0), (5, 0, 0), 1), (), Pattern("circle", {"count": 3, "center": [0, 0]}))
    with pytest.raises(TaskError, match="cylinders along z"):
        volume_of(Tree((lying,)))


def test_a_tree_that_makes_no_solid_is_refused():
    with pytest.raises(TaskError, match="makes no solid"):
        build(Tree((Step("a", "cut", box((0, 0, 0), (1, 1, 1))),)))


def test_what_is_built_is_shared_and_cannot_be_written_to():
    tree = Tree((Step("a", "add", box((0, 0, 0), (1, 2, 3))),))
    assert build(tree) is build(tree)
    with pytest.raises(ValueError, match="read-only"):
        build(tree).vertices[0] = 1


def test_a_file_holds_as_many_triangles_as_it_says():
    solid = build(Tree((Step("a", "add", cylinder((0, 0, 0), (0, 0, 5), 3)),)))
    content = stl_bytes(solid.vertices[solid.faces])
    assert len(content) == 84 + 50 * len(solid.faces)
    assert int.from_bytes(content[80:84], "little") == len(solid.faces)
