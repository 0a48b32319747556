"""`workgym list`: the names that other commands and `gym.make` take."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

import gymnasium as gym
import numpy as np
import typer

from workgym.envs.env import WorkEnv
from workgym.envs.registration import ENTRY_POINTS
from workgym.tasks.naming import unknown_name

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
    return [
        {
            "id": env_id,
            "domain": world.domain.name,
            "version": world.domain.version,
            "families": _families(env_id, world),
            "levels": list(world.domain.source.levels),
        }
        for env_id, world in _worlds().items()
    ]


def _families(env_id: str, world: WorkEnv) -> list[str]:
    """The families that a domain's file names in FAMILIES; else the family of a task that it makes."""
    module = importlib.import_module(ENTRY_POINTS[env_id].partition(":")[0])
    named = getattr(module, "FAMILIES", ())
    source = world.domain.source
    return list(named) or [source.sample(source.levels[0], np.random.default_rng(0)).family]


def _players() -> list[dict[str, Any]]:
    return [{"id": env_id, "players": list(world.domain.players)} for env_id, world in _worlds().items()]


def _recipes() -> list[dict[str, Any]]:
    from workgym.recipes import RECIPES

    return [{"recipe": name, "what it does": recipe.summary} for name, recipe in RECIPES.items()]


def _suites() -> list[dict[str, Any]]:
    from workgym.benchmarks.suite import SUITES

    return [
        {
            "suite": name,
            "ids": list(dict.fromkeys(one.env_id for one in suite.sets)),
            "tasks": sum(len(one.levels) * one.n_tasks for one in suite.sets),
            "what it measures": suite.summary,
        }
        for name, suite in SUITES.items()
    ]


def _worlds() -> dict[str, WorkEnv]:
    """One environment of each id; making one starts nothing."""
    made = {env_id: gym.make(env_id).unwrapped for env_id in ENTRY_POINTS}
    return {env_id: world for env_id, world in made.items() if isinstance(world, WorkEnv)}


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
