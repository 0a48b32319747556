"""A part passes its own groups, and a feature that is off by twice its tolerance, or gone, fails its group."""

from __future__ import annotations

import numpy as np
import pytest

from workgym.tasks.modeling.build import build
from workgym.tasks.modeling.families.catalog import TEMPLATES
from workgym.tasks.modeling.groups import from_json, tolerance_of
from workgym.tasks.modeling.probes import groups_of
from workgym.tasks.modeling.scripts import oracle_script
from workgym.tasks.modeling.source import FAMILIES, ModelingTasks
from workgym.tasks.modeling.template import feature_of
from workgym.tasks.modeling.tree import Tree

pytest.importorskip("manifold3d")
pytest.importorskip("scipy")

from workgym.envs.modeling.mesh import weld
from workgym.envs.modeling.spec import Part, SpecTest

CELLS = [(family, level) for family in FAMILIES for level in (1, 2, 3)]
WHOLE = {"size", "whole"}


def _part(tree):
    solid = build(tree)
    return Part.of(weld(solid.vertices, solid.faces))


def _failing(groups, spec, part):
    return {group.name for group, holds in zip(groups, spec.holds(part), strict=True) if not holds}


def _changes(template, sizes, tree, signs):
    """What is changed, the part with it (a size, a count or no such feature), and the steps that differ."""
    for name, value in sizes.items():
        off = 1 if name in template.counts else 2 * tolerance_of(value, template.level)
        for sign in signs:
            if name in template.counts and value + sign < 2:
                continue
            other = template.tree({**sizes, name: value + sign * off})
            changed = {s.name for s, was in zip(other.steps, tree.steps, strict=True) if s != was}
            yield f"{name} {sign * off:+g}", other, changed
    for feature in template.optional:
        left = Tree(tuple(step for step in tree.steps if feature_of(step) != feature))
        yield f"no {feature}", left, {step.name for step in tree.steps if feature_of(step) == feature}


def _check(template, seeds, signs=(1, -1)):
    for seed in seeds:
        sizes = template.draw(np.random.default_rng(seed))
        tree = template.tree(sizes)
        groups, truth = groups_of(tree, template.level), _part(tree)
        spec = SpecTest(groups, truth)
        assert _failing(groups, spec, truth) == set(), (template.name, sizes)
        for what, other, changed in _changes(template, sizes, tree, signs):
            assert _failing(groups, spec, _part(other)) & (changed | WHOLE), (template.name, sizes, what)


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.name)
def test_what_is_off_by_twice_its_tolerance_or_gone_fails_its_group(template):
    _check(template, range(1), signs=(-1,))


@pytest.mark.slow
@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.name)
def test_what_is_off_fails_its_group_over_20_seeds(template):
    _check(template, range(20))


@pytest.mark.parametrize(("family", "level"), CELLS)
def test_the_script_passes_the_groups_of_its_task_and_half_right_does_not(family, level):
    source, rng = ModelingTasks(family), np.random.default_rng(level)
    for task in [source.sample(level, rng, split) for split in ("train", "test")]:
        groups = from_json(task.hidden["groups"])
        tree = Tree.from_json(task.hidden["tree"])
        spec = SpecTest(groups, _part(tree))
        names: dict[str, object] = {}
        exec(oracle_script(tree), names)
        mesh = names["result"].to_mesh64()
        made = weld(np.array(mesh.vert_properties[:, :3]), np.array(mesh.tri_verts, dtype=np.int64))
        assert _failing(groups, spec, Part.of(made)) == set(), task.id
        assert _failing(groups, spec, _part(Tree.from_json(task.hidden["half_right"]))), task.id
        if family == "edit":
            assert _failing(groups, spec, _part(Tree.from_json(task.hidden["input"]["tree"]))), task.id
