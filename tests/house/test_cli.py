"""The command line answers: what it knows, and what was probably meant where it does not."""

from __future__ import annotations

import json

import pytest

from workgym import __version__
from workgym.cli import COMMANDS, command_of, main
from workgym.envs.registration import ENTRY_POINTS


def test_help_shows_every_command(run):
    code, out, _ = run("--help")

    assert code == 0
    assert all(f"\n  {name} " in out for name in COMMANDS)


def test_without_a_command_it_shows_the_help(run):
    code, out, err = run()

    assert code == 2
    assert "Commands:" in out + err


def test_version_is_the_packages(run):
    assert run("--version") == (0, f"workgym {__version__}\n", "")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_shows_its_own_options(run, name):
    code, out, _ = run(name, "--help")

    assert code == 0
    assert out.startswith(f"Usage: workgym {name} ")
    assert "Args:" not in out


@pytest.mark.parametrize("name", COMMANDS)
def test_the_overview_says_what_a_command_does(name):
    assert command_of(name).help


def test_an_unknown_command_is_answered_with_the_nearest(run):
    code, _, err = run("trian")

    assert code == 2
    assert "No such command 'trian'. Did you mean 'train'?" in err


def test_an_unknown_option_is_answered_with_the_nearest(run):
    code, _, err = run("doctor", "--jsno")

    assert code == 2
    assert "No such option: --jsno" in err
    assert "--json" in err


def test_an_unknown_section_is_answered_with_the_nearest(run):
    code, _, err = run("list", "recipe")

    assert code == 2
    assert err.startswith("workgym: unknown list 'recipe'. Did you mean 'recipes'?")
    assert "Traceback" not in err


def test_a_traceback_is_shown_on_demand():
    with pytest.raises(ValueError, match="unknown list 'recipe'"):
        main(["--traceback", "list", "recipe"])


def test_list_shows_every_environment_with_its_domain_families_and_levels(run):
    code, out, _ = run("list", "environments", "--json")
    rows = json.loads(out)["environments"]

    assert code == 0
    assert [row["id"] for row in rows if row["package"] == "workgym"] == list(ENTRY_POINTS)
    assert next(row for row in rows if row["id"] == "Coding-v0")["levels"] == [1, 2, 3, 4, 5]
    assert all(row["domain"] and row["families"] for row in rows)


def test_list_shows_the_players_that_every_domain_has(run):
    _, out, _ = run("list", "players", "--json")

    for row in json.loads(out)["players"]:
        assert {"oracle", "noop", "random"} <= set(row["players"])


def test_list_tells_hacks_from_players(run):
    _, out, _ = run("list", "players", "--json")

    rows = {row["id"]: row for row in json.loads(out)["players"]}
    assert {"two-answers", "never-submit"} <= set(rows["Calculator-v0"]["hacks"])
    assert rows["Calculator-v0"]["players"] == ["oracle", "noop", "random", "half-right"]
    assert "always-equal" in rows["Coding-v0"]["hacks"]


def test_list_shows_the_recipes(run):
    _, out, _ = run("list", "recipes", "--json")

    assert "quickstart" in [row["recipe"] for row in json.loads(out)["recipes"]]


def test_list_shows_the_suites(run):
    _, out, _ = run("list", "suites", "--json")

    assert "coding-expression" in [row["suite"] for row in json.loads(out)["suites"]]


def test_list_as_a_table_shows_the_same_names(run):
    code, out, _ = run("list")

    assert code == 0
    assert all(word in out for word in ("Coding-v0", "expression", "oracle", "quickstart"))


@pytest.fixture
def run(capsys):
    """`run("list", "--json")` is the exit code, what was printed, and what was complained of."""

    def call(*words: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(words)
        printed = capsys.readouterr()
        return ended.value.code or 0, printed.out, printed.err

    return call
