"""Domains of installed packages: found by their entry points, left out where broken, refused where an id is taken."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from workgym.envs.registration import ENTRY_POINTS

pytestmark = pytest.mark.xdist_group("plugins")


@dataclass
class Shelf:
    """A folder on the path of a fresh interpreter, with packages as pip lays them out."""

    folder: Path

    def install(self, name: str, entry_points: str | bytes, module: str = "", metadata: bool = True) -> None:
        info = self.folder / f"{name.replace('-', '_')}-1.0.dist-info"
        info.mkdir()
        if metadata:
            (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        text = entry_points if isinstance(entry_points, bytes) else f"[workgym.domains]\n{entry_points}\n".encode()
        (info / "entry_points.txt").write_bytes(text)
        (self.folder / f"{name.replace('-', '_')}.py").write_text(module)

    def run(self, *command: str, warnings: str = "always") -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(self.folder), "PYTHONWARNINGS": warnings}
        return subprocess.run(
            [sys.executable, *command], env=environment, capture_output=True, text=True, check=False, timeout=60
        )

    def python(self, code: str) -> subprocess.CompletedProcess[str]:
        return self.run("-c", f"import sys, gymnasium as gym, workgym\n{code}")


GOOD = """
from workgym.envs.calculator.env import make as calculator


def make(**kwargs):
    return calculator(style="short", **kwargs)
"""


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


def test_an_installed_domain_is_registered_and_its_module_not_imported(shelf: Shelf) -> None:
    shelf.install("good-domain", "Good-v0 = good_domain:make", GOOD)
    done = shelf.python(
        "print(gym.spec('Good-v0').entry_point, 'good_domain' in sys.modules)\n"
        "env = gym.make('Good-v0', level=2)\n"
        "print('good_domain' in sys.modules, env.reset(seed=1)[1]['domain'])"
    )
    assert done.stdout.splitlines() == ["good_domain:make False", "True calculator"]
    assert done.stderr == ""


def test_the_module_form_of_gymnasium_finds_it_too(shelf: Shelf) -> None:
    shelf.install("good-domain", "Good-v0 = good_domain:make", GOOD)
    done = shelf.run("-c", "import gymnasium as gym; print(gym.make('workgym:Good-v0').spec.id)")
    assert done.stdout == "Good-v0\n"


def test_list_shows_it_with_its_package(shelf: Shelf) -> None:
    shelf.install("good-domain", "Good-v0 = good_domain:make", GOOD)
    done = shelf.run("-m", "workgym", "list", "environments", "--json")
    rows = {row["id"]: row for row in json.loads(done.stdout)["environments"]}
    assert rows["Good-v0"]["package"] == "good-domain"
    assert rows["Good-v0"]["families"] == ["sum"]
    assert rows["Coding-v0"]["package"] == "workgym"


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("Broken-v0 = broken_domain", "'broken_domain' leads nowhere. Write it as in: Broken-v0 = 'module:make'"),
        ("Broken-v0 = ../up:make", "leads nowhere"),
        ("Broken-v0 =", "leads nowhere"),
        ("Broken = broken_domain:make", "'Broken' is no id. Name it as in: Units-v0"),
        ("a line that says nothing", "cannot be read"),
        (b"[workgym.domains]\nBroken-v0 = \xff\xfe", "cannot be read: UnicodeDecodeError"),
    ],
)
def test_a_broken_plugin_is_warned_of_by_name_and_breaks_nothing(shelf: Shelf, entry: str | bytes, words: str) -> None:
    shelf.install("broken-domain", entry)
    shelf.install("good-domain", "Good-v0 = good_domain:make", GOOD)
    done = shelf.python("print('Good-v0' in gym.registry, 'Broken-v0' in gym.registry)")
    assert (done.returncode, done.stdout) == (0, "True False\n")
    assert "UserWarning: workgym leaves out a domain of the installed package broken-domain: " in done.stderr
    assert words in done.stderr


def test_a_plugin_without_metadata_is_found_or_named_by_its_folder(shelf: Shelf) -> None:
    shelf.install("nameless-domain", "Nameless-v0 = nowhere", metadata=False)
    done = shelf.python("print('Coding-v0' in gym.registry)")
    assert (done.returncode, done.stdout) == (0, "True\n")
    assert f"the installed package {shelf.folder}" in done.stderr


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("raise RuntimeError('no licence')", "RuntimeError: no licence"),
        ("", "AttributeError"),
        ("def make(): raise OSError('no disk')", "OSError: no disk"),
        ("import gymnasium as gym\ndef make(): return gym.make('CartPole-v1')", "makes a CartPoleEnv, not a WorkEnv"),
    ],
)
def test_a_plugin_that_cannot_be_made_is_left_out_of_the_list_by_name(shelf: Shelf, module: str, words: str) -> None:
    shelf.install("broken-domain", "Broken-v0 = broken_domain:make", module)
    imported = shelf.python("print('Coding-v0' in gym.registry)")
    assert (imported.stdout, imported.stderr) == ("True\n", "")
    done = shelf.run("-m", "workgym", "list", "environments", "--json")
    assert [row["id"] for row in json.loads(done.stdout)["environments"]] == list(ENTRY_POINTS)
    assert "workgym: Broken-v0 of the installed package broken-domain is left out: " in done.stderr
    assert words in done.stderr


def test_two_packages_with_one_id_are_an_error_that_names_both(shelf: Shelf) -> None:
    shelf.install("first-domain", "Same-v0 = first_domain:make", GOOD)
    shelf.install("second-domain", "Same-v0 = second_domain:make", GOOD)
    done = shelf.python("")
    assert done.returncode == 1
    assert (
        "RegistrationError: the id 'Same-v0' is brought twice: by the installed package second-domain "
        "(second_domain:make) and by first-domain (first_domain:make). Uninstall one of them"
    ) in done.stderr


@pytest.mark.parametrize(
    ("env_id", "other"),
    [("Coding-v0", "workgym (workgym.envs.coding.env:make)"), ("CartPole-v1", "Gymnasium's registry")],
)
def test_an_id_that_is_taken_is_an_error_that_names_both(shelf: Shelf, env_id: str, other: str) -> None:
    shelf.install("greedy-domain", f"{env_id} = greedy_domain:make", GOOD)
    done = shelf.python("")
    assert done.returncode == 1
    assert f"the id {env_id!r} is brought twice: by the installed package greedy-domain" in done.stderr
    assert f"and by {other}" in done.stderr


def test_a_package_that_lies_twice_on_the_path_is_no_clash(shelf: Shelf, tmp_path: Path) -> None:
    shelf.install("good-domain", "Good-v0 = good_domain:make", GOOD)
    other = Shelf(tmp_path / "other")
    other.folder.mkdir()
    other.install("good-domain", "Good-v0 = another_module:make")
    done = shelf.run(
        "-c",
        f"import sys; sys.path.append({str(other.folder)!r})\n"
        "import gymnasium as gym, workgym; print(gym.spec('Good-v0').entry_point)",
    )
    assert done.stdout == "good_domain:make\n"


def test_a_package_of_another_group_is_not_looked_at(shelf: Shelf) -> None:
    shelf.install("other-tool", b"[console_scripts]\na line that says nothing\n")
    done = shelf.python("print('Coding-v0' in gym.registry)")
    assert (done.stdout, done.stderr) == ("True\n", "")
