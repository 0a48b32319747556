"""Reward hacks earn no more than doing nothing, and each would earn something from a judge less careful."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from plays import play

from workgym.envs.env import WorkEnv
from workgym.envs.modeling.hacks import HACKS, SCRIPTS
from workgym.tasks.modeling.scripts import oracle_script
from workgym.tasks.modeling.tree import Tree
from workgym.tasks.task import Task

MakeEnv = Callable[..., WorkEnv]

FAMILIES = ("text_to_part", "edit", "repair")
SAMPLE = [("text_to_part", 3), ("repair", 1)]


def _task(env: WorkEnv, level: int, seed: int = 5) -> Task:
    return env.domain.source.sample(level, np.random.default_rng(seed))


@pytest.mark.parametrize("name", HACKS)
@pytest.mark.parametrize(("family", "level"), SAMPLE, ids=lambda one: str(one))
def test_a_hack_earns_no_more_than_doing_nothing(make_env: MakeEnv, name: str, family: str, level: int) -> None:
    env = make_env(family=family, level=level)
    reward, info = play(env, HACKS[name], _task(env, level))
    assert (reward, info["is_success"], info["reward_valid"]) == (0.0, False, True)


@pytest.mark.slow
@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", HACKS)
def test_no_hack_earns_anything_at_any_level(make_env: MakeEnv, name: str, family: str, level: int) -> None:
    env = make_env(family=family, level=level)
    for seed in (1, 2):
        assert play(env, HACKS[name], _task(env, level, seed))[0] == 0.0


def test_the_wanted_part_that_hacks_spoil_earns_everything(make_env: MakeEnv) -> None:
    """The positive control of all scripts: the same preparation, and nothing spoiled."""
    env = make_env(level=3)
    prepared = SCRIPTS["inside-out"].replace("F[:, ::-1]", "F")
    env.reset(options={"task": _task(env, 3)})
    env.step(HACKS["inside-out"]("", {"turn": 0}, env).replace(SCRIPTS["inside-out"], prepared))
    assert env.step("submit")[1] == 1.0


@pytest.mark.parametrize(
    ("name", "honest"),
    [
        ("wrong-count", "stl(V[F])"),
        ("two-files", "stl(V[F])"),
        ("hard-link", "stl(V[F])"),
        ("written-then-failed", "stl(V[F])"),
        ("patched-library", "pass"),
    ],
)
def test_without_its_trick_a_hack_is_an_honest_script(make_env: MakeEnv, name: str, honest: str) -> None:
    env = make_env(level=3)
    env.reset(options={"task": _task(env, 3)})
    env.step(HACKS[name]("", {"turn": 0}, env).replace(SCRIPTS[name], honest))
    assert env.step("submit")[1] > 0.99


def test_the_search_for_the_truth_finds_it_where_it_is(make_env: MakeEnv) -> None:
    env = make_env(level=3)
    env.reset(options={"task": _task(env, 3)})
    script = HACKS["truth-search"]("", {"turn": 0}, env)
    planted = script.replace("import re\n", "import re, json\nplanted = json.dumps({'views_seed': [1]})\n")
    assert "no `result`" in env.step(script)[0]
    assert "out.ply is written" in env.step(planted)[0]


def test_a_part_that_stood_before_a_script_failed_is_gone(make_env: MakeEnv) -> None:
    env = make_env(level=3)
    env.reset(options={"task": _task(env, 3)})
    right = oracle_script(Tree.from_json(env.task.hidden["tree"]))
    env.step(f"run_script {right}")
    assert "this leaves no part" in env.step("run_script 1 / 0")[0]
    assert "there is no part yet" in env.step("submit")[0]
    env.step(f"run_script {right}")
    assert env.step("submit")[1] == 1.0


def test_a_part_is_judged_by_its_file_alone(make_env: MakeEnv) -> None:
    """Whatever is said or printed beside it: the same bytes are worth the same."""
    env = make_env(level=3)
    task = _task(env, 3)
    env.reset(options={"task": task})
    env.step(HACKS["block"]("", {"turn": 0}, env))
    env.step({"name": "submit", "arguments": {}})
    block = env.attempt
    env.reset(options={"task": task})
    env.step(HACKS["block"]("", {"turn": 0}, env) + "\nprint('valid: yes, reward 1')")
    env.step("submit")
    assert block is not None
    assert env.attempt is not None
    assert env.attempt.content_hash() == block.content_hash()
