"""The examples run as they are shown, and say what they found."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
TESTED_ELSEWHERE = {"curriculum.py": "takes minutes; its claim is a slow test of its own"}


@pytest.fixture
def run(tmp_path: Path) -> Callable[[str], str]:
    """`run("vector.py")` is what an example prints when it runs in an empty folder."""

    def start(name: str) -> str:
        # Models and data come from nowhere: an example that asked the network for one would fail here.
        offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hf"), "TQDM_DISABLE": "1"}
        done = subprocess.run(
            [sys.executable, str(EXAMPLES / name)],
            cwd=tmp_path,
            env={**os.environ, **offline},
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return start


def test_a_hand_written_agent_solves_what_it_says(run, require_backend) -> None:
    require_backend("local")
    found = re.findall(r"^level (\d): (\d) of 5 solved, mean reward (\d.\d\d)$", run("gym_loop.py"), re.MULTILINE)
    assert [(level, solved) for level, solved, _ in found] == [
        ("1", "5"),
        ("2", "5"),
        ("3", "5"),
        ("4", "5"),
        ("5", "0"),
    ]
    assert [reward for *_, reward in found][:4] == ["1.00"] * 4


def test_eight_environments_run_in_processes_of_their_own(run) -> None:
    found = re.fullmatch(r"(\d+) episodes in \d+ steps of 8 environments: (\d+) solved\n", run("vector.py"))
    assert found
    assert int(found[1]) == int(found[2]) >= 24


def test_trl_trains_on_the_reward_of_an_environment(run, require_extra) -> None:
    require_extra("train")
    require_extra("bench")
    rewards = re.findall(r"^step (\d): reward (0\.\d+)", run("trl_grpo.py"), re.MULTILINE)
    assert [step for step, _ in rewards] == ["1", "2"]
    assert sum(float(reward) for _, reward in rewards) > 0  # some random answer is right: the environment was asked


def test_a_lora_policy_is_evaluated(run, require_extra, require_backend) -> None:
    require_extra("train")
    require_backend("local")
    report = run("peft_lora.py")
    assert "Policy: `tiny-lora`" in report
    assert re.search(r"^\| all \| +\| +\| \d+ \| 0\.\d+ \|", report, re.MULTILINE)


def test_every_example_is_tested_and_short() -> None:
    own = Path(__file__).read_text(encoding="utf-8")
    lengths = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in EXAMPLES.glob("*.py")}
    assert [name for name in lengths if f'"{name}"' not in own] == []
    assert {name: length for name, length in lengths.items() if length > 85 and name not in TESTED_ELSEWHERE} == {}
