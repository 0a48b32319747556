"""`workgym eval` with agents of one's own, endpoints, suites from files, budgets, and going on."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import toy_domain
from chat_server import doubler, refusal, serve

from workgym.agents.archive import Archive
from workgym.agents.records import fingerprint
from workgym.cli import main
from workgym.envs.verify import Verdict

assert toy_domain.make, "importing it registers Toy-v0"

HERE = Path(__file__).parent
INTERRUPTIBLE = (  # a program that was started in the background may have been told to ignore Ctrl-C
    "import signal, sys, toy_domain; signal.signal(signal.SIGINT, signal.default_int_handler);"
    "from workgym.cli import main; main(sys.argv[1:])"
)
TOY = "--env Toy-v0 --level 2 --n 8"


def run(capsys: pytest.CaptureFixture[str], line: str) -> tuple[int, str, str]:
    """Run a command line: exit code, stdout, stderr."""
    with pytest.raises(SystemExit) as end:
        main(shlex.split(line))
    out, err = capsys.readouterr()
    return int(end.value.code or 0), out, err


def process(folder: Path, line: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command line in a process of its own, in a folder."""
    code = "import toy_domain, sys; from workgym.cli import main; main(sys.argv[1:])"
    paths = os.pathsep.join([str(HERE), str(HERE.parent / "agents")])
    return subprocess.run(
        [sys.executable, "-c", code, *shlex.split(line)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def timeless(folder: Path) -> dict[str, Any]:
    """A report without what clocks measured."""
    report: dict[str, Any] = json.loads((folder / "report.json").read_text())
    for numbers in (report["total"], report["spent"], *report["groups"]):
        numbers["wall_s"] = numbers["cpu_s"] = 0
    return report


def fingerprints(folder: Path) -> dict[str, str]:
    with Archive.open(folder / "archive") as archive:
        return {one.rollout_id: fingerprint(one) for one in archive}


@pytest.fixture(autouse=True)
def _own_modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(HERE))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    yield
    sys.modules.pop("eval_agents", None)


# ---- an agent of one's own


def test_a_callable_is_evaluated_archived_and_judged_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, f"eval --agent eval_agents:half_doubler {TOY} --out {tmp_path / 'run'}")
    assert code == 0, err
    total = timeless(tmp_path / "run")["total"]
    assert 0 < total["success"] < 1
    assert total["money_usd"] is None
    assert "no price" in out
    code, out, _ = run(capsys, f"archive regrade {tmp_path / 'run'}")
    assert (code, "8 verdicts came out the same" in out) == (0, True)


def test_an_agent_of_the_current_folder_is_found(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def make():\n    return lambda messages, tools: 'submit 1'\n")
    done = process(tmp_path, f"eval --agent mine:make {TOY} --out run")
    assert done.returncode == 0, done.stderr
    assert timeless(tmp_path / "run")["total"]["n_valid"] == 8


def test_an_environment_of_a_module_of_ones_own_is_played_and_judged_again_elsewhere(tmp_path: Path) -> None:
    done = process(tmp_path, "eval --agent oracle --env eval_agents:Third-v0 --level 1 --n 2 --out run")
    assert done.returncode == 0, done.stderr
    again = process(tmp_path, "archive regrade run")
    assert "2 verdicts came out the same" in again.stdout, again.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("", "--agent is missing"),
        ("--agent no_such_module:make", "no module 'no_such_module'"),
        ("--agent eval_agents:dubler", "Did you mean 'doubler'"),
        ("--agent eval_agents:mute", "agent 'eval_agents:mute' returned a NoneType"),
        ("--agent openai:m", "set OPENAI_API_KEY"),
        ("--agent openai: --base-url http://127.0.0.1:1/v1", "openai:MODEL"),
        ("--agent openai:m --base-url http://127.0.0.1:1/v1", "http://127.0.0.1:1/v1/ does not answer: no connection"),
        ("--agent openai:m --base-url 127.0.0.1:1/v1", "does not answer"),
        ("--agent openai:m --base-url http://me:secret@127.0.0.1:1/v1", "holds a password"),
        ("--agent openai:m --base-url http://127.0.0.1:1/v1 --tools nativ", "Did you mean 'native'"),
        ("--agent oracle --level 1,x", "levels are whole numbers"),
        ("--agent oracle --wall-s nan", "--wall-s nan"),
        ("--agent oracle --temperature inf", "--temperature inf"),
        ("--agent oracle --suite nowhere.toml", "cannot read the suite nowhere.toml"),
        ("--agent oracle --prices nowhere.toml", "cannot read the prices nowhere.toml"),
        ("--resume nowhere", "holds no evaluation"),
        ("--resume nowhere --agent oracle --n 3", "leave out --agent, --n"),
    ],
)
def test_bad_input_is_answered_in_a_line_and_never_scored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: str, words: str
) -> None:
    rest = "" if "--resume" in options else f"--out {tmp_path / 'run'}" + ("" if "--suite" in options else f" {TOY}")
    code, _, err = run(capsys, f"eval {options} {rest}" if "--level" not in options else f"eval {options} --env Toy-v0")
    assert code == 2
    assert words in err
    assert "Traceback" not in err
    assert not (tmp_path / "run" / "report.json").exists()


