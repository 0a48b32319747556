"""`workgym new-domain` writes a package whose tests pass as written, and refuses what it cannot name."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from workgym.cli import main

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """`run("--out", folder, "NAME")` is the exit code, what was printed, and what was complained of."""

    def call(*words: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["new-domain", *words])
        printed = capsys.readouterr()
        return int(ended.value.code or 0), printed.out, printed.err

    return call


def test_its_tests_pass_as_written(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "made"
    code, out, _ = run("word-puzzles", "--out", str(folder))
    assert code == 0
    assert "WordPuzzles-v0: word_puzzles.py is the domain" in out
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=folder, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert "1 passed" in done.stdout, done.stdout + done.stderr


def test_it_writes_four_files_without_a_placeholder_left(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "made"
    run("word-puzzles", "--out", str(folder))
    written = {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}
    assert set(written) == {"pyproject.toml", "README.md", "word_puzzles.py", "tests/test_domain.py"}
    assert not [name for name, text in written.items() if "$" in text]
    project = tomllib.loads(written["pyproject.toml"])["project"]
    assert project["name"] == "word-puzzles"
    assert project["entry-points"]["workgym.domains"] == {"WordPuzzles-v0": "word_puzzles:make"}


def test_what_it_writes_is_as_tidy_as_the_house(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "made"
    run("word-puzzles", "--out", str(folder))
    for command in (["check", "--select", "E,W,F,I,UP,B,SIM,RUF"], ["format", "--check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--isolated", "--no-cache", "--line-length", "120", "."],
            cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout


def test_it_writes_into_the_folder_of_its_name(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("riddles")[0] == 0
    assert (tmp_path / "riddles" / "riddles.py").exists()


def test_a_folder_that_is_there_is_left_as_it_is(run: Run, tmp_path: Path) -> None:
    code, _, err = run("word-puzzles", "--out", str(tmp_path))
    assert code == 1
    assert f"{tmp_path} is there already, and nothing was written. Name another folder with --out." in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name", ["", "Words", "1word", "word_s", "a--b", "-", "word ", "../up", "wörter", "a" * 3 + "."]
)
def test_a_name_that_is_none_is_refused(run: Run, tmp_path: Path, name: str) -> None:
    code, _, err = run("--out", str(tmp_path / "made"), "--", name)
    assert code == 2
    assert "names no package: lower-case letters and digits" in err
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("json", "Python knows 'json' as something else already"),
        ("class", "Python knows 'class'"),
        ("numpy", "Python knows 'numpy'"),
        ("tests", "Python knows 'tests'"),
        ("coding", "the package workgym brings Coding-v0"),
        ("calculator", "the package workgym brings Calculator-v0"),
    ],
)
def test_a_name_that_is_taken_is_refused(run: Run, tmp_path: Path, name: str, words: str) -> None:
    code, _, err = run(name, "--out", str(tmp_path / "made"))
    assert code == 2
    assert f"{name!r} is taken: " in err
    assert words in err
    assert not (tmp_path / "made").exists()
