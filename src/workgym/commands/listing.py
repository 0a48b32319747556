"""`workgym list`: the names that other commands and `gym.make` take."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, Any, Final

import gymnasium as gym
import numpy as np
import typer

from workgym.envs.env import WorkEnv
from workgym.envs.plugins import Plugin
from workgym.envs.registration import OWN, known_domains
from workgym.tasks.naming import unknown_name
from workgym.tasks.source import TaskSource

__all__ = ["list_names"]

_SECTIONS: Final = ("environments", "players", "suites", "recipes")


def list_names(
    what: Annotated[str, typer.Argument(help=f"One of: {', '.join(_SECTIONS)}. All of them if left out.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show environments with their domains, families and levels; the scripted players of each; suites; recipes."""
    if what and what not in _SECTIONS:
        raise ValueError(unknown_name("list", what, _SECTIONS))
    look = {"environments": _environments, "players": _players, "suites": _suites, "recipes": _recipes}
    shown = {section: look[section]() for section in _SECTIONS if what in ("", section)}
    if as_json:
        print(json.dumps(shown, indent=2))
        return
    for section, rows in shown.items():
        _show(section, rows)


def _environments() -> list[dict[str, Any]]:
    return [{key: value for key, value in row.items() if key not in ("players", "hacks")} for row in _domains()]


def _players() -> list[dict[str, Any]]:
    return [{key: row[key] for key in ("id", "players", "hacks")} for row in _domains()]


@cache
def _domains() -> list[dict[str, Any]]:
    """Every domain that can be made. An installed package whose domain cannot is named, and left out."""
    rows = []
    for plugin in known_domains():
        try:
            rows.append(_look_at(plugin))
        except Exception as error:
            if plugin.distribution == OWN:
                raise
            print(
                f"workgym: {plugin.env_id} of the installed package {plugin.distribution} is left out: "
                f"{type(error).__name__}: {error}",
                file=sys.stderr,
            )
    return rows


def _look_at(plugin: Plugin) -> dict[str, Any]:
    """Make one environment, which starts nothing, and read what its domain has."""
    env = gym.make(plugin.env_id)
    world = env.unwrapped
    if not isinstance(world, WorkEnv):
        raise TypeError(f"{plugin.entry_point} makes a {type(world).__name__}, not a WorkEnv")
    domain = world.domain
    row = {
        "id": plugin.env_id,
        "domain": domain.name,
        "version": domain.version,
        "families": _families(plugin, domain.source),
        "levels": list(domain.source.levels),
        "package": plugin.distribution,
        "players": list(domain.players),
        "hacks": list(domain.hacks),
    }
    env.close()
    return row


def _families(plugin: Plugin, source: TaskSource) -> list[str]:
    """The families that a domain's file names in FAMILIES; else the family of a task that it makes."""
    module = importlib.import_module(plugin.entry_point.partition(":")[0])
    named = getattr(module, "FAMILIES", ())
    return list(named) or [source.sample(source.levels[0], np.random.default_rng(0)).family]


def _recipes() -> list[dict[str, Any]]:
    from workgym.recipes import RECIPES

    return [{"recipe": name, "what it does": recipe.summary} for name, recipe in RECIPES.items()]


def _suites() -> list[dict[str, Any]]:
    from workgym.benchmarks.suite import SUITES

    return [
        {
            "suite": name,
            "ids": list(dict.fromkeys(one.env_id for one in suite.sets)),
            "tasks": sum(one.n_all for one in suite.sets),
            "what it measures": suite.summary,
        }
        for name, suite in SUITES.items()
    ]


def _show(section: str, rows: Sequence[Mapping[str, Any]]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=section, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in rows[0]:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*(escape(_words(value)) for value in row.values()))
    Console().print(table, "")


def _words(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
