"""All of this folder once more, as a user without any privilege and with the system's own Python."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from importlib import util
from pathlib import Path

import pytest

pytestmark = [pytest.mark.xdist_group("alone"), pytest.mark.timeout(900)]  # each is a suite of its own

NOBODY = 65534
PYTHON = "/usr/bin/python3"
CONFTEST = """
import shutil

import pytest

@pytest.fixture(scope="session")
def require_backend():
    def check(name):
        if name == "bwrap" and not shutil.which("bwrap"):
            pytest.skip("no bwrap: apt-get install bubblewrap")

    return check
"""


def _system_python_is_new_enough() -> bool:
    if not os.access(PYTHON, os.X_OK):
        return False
    test = "import sys; sys.exit(sys.version_info < (3, 11))"
    return subprocess.run([PYTHON, "-I", "-c", test], check=False).returncode == 0


@pytest.fixture
def readable() -> Iterator[Path]:
    """A copy of the code, of these tests and of pytest that everybody may read."""
    here = Path(__file__).parent
    root = here.parents[2]
    # attacks/ has its own plain user, and in_docker/ its own daemon.
    leave_out = shutil.ignore_patterns("__pycache__", "attacks", "in_docker", Path(__file__).name)
    with tempfile.TemporaryDirectory(prefix="workgym-nobody-") as name:
        folder = Path(name)
        package = folder / "workgym"
        package.mkdir()
        (package / "__init__.py").touch()
        for floor in ("tasks", "envs"):
            shutil.copytree(root / floor, package / floor, ignore=leave_out)
        shutil.copytree(here, folder / "tests" / "sandbox", ignore=leave_out)
        (folder / "tests" / "conftest.py").write_text(CONFTEST)
        for needed in ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "py"):
            spec = util.find_spec(needed)
            assert spec is not None
            assert spec.origin is not None
            if Path(spec.origin).name == "__init__.py":
                shutil.copytree(Path(spec.origin).parent, folder / needed, ignore=leave_out)
            else:
                shutil.copy(spec.origin, folder)
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        yield folder


@pytest.mark.skipif(os.geteuid() != 0, reason="this suite already runs as a plain user")
@pytest.mark.skipif(not _system_python_is_new_enough(), reason=f"{PYTHON} is older than Python 3.11 or missing")
@pytest.mark.parametrize(
    "part", [["tests/sandbox/contract"], ["tests", "--ignore=tests/sandbox/contract"]], ids=["contract", "rest"]
)
def test_everything_holds_for_a_plain_user(local: None, readable: Path, part: list[str]) -> None:
    scratch = readable / "scratch"
    scratch.mkdir(mode=0o777)
    scratch.chmod(0o777)
    environ = {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": str(readable),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_DEBUG_TEMPROOT": str(scratch),
        "LANG": "C.UTF-8",
    }
    command = [
        PYTHON,
        "-s",
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--import-mode=importlib",
        "-W",
        "error",
        "-m",
        "not slow",
        "--durations=12",
        *part,
    ]
    done = subprocess.run(
        [*command, "-W", "ignore::pytest.PytestUnknownMarkWarning"],
        cwd=readable,
        env=environ,
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-8000:]
    assert " passed" in done.stdout
