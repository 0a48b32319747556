"""The training recipes, by name. Nothing of a recipe is imported before it runs."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from workgym.tasks.naming import unknown_name

__all__ = ["RECIPES", "Recipe", "find_recipe"]


@dataclass(frozen=True, slots=True)
class Recipe:
    """From a base model to a better one.

    Attributes:
        name: as the command line has it.
        summary: one line.
        module: holds the recipe's configuration, a frozen dataclass, and `run(config, folder)`.
        config: name of that dataclass.
    """

    name: str
    summary: str
    module: str
    config: str

    def config_kind(self) -> type[Any]:
        """The configuration's class."""
        kind: type[Any] = getattr(importlib.import_module(self.module), self.config)
        return kind

    def run(self, config: object, folder: Path) -> None:
        """Train; a folder that holds a run already is continued."""
        importlib.import_module(self.module).run(config, folder)


RECIPES: Final[Mapping[str, Recipe]] = {
    "quickstart": Recipe(
        "quickstart",
        "A small model from scratch learns Coding-v0 by imitation and then by reinforcement, in minutes.",
        "workgym.quickstart",
        "QuickstartConfig",
    ),
    "finance-first": Recipe(
        "finance-first",
        "A small model from scratch learns to read statements and to show its arithmetic, in about twenty minutes.",
        "workgym.finance_first",
        "FinanceFirstConfig",
    ),
    "smollm2-coding": Recipe(
        "smollm2-coding",
        "SmolLM2-135M learns to write functions by imitation and then by reinforcement, in about an hour.",
        "workgym.smollm2",
        "SmolLM2Config",
    ),
}
"""name -> recipe."""


def find_recipe(name: str) -> Recipe:
    """The recipe of this name.

    Raises:
        ValueError: there is none; the message names the nearest.
    """
    if name not in RECIPES:
        raise ValueError(unknown_name("recipe", name, RECIPES))
    return RECIPES[name]
