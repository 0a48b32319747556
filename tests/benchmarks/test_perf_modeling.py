"""The benchmark of the modeling domain measures what it says."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable

import pytest

from workgym.benchmarks.perf import modeling

KEYS = {"name", "ratio", "goal", "better", "load"}


def lines_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, object]]:
    modeling.main(["--rounds", "1", "--runs", "1", "--points", "2000", *arguments])
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.fixture
def _geometry(require_extra: Callable[[str], None]) -> None:
    require_extra("modeling")


@pytest.mark.usefixtures("_geometry")
def test_each_measure_is_a_line_with_its_goal(capsys, require_backend):
    require_backend("local")
    lines = lines_of(capsys, "--only", "script", "verdict", "truth")

    assert [line["name"] for line in lines] == [
        "modeling_script_warm_over_cold",
        "modeling_verdict",
        "modeling_solid_of_tree",
        "modeling_truth",
    ]
    for line in lines:
        assert set(line) >= KEYS
        assert line["ratio"] > 0


@pytest.mark.usefixtures("_geometry")
def test_points_find_the_overlap_that_a_boolean_finds(capsys):
    plate, tasks = lines_of(capsys, "--only", "iou")

    assert plate["sampled_off_by"] < 0.01
    assert tasks["sampled_off_by"] < 0.05
    assert {"level_1", "level_2", "level_3"} <= set(tasks)


def test_what_is_missing_is_skipped_with_the_command_that_installs_it(capsys, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "trimesh" else find(name))

    lines = lines_of(capsys)

    assert [line["name"] for line in lines] == [
        f"modeling_{one}" for one in ("script", "iou", "verdict", "views", "truth")
    ]
    assert all("no trimesh: pip install" in str(line["skipped"]) for line in lines)
