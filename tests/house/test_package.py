"""What is built holds what the tree holds, whichever way it is built."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

FLOORS = ("tasks", "envs", "agents", "training", "benchmarks")
BUILT_FROM = (
    "pyproject.toml",
    "hatch_build.py",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "constraints.txt",
    ".gitignore",
)

pytestmark = pytest.mark.xdist_group("package")


@pytest.fixture(scope="module")
def built(root, tmp_path_factory) -> Path:
    """A folder with an sdist of the tree and the wheel that was built from that sdist."""
    out = tmp_path_factory.mktemp("built")
    _build(root, out)
    return out


def test_the_wheel_holds_every_module_of_the_tree(built, root):
    assert _wheel_files(built) == _package_files(root)


def test_the_sdist_holds_every_module_of_the_tree(built, root):
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}

    assert {name.removeprefix("src/") for name in names if name.startswith("src/")} == _package_files(root)
    assert {*BUILT_FROM, "PKG-INFO"} == {name for name in names if not name.startswith("src/")}


def test_a_wheel_of_the_tree_equals_a_wheel_of_the_sdist(built, root, tmp_path):
    _build(root, tmp_path, "--wheel")

    assert _wheel_contents(tmp_path) == _wheel_contents(built)


def test_the_wheel_says_that_it_is_typed_and_brings_the_command(built):
    contents = _wheel_contents(built)
    entry_points = next(text for name, text in contents.items() if name.endswith("entry_points.txt"))

    assert "workgym/py.typed" in contents
    assert b"workgym = workgym.cli:main" in entry_points


@pytest.mark.parametrize("kind", ["--wheel", "--sdist"])
def test_a_clone_whose_links_became_files_is_refused_with_the_reason(root, tmp_path, kind):
    clone = _copy(root, tmp_path / "clone")
    for name in FLOORS:
        (clone / "src/workgym" / name).unlink()
        (clone / "src/workgym" / name).write_text(f"../../{name}")  # what git writes where links are not allowed

    refused = _run_build(clone, tmp_path / "out", kind)

    assert refused.returncode != 0
    assert "src/workgym/tasks is not a link to ../../tasks (5 of 5 links are missing or became files)" in refused.stdout
    assert "git config core.symlinks true" in refused.stdout


def test_a_clone_that_lost_one_link_is_refused_by_its_name(root, tmp_path):
    clone = _copy(root, tmp_path / "clone")
    (clone / "src/workgym/agents").unlink()

    refused = _run_build(clone, tmp_path / "out", "--wheel")

    assert refused.returncode != 0
    assert "src/workgym/agents is not a link to ../../agents (1 of 5 links" in refused.stdout


def test_a_copy_with_its_links_builds(root, tmp_path):
    clone = _copy(root, tmp_path / "clone")

    _build(clone, tmp_path / "out", "--wheel")

    assert list((tmp_path / "out").glob("*.whl"))


def _copy(root: Path, clone: Path) -> Path:
    """Copy what a build reads; links stay links."""
    clone.mkdir()
    for name in BUILT_FROM:
        shutil.copy(root / name, clone / name)
    for name in ("src", *FLOORS):
        shutil.copytree(root / name, clone / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    return clone


def _run_build(source: Path, out: Path, *kinds: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), *kinds, str(source)]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def _build(source: Path, out: Path, *kinds: str) -> None:
    done = _run_build(source, out, *kinds)
    assert done.returncode == 0, done.stdout


def _package_files(root: Path) -> set[str]:
    """What a package of this tree must hold, under the names it has there."""
    folders = {"workgym": root / "src/workgym", **{f"workgym/{name}": root / name for name in FLOORS}}
    return {
        f"{prefix}/{path.relative_to(folder).as_posix()}"
        for prefix, folder in folders.items()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def _wheel_contents(folder: Path) -> dict[str, bytes]:
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def _wheel_files(folder: Path) -> set[str]:
    return {name for name in _wheel_contents(folder) if ".dist-info/" not in name}
