"""Modeling tasks are seeded, split by seeds, structures and kinds of parts, and tell every number that it takes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest

from workgym.tasks.errors import TaskError
from workgym.tasks.modeling.families.catalog import TEMPLATES
from workgym.tasks.modeling.prompts import INPUT
from workgym.tasks.modeling.source import FAMILIES, SEEDS, ModelingTasks
from workgym.tasks.source import SPLITS, distinct_tasks

LEVELS = (1, 2, 3)
CELLS = [(family, level) for family in FAMILIES for level in LEVELS]
HELD_OUT = {template.name for template in TEMPLATES if template.held_out}


@pytest.mark.parametrize(("family", "level"), CELLS)
def test_an_id_loads_the_same_task(draw, family, level):
    for split in SPLITS:
        for task in draw(family, level, 2, split):
            again = ModelingTasks(family).load(task.id)
            assert (again.id, again.prompt, again.structure) == (task.id, task.prompt, task.structure)
            assert (again.public, again.hidden) == (task.public, task.hidden)


@pytest.mark.parametrize("family", FAMILIES)
def test_tasks_and_their_files_are_the_same_in_a_fresh_process_with_another_hash_seed(draw, family):
    pytest.importorskip("manifold3d")
    tasks = {task.id: task.content_hash() for level in LEVELS for task in draw(family, level, 1, "test")}
    code = (
        "import json, sys\nfrom workgym.tasks.modeling.source import ModelingTasks\n"
        "ids = json.loads(sys.argv[2])\n"
        "print(json.dumps({i: ModelingTasks(sys.argv[1]).load(i).content_hash() for i in ids}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, family, json.dumps(list(tasks))],
        env={**os.environ, "PYTHONHASHSEED": "77"},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert json.loads(done.stdout) == tasks


@pytest.mark.parametrize(("family", "level"), CELLS)
def test_the_splits_share_no_structure_and_no_seed(draw, family, level):
    drawn = {split: draw(family, level, 60, split) for split in SPLITS}
    structures = [{task.structure for task in tasks} for tasks in drawn.values()]
    assert not structures[0] & structures[1]
    assert not structures[0] & structures[2]
    assert not structures[1] & structures[2]
    for split, tasks in drawn.items():
        assert all(int(task.id.rpartition("-")[2], 16) in SEEDS[split] for task in tasks)


def test_the_ranges_of_seeds_do_not_meet():
    ranges = sorted((seeds.start, seeds.stop) for seeds in SEEDS.values())
    assert all(end <= start for (_, end), (start, _) in pairwise(ranges))


@pytest.mark.parametrize(("family", "level"), CELLS)
def test_parts_that_are_held_out_are_half_of_the_test_split_and_of_no_other(draw, family, level):
    for split in ("train", "validation"):
        assert not any(task.hidden["template"] in HELD_OUT for task in draw(family, level, 60, split))
    held_out = [task.hidden["held_out"] for task in draw(family, level, 60, "test")]
    assert 15 <= sum(held_out) <= 45


@pytest.mark.parametrize("level", LEVELS)
def test_each_level_of_the_text_family_has_five_kinds_of_parts_to_train_on_and_two_held_out(level):
    at = [template for template in TEMPLATES if template.level == level]
    assert sum(not template.held_out for template in at) >= 5
    assert sum(template.held_out for template in at) >= 2


def test_level_1_of_the_text_family_has_256_different_held_out_tasks():
    tasks = distinct_tasks(ModelingTasks(style="short"), 1, 256)
    assert len({task.structure for task in tasks}) == 256


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.name)
def test_both_prompts_hold_every_size_that_makes_the_part(template):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        sizes = template.draw(rng)
        full = " ".join(template.say(feature, sizes, rng) for feature in template.words)
        for text in (full, template.say_shortly(sizes)):
            told = [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", text)]
            for name, value in sizes.items():
                assert value in told, (template.name, name, value, text)


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.name)
def test_every_phrasing_of_a_feature_names_the_same_sizes(template):
    for phrasings in template.words.values():
        assert len(phrasings) >= 2
        assert len({frozenset(re.findall(r"{(\w+)}", phrasing)) for phrasing in phrasings}) == 1
    assert set(re.findall(r"{(\w+)}", template.short)) == set(template.ranges)


@pytest.mark.parametrize(("family", "level"), CELLS)
def test_a_prompt_holds_every_number_that_it_is_said_to_tell(draw, family, level):
    for task in draw(family, level, 20):
        for style in ("full", "short") if (family, level) == ("text_to_part", 1) else ("full",):
            prompt = ModelingTasks(family, style).load(task.id).prompt
            told = [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", prompt)]
            assert all(value in told for value in task.public["sizes"].values()), prompt


def test_prompts_differ_in_their_phrasing(draw):
    frames = {task.prompt.partition("\n")[2] for task in draw("text_to_part", 1, 40)}
    assert len(frames) == 9


@pytest.mark.parametrize(("family", "level"), CELLS)
def test_turns_grow_with_the_level_and_only_edits_and_repairs_have_a_file(draw, family, level):
    (task,) = draw(family, level, 1)
    assert task.budget.turns == {1: 4, 2: 6, 3: 8}[level]
    assert list(task.files) == ([] if family == "text_to_part" else [INPUT])


def test_what_a_task_hides_is_of_json_types(draw):
    for family, level in CELLS:
        for task in draw(family, level, 3):
            assert json.loads(json.dumps(task.hidden)) == task.hidden


@pytest.mark.parametrize(
    "task_id",
    ["", "modeling-edit-1-train-1", "modeling-text_to_part-4-train-1", "modeling-text_to_part-1-test-1", None],
)
def test_an_id_that_is_none_is_refused(task_id):
    with pytest.raises(TaskError, match=r"no task|unknown level"):
        ModelingTasks().load(task_id)


def test_an_unknown_level_split_or_family_is_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(TaskError, match="unknown level 4"):
        ModelingTasks().sample(4, rng)
    with pytest.raises(TaskError, match="unknown split 'tset'. Did you mean 'test'"):
        ModelingTasks().sample(1, rng, "tset")
    with pytest.raises(ValueError, match="unknown family 'text'. Did you mean 'edit'|unknown family 'text'"):
        ModelingTasks("text")
