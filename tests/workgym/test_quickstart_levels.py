"""The quickstart at several levels: shares follow outcomes, are logged, and survive kill -9."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_quickstart import assert_same_run, begin, command, finish, metrics, run_until

from workgym.agents.archive import Archive

SETTINGS: dict[str, Any] = {
    "levels": [1, 2, 3],
    "n_demonstrations": 20,
    "sft_steps": 2,
    "rl_tasks": 4,  # of three levels: their estimates part even where nothing is ever solved
    "rl_steps": 50,
    "rl_tokens": 6000,
    "n_eval": 3,
}
SHARES = [f"curriculum/coding/{level}" for level in (1, 2, 3)]


@pytest.fixture(autouse=True)
def _machine(require_backend: Callable[[str], None], require_extra: Callable[[str], None]) -> None:
    require_backend("local")
    require_extra("train")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run over three levels that was never interrupted."""
    folder = tmp_path_factory.mktemp("levels") / "whole"
    finish(begin(folder, **SETTINGS))
    return folder


def practiced(folder: Path) -> list[dict[str, Any]]:
    return [line for line in metrics(folder) if line["stage/rl"]]


@pytest.mark.xdist_group("quickstart")
def test_the_shares_of_the_levels_are_logged_at_every_step(whole: Path) -> None:
    steps = practiced(whole)
    assert all(sum(line[name] for name in SHARES) == pytest.approx(1) for line in steps)
    assert [steps[0][name] for name in SHARES] == pytest.approx([1 / 3] * 3)
    assert len({round(line[SHARES[0]], 6) for line in steps}) > 3  # they move


@pytest.mark.xdist_group("quickstart")
def test_the_shares_of_the_levels_are_in_tensorboard(whole: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(whole / "tensorboard"))
    events.Reload()
    for name in SHARES:
        seen = [event.value for event in events.Scalars(name)]
        assert seen == pytest.approx([line[name] for line in practiced(whole)])


@pytest.mark.xdist_group("quickstart")
def test_practice_ends_with_the_step_that_uses_its_tokens_up(whole: Path) -> None:
    sampled = [line["tokens/sampled"] for line in practiced(whole)]
    assert len(sampled) < SETTINGS["rl_steps"]
    assert sampled == sorted(sampled)
    assert sampled[-2] < SETTINGS["rl_tokens"] <= sampled[-1]
    with Archive.open(whole / "archive") as archive:
        assert sum(episode.cost.tokens_out for episode in archive.query(prefix="rl/")) == sampled[-1]


@pytest.mark.xdist_group("quickstart")
def test_every_level_is_demonstrated_practiced_and_evaluated(whole: Path) -> None:
    with Archive.open(whole / "archive") as archive:
        levels = {
            prefix: sorted({episode.level for episode in archive.query(prefix=prefix)})
            for prefix in ("demo/", "rl/", "eval-before-test/", "eval-rl-test/", "eval-rl-train/")
        }
    assert set(map(tuple, levels.values())) == {(1, 2, 3)}
    assert [stage["n"] for stage in json.loads((whole / "report.json").read_text())["stages"]] == [9, 9, 9]
    assert "by level: level 1 0.000 [0.000, 0.561], level 2 " in (whole / "report.md").read_text()


@pytest.mark.xdist_group("quickstart")
def test_a_run_killed_in_practice_goes_on_with_the_same_shares(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "killed"
    lines = (whole / "metrics.jsonl").read_bytes().splitlines(keepends=True)
    n_bytes = sum(map(len, lines[: len(lines) * 2 // 3]))
    assert run_until(begin(folder, **SETTINGS), folder / "metrics.jsonl", n_bytes) == -signal.SIGKILL
    assert len(practiced(folder)) < len(practiced(whole))
    finish(command("--resume", str(folder)))
    assert_same_run(whole, folder)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("levels=[1, 9]", "unknown level 9"),
        ("levels=[1, 1]", "at least one level, and none twice: [1, 1]"),
        ("levels=[]", "setting levels is an empty list"),
        ("levels=3", "must be a list of whole numbers such as [1, 2], not 3"),
        ("curriculum=unifrom", "Did you mean 'uniform'"),
        ("rl_tokens=-1", "rl_tokens must be from 0"),
    ],
)
def test_a_choice_of_levels_that_makes_no_sense_is_refused(setting: str, said: str) -> None:
    from workgym.quickstart_settings import QuickstartConfig
    from workgym.training.config import make_config

    with pytest.raises(ValueError, match=re.escape(said)):
        make_config(QuickstartConfig, overrides=[setting])
