"""The quickstart as a whole: it learns for real, reports, and survives kill -9 to the bit."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from workgym.agents.archive import FRAMES, Archive
from workgym.tasks.coding.source import CodingTasks

SMALL = {
    "n_demonstrations": 48,
    "sft_steps": 9,
    "sft_rows": 16,
    "rl_steps": 6,
    "rl_tasks": 3,
    "rl_group": 4,
    "n_eval": 8,
    "d_model": 32,
    "n_layers": 2,
    "n_heads": 2,
    "d_ff": 64,
    "checkpoint_every": 2,
    "n_envs": 8,
    "n_threads": 1,
}


@pytest.fixture(autouse=True)
def _machine(require_backend: Callable[[str], None], require_extra: Callable[[str], None]) -> None:
    require_backend("local")
    require_extra("train")


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "workgym", "train", *words]


def begin(folder: Path, **settings: object) -> list[str]:
    pairs = [f"--set={key}={json.dumps(value)}" for key, value in (SMALL | settings).items()]
    return command("quickstart", "--out", str(folder), *pairs)


def finish(words: list[str], timeout_s: float = 300) -> str:
    done = subprocess.run(words, capture_output=True, text=True, timeout=timeout_s)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stderr


def timeless(record: Any) -> Any:
    """A record without what a clock measured."""
    if isinstance(record, dict):
        return {key: timeless(value) for key, value in record.items() if not key.endswith("_s")}
    return [timeless(item) for item in record] if isinstance(record, (list, tuple)) else record


def episodes(folder: Path) -> dict[str, Any]:
    with Archive.open(folder / "archive") as archive:
        found = [asdict(episode) for episode in archive]
    assert len({episode["rollout_id"] for episode in found}) == len(found)
    return {episode["rollout_id"]: timeless(episode) for episode in found}


def metrics(folder: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{name: value for name, value in line.items() if not name.startswith("time/")} for line in lines]


def report(folder: Path) -> Any:
    return timeless(json.loads((folder / "report.json").read_text()))


def weights(folder: Path) -> bytes:
    return (folder / "model" / "model.safetensors").read_bytes()


def assert_same_run(one: Path, other: Path) -> None:
    assert weights(one) == weights(other)
    assert metrics(one) == metrics(other)
    assert episodes(one) == episodes(other)
    assert report(one) == report(other)


def run_until(words: list[str], archive: Path, n_bytes: int) -> int:
    """Run, and kill -9 once the archive holds so many bytes; return the exit code."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None:
        if archive.exists() and archive.stat().st_size >= n_bytes:
            process.send_signal(signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.02)
    return process.returncode


