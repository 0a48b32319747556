"""`workgym eval` as it is typed, here or in a process of its own, and what it leaves."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from workgym.agents.archive import Archive
from workgym.agents.records import fingerprint
from workgym.cli import main

HERE = Path(__file__).parent
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