# ---- an endpoint


def test_an_endpoint_is_evaluated_with_tokens_and_money(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-77")
    (tmp_path / "prices.toml").write_text("[m]\ninput = 1\noutput = 10\n")
    with serve(doubler) as server:
        line = f"--agent openai:m --base-url {server.url} --temperature 0.5 --seed 3 --max-turn-tokens 20"
        code, out, err = run(
            capsys, f"eval {line} {TOY} --prices {tmp_path / 'prices.toml'} --at-once 4 --out {tmp_path / 'run'}"
        )
    assert code == 0, err
    report = timeless(tmp_path / "run")
    assert report["total"]["success"] == 1
    assert (report["total"]["tokens_in"], report["total"]["tokens_out"]) == (14, 6)
    assert report["spent"]["money_usd"] == pytest.approx(8 * (14 + 60) / 1e6)
    assert "0.000592 USD" not in out
    assert "0.0006 USD" in out
    assert {request["temperature"] for request in server.requests} == {0.5}
    files = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert not any(b"sk-secret-77" in path.read_bytes() for path in files)


def test_the_url_of_the_environment_is_taken_and_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve(doubler) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        assert run(capsys, f"eval --agent openai:m {TOY} --out {tmp_path / 'run'}")[0] == 0
    assert timeless(tmp_path / "run")["settings"]["base_url"] == server.url


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


def test_a_model_without_a_price_is_told_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "prices.toml").write_text("[other]\ninput = 1\noutput = 10\n")
    with serve(doubler) as server:
        line = f"--agent openai:m --base-url {server.url} {TOY} --prices {tmp_path / 'prices.toml'}"
        _, out, err = run(capsys, f"eval {line} --out {tmp_path / 'run'}")
    assert "has no price for 'm'" in err
    assert "no price" in out
    assert timeless(tmp_path / "run")["spent"]["money_usd"] is None


