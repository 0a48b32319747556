"""The example of a plugin installs into a clean virtual environment, and is checked, listed and trained on there."""

from __future__ import annotations

import json
import shutil
import site
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("plugins")

EXAMPLE = Path(__file__).parents[2] / "examples" / "plugin-domain"


class CleanEnvironment:
    """A virtual environment in which nothing is installed; it borrows what the tests' own interpreter has.

    So it needs no network: workgym, torch and the build backend are there, and what a test installs is not.
    """

    def __init__(self, folder: Path) -> None:
        venv.create(folder, symlinks=True)
        self.python = folder / "bin" / "python"
        packages = Path(self.run("-c", "import sysconfig; print(sysconfig.get_path('purelib'))").stdout.strip())
        borrowed = {sysconfig.get_path("purelib"), *(path for path in site.getsitepackages() if Path(path).exists())}
        lines = [f"import site; site.addsitedir({path!r})" for path in sorted(borrowed)]  # with the .pth files there
        (packages / "borrowed.pth").write_text("\n".join(lines))

    def run(self, *command: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [self.python, *command], cwd=cwd, capture_output=True, text=True, check=False, timeout=200
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    def install(self, source: Path) -> None:
        """Build and install a package with pip, from a copy, so that nothing is written into the source."""
        self.run("-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation", str(source))


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> CleanEnvironment:
    folder = tmp_path_factory.mktemp("clean")
    environment = CleanEnvironment(folder / "venv")
    shutil.copytree(EXAMPLE, folder / "plugin-domain", ignore=shutil.ignore_patterns("__pycache__"))
    environment.install(folder / "plugin-domain")
    return environment


def test_the_example_is_under_150_lines_in_all() -> None:
    files = [path for path in EXAMPLE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert {path.name for path in files} == {"pyproject.toml", "README.md", "units_domain.py", "test_domain.py"}
    assert sum(len(path.read_text().splitlines()) for path in files) < 150


def test_it_is_checked_and_trained_on_where_it_was_installed(
    environment: CleanEnvironment, require_extra: Callable[[str], None]
) -> None:
    require_extra("train")
    done = environment.run(str(Path(__file__).with_name("plugin_training.py")), "Units-v0")
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen["package"] == "workgym-units"
    assert Path(seen["module"]).is_relative_to(environment.python.parents[1])
    assert (seen["steps"], seen["moved"], seen["valid"]) == (2, True, True)
    assert seen["rewards"] == [0.0, 1.0]
    assert seen["splits"] == ["train"]


def test_its_own_tests_pass_there(environment: CleanEnvironment, tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE / "tests", tmp_path / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    done = environment.run("-m", "pytest", "-q", "-W", "error", "tests", cwd=tmp_path)
    assert "1 passed" in done.stdout


def test_list_names_the_package_that_brings_it(environment: CleanEnvironment) -> None:
    done = environment.run("-m", "workgym", "list", "environments", "--json")
    rows = {row["id"]: row["package"] for row in json.loads(done.stdout)["environments"]}
    assert rows["Units-v0"] == "workgym-units"
    assert rows["Coding-v0"] == "workgym"


def test_a_package_of_new_domain_installs_beside_it(environment: CleanEnvironment, tmp_path: Path) -> None:
    environment.run("-m", "workgym", "new-domain", "word-puzzles", "--out", str(tmp_path / "made"))
    environment.install(tmp_path / "made")
    code = "import gymnasium as gym, workgym; print(gym.make('WordPuzzles-v0', level=5).reset(seed=0)[0])"
    assert environment.run("-c", code, cwd=tmp_path).stdout.startswith("Write backwards: ")


def test_the_interpreter_of_the_tests_does_not_know_it() -> None:
    """The control: the id comes from the installation, not from the repository."""
    code = "import gymnasium as gym, workgym; print('Units-v0' in gym.registry)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "False\n"