def kill_and_resume(folder: Path, whole: Path, n_kills: int, seed: int) -> None:
    """Kill a run at random points of its archive until it has been killed so often, then let it end."""
    size = (whole / "archive" / FRAMES).stat().st_size
    archive = folder / "archive" / FRAMES
    rng = random.Random(seed)
    n_killed = 0
    while n_killed < n_kills:
        words = command("--resume", str(folder)) if (folder / "recipe.json").exists() else begin(folder)
        now = archive.stat().st_size if archive.exists() else 0
        code = run_until(words, archive, now + rng.randrange(1, size // 3))
        assert code in (0, -signal.SIGKILL)
        if code == 0:
            break
        n_killed += 1
    assert n_killed >= 1
    finish(command("--resume", str(folder)))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run that was never interrupted."""
    folder = tmp_path_factory.mktemp("quickstart") / "whole"
    finish(begin(folder))
    return folder


@pytest.mark.xdist_group("quickstart")
def test_a_run_leaves_everything_a_reader_looks_for(whole: Path) -> None:
    names = {path.name for path in whole.iterdir()}
    assert names >= {
        "config.json",
        "metrics.jsonl",
        "tensorboard",
        "archive",
        "checkpoints",
        "model",
        "curve.png",
        "report.md",
        "report.json",
    }
    assert (whole / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert list((whole / "tensorboard").iterdir())
    stages = json.loads((whole / "report.json").read_text())["stages"]
    assert [stage["name"] for stage in stages] == ["before", "sft", "rl"]
    for stage in stages:
        assert {"success", "low", "high", "n", "train_success", "cpu_s"} <= set(stage)
        assert 0 <= stage["low"] <= stage["success"] <= stage["high"] <= 1
        assert stage["n"] == SMALL["n_eval"]
    assert stages[1]["cpu_s"] > 0 < stages[2]["cpu_s"]
    assert len(metrics(whole)) == 9 + 6
    kinds = {name.partition("/")[0] for name in episodes(whole)}
    assert kinds == {"demo", "rl"} | {
        f"eval-{stage}-{kind}" for stage in ("before", "sft", "rl") for kind in ("test", "train", "greedy")
    }


@pytest.mark.xdist_group("quickstart")
def test_no_task_of_an_evaluation_is_ever_trained_on(whole: Path) -> None:
    source = CodingTasks("expression", "short")
    trained, held_out, known = set(), set(), set()
    for name, episode in episodes(whole).items():
        structure = source.load(episode["task_id"]).structure
        kind = trained if name.startswith(("demo", "rl/")) else known if "-train/" in name else held_out
        kind.add(structure)
    assert not trained & held_out
    assert len(held_out) == SMALL["n_eval"]
    assert known & trained  # the same search finds what was trained on


@pytest.mark.xdist_group("quickstart")
def test_the_same_seed_gives_the_same_run_to_the_bit(whole: Path, tmp_path: Path) -> None:
    finish(begin(tmp_path / "again"))
    assert_same_run(whole, tmp_path / "again")


@pytest.mark.xdist_group("quickstart")
def test_a_run_killed_and_resumed_ends_with_the_same_weights_to_the_bit(whole: Path, tmp_path: Path) -> None:
    kill_and_resume(tmp_path / "killed", whole, n_kills=3, seed=1)
    assert_same_run(whole, tmp_path / "killed")


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.xdist_group("quickstart")
def test_twenty_kills_at_random_points_change_nothing(whole: Path, tmp_path: Path) -> None:
    n_kills = 0
    for round_ in range(10):
        folder = tmp_path / f"killed-{round_}"
        kill_and_resume(folder, whole, n_kills=2, seed=100 + round_)
        assert_same_run(whole, folder)
        n_kills += 2
    assert n_kills == 20


@pytest.mark.xdist_group("quickstart")
def test_a_run_needs_no_home_and_leaves_nothing_in_tmp(tmp_path: Path) -> None:
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    environ = {name: value for name, value in os.environ.items() if name != "TORCHINDUCTOR_CACHE_DIR"}
    environ |= {"HOME": "/proc/nowhere", "TMPDIR": str(scratch)}
    done = subprocess.run(begin(tmp_path / "run"), capture_output=True, text=True, timeout=300, env=environ)
    assert done.returncode == 0, done.stderr[-3000:]
    assert not [path.name for path in scratch.iterdir() if "torch" in path.name]


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.xdist_group("quickstart")
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_reinforcement_beats_imitation_on_functions_that_neither_has_seen(tmp_path: Path, seed: int) -> None:
    began = time.monotonic()
    finish(command("quickstart", "--seed", str(seed), "--out", str(tmp_path / "run")), timeout_s=900)
    took_s = time.monotonic() - began
    before, imitated, practiced = json.loads((tmp_path / "run" / "report.json").read_text())["stages"]
    assert before["high"] < imitated["low"]
    assert imitated["high"] < practiced["low"]
    assert practiced["n"] == 256
    assert practiced["n_invalid"] == 0
    assert took_s < 360


@pytest.mark.xdist_group("quickstart")
def test_a_run_that_is_over_is_only_reported_again(whole: Path) -> None:
    before = weights(whole), episodes(whole)
    assert "hold the result" in finish(command("--resume", str(whole)))
    assert (weights(whole), episodes(whole)) == before


@pytest.mark.xdist_group("quickstart")
def test_a_run_whose_settings_were_changed_is_not_continued(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "edited"
    shutil.copytree(whole, folder)
    config = json.loads((folder / "config.json").read_text()) | {"level": 2, "d_model": 64}
    (folder / "config.json").write_text(json.dumps(config))
    done = subprocess.run(command("--resume", str(folder)), capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "level was 1 and is 2; d_model was 32 and is 64" in done.stderr
    assert (folder / "report.json").read_bytes() == (whole / "report.json").read_bytes()


@pytest.mark.xdist_group("quickstart")
def test_what_was_taken_out_of_a_run_is_said(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "lossy"
    shutil.copytree(whole, folder)
    lines = (folder / "metrics.jsonl").read_text().splitlines(keepends=True)
    (folder / "metrics.jsonl").write_text("".join(lines[:-2]))
    said = finish(command("--resume", str(folder)))
    assert f"holds {len(lines) - 2} lines in its metrics.jsonl; at its last checkpoint it held {len(lines)}" in said


@pytest.mark.xdist_group("quickstart")
@pytest.mark.parametrize(
    ("name", "content"),
    [("recipe.json", '{"recipe": ["a"]}'), ("config.json", "[" * 100_000), ("metrics.jsonl", "garbage\n")],
)
def test_a_damaged_run_is_refused_in_one_line_that_names_the_file(
    whole: Path, tmp_path: Path, name: str, content: str
) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(whole, folder)
    (folder / name).write_text(content)
    done = subprocess.run(command("--resume", str(folder)), capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert name in done.stderr or "recipe" in done.stderr


@pytest.mark.xdist_group("quickstart")
def test_a_run_that_is_stopped_by_hand_says_how_to_go_on(tmp_path: Path) -> None:
    folder = tmp_path / "stopped"
    process = subprocess.Popen(
        begin(folder, n_demonstrations=2000),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a background job inherits it ignored
    )
    archive = folder / "archive" / FRAMES
    while process.poll() is None and not (archive.exists() and archive.stat().st_size):
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.02)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert f"workgym train --resume {folder}".encode() in said
    assert b"Traceback" not in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["quickstrat"], "unknown recipe 'quickstrat'. Did you mean 'quickstart'"),
        (["quickstart", "--set", "sed=1"], "unknown setting 'sed'. Did you mean 'seed'"),
        (["quickstart", "--set", "level=high"], "setting level must be of type int"),
        (["quickstart", "--set", "level=9"], "level"),
        (["quickstart", "--set", "n_eval=0"], "n_eval"),
        (["quickstart", "--set", "sft_steps=-1"], "sft_steps"),
        (["quickstart", "--set", "sft_lr=nan"], "sft_lr must be in [0, 1]"),
        (["quickstart", "--set", "rl_lr=-1"], "rl_lr must be in [0, 1]"),
        (["quickstart", "--set", "n_heads=3"], "d_model 128 over 3 heads"),
        (["quickstart", "--set", "n_eval=400"], "no 400 distinct tasks"),
        (["quickstart", "--set", "seed=-1"], "seed must be from 0"),
        (["quickstart", "--set", "n_threads=1000000"], "n_threads must be from 1 to 256"),
        (["quickstart", "--config", "absent.toml"], "cannot read the configuration absent.toml"),
        (["--resume", "absent"], "absent holds no run"),
        (["--resume", "absent", "--seed", "1"], "give no recipe and no settings"),
        ([], "name a recipe"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(words: list[str], said: str, tmp_path: Path) -> None:
    done = subprocess.run(command(*words), capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "runs").exists()


def test_a_folder_in_use_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    done = subprocess.run(begin(tmp_path), capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "is in use" in done.stderr
    assert os.listdir(tmp_path) == ["mine.txt"]