def test_episodes_that_failed_on_the_way_are_counted_and_played_again_by_resume(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = True

    def sometimes(request: dict[str, Any], number: int) -> Any:
        fails = broken and int(request["messages"][1]["content"].split()[-1]) % 3 == 0
        return refusal(500, "boom") if fails else doubler(request, number)

    with serve(sometimes) as server:
        line = f"--agent openai:m --base-url {server.url} {TOY} --retries 0 --out {tmp_path / 'run'}"
        code, out, _ = run(capsys, f"eval {line}")
        before = timeless(tmp_path / "run")["total"]
        broken = False
        n_asked = len(server.requests)
        assert run(capsys, f"eval --resume {tmp_path / 'run'}")[0] == 0
        n_asked_again = len(server.requests) - n_asked
    after = timeless(tmp_path / "run")["total"]
    assert (code, before["success"], before["n_valid"] + before["n_invalid"]) == (0, 1, 8)
    assert before["n_invalid"] > 0
    assert f"--resume {tmp_path / 'run'}" in out
    assert (after["n_valid"], after["n_invalid"], n_asked_again) == (8, 0, 2 * before["n_invalid"])


# ---- suites, levels and budgets


def test_a_suite_from_a_file_is_played_environment_by_environment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "two.toml").write_text(
        'repeats = 2\n[[tasks]]\nenv = "Toy-v0"\nlevels = [1]\nn = 2\n'
        '[[tasks]]\nenv = "eval_agents:Third-v0"\nlevels = [2, 3]\nn = 1\nbudget = { turns = 1 }\n'
    )
    code, _, err = run(capsys, f"eval --agent oracle --suite {tmp_path / 'two.toml'} --out {tmp_path / 'run'}")
    assert code == 0, err
    report = timeless(tmp_path / "run")
    assert [(one["level"], one["n_valid"], one["success"]) for one in report["groups"]] == [
        (1, 4, 1),
        (2, 2, 0),
        (3, 2, 0),
    ]
    assert report["end_reasons"] == {"submitted": 4, "turns": 4}
    assert report["title"] == "oracle on two"
    assert list(fingerprints(tmp_path / "run")) == [
        f"eval/{task:05d}-{again}" for task in range(4) for again in range(2)
    ]


def test_options_change_a_suite(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "own.toml").write_text('repeats = 2\n[[tasks]]\nenv = "Toy-v0"\nlevels = [1]\nn = 2\n')
    options = "--level 2,3 --n 1 --split train --seed 4 --repeats 1 --turns 1 --tokens 5 --wall-s 9"
    run(capsys, f"eval --agent oracle --suite {tmp_path / 'own.toml'} {options} --out {tmp_path / 'run'}")
    suite = timeless(tmp_path / "run")["settings"]["suite"]
    assert (suite["repeats"], suite["seed"]) == (1, 4)
    assert suite["tasks"] == [
        {
            "env": "Toy-v0",
            "kwargs": {},
            "levels": [2, 3],
            "n": 1,
            "split": "train",
            "seed": 4,
            "budget": {"turns": 1, "tokens": 5, "wall_s": 9.0},
        }
    ]


def test_a_suite_of_named_tasks_is_played_and_cannot_be_drawn_otherwise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "own.toml").write_text('[[tasks]]\nenv = "Toy-v0"\nids = ["toy/2/21", "toy/1/4"]\n')
    line = f"eval --agent oracle --suite {tmp_path / 'own.toml'} --out {tmp_path / 'run'}"
    code, _, err = run(capsys, f"{line} --n 3")
    assert (code, "names tasks by id: leave out" in err) == (2, True)
    assert run(capsys, line)[0] == 0
    with Archive.open(tmp_path / "run/archive") as archive:
        assert [one.task_id for one in archive] == ["toy/2/21", "toy/1/4"]


def test_a_budget_of_turns_ends_episodes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, f"eval --agent looker {TOY} --turns 2 --out {tmp_path / 'run'}")
    assert timeless(tmp_path / "run")["total"]["turns"] == 2


def test_repeats_show_pass_at_k(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, f"eval --agent eval_agents:half_doubler {TOY} --repeats 3 --out {tmp_path / 'run'}")
    total = timeless(tmp_path / "run")["total"]
    assert (code, [one["k"] for one in total["pass_at_k"]]) == (0, [1, 2, 3])
    assert len({one["rate"] for one in total["pass_at_k"]}) == 1  # this agent answers a task the same every time
    assert "pass@3" in out


# ---- being stopped, and going on


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


@pytest.mark.parametrize("damage", ["", "{", "[]", "{}", '{"agent": "oracle"}'])
def test_settings_that_are_damaged_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: str) -> None:
    (tmp_path / "eval.json").write_text(damage)
    code, _, err = run(capsys, f"eval --resume {tmp_path}")
    assert (code, "eval.json is damaged" in err) == (2, True)
