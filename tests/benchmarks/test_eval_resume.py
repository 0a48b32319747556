"""An evaluation that was stopped, by whatever, goes on and ends as one that was not."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import toy_domain
from chat_server import doubler, refusal, serve
from eval_runs import HERE, TOY, fingerprints, process, run, timeless

from workgym.agents.archive import Archive
from workgym.envs.verify import Verdict

assert toy_domain.make, "importing it registers Toy-v0"

pytestmark = pytest.mark.usefixtures("own_agents")

INTERRUPTIBLE = (  # a program that was started in the background may have been told to ignore Ctrl-C
    "import signal, sys, toy_domain; signal.signal(signal.SIGINT, signal.default_int_handler);"
    "from workgym.cli import main; main(sys.argv[1:])"
)


@pytest.mark.xdist_group("alone")
def test_ctrl_c_does_not_wait_for_answers_and_says_how_to_go_on(tmp_path: Path) -> None:
    asked, hold = threading.Event(), threading.Event()

    def slow(request: dict[str, Any], number: int) -> Any:
        if number >= 4:
            asked.set()
            hold.wait(60)
        return doubler(request, number)

    with serve(slow) as server:
        line = f"eval --agent openai:m --base-url {server.url} {TOY} --at-once 2 --out {tmp_path / 'run'}"
        running = subprocess.Popen(
            [sys.executable, "-c", INTERRUPTIBLE, *shlex.split(line)],
            env={**os.environ, "PYTHONPATH": str(HERE.parent / "agents")},
            stderr=subprocess.PIPE,
            text=True,
        )
        assert asked.wait(60)
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=30)  # the requests would take a minute
        hold.set()
    assert running.returncode == 130
    assert "2 episodes are kept" in err
    assert f"workgym eval --resume {tmp_path / 'run'}" in err
    assert "Traceback" not in err


def test_episodes_that_failed_on_the_way_are_counted_and_played_again_by_resume(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = True

    def sometimes(request: dict[str, Any], number: int) -> Any:
        fails = broken and int(request["messages"][1]["content"].split()[-1]) % 3 == 0
        return refusal(500, "boom") if fails else doubler(request, number)

    with serve(sometimes) as server:
        line = f"--agent openai:m --base-url {server.url} {TOY} --retries 0 --out {tmp_path / 'run'}"
        code, out, err = run(capsys, f"eval {line}")
        before = timeless(tmp_path / "run")["total"]
        broken = False
        n_asked = len(server.requests)
        assert run(capsys, f"eval --resume {tmp_path / 'run'}")[0] == 0
        n_asked_again = len(server.requests) - n_asked
    after = timeless(tmp_path / "run")["total"]
    assert (code, before["success"], before["n_valid"] + before["n_invalid"]) == (0, 1, 8)
    assert before["n_invalid"] > 0
    assert f"playing 8/8 success 1.000, {before['n_invalid']} invalid" in err
    assert f"--resume {tmp_path / 'run'}" in out
    assert (after["n_valid"], after["n_invalid"], n_asked_again) == (8, 0, 2 * before["n_invalid"])


@pytest.mark.parametrize("agent", ["failing", pytest.param("stopping", marks=pytest.mark.xdist_group("alone"))])
def test_an_evaluation_that_was_stopped_goes_on_and_equals_one_that_was_not(tmp_path: Path, agent: str) -> None:
    """`failing` raises in its fifth turn; `stopping` is killed with SIGKILL there."""
    options = f"--agent eval_agents:{agent} {TOY} --at-once 2 --repeats 2"
    whole = process(tmp_path, f"eval {options} --out whole", RUN_ON="1")
    stopped = process(tmp_path, f"eval {options} --out run")
    assert whole.returncode == 0, whole.stderr
    assert stopped.returncode == (2 if agent == "failing" else -9)
    kept = fingerprints(tmp_path / "run")
    assert list(kept) == [f"eval/0000{task}-{again}" for task in range(2) for again in range(2)]
    assert not (tmp_path / "run" / "report.json").exists()
    if agent == "failing":
        assert "raised RuntimeError" in stopped.stderr
        assert "4 episodes are kept" in stopped.stderr

    resumed = process(tmp_path, "eval --resume run", RUN_ON="1")

    assert resumed.returncode == 0, resumed.stderr
    assert fingerprints(tmp_path / "run") == fingerprints(tmp_path / "whole")
    assert timeless(tmp_path / "run") == timeless(tmp_path / "whole")


def test_resuming_what_is_done_plays_nothing_and_says_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, f"eval --agent eval_agents:half_doubler {TOY} --out {tmp_path / 'run'}")
    before, size = timeless(tmp_path / "run"), (tmp_path / "run/archive/trajectories.jsonl.zst").stat().st_size
    code, _, err = run(capsys, f"eval --resume {tmp_path / 'run'} --at-once 3")
    assert (code, timeless(tmp_path / "run")["total"]) == (0, before["total"]), err
    assert (tmp_path / "run/archive/trajectories.jsonl.zst").stat().st_size == size


def test_episodes_whose_infrastructure_failed_are_played_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, f"eval --agent oracle {TOY} --out {tmp_path / 'run'}")
    with Archive.open(tmp_path / "run/archive", "a") as archive:
        archive.append(replace(archive.get("eval/00003-0"), verdict=Verdict.invalid()))
    assert run(capsys, f"eval --resume {tmp_path / 'run'}")[0] == 0
    assert timeless(tmp_path / "run")["total"]["n_valid"] == 8


def test_an_archive_of_other_tasks_is_not_gone_on_with(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, f"eval --agent oracle {TOY} --out {tmp_path / 'run'}")
    with Archive.open(tmp_path / "run/archive", "a") as archive:
        archive.append(replace(archive.get("eval/00003-0"), task_hash="0" * 32))
    code, _, err = run(capsys, f"eval --resume {tmp_path / 'run'}")
    assert (code, "has changed since. Evaluate anew" in err) == (2, True)


def test_an_archive_of_another_verifier_is_not_gone_on_with(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, f"eval --agent oracle {TOY} --out {tmp_path / 'run'}")
    with Archive.open(tmp_path / "run/archive", "a") as archive:
        one = archive.get("eval/00003-0")
        archive.append(replace(one, versions=replace(one.versions, verifier="of old")))
    code, _, err = run(capsys, f"eval --resume {tmp_path / 'run'}")
    assert (code, "was judged by version 'of old'" in err) == (2, True)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        ("", ""),
        ("{", ""),
        ("[]", "the settings must be a table, not []"),
        ("{}", "agent is missing"),
        ('{"agent": "oracle"}', "at_once is missing"),
        ('{"agent": {"x": 1}}', "agent must be a text that is not empty, not {'x': 1}"),
        ('{"agnt": "oracle"}', "unknown key 'agnt'. Did you mean 'agent'"),
        ('{"temperature": NaN}', "temperature must be a number >= 0"),
        ('{"suite": []}', "suite must be a table"),
        ('{"price": "much"}', "price must be a table or null"),
    ],
)
def test_settings_that_are_damaged_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: str, words: str
) -> None:
    (tmp_path / "eval.json").write_text(damage)
    code, _, err = run(capsys, f"eval --resume {tmp_path}")
    assert (code, "eval.json is damaged" in err, words in err) == (2, True, True), err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"agent": {"x": 1}}, "agent must be a text"),
        ({"agnt": 1}, "unknown key 'agnt'. Did you mean 'agent'"),
        ({"at_once": 0}, "at_once must be a whole number > 0"),
        ({"suite": {}}, "the suite: name is missing"),
        ({"price": {"input": 1}}, "output is missing"),
    ],
)
def test_settings_that_were_edited_into_nonsense_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: dict[str, Any], words: str
) -> None:
    run(capsys, f"eval --agent oracle {TOY} --out {tmp_path}")
    settings = json.loads((tmp_path / "eval.json").read_text())
    (tmp_path / "eval.json").write_text(json.dumps(settings | change))
    code, _, err = run(capsys, f"eval --resume {tmp_path}")
    assert (code, words in err) == (2, True), err


def test_an_agent_that_walks_away_leaves_the_results_where_they_belong(tmp_path: Path) -> None:
    (tmp_path / "walker.py").write_text(
        "import os\n"
        "def make():\n"
        "    os.chdir('/')\n"
        "    def act(messages, tools):\n"
        "        os.chdir('/')\n"
        "        return 'submit 1'\n"
        "    return act\n"
    )
    done = process(tmp_path, f"eval --agent walker:make {TOY} --out run")
    assert done.returncode == 0, done.stderr
    assert f"{tmp_path}/run/report.md holds the report" in done.stdout
    (tmp_path / "run/report.md").unlink()
    again = process(tmp_path, "eval --resume run")
    assert again.returncode == 0, again.stderr
    assert (tmp_path / "run/report.md").is_file()
