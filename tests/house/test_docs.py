"""What the pages show works: Python is run, commands are parsed, links lead somewhere."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from workgym.cli import COMMANDS, command_of

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
FENCE = re.compile(r"^(?P<fence>`{3,})(?P<info>[^\n`]*)\n(?P<text>.*?)^(?P=fence)$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A fenced block: what stands behind its fence, its text, and its line."""

    info: str
    text: str
    line: int


def _blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(found["info"].strip(), found["text"], text[: found.start()].count("\n") + 1)
        for found in FENCE.finditer(text)
    ]


def _commands(page: Path) -> list[str]:
    lines = "\n".join(block.text for block in _blocks(page) if block.info in ("bash", "sh", "console")).replace(
        "\\\n", " "
    )
    return [line.removeprefix("$ ").partition(" #")[0].strip() for line in lines.splitlines()]


def _named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize(
    "page", [page for page in PAGES if any(block.info == "python" for block in _blocks(page))], ids=_named
)
def test_python_on_a_page_runs(page, tmp_path, require_backend):
    """The blocks of a page run one after another in one process, as a reader would type them."""
    require_backend("local")
    program = "\n".join(f"# line {block.line}\n{block.text}" for block in _blocks(page) if block.info == "python")

    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )

    assert done.returncode == 0, f"{page}:\n{program}\n{done.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=_named)
def test_sketches_on_a_page_compile(page):
    for block in _blocks(page):
        if block.info.startswith("python"):
            compile(block.text, f"{page}:{block.line}", "exec")


@pytest.mark.parametrize("page", PAGES, ids=_named)
def test_commands_on_a_page_exist_with_their_options(page):
    for line in _commands(page):
        words = shlex.split(line)
        if words[:1] == ["workgym"] or words[:1] == [".venv/bin/workgym"]:
            _parse(words[1:])


@pytest.mark.parametrize("page", PAGES, ids=_named)
def test_make_targets_on_a_page_exist(page):
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    named = set(re.findall(r"`make ([a-z]+)", page.read_text(encoding="utf-8")))
    named |= {words[1] for line in _commands(page) if (words := line.split())[:1] == ["make"] and len(words) > 1}

    assert named - targets == set()


@pytest.mark.parametrize("page", PAGES, ids=_named)
def test_links_within_the_repository_lead_somewhere(page):
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8"))
    local = [target for target in targets if "://" not in target and not target.startswith("mailto:")]

    assert [target for target in local if not (page.parent / target).exists()] == []


def test_a_command_with_an_unknown_option_would_be_found():
    with pytest.raises(Exception, match="No such option: --jsno"):
        _parse(["doctor", "--jsno"])


def _parse(words: list[str]) -> None:
    """Parse a command and its options without running it."""
    if not words or words[0].startswith("-"):
        return
    assert words[0] in COMMANDS, f"no command {words[0]!r}"
    command, rest = command_of(words[0]), words[1:]
    while hasattr(command, "commands") and rest and not rest[0].startswith("-"):
        assert rest[0] in command.commands, f"no command {rest[0]!r} in {words}"
        command, rest = command.commands[rest[0]], rest[1:]
    command.make_context(words[0], list(rest), resilient_parsing="--help" in rest)
