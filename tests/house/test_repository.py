"""The repository speaks of itself alone, and says in one place which versions it is made of."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib

from packaging.requirements import Requirement

# Written in two parts, so that this file is not its own first finding.
FOREIGN = (
    "py" "pi.org", "files.python" "hosted.org", "download.py" "torch.org", "registry.npm" "js.org", "deb.de" "bian.org",
    "/wo" "rk/", "shared/des" "ign",
)  # fmt: skip


def test_no_file_names_a_registry_or_a_place_of_one_machine(tracked, root):
    words = (*FOREIGN, *_hosts_of_this_pip())
    found = [
        f"{path.relative_to(root)}: {word}"
        for path in tracked
        if (text := _text(path)) is not None
        for word in words
        if word in text
    ]

    assert found == []


def test_links_are_relative_and_lead_to_the_floors(root):
    links = {path.name: path.readlink().as_posix() for path in (root / "src/workgym").iterdir() if path.is_symlink()}

    assert links == {name: f"../../{name}" for name in ("tasks", "envs", "agents", "training", "benchmarks")}


def test_constraints_pin_everything(root):
    lines = [line for line in (root / "constraints.txt").read_text().splitlines() if not line.startswith("#")]

    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][0-9A-Za-z.]*", line)] == []
    assert len({line.partition("==")[0].lower() for line in lines}) == len(lines)


def test_every_requirement_is_a_range_that_its_pin_satisfies(root):
    pins = dict(re.findall(r"^([^#\s]+)==(\S+)$", (root / "constraints.txt").read_text(), flags=re.MULTILINE))
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    wanted = [
        *project["dependencies"],
        *(name for extra in project["optional-dependencies"].values() for name in extra),
    ]
    requirements = [Requirement(text) for text in wanted if not text.startswith("workgym")]

    outside = [str(each) for each in requirements if not each.specifier.contains(pins.get(each.name, "0"))]

    assert len(requirements) > 10
    assert outside == []
    assert [str(each) for each in requirements if any(part.operator == "==" for part in each.specifier)] == []


def test_the_extra_all_brings_every_extra_but_those_of_developers(root):
    extras = tomllib.loads((root / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (everything,) = extras["all"]

    brought = set(everything.removeprefix("workgym[").removesuffix("]").split(","))

    assert brought == extras.keys() - {"all", "dev", "bench", "wandb"}


def test_ci_runs_the_tests_of_the_makefile_and_no_more(root):
    lines = [line for line in (root / ".ci/run").read_text().splitlines() if line and not line.startswith("#")]

    assert lines[0] == "set -euo pipefail"
    assert lines[-1] == "make test"
    assert all(line.startswith(("set ", "cd ", "export WORKGYM_")) for line in lines[:-1])


def _text(path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None  # a picture


def _hosts_of_this_pip() -> set[str]:
    shown = subprocess.run([sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=False)
    return {host for host in re.findall(r"https?://(?:[^/@\s']*@)?([^/:\s']+)", shown.stdout) if host != "localhost"}
