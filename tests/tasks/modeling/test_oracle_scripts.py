"""The scripts and calls that make a part make that part, and what is half right is another one."""

from __future__ import annotations

import pytest

from workgym.tasks.errors import TaskError
from workgym.tasks.modeling.build import build
from workgym.tasks.modeling.calls import CALLS, PRIMITIVES, oracle_calls
from workgym.tasks.modeling.families.catalog import TEMPLATES
from workgym.tasks.modeling.scripts import oracle_script
from workgym.tasks.modeling.source import FAMILIES
from workgym.tasks.modeling.tree import Tree

manifold3d = pytest.importorskip("manifold3d")

LEVELS = (1, 2, 3)
CELLS = [(family, level) for family in FAMILIES for level in LEVELS]


def _solid(tree):
    solid = build(tree)
    return manifold3d.Manifold(manifold3d.Mesh64(solid.vertices.copy(), solid.faces.astype("uint64")))


def _made(tree):
    names: dict[str, object] = {}
    exec(oracle_script(tree), names)
    return names["result"]


def _likeness(a, b):
    common = (a ^ b).volume()
    return common / (a.volume() + b.volume() - common)


def _check(tasks):
    for task in tasks:
        tree = Tree.from_json(task.hidden["tree"])
        truth, nearly = _solid(tree), _solid(Tree.from_json(task.hidden["half_right"]))
        assert _likeness(_made(tree), truth) > 0.99999, task.id
        assert _likeness(nearly, truth) < 0.99999, task.id
        if task.family == "edit":
            given = _solid(Tree.from_json(task.hidden["input"]["tree"]))
            assert _likeness(given, truth) < _likeness(nearly, truth), task.id


@pytest.mark.parametrize(("family", "level"), CELLS)
def test_the_script_makes_the_part_and_half_right_lies_between_input_and_truth(draw, family, level):
    _check(draw(family, level, 2) + draw(family, level, 2, "test"))


@pytest.mark.slow
@pytest.mark.parametrize(("family", "level"), CELLS)
def test_the_scripts_make_the_parts_of_20_seeds(draw, family, level):
    _check(draw(family, level, 20) + draw(family, level, 20, "test"))


def test_level_1_parts_are_made_by_calls_that_their_schemas_allow(draw):
    for task in draw("text_to_part", 1, 30) + draw("text_to_part", 1, 30, "test"):
        calls = oracle_calls(Tree.from_json(task.hidden["tree"]))
        made = [call["arguments"].get("name") for call in calls if call["name"] != "boolean"]
        gone = [call["arguments"]["b"] for call in calls if call["name"] == "boolean"]
        assert set(made) - set(gone) == {"part"}
        for call in calls:
            schema = CALLS[call["name"]]["schema"]
            assert set(schema["required"]) <= set(call["arguments"]) <= set(schema["properties"])
            for name, value in call["arguments"].items():
                _allowed(schema["properties"][name], value)
            if call["name"] == "primitive":
                assert set(PRIMITIVES[call["arguments"]["kind"]]) <= set(call["arguments"])


def _allowed(schema, value):
    if schema["type"] == "array":
        assert schema["minItems"] <= len(value) <= schema["maxItems"]
        for item in value:
            _allowed(schema["items"], item)
    elif schema["type"] == "number":
        assert schema["minimum"] <= value <= schema["maximum"]
    else:
        assert value in schema.get("enum", [value])


def test_a_wedge_is_extruded_along_y_from_corners_in_x_and_z():
    (wedge,) = [template for template in TEMPLATES if template.name == "wedge"]
    (call,) = oracle_calls(wedge.tree({"length": 30, "height": 20, "depth": 7}))
    assert call["arguments"]["axis"] == "y"
    assert call["arguments"]["outline"] == [[0, 0], [0, 20], [30, 0]]


def test_calls_are_written_for_simple_parts_only():
    (plate,) = [template for template in TEMPLATES if template.name == "mounting_plate"]
    sizes = {"length": 80, "width": 60, "height": 10, "fillet": 5, "inset": 8, "radius": 3, "border": 15}
    with pytest.raises(TaskError, match="level 1 only"):
        oracle_calls(plate.tree({**sizes, "pocket_fillet": 3, "depth": 4}))
