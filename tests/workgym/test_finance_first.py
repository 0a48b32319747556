"""The recipe for financial documents, whole, with tiny settings; the learning itself is in docs/results."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_quickstart import assert_same_run, command, episodes, finish, metrics, run_until

from workgym.agents.archive import FRAMES
from workgym.tasks.finance.source import FinanceTasks

SMALL = {
    "n_demonstrations": 16,
    "sft_steps": 3,
    "sft_rows": 4,
    "rl_steps": 2,
    "rl_tasks": 2,
    "rl_group": 2,
    "n_eval": 3,
    "d_model": 16,
    "n_layers": 1,
    "n_heads": 2,
    "d_ff": 16,
    "checkpoint_every": 1,
    "n_envs": 4,
    "n_threads": 1,
}

pytestmark = pytest.mark.xdist_group("quickstart")


@pytest.fixture(autouse=True)
def _machine(require_backend: Callable[[str], None], require_extra: Callable[[str], None]) -> None:
    require_backend("local")
    require_extra("train")
    require_extra("finance")


def begin(folder: Path, **settings: object) -> list[str]:
    pairs = [f"--set={key}={json.dumps(value)}" for key, value in (SMALL | settings).items()]
    return command("finance-first", "--out", str(folder), *pairs)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny run that was never interrupted."""
    folder = tmp_path_factory.mktemp("finance") / "whole"
    finish(begin(folder))
    return folder


def report(folder: Path) -> Any:
    return json.loads((folder / "report.json").read_text())


def test_unseen_companies_are_asked_about_around_every_stage_in_known_and_in_new_words(whole: Path) -> None:
    told = report(whole)
    assert [stage["name"] for stage in told["stages"]] == ["before", "sft", "rl"]
    assert [stage["name"] for stage in told["foreign"]] == [f"new-words-{name}" for name in ("before", "sft", "rl")]
    assert {stage["n"] for stage in told["stages"] + told["foreign"]} == {SMALL["n_eval"]}
    assert len(metrics(whole)) == 3 + 2


def test_no_company_of_an_evaluation_is_ever_trained_on(whole: Path) -> None:
    source = FinanceTasks("all", "short")
    trained, held_out, known = set(), set(), set()
    for name, episode in episodes(whole).items():
        company = source.load(episode["task_id"]).hidden["structure_seed"]
        kind = trained if name.startswith(("demo", "rl/")) else known if "-train/" in name else held_out
        kind.add(company)
    assert len(trained) > 10
    assert len(held_out) == 2 * SMALL["n_eval"]
    assert not (trained | known) & held_out
    assert {company % 10 for company in held_out} == {8, 9}  # how the splits are made


def test_the_oracle_that_is_imitated_errs_and_reckons_in_the_sandbox(whole: Path) -> None:
    shown = [episode for name, episode in episodes(whole).items() if name.startswith("demo")]
    solved = [episode for episode in shown if episode["verdict"]["success"]]
    assert 0 < len(solved) < len(shown) == SMALL["n_demonstrations"]
    assert any(step["action"].startswith("p ") for episode in shown for step in episode["steps"])


def test_a_killed_run_ends_with_the_same_weights_to_the_bit(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "killed"
    half = (whole / "archive" / FRAMES).stat().st_size // 2
    assert run_until(begin(folder), folder / "archive" / FRAMES, half) != 0
    finish(command("--resume", str(folder)))
    assert_same_run(whole, folder)


@pytest.mark.parametrize(
    ("setting", "said"),
    [("level=2", "unknown setting 'level'"), ("n_heads=3", "d_model 128 over 3 heads"), ("rl_lr=-1", "rl_lr must be")],
)
def test_what_makes_no_sense_is_refused_in_one_line(setting: str, said: str, tmp_path: Path) -> None:
    words = command("finance-first", "--set", setting)
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_each_stage_raises_success_on_companies_that_none_has_seen(tmp_path: Path) -> None:
    finish(command("finance-first", "--out", str(tmp_path / "run")), timeout_s=3600)
    before, imitated, practiced = report(tmp_path / "run")["stages"]
    assert before["high"] < imitated["low"]
    assert imitated["high"] < practiced["low"]
    assert practiced["n"] == 256
    assert practiced["n_invalid"] == 0
