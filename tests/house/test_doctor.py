"""The doctor says what a machine offers, and what mends it; tests that lack a part say so in its words."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from workgym.cli import main
from workgym.commands.doctor import explain
from workgym.commands.machine import Part, look_at, look_at_all

PARTS = {
    "local",
    "ledger",
    "python",
    "train",
    "finance",
    "modeling",
    "openai",
    "bench",
    "cores",
    "memory",
    "gpu",
    "bwrap",
    "docker",
    "browser",
    "gl",
}


def test_the_doctor_looks_at_every_part():
    parts = look_at_all()

    assert {part.name for part in parts} == PARTS
    assert all(part.found and part.serves for part in parts)


def test_what_is_missing_comes_with_the_command_that_mends_it(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("WORKGYM_CHROMIUM", raising=False)

    browser = look_at("browser")

    assert browser.state == "missing"
    assert browser.mend.endswith("apt-get install chromium-headless-shell")


def test_a_browser_that_is_named_and_absent_is_missing(monkeypatch):
    monkeypatch.setenv("WORKGYM_CHROMIUM", "/nowhere/chromium")

    browser = look_at("browser")

    assert browser.state == "missing"
    assert "/nowhere/chromium" in browser.found


def test_a_browser_that_is_named_is_asked_for_its_version(monkeypatch, tmp_path):
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\necho Chromium 123.4\n")
    program.chmod(0o755)
    monkeypatch.setenv("WORKGYM_CHROMIUM", str(program))

    assert look_at("browser") == Part("browser", "ok", f"Chromium 123.4 ({program})", look_at("browser").serves)


def test_a_docker_that_does_not_answer_is_missing(monkeypatch, tmp_path):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/docker.sock")

    docker = look_at("docker")

    assert docker.state == "missing"
    assert f"{tmp_path}/docker.sock" in docker.found
    assert docker.mend


def test_a_card_that_answers_is_found_without_loading_torch(monkeypatch, tmp_path):
    (tmp_path / "nvidia-smi").write_text("#!/bin/sh\necho 'NVIDIA H200, 143771 MiB'\n")
    (tmp_path / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")

    assert "NVIDIA H200" in look_at("gpu").found


def test_the_words_on_a_part_hold_what_is_wrong_and_the_way_out():
    part = Part("docker", "missing", "neither client nor server", "sandboxes", "apt-get install docker.io")

    assert explain(part) == "docker is missing: neither client nor server. To mend it: apt-get install docker.io"


def test_json_holds_what_the_table_shows(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["doctor", "--json"])
    parts = {part["name"]: part for part in json.loads(capsys.readouterr().out)}

    assert parts.keys() == PARTS
    assert ended.value.code == (0 if parts["local"]["state"] != "missing" else 1)


def test_the_table_is_plain_text_where_the_terminal_is(capsys):
    with pytest.raises(SystemExit):
        main(["doctor"])
    printed = capsys.readouterr().out

    assert "\x1b" not in printed
    assert all(name in printed for name in PARTS)
    assert "The default sandbox (local)" in printed


@pytest.mark.parametrize(
    ("variable", "required", "outcome"),
    [("BROWSER", "", "1 skipped"), ("BACKENDS", "local", "1 skipped"), ("BROWSER", "1", "1 failed")],
)
def test_a_missing_part_skips_a_test_and_fails_it_where_it_is_required(
    root, tmp_path, monkeypatch, variable, required, outcome
):
    (tmp_path / "conftest.py").write_text((root / "tests/conftest.py").read_text())
    (tmp_path / "test_part.py").write_text("def test_part(require_browser):\n    require_browser()\n")
    monkeypatch.setenv("WORKGYM_CHROMIUM", "/nowhere/chromium")
    monkeypatch.delenv("WORKGYM_REQUIRE_BROWSER", raising=False)
    monkeypatch.setenv(f"WORKGYM_REQUIRE_{variable}", required)

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rsf", str(tmp_path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert outcome in done.stdout
    assert "WORKGYM_CHROMIUM names no program: /nowhere/chromium" in done.stdout
