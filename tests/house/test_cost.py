"""What it costs to import workgym and to ask for help: nothing heavy is loaded, and a fraction of a second passes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = ("torch", "transformers", "playwright", "docker", "trimesh", "pyrender", "pandas", "matplotlib")
COMMANDS = ("list", "train", "eval", "play", "new-domain", "archive", "doctor")

# Runs a statement and prints what the process has used, and which heavy packages it holds.
MEASURE = f"""
import json, resource, sys
try:
    exec(sys.argv.pop(1))
except SystemExit as end:
    assert not end.code, end.code
used = resource.getrusage(resource.RUSAGE_SELF)
loaded = [name for name in {HEAVY!r} if name in sys.modules]
print(json.dumps([used.ru_utime + used.ru_stime, loaded]))
"""

pytestmark = pytest.mark.xdist_group("alone")


def test_importing_workgym_costs_little_over_gymnasium():
    alone = min(_measure("import gymnasium")[0] for _ in range(5))
    both = min(_measure("import workgym")[0] for _ in range(5))

    assert both - alone <= 0.2


def test_importing_workgym_loads_nothing_heavy():
    assert _measure("import workgym")[1] == []


def test_the_measure_sees_a_heavy_package(require_extra):
    require_extra("train")

    assert _measure("import matplotlib")[1] == ["matplotlib"]


def test_help_takes_a_fraction_of_a_second():
    assert min(_measure(_help())[0] for _ in range(5)) < 0.3


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)])
def test_help_loads_nothing_heavy(command):
    assert _measure(_help(*command))[1] == []


def test_making_an_environment_loads_nothing_heavy():
    assert _measure("import gymnasium, workgym; gymnasium.make('Coding-v0').close()")[1] == []


def _help(*command: str) -> str:
    return f"from workgym.cli import main; main([*{command!r}, '--help'])"


def _measure(statement: str) -> tuple[float, list[str]]:
    """Run a statement in a fresh interpreter; return its CPU-seconds and the heavy packages it loaded."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, statement], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    cpu_s, loaded = json.loads(done.stdout.splitlines()[-1])
    return cpu_s, loaded
