"""`workgym eval` with agents of one's own, endpoints, suites from files and budgets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import toy_domain
from chat_server import doubler, serve
from eval_runs import TOY, fingerprints, process, run, timeless

from workgym.agents.archive import Archive

assert toy_domain.make, "importing it registers Toy-v0"

pytestmark = pytest.mark.usefixtures("own_agents")


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


@pytest.mark.parametrize("agent", ["no_such_module:make", "orcle"])
def test_an_agent_that_is_not_there_leaves_no_folder(tmp_path: Path, agent: str) -> None:
    done = process(tmp_path, f"eval --agent {agent} {TOY}")
    assert done.returncode == 2
    assert not list((tmp_path / "runs").iterdir())


def test_a_folder_of_the_users_own_stays_where_an_evaluation_cannot_begin(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    done = process(tmp_path, f"eval --agent orcle {TOY} --out mine")
    assert (done.returncode, (tmp_path / "mine").is_dir()) == (2, True)


def test_an_agent_that_raises_is_told_with_the_place(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def make():\n    return lambda messages, tools: {}['x']\n")
    done = process(tmp_path, f"eval --agent mine:make {TOY} --out run")
    assert (done.returncode, f"{tmp_path / 'mine.py'}:2" in done.stderr) == (2, True)


def test_an_environment_of_a_module_of_ones_own_is_played_and_judged_again_elsewhere(tmp_path: Path) -> None:
    done = process(tmp_path, "eval --agent oracle --env eval_agents:Third-v0 --level 1 --n 2 --out run")
    assert done.returncode == 0, done.stderr
    again = process(tmp_path, "archive regrade run")
    assert "2 verdicts came out the same" in again.stdout, again.stderr


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("raise SystemExit(0)", "environment mine:Mine-v0: importing mine failed: SystemExit: 0"),
        ("1 / 0", "importing mine failed: ZeroDivisionError"),
        ("import no_such_package", "importing mine needs no_such_package, which is missing"),
        (None, "no module 'mine'"),
    ],
)
def test_a_module_of_an_environment_that_cannot_be_imported_is_told_in_a_line(
    tmp_path: Path, code: str | None, words: str
) -> None:
    if code is not None:
        (tmp_path / "mine.py").write_text(code)
    for line in ("eval --agent noop --env mine:Mine-v0", "play mine:Mine-v0"):
        done = process(tmp_path, line)
        assert (done.returncode, words in done.stderr) == (2, True), done.stderr
        assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("", "--agent is missing"),
        ("--agent no_such_module:make", "no module 'no_such_module'"),
        ("--agent eval_agents:dubler", "Did you mean 'doubler'"),
        ("--agent eval_agents:mute", "agent 'eval_agents:mute' returned a NoneType"),
        ("--agent eval_agents:leaving", "agent 'eval_agents:leaving' raised SystemExit"),
        ("--agent openai:m", "set OPENAI_API_KEY"),
        ("--agent openai: --base-url http://127.0.0.1:1/v1", "openai:MODEL"),
        ("--agent openai:m --base-url http://127.0.0.1:1/v1", "http://127.0.0.1:1/v1/ does not answer: no connection"),
        ("--agent openai:m --base-url 127.0.0.1:1/v1", "does not answer"),
        ("--agent openai:m --base-url http://me:secret@127.0.0.1:1/v1", "holds a password"),
        ("--agent openai:m --base-url http://127.0.0.1:1/v1 --tools nativ", "Did you mean 'native'"),
        ("--agent oracle --level 1,x", "levels are whole numbers"),
        ("--agent oracle --level 1,1", "--level 1,1: a level is named twice"),
        ("--agent oracle --wall-s inf", "--wall-s inf"),
        ("--agent oracle --temperature inf", "--temperature inf"),
        ("--agent oracle --timeout-s 1e300", "--timeout-s"),
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


def test_a_folder_that_cannot_be_written_is_told_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    code, _, err = run(capsys, f"eval --agent oracle {TOY} --out {tmp_path / 'file' / 'run'}")
    assert code == 1
    assert f"cannot write into {tmp_path / 'file' / 'run'}: Not a directory. Name another folder with --out" in err


def test_an_environment_of_somebody_else_is_told_as_that(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for agent in ("oracle", "eval_agents:doubler"):
        code, _, err = run(capsys, f"eval --agent {agent} --env CartPole-v1 --out {tmp_path / 'run'}")
        assert code == 2
        assert "CartPole-v1 is no environment of workgym" in err


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


def test_a_model_without_a_price_is_told_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "prices.toml").write_text("[other]\ninput = 1\noutput = 10\n")
    with serve(doubler) as server:
        line = f"--agent openai:m --base-url {server.url} {TOY} --prices {tmp_path / 'prices.toml'}"
        _, out, err = run(capsys, f"eval {line} --out {tmp_path / 'run'}")
    assert "has no price for 'm'" in err
    assert "no price" in out
    assert timeless(tmp_path / "run")["spent"]["money_usd"] is None


@pytest.mark.parametrize("usage", [None, (-5, 1), ("many", "more"), (1.5, 1), (10**30, 1)], ids=str)
def test_tokens_that_nobody_reports_are_unknown_and_so_is_their_money(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], usage: Any
) -> None:
    def model(request: dict[str, Any], number: int) -> Any:
        answer = doubler(request, number)
        prompt, completion = usage or (None, None)
        answer.body["usage"] = usage and {"prompt_tokens": prompt, "completion_tokens": completion}
        return answer

    (tmp_path / "prices.toml").write_text("[m]\ninput = 1\noutput = 10\n")
    with serve(model) as server:
        line = f"--agent openai:m --base-url {server.url} {TOY} --prices {tmp_path / 'prices.toml'}"
        code, out, _ = run(capsys, f"eval {line} --out {tmp_path / 'run'}")
    report = timeless(tmp_path / "run")
    assert (code, report["total"]["tokens_in"], report["spent"]["tokens_out"]) == (0, None, None)
    assert "8 of 8 episodes lack a usage (prompt_tokens and completion_tokens) that makes sense" in out
    assert "tokens not reported, no usage" in out
    assert "no price" not in out
    assert run(capsys, f"compare {tmp_path / 'run'} {tmp_path / 'run'}")[1].count("no usage") == 2


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
