"""`workgym train`: run a recipe, or go on with a run that was stopped."""

from __future__ import annotations

import json
import os
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from workgym.recipes import RECIPES, Recipe, find_recipe
from workgym.tasks.errors import PolicyError
from workgym.tasks.extras import install_command

__all__ = ["train"]

_RECIPE_FILE = "recipe.json"
_CONFIG_FILE = "config.json"


def train(
    recipe: Annotated[str, typer.Argument(help=f"One of: {', '.join(RECIPES)}.")] = "",
    config: Annotated[Path | None, typer.Option(help="TOML file with settings of the recipe.")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="A setting of the recipe, KEY=VALUE; several times for several.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Decides everything that is random. [default: 0]", min=0)] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the run. [default: runs/TIME-RECIPE]")] = None,
    resume: Annotated[Path | None, typer.Option(help="Folder of a run that was stopped: go on with it.")] = None,
    settings: Annotated[bool, typer.Option("--settings", help="Print the recipe's settings and stop.")] = False,
) -> None:
    """Run a training recipe from a base model to a better one, and report what it came to.

    Raises:
        WorkgymError, ValueError: something that was asked for does not exist.
    """
    # Threads that spin while they wait take the CPU that the sandboxes need. Read when torch is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("GOMP_SPINCOUNT", "0")
    if resume is not None:
        if recipe or config or set_ or seed is not None or out:
            raise ValueError("--resume goes on with a run as it was begun: give no recipe and no settings beside it")
        chosen, values = _read_run(resume)
        _run(chosen, values, resume)
        return
    if not recipe:
        raise ValueError(f"name a recipe, or a run with --resume. Recipes: {', '.join(RECIPES)}")
    chosen = _load(find_recipe(recipe))
    from workgym.training.config import config_text, make_config

    named = {} if seed is None else {"seed": seed}
    made = make_config(chosen.config_kind(), file=config, overrides=set_ or (), **named)
    if settings:
        typer.echo(config_text(made), nl=False)
        return
    folder = _new_folder(out, recipe)
    (folder / _RECIPE_FILE).write_text(json.dumps({"recipe": recipe}) + "\n")
    (folder / _CONFIG_FILE).write_text(config_text(made))
    _run(chosen, made, folder)


def _run(recipe: Recipe, config: object, folder: Path) -> None:
    """Run, and say how to go on where somebody stops it."""
    # torch makes this folder at the first optimizer step, in /tmp where it is not told otherwise. The run's own folder
    # is the one place that is known to be writable.
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(folder.absolute() / "torch"))
    try:
        recipe.run(config, folder)
    except KeyboardInterrupt:
        typer.echo(f"\nworkgym: stopped; to go on: workgym train --resume {folder}", err=True)
        raise typer.Exit(130) from None


def _load(recipe: Recipe) -> Recipe:
    """The recipe, once what it needs is known to be installed.

    Raises:
        PolicyError: the extra `train` is not installed.
    """
    try:
        recipe.config_kind()
    except ModuleNotFoundError as error:
        raise PolicyError(f"recipe {recipe.name!r} needs {error.name}: {install_command('train')}") from error
    return recipe


def _new_folder(out: Path | None, recipe: str) -> Path:
    folder = out or Path("runs") / f"{datetime.now():%Y%m%d-%H%M%S}-{recipe}"
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"{folder} is in use: give another, or go on with the run: workgym train --resume {folder}")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _read_run(folder: Path) -> tuple[Recipe, Any]:
    """The recipe and the configuration that a run was begun with."""
    try:
        name = str(json.loads((folder / _RECIPE_FILE).read_text())["recipe"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"{folder} holds no run of workgym train: {error}") from error
    recipe = _load(find_recipe(name))
    from workgym.training.config import read_config

    return recipe, read_config(recipe.config_kind(), folder / _CONFIG_FILE)
