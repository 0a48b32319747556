"""examples/curriculum.py: two schedulers, one imitated model, the same number of sampled tokens."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SMALL = ["n_demonstrations=24", "sft_steps=21", "sft_rows=8", "rl_tasks=4", "rl_group=4", "rl_tokens=3000", "n_eval=4"]
TINY = ["d_model=32", "n_layers=2", "n_heads=2", "d_ff=64", "n_envs=16"]


@pytest.fixture(autouse=True)
def _machine(require_backend: Callable[[str], None], require_extra: Callable[[str], None]) -> None:
    require_backend("local")
    require_extra("train")


def compare(out: Path, seeds: list[int], settings: list[str], timeout_s: float) -> list[dict[str, Any]]:
    words = [sys.executable, str(ROOT / "examples" / "curriculum.py"), "--out", str(out), "--seeds", *map(str, seeds)]
    words += [f"--set={setting}" for setting in settings]
    done = subprocess.run(words, capture_output=True, text=True, timeout=timeout_s)
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads((out / f"seed-{seed}.json").read_text()) for seed in seeds]


def solved(arm: dict[str, Any]) -> float:
    return sum(k for k, _ in arm["solved"].values()) / sum(n for _, n in arm["solved"].values())


@pytest.mark.xdist_group("quickstart")
def test_both_schedulers_practice_with_the_same_tokens_from_the_same_model(tmp_path: Path) -> None:
    [result] = compare(tmp_path, [3], SMALL + TINY, 120)
    for name in ("outcome", "uniform"):
        tokens = [line["tokens/sampled"] for line in result[name]["steps"]]
        assert tokens[-2] < 3000 <= tokens[-1]
        assert {n for _, n in result[name]["solved"].values()} == {4}
    first = [result[name]["steps"][0] for name in ("outcome", "uniform")]
    assert first[0]["curriculum/coding/1"] == pytest.approx(first[1]["curriculum/coding/1"])
    assert first[0]["tokens/sampled"] == first[1]["tokens/sampled"]  # the same weights play the same tasks
    assert (tmp_path / "table.md").read_text().count("| 3 |") == 3
    assert (tmp_path / "shares.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.xdist_group("quickstart")
def test_practice_by_outcome_ends_higher_than_uniform_practice(tmp_path: Path) -> None:
    results = compare(tmp_path, [0, 1, 2], [], 3600)
    assert sum(solved(one["outcome"]) for one in results) > sum(solved(one["uniform"]) for one in results)
