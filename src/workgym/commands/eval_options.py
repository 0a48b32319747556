"""The options of `workgym eval`, read: which suite, which folder, what it costs."""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from workgym.tasks.task import Budget

if TYPE_CHECKING:
    from workgym.agents.prices import Price
    from workgym.agents.surroundings import Surroundings
    from workgym.benchmarks.suite import Suite, TaskSet

__all__ = ["checked_url", "choose_suite", "default_url", "new_folder", "price_for", "read_arguments", "read_levels"]


def choose_suite(
    name: str,
    env: str,
    home: Surroundings | None,
    *,
    kwargs: dict[str, Any],
    levels: tuple[int, ...],
    n_tasks: int | None,
    split: str,
    seed: int | None,
    repeats: int | None,
    budget: Budget,
) -> Suite:
    """The suite that the options describe; a checkpoint plays as where it was trained, but for what is said otherwise.

    Args:
        name: of a suite, or its file; "" for tasks of one environment.
        env: its id; "" for the checkpoint's, or Coding-v0.
        home: where a checkpoint was trained.
        kwargs: arguments of the environments.
        levels: in place of the suite's; empty leaves them.
        n_tasks: likewise, of each level.
        split: likewise.
        seed: likewise, of tasks and episodes.
        repeats: likewise, of each task.
        budget: likewise, where it is not 0.

    Raises:
        TaskError, ValueError: there is no such suite, or both a suite and an environment were given.
    """
    from workgym.benchmarks.suite import Suite, TaskSet, find_suite

    if name and env:
        raise ValueError(f"--suite {name} names its environments: give no --env beside it")
    env = env or (home.env_id if home else "Coding-v0")
    suite = find_suite(name) if name else Suite(env, (TaskSet(env),))
    given = {"levels": levels, "n_tasks": n_tasks, "split": split}
    fields: dict[str, Any] = {field: value for field, value in given.items() if value}
    if seed is not None:
        fields["seed"] = seed
        suite = replace(suite, seed=seed)
    if any(one.ids for one in suite.sets) and (fields.keys() - {"seed"}):
        raise ValueError(f"--suite {name} names tasks by id: leave out --level, --n and --split")
    sets = [replace(_at_home(one, home, kwargs), **fields).with_budget(budget) for one in suite.sets]
    return replace(suite, sets=tuple(sets), n_repeats=repeats or suite.n_repeats)


def _at_home(one: TaskSet, home: Surroundings | None, given: dict[str, Any]) -> TaskSet:
    """A checkpoint plays as where it was trained, but for what is said otherwise."""
    usual = home.kwargs if home and home.env_id == one.env_id else {}
    return replace(one, kwargs={**usual, **one.kwargs, **given})


def read_levels(words: Sequence[str]) -> tuple[int, ...]:
    """`["1,2", "5"]` as (1, 2, 5).

    Raises:
        ValueError: one is no whole number, or named twice.
    """
    levels = [word.strip() for text in words for word in text.split(",")]
    if not all(word.isascii() and word.isdecimal() for word in levels):
        raise ValueError(f"--level {','.join(words)}: levels are whole numbers, such as 2 or 1,2,3")
    numbers = tuple(map(int, levels))
    if len(set(numbers)) < len(numbers):
        raise ValueError(f"--level {','.join(words)}: a level is named twice, and its tasks would be played twice")
    return numbers


def read_arguments(pairs: Sequence[str]) -> dict[str, Any]:
    """`["style=short", "strict=true"]` as keyword arguments: JSON where it is JSON, else text.

    Raises:
        ValueError: one is of another form, or names what has an option of its own.
    """
    arguments: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name.isidentifier():
            raise ValueError(f"--set {pair!r} is not of the form NAME=VALUE")
        if name in ("level", "split"):
            raise ValueError(f"--set {pair!r}: use --{name}")
        try:
            arguments[name] = json.loads(text)
        except ValueError:
            arguments[name] = text
    return arguments


def checked_url(url: str) -> str:
    """A URL that may be written down: settings are kept with the report, and keys are not.

    Raises:
        ValueError: it holds a password.
    """
    if "@" in url.partition("://")[2].partition("/")[0]:
        raise ValueError("--base-url holds a password, which would be kept with the report: set OPENAI_API_KEY instead")
    return url


def default_url(agent: str) -> str:
    """The URL that the client of an endpoint would take by itself; named here, so that it is kept with the settings."""
    return os.environ.get("OPENAI_BASE_URL", "") if agent.startswith("openai:") else ""


def price_for(prices: Path | None, agent: str) -> Price | None:
    """The price of an agent's tokens in a table; None where nobody knows, and then a line says so.

    Raises:
        PolicyError: the table cannot be read.
    """
    from workgym.agents.prices import read_prices
    from workgym.commands.agents import priced_name

    if prices is None:
        return None
    price = read_prices(prices).get(priced_name(agent))
    if price is None:
        typer.echo(f"workgym: {prices} has no price for {priced_name(agent)!r}: money is reported as unknown", err=True)
    return price


def new_folder(out: Path | None, agent: str) -> Path:
    """The folder to write into; never one that holds another evaluation.

    Raises:
        ValueError: it holds one, or is a file.
    """
    word = re.sub(r"[^A-Za-z0-9]+", "-", agent).strip("-")[:40] or "agent"
    if out is None:
        name = f"{datetime.now():%Y%m%d-%H%M%S}-eval-{word}"
        free = (Path("runs") / (f"{name}-{number}" if number else name) for number in itertools.count())
        out = next(folder for folder in free if not folder.exists())
        out.mkdir(parents=True)
    folder = out
    if folder.is_file():
        raise ValueError(f"--out {folder} is a file; give a folder")
    if (folder / "archive").exists() or (folder / "report.json").exists():
        raise ValueError(
            f"--out {folder} holds an evaluation already; give another folder, or go on with it: --resume {folder}"
        )
    return folder
