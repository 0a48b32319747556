"""The tools that `make lint` runs find nothing, and would find a second copy of the code."""

from __future__ import annotations

import subprocess
import sys

import pytest

FLOORS = ("tasks", "envs", "agents", "training", "benchmarks")


def test_ruff_finds_nothing(root):
    done = _run(root, "ruff", "check", ".", "--no-cache")

    assert done.returncode == 0, done.stdout


def test_ruff_would_format_nothing_anew(root):
    done = _run(root, "ruff", "format", "--check", ".", "--no-cache")

    assert done.returncode == 0, done.stdout + done.stderr


def test_mypy_finds_nothing(root, require_extra):
    require_extra("train")
    done = _run(root, "mypy", "--strict", "-p", "workgym")

    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("floor", FLOORS)
@pytest.mark.parametrize("form", ["import {}", "from {} import anything", "import {}.anything"])
def test_ruff_refuses_to_import_a_floor_from_the_root(root, floor, form):
    source = form.format(floor)

    refused = _run(root, "ruff", "check", "--select", "TID251", "--stdin-filename", "envs/new.py", "-", text=source)

    assert refused.returncode == 1
    assert f"import workgym.{floor}" in refused.stdout


def test_ruff_lets_a_floor_be_imported_by_its_name(root):
    source = "from workgym.envs.verify import Check"

    allowed = _run(root, "ruff", "check", "--select", "TID251", "--stdin-filename", "envs/new.py", "-", text=source)

    assert allowed.returncode == 0, allowed.stdout


def test_no_module_imports_a_floor_from_the_root(modules):
    copies = [
        f"{module.name}:{found.line} imports {found.name}"
        for module in modules
        for found in module.imports
        if found.name.partition(".")[0] in FLOORS
    ]

    assert copies == []


def _run(root, *command: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *command], cwd=root, input=text, capture_output=True, text=True, check=False, timeout=280
    )
