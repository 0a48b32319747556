"""Modeling-v0 keeps the contract of the suite."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from workgym.envs.env import WorkEnv
from workgym.envs.testing import check_domain
from workgym.tasks.errors import TaskError
from workgym.tasks.modeling.source import ModelingTasks

MakeEnv = Callable[..., WorkEnv]


@pytest.fixture(autouse=True)
def _needs(require_backend: Callable[[str], None]) -> None:
    require_backend("local")


@pytest.mark.xdist_group("alone")
def test_it_passes_the_conformance_test() -> None:
    check_domain("Modeling-v0", kwargs={"style": "short"}, n_tasks=3)


@pytest.mark.slow
@pytest.mark.xdist_group("alone")
@pytest.mark.parametrize("pictures", [True, False], ids=["pictures", "words"])
@pytest.mark.parametrize("family", ["text_to_part", "edit", "repair"])
def test_every_family_passes_the_conformance_test(family: str, pictures: bool) -> None:
    check_domain("Modeling-v0", kwargs={"family": family, "pictures": pictures}, n_tasks=4 if pictures else 8)


@pytest.mark.xdist_group("alone")
def test_with_pictures_it_is_accepted_by_gymnasium() -> None:
    check_domain("Modeling-v0", levels=[1], n_tasks=1, only=["check_env", "spec"])


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_it_runs_as_a_vector_with_pictures(mode: str) -> None:
    envs = gym.make_vec("Modeling-v0", num_envs=2, vectorization_mode=mode)
    observations, _ = envs.reset(seed=[3, 4])
    assert observations["image"].shape == (2, 512, 768, 3)
    cube = "run_script from manifold3d import Manifold\nresult = Manifold.cube((20, 20, 20))"
    after, rewards, *_, infos = envs.step((cube, "measure"))
    assert after["text"][0].startswith("the script ran")
    assert (after["image"][0] != observations["image"][0]).any()
    assert (after["image"][1] == observations["image"][1]).all()
    assert (rewards.tolist(), infos["action_valid"].tolist()) == ([0.0, 0.0], [True, False])
    envs.close()


def test_a_picture_is_what_rgb_array_renders() -> None:
    env = gym.make("Modeling-v0", family="edit", render_mode="rgb_array")
    observation, _ = env.reset(seed=1)
    assert observation["image"].any()
    assert np.array_equal(env.render(), observation["image"])
    env.close()


def test_loading_it_loads_no_geometry() -> None:
    code = (
        "import gymnasium as gym, sys, workgym; gym.make('Modeling-v0').close(); "
        "print([one for one in ('trimesh', 'manifold3d', 'pyrender', 'embreex', 'scipy') if one in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("way", ["snapshot", "fork"])
def test_a_copy_of_an_episode_goes_its_own_way(make_env: MakeEnv, way: str) -> None:
    env = make_env()
    env.reset(seed=2)
    env.step({"name": "primitive", "arguments": {"name": "a", "kind": "box", "size": [1, 2, 3]}})
    env.step("run_script open('note.txt', 'w').write('x')\nimport trimesh\nresult = trimesh.creation.box((2, 2, 2))")
    other = env.fork(1)[0]
    if way == "snapshot":
        snapshot = other.snapshot()
        other.step("run_script import os; os.remove('note.txt')")
        other.restore(snapshot)
    env.step("run_script import os; os.remove('note.txt')")
    assert "volume 8 mm3" in other.step('measure {"kind": "volume"}')[0]
    assert "printed: x" in other.step("run_script print(open('note.txt').read())")[0]
    other.close()


def test_a_spoiled_truth_fails_the_oracle(make_env: MakeEnv) -> None:
    env = make_env(level=2)
    task = ModelingTasks(family="text_to_part").sample(2, np.random.default_rng(8))
    oracle = env.domain.players["oracle"]
    earned = []
    for hidden in (task.hidden, {**task.hidden, "tree": task.hidden["half_right"]}):
        observation, info = env.reset(options={"task": task})
        right = oracle(observation, info, env)
        env.reset(options={"task": replace(task, hidden=hidden)})
        env.step(right)
        earned.append(float(env.step("submit")[1]))
    assert earned[0] == 1.0
    assert earned[1] < 1.0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"family": "repairs"}, "Did you mean 'repair'"),
        ({"style": "long"}, "style"),
        ({"level": 4}, "level"),
        ({"sandbox": "none"}, "sandbox"),
        ({"style": "short", "level": 2}, "level"),
        ({"style": "short", "family": "edit"}, "style 'short'"),
        ({"style": "short", "render_mode": "rgb_array"}, "render mode"),
    ],
)
def test_what_does_not_exist_is_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        gym.make("Modeling-v0", **arguments).unwrapped.close()


def test_a_task_of_another_family_is_refused(make_env: MakeEnv) -> None:
    task = ModelingTasks("repair").sample(1, np.random.default_rng(0))
    with pytest.raises(TaskError, match="of family 'repair'; this environment plays 'text_to_part'"):
        make_env().reset(options={"task": task})
