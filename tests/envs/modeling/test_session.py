"""What an agent is told while it works."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from workgym.envs.env import WorkEnv
from workgym.envs.modeling.brief import BriefSession
from workgym.tasks.errors import ActionError

MakeEnv = Callable[..., WorkEnv]

BOX = {"name": "primitive", "arguments": {"name": "a", "kind": "box", "size": [10, 20, 30]}}


def _call(name: str, /, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


@pytest.fixture
def env(make_env: MakeEnv) -> WorkEnv:
    env = make_env(level=3)
    env.reset(seed=0)
    return env


@pytest.fixture(scope="module")
def seeing(require_backend: Callable[[str], None]) -> Iterator[WorkEnv]:
    require_backend("local")
    env = gym.make("Modeling-v0", family="edit", level=3).unwrapped
    assert isinstance(env, WorkEnv)
    yield env
    env.close()


def test_the_report_tells_what_was_made(env: WorkEnv) -> None:
    assert env.step(BOX)[0].splitlines() == [
        "bodies: a",
        "out.ply is written",
        "valid: yes",
        "1 solids, 0 voids, genus 0, 12 triangles",
        "bounding box (0, 0, 0) to (10, 20, 30)",
        "volume 6000 mm3, area 2200 mm2",
        "center of mass (5, 10, 15)",
    ]


def test_the_report_tells_how_the_volume_changed(env: WorkEnv) -> None:
    env.step(BOX)
    assert "volume 6000 mm3 (no change)" in env.step(_call("transform", name="a", move=[1, 0, 0]))[0]
    assert (
        "volume 1000 mm3 (-5000)" in env.step("run_script import trimesh; result = trimesh.creation.box((10,) * 3)")[0]
    )


def test_the_first_part_of_an_edit_is_compared_with_what_was_handed_out(make_env: MakeEnv) -> None:
    env = make_env(family="edit")
    first, _ = env.reset(seed=3)
    assert "input.stl:\nvalid: yes\n1 solids" in first
    assert "(no change)" in env.step(_call("transform", name="input", move=[1, 0, 0]))[0]


def test_what_is_no_sound_part_is_said_in_the_phase_validate(env: WorkEnv) -> None:
    code = "import trimesh\nb = trimesh.creation.box((1, 1, 1))\nb.update_faces(b.face_normals[:, 2] < 0.5)\nresult = b"
    lines = env.step(f"run_script {code}")[0].splitlines()
    assert lines[1] == "failed in phase validate: out.ply is no sound part"
    assert lines[2].startswith("valid: no, open: 4 edges")


def test_a_block_of_code_is_run_as_a_script(env: WorkEnv) -> None:
    text = "A cube.\n```python\nfrom manifold3d import Manifold\nresult = Manifold.cube((1, 1, 1))\n```"
    assert "volume 1 mm3" in env.step(text)[0]


def test_a_script_can_be_edited(env: WorkEnv) -> None:
    assert "no script was run yet" in env.step(_call("edit_script", old="a", new="b"))[0]
    env.step("run_script from manifold3d import Manifold\nresult = Manifold.cube((1, 1, 1))")
    assert "stands 3 times" in env.step(_call("edit_script", old="1", new="2"))[0]
    assert "volume 5 mm3" in env.step(_call("edit_script", old="(1,", new="(5,"))[0]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (_call("primitive", name="a", kind="box"), "a box needs size"),
        (_call("primitive", name="a", kind="cylinder", radius=1), "a cylinder needs height"),
        (_call("primitive", name="a", kind="sphere", radius=1, top=2), "a sphere has no top"),
        (_call("primitive", name="a", kind="sphere", radius=0), "radius must be from 0.001 to 10000"),
        (_call("primitive", name="a", kind="sphere", radius=float("nan")), "radius must be from"),
        (_call("primitive", name="a", kind="torus", radius=2, tube=3), "tube < radius"),
        (_call("primitive", name="A b", kind="sphere", radius=1), "lower-case word"),
        (_call("primitive", name="a\n", kind="sphere", radius=1), "lower-case word"),
        (_call("primitive", name="a", kind="box", size=[1, 2]), "size must be a list of 3"),
        (_call("primitive", name="a", kind="box", size=[1, 2, "3"]), "size must be a number, not str"),
        (_call("primitive", name="a", kind="box", size=[1, 2, True]), "size must be a number, not bool"),
        (_call("primitive", name="a", kind="cube", size=[1, 2, 3]), "unknown kind 'cube'"),
        (_call("extrude", name="a", outline=[[0, 0], [1, 0]], height=1), "list of 3 to 512"),
        (_call("extrude", name="a", outline=[[0, 0], [1, 0], [2, 0]], height=1), "no area"),
        (_call("extrude", name="a", outline=[[0, 0], [4, 4], [4, 0], [0, 4], [-9, 1]], height=1), "crosses"),
        (_call("boolean", op="union", a="a", b="b"), "unknown body 'a'"),
        (_call("boolean", op="union", a="a", b="a"), "cannot be combined with itself"),
        (_call("delete", name="input"), "unknown body 'input'"),
        (_call("transform", name="a", turn=[0, 0, 1e9]), "from -360 to 360"),
    ],
)
def test_a_call_that_makes_no_sense_changes_nothing(env: WorkEnv, call: dict[str, Any], words: str) -> None:
    assert words in env.step(call)[0]
    assert "there is no part yet" in env.step('measure {"kind": "volume"}')[0]


def test_a_body_that_is_cut_away_whole_leaves_what_was_there(env: WorkEnv) -> None:
    env.step([BOX, _call("transform", name="a", copy="b")])
    assert "failed in phase kernel: the part is empty" in env.step(_call("boolean", op="difference", a="a", b="b"))[0]
    assert "bodies: a" in env.step(_call("delete", name="b"))[0]
    assert "12 triangles" in env.step('measure {"kind": "triangles"}')[0]


def test_the_part_that_is_handed_out_can_be_a_body(make_env: MakeEnv) -> None:
    env = make_env(family="edit")
    env.reset(seed=3)
    env.step(_call("transform", name="input", copy="part"))
    assert "bodies: part" in env.step(_call("delete", name="input"))[0]


def test_files_are_measured_and_handed_in_by_name(make_env: MakeEnv) -> None:
    env = make_env(family="edit")
    env.reset(seed=3)
    env.step("run_script import trimesh; trimesh.creation.box((1, 2, 3)).export('mine.stl')")
    assert "mine.stl: volume 6 mm3" in env.step('measure {"kind": "volume", "file": "mine.stl"}')[0]
    assert "unknown mesh file 'other.stl'" in env.step("submit other.stl")[0]
    _, reward, terminated, *_ = env.step("submit mine.stl")
    assert (reward, terminated) == (0.0, True)
    assert env.attempt is not None
    assert list(env.attempt.files) == ["out.stl"]


def test_what_stands_is_judged_when_the_turns_are_over(env: WorkEnv) -> None:
    env.step(env.oracle_action())
    for _ in range(6):
        env.step("show_target")
    _, reward, _, truncated, info = env.step("show_target")
    assert (reward, truncated, info["end_reason"]) == (1.0, True, "turns")


def test_views_are_shown_and_the_sheet_comes_back(seeing: WorkEnv) -> None:
    first, _ = seeing.reset(seed=3)
    assert first["image"].shape == (512, 768, 3)
    view = seeing.step('render {"view": "top", "mode": "section"}')[0]
    assert view["text"] == "the picture shows input.stl from top, section"
    assert (view["image"] != first["image"]).any()
    assert np.array_equal(seeing.step("show_target")[0]["image"], first["image"])
    assert (seeing.step(BOX)[0]["image"] != first["image"]).any()


def test_a_larger_part_gives_another_picture(seeing: WorkEnv) -> None:
    seeing.reset(seed=3)
    code = "run_script import trimesh; result = trimesh.creation.box(({0}, {0}, {0}))"
    one, other = (seeing.step(code.format(size))[0]["image"] for size in (20, 40))
    assert (one != other).any()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("box 1 2", "box takes 3 numbers, not 2"),
        ("boxx 1 2 3", "Did you mean 'box'"),
        ("", "unknown shape"),
        ("box 1 2 z", "box takes 3 numbers"),
        ("cylinder 1 b", "no number"),
        ("sphere 1 @ 1 2", "@ takes 3 numbers"),
        ("prism 5 0 0 1 0", "at least 3 pairs"),
        ("sphere 1e9", "radius must be from"),
        ("sphere nan", "radius must be from"),
    ],
)
def test_a_line_of_a_small_model_that_makes_no_sense_is_answered(make_env: MakeEnv, line: str, words: str) -> None:
    env = make_env(style="short")
    env.reset(seed=0)
    assert words in env.step(f"make {line}")[0]


def test_small_models_are_told_corners_and_volume(make_env: MakeEnv) -> None:
    env = make_env(style="short")
    env.reset(seed=0)
    assert "no part yet" in env.step("c box 1 1 1")[0]
    assert env.step("m box 10 10 10 @ 1 2 3")[0] == "1,2,3 11,12,13 v1000"
    assert env.step("c box 10 10 5 @ 1 2 3")[0] == "1,2,8 11,12,13 v500"


def test_shapes_of_small_models_are_those_of_the_mesh_tools(make_env: MakeEnv) -> None:
    env = make_env(style="short")
    env.reset(seed=0)
    assert env.step("make prism 3 0 0 4 0 0 4 y @ 1 1 1")[0] == "1,1,1 5,4,5 v24"
    assert env.step("make cone 5 0 9 x")[0].startswith("0,-5,-5 9,5,5 v")
    assert env.step("join torus 5 2")[0].startswith("-7,-7,-5 9,7,5 v")


def test_snapshots_of_another_task_are_refused(make_env: MakeEnv) -> None:
    env = make_env(style="short")
    env.reset(seed=0)
    session = env._latest_episode().session
    assert isinstance(session, BriefSession)
    with pytest.raises(ValueError, match="the snapshot is of task"):
        session.restore(("another", session.state))
    with pytest.raises(ActionError):
        session.submit("nothing.stl")
