"""The source tree, read once: modules with what they import, and the files that git tracks."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

FLOORS = ("tasks", "envs", "agents", "training", "benchmarks")


@dataclass(frozen=True)
class Import:
    """One name that a module imports, and whether only a type checker sees it."""

    name: str
    for_types: bool
    line: int


@dataclass(frozen=True)
class Module:
    """One file of the package."""

    name: str
    path: Path
    tree: ast.Module
    imports: tuple[Import, ...]

    @property
    def floor(self) -> str:
        """One of FLOORS; "" for the front door."""
        first = self.name.removeprefix("workgym").lstrip(".").partition(".")[0]
        return first if first in FLOORS else ""


@pytest.fixture(scope="session")
def root(pytestconfig: pytest.Config) -> Path:
    """The repository's folder."""
    return pytestconfig.rootpath


@pytest.fixture(scope="session")
def modules(root: Path) -> list[Module]:
    """Every module of the package, with absolute names."""
    files = {f"workgym.{name}": sorted((root / name).rglob("*.py")) for name in FLOORS}
    door = root / "src" / "workgym"
    own = [path for path in sorted(door.rglob("*.py")) if path.relative_to(door).parts[0] not in FLOORS]
    named = [(_name(prefix, root / prefix.split(".")[1], path), path) for prefix in files for path in files[prefix]]
    named += [(_name("workgym", door, path), path) for path in own]
    known = {name for name, _ in named}
    return [_read(name, path, known) for name, path in named]


@pytest.fixture(scope="session")
def tracked(root: Path) -> list[Path]:
    """The files that git tracks, links left out."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True).stdout
    return [root / name for name in listed.split("\0") if (root / name).is_file() and not (root / name).is_symlink()]


def _name(prefix: str, folder: Path, path: Path) -> str:
    parts = path.relative_to(folder).with_suffix("").parts
    return ".".join([prefix, *parts]).removesuffix(".__init__")


def _read(name: str, path: Path, known: set[str]) -> Module:
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    return Module(name, path, tree, tuple(_imports(tree, known)))


def _imports(tree: ast.Module, known: set[str]) -> Iterator[Import]:
    guarded = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for statement in node.body
        for inner in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            inside = [f"{node.module}.{alias.name}" for alias in node.names]
            names = sorted({name if name in known else node.module for name in inside})
        else:
            continue
        yield from (Import(name, id(node) in guarded, node.lineno) for name in names)
