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
    assert f"{tmp_path}: it is there already, and nothing was written. Name another folder with --out." in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("folder", "words"), [("file/made", "Not a directory"), ("a" * 300, "File name too long"), ("f\0", "null")]
)
def test_a_folder_that_cannot_be_is_told_in_words(run: Run, tmp_path: Path, folder: str, words: str) -> None:
    (tmp_path / "file").write_text("")
    code, _, err = run("riddles", "--out", str(tmp_path / folder))
    assert code in (1, 2)
    assert words in err
    assert "Errno" not in err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_failure_half_way_leaves_nothing_behind(tmp_path: Path) -> None:
    code = (
        "import resource, sys; from workgym.cli import main; resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500));"
        "main(sys.argv[1:])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "new-domain", "riddles", "--out", "deep/below/made"],
        cwd=tmp_path, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 1
    assert "deep/below/made: File too large, and nothing was written." in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("n_chars", "code"), [(60, 0), (61, 2), (300, 2)])
def test_a_name_may_have_sixty_characters(run: Run, tmp_path: Path, n_chars: int, code: int) -> None:
    ended, _, err = run("a" * n_chars, "--out", str(tmp_path / "made"))
    assert (ended, f"a name of {n_chars} characters is too long: 60 at most" in err) == (code, code == 2)
    assert (tmp_path / "made").exists() == (code == 0)


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
