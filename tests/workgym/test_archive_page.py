"""`workgym archive show --html`, as it is typed."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
import toy_domain
from episodes import make_trajectory

from workgym.agents.archive import Archive
from workgym.agents.tokenizer import CHARACTERS_FILE, CharTokenizer
from workgym.agents.trajectory import Trajectory
from workgym.cli import main

assert toy_domain.make, "importing it registers Toy-v0"


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    """A run with two episodes: one of tokens that no tokenizer of this test knows, one of characters."""
    said = Trajectory("eval/said", task_id="toy/1")
    said.act(CharTokenizer().encode("hi<"), [-0.1, -0.2, -0.3], 0)
    with Archive.open(tmp_path / "archive", "a") as archive:
        archive.append(make_trajectory(1))
        archive.append(said)
    return tmp_path


def call(capsys: pytest.CaptureFixture[str], line: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as end:
        main(shlex.split(line))
    out, err = capsys.readouterr()
    return int(end.value.code or 0), out, err


def token_texts(file: Path) -> dict[str, str]:
    found = re.search('<script type="application/json" id="token-data">(.*?)</script>', file.read_text())
    return json.loads(found[1])["texts"] if found else {}


def test_show_writes_a_page(run_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = run_folder / "one.html"
    code, out, _ = call(capsys, f"archive show {run_folder} rl/00001 --html {file}")
    page = file.read_text(encoding="utf-8")
    assert (code, out.splitlines()[0]) == (0, f"{file} holds the episode; any browser opens it.")
    assert "--tokenizer FOLDER" in out
    assert page.startswith("<!DOCTYPE html>")
    assert "1 of 3 tests pass" in page
    assert '"texts"' not in page


def test_the_page_holds_the_texts_of_tokens_of_the_runs_own_model(
    run_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (run_folder / "model").mkdir()
    CharTokenizer().save(run_folder / "model" / CHARACTERS_FILE)
    file = run_folder / "one.html"
    assert call(capsys, f"archive show {run_folder} eval/said --html {file}")[0] == 0
    assert token_texts(file) == dict(zip(map(str, CharTokenizer().encode("hi<")), "hi<", strict=True))


def test_the_page_holds_the_texts_of_tokens_of_a_named_model(
    run_folder: Path, capsys: pytest.CaptureFixture[str], require_extra
) -> None:
    require_extra("train")
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel

    ids = {f"word{number}": number for number in range(100)}
    Tokenizer(WordLevel(ids, unk_token="word0")).save(str(run_folder / "tokenizer.json"))
    file = run_folder / "one.html"
    assert call(capsys, f"archive show {run_folder} eval/said --html {file} --tokenizer {run_folder}")[0] == 0
    assert set(token_texts(file).values()) == {f"word{number}" for number in CharTokenizer().encode("hi<")}


def test_the_page_holds_the_texts_of_tokens_of_the_checkpoint_that_was_evaluated(
    run_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, model = tmp_path / "evaluated", tmp_path / "checkpoint"
    assert call(capsys, f"eval --agent noop --env Toy-v0 --n 1 --out {run}")[0] == 0
    model.mkdir()
    CharTokenizer().save(model / CHARACTERS_FILE)
    settings = json.loads((run / "eval.json").read_text())
    (run / "eval.json").write_text(json.dumps({**settings, "agent": f"checkpoint:{model}"}))
    with Archive.open(run_folder / "archive") as archive, Archive.open(run / "archive", "a") as other:
        other.append(archive.get("eval/said"))
    for place in (run, run / "archive"):
        assert call(capsys, f"archive show {place} eval/said --html {run}/a.html")[0] == 0
        assert set(token_texts(run / "a.html").values()) == {"h", "i", "<"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--html {}/a.html --json", "give no --json beside it"),
        ("--tokenizer {}", "--tokenizer only with it"),
        ("--html {}/a.html --tokenizer {}/nowhere", "no tokenizer in"),
        ("--html {}/a.html --tokenizer {}/chars", "name another --tokenizer"),
    ],
)
def test_bad_options_are_answered_in_a_line(
    run_folder: Path, capsys: pytest.CaptureFixture[str], options: str, words: str
) -> None:
    (run_folder / "chars").mkdir()
    CharTokenizer().save(run_folder / "chars" / CHARACTERS_FILE)
    code, _, err = call(capsys, f"archive show {run_folder} rl/00001 {options.replace('{}', str(run_folder))}")
    assert (code, words in err, "Traceback" in err) == (2, True, False)
    assert not (run_folder / "a.html").exists()


def test_a_file_that_cannot_be_written_is_answered_in_a_line(
    run_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = call(capsys, f"archive show {run_folder} rl/00001 --html {run_folder}")
    assert (code, "Is a directory" in err) == (1, True)
