"""`workgym eval` and `workgym archive`, as they are typed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import toy_domain
from episodes import make_trajectory
from eval_runs import run

from workgym.agents.archive import Archive
from workgym.agents.records import from_record
from workgym.commands.tables import readable

assert toy_domain.make, "importing it registers Toy-v0"


@pytest.fixture
def evaluated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    folder = tmp_path / "run"
    code, _, err = run(capsys, f"eval --agent oracle --env Toy-v0 --level 1 --level 2 --n 3 --out {folder}")
    assert code == 0, err
    return folder


def test_eval_writes_archive_and_report_and_prints_the_table(evaluated: Path) -> None:
    content = json.loads((evaluated / "report.json").read_text())
    assert [(group["level"], group["n_valid"], group["success"]) for group in content["groups"]] == [
        (1, 3, 1),
        (2, 3, 1),
    ]
    assert [one["env"] for one in content["settings"]["suite"]["tasks"]] == ["Toy-v0"]
    assert "| toy | double | 2 | 3 | 1.000 |" in (evaluated / "report.md").read_text()
    with Archive.open(evaluated / "archive") as archive:
        assert len(archive) == 6


def test_eval_prints_every_column_however_narrow_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    code, out, _ = run(capsys, f"eval --agent noop --env Toy-v0 --n 2 --out {tmp_path / 'run'}")
    head, row = out.splitlines()[:2]
    assert code == 0
    assert head.split()[0] == "domain"
    assert head.split()[-1] == "invalid"
    assert row.split()[:6] == ["toy", "double", "1", "2", "0.000", "0.000-0.658"]


def test_eval_passes_arguments_to_the_environment(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, f"eval --agent looker --env Toy-v0 --n 1 --set turns=2 --out {tmp_path / 'run'}")
    assert json.loads((tmp_path / "run" / "report.json").read_text())["total"]["turns"] == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--agent orcale --env Toy-v0", "Did you mean 'oracle'"),
        ("--agent oracle --env Toi-v0", "Toi"),
        ("--agent oracle --suite coding-expression --env Coding-v0", "give no --env beside it"),
        ("--agent oracle --suite coding-expresion", "Did you mean 'coding-expression'"),
        ("--agent oracle --env Toy-v0 --level 9", "level"),
        ("--agent oracle --env Toy-v0 --split tset", "Did you mean 'test'"),
        ("--agent oracle --env Toy-v0 --n 99", "Ask for fewer"),
        ("--agent oracle --env Toy-v0 --set turns", "NAME=VALUE"),
        ("--agent oracle --env Toy-v0 --set level=2", "use --level"),
        ("--agent oracle --env Toy-v0 --set truns=2", "does not take the arguments"),
        ("--agent oracle --env Toy-v0 --family odd", "does not take the arguments"),
        ("--agent checkpoint:nowhere --env Toy-v0", "no checkpoint 'nowhere'"),
    ],
)
def test_eval_answers_bad_input_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: str, words: str
) -> None:
    code, _, err = run(capsys, f"eval {options} --out {tmp_path / 'run'}")
    assert code == 2
    assert words in err
    assert "Traceback" not in err
    assert not (tmp_path / "run" / "report.json").exists()


def test_eval_does_not_write_over_another_evaluation(evaluated: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, f"eval --agent noop --env Toy-v0 --n 1 --out {evaluated}")
    assert (code, "holds an evaluation already" in err) == (2, True)
    assert json.loads((evaluated / "report.json").read_text())["total"]["success"] == 1


# ---- archive


def test_ls_finds_the_archive_of_a_run_and_filters(evaluated: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, f"archive ls {evaluated} --level 2 --success --prefix eval/ --limit 2")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[1:3]] == ["eval/00004-0", "eval/00005-0"]
    assert "2 shown of 3 that match, of 6 in all" in out
    assert f"workgym archive show {evaluated} eval/00005-0" in out


def test_ls_of_nothing_says_so(evaluated: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, f"archive ls {evaluated} --failure")
    assert (code, "0 shown of 0 that match, of 6 in all" in out) == (0, True)


def test_ls_prints_json_for_programs(evaluated: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, f"archive ls {evaluated} --json")
    assert [json.loads(line)["level"] for line in out.splitlines()] == [1, 1, 1, 2, 2, 2]


def test_show_prints_an_episode_readably(evaluated: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Archive.open(evaluated / "archive") as archive:
        episode = archive.get("eval/00003-0")
    code, out, _ = run(capsys, f"archive show {evaluated} eval/00003")
    assert code == 0
    parts = [
        episode.task_id, "level 2", "-- system -", "You double numbers.", "-- user -", episode.messages[1].text,
        "-- turn 1 -", "look here", "look 1: double", "-- turn 2 -", "submit", "reward 1", "thank you", "-- verdict -",
        "submitted", "success", "check   right 1 compared with the double", "note.txt (2 bytes)", "CPU-s",
    ]  # fmt: skip
    places = [out.index(part) for part in parts]
    assert places == sorted(places)


def test_show_prints_the_record_for_programs(evaluated: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, f"archive show {evaluated} eval/00003 --json")
    with Archive.open(evaluated / "archive") as archive:
        assert from_record(json.loads(out)) == archive.get("eval/00003")


def test_show_tells_tokens_and_turns_of_a_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Archive.open(tmp_path, "a") as archive:
        archive.append(make_trajectory(1))
    _, out, _ = run(capsys, f"archive show {tmp_path} rl/00001")
    assert out.count("5 tokens, stop") == 3
    assert "15 sampled, in 2 rows" in out


def test_show_says_where_an_agent_did_not_report_its_tokens(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, agent = tmp_path / "run", "eval_agents:doubler"
    assert run(capsys, f"eval --agent {agent} --env Toy-v0 --n 1 --out {folder}")[0] == 0
    out = run(capsys, f"archive show {folder} eval")[1]
    assert "cost      tokens not reported, " in out
    assert "price unknown" in out
    assert " 0 kept" not in out


def test_show_lets_no_agent_command_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    episode = make_trajectory(1)
    evil = "\x1b[2J[bold]not markup[/bold]\ud800\u202e"
    with Archive.open(tmp_path, "a") as archive:
        archive.append(replace(episode, steps=[replace(episode.steps[0], action=evil)]))
    code, out, _ = run(capsys, f"archive show {tmp_path} rl/00001")
    assert code == 0
    assert "\\x1b[2J[bold]not markup[/bold]\\ud800\\u202e" in out
    assert "\x1b" not in out


def test_readable_text_is_left_as_it_is() -> None:
    assert readable("two\nlines, a\ttab, äöü \U0001f40d") == "two\nlines, a\ttab, äöü \U0001f40d"


def test_a_missing_archive_or_rollout_is_answered_in_a_line(
    evaluated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, f"archive ls {evaluated.parent}")
    assert (code, "Did you mean" in err) == (2, True)
    code, _, err = run(capsys, f"archive show {evaluated} nothing")
    assert (code, "Nearest: eval/" in err) == (2, True)


def test_regrade_reproduces_the_report(evaluated: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, f"archive regrade {evaluated} --report {evaluated / 'again'}")
    assert code == 0
    assert "6 verdicts came out the same, 0 did not" in out
    then, now = (json.loads((evaluated / part / "report.json").read_text()) for part in (".", "again"))
    for part in ("groups", "total", "end_reasons", "labels", "policy"):
        assert then[part] == now[part]


def test_regrade_fails_where_a_verdict_differs(evaluated: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Archive.open(evaluated / "archive", "a") as archive:
        episode = archive.get("eval/00001-0")
        assert episode.verdict is not None
        archive.append(replace(episode, verdict=replace(episode.verdict, reward=0.5)))
    code, out, _ = run(capsys, f"archive regrade {evaluated}")
    assert code == 1
    assert "eval/00001-0: different" in out
    assert "5 verdicts came out the same, 1 did not" in out


def test_regrade_refuses_a_task_that_drifted_unless_told_to_skip(
    evaluated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Archive.open(evaluated / "archive", "a") as archive:
        archive.append(replace(archive.get("eval/00001-0"), task_hash="0" * 32))
    code, _, err = run(capsys, f"archive regrade {evaluated}")
    assert (code, "not what it was" in err) == (2, True)
    code, out, _ = run(capsys, f"archive regrade {evaluated} --skip-drifted")
    assert (code, "1 tasks have changed since" in out) == (1, True)
