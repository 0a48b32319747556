"""`workgym eval`: what a policy can do on held-out tasks, and what it costs."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workgym.tasks.errors import PolicyError
from workgym.tasks.extras import install_command

if TYPE_CHECKING:
    from workgym.agents.archive import Archive
    from workgym.agents.policy import Policy
    from workgym.agents.rack import EnvRack
    from workgym.agents.surroundings import Surroundings
    from workgym.agents.trajectory import Trajectory
    from workgym.benchmarks.suite import Suite

__all__ = ["evaluate"]

_CHECKPOINT = "checkpoint:"


def evaluate(
    agent: Annotated[str, typer.Option(help="oracle, noop, random, another player of the domain, or checkpoint:PATH.")],
    suite: Annotated[str, typer.Option(help="A suite by name; the options below change it.")] = "",
    env: Annotated[str, typer.Option(help="Id of the environment. [default: the checkpoint's, or Coding-v0]")] = "",
    family: Annotated[str, typer.Option(help="Kind of task; the environment's default if empty.")] = "",
    level: Annotated[list[int] | None, typer.Option(help="Difficulty; several times for several. [default: 1]")] = None,
    n: Annotated[int | None, typer.Option(help="Different tasks of each level. [default: 64]", min=1)] = None,
    split: Annotated[str, typer.Option(help="Tasks to draw from: test, validation or train. [default: test]")] = "",
    seed: Annotated[
        int | None, typer.Option(help="Decides tasks and randomness. [default: the suite's, or 0]", min=0)
    ] = None,
    repeats: Annotated[int, typer.Option(help="Episodes of each task.", min=1)] = 1,
    at_once: Annotated[int, typer.Option(help="Episodes that run at once.", min=1)] = 16,
    max_turn_tokens: Annotated[
        int | None, typer.Option(help="Tokens that one turn may have. [default: the checkpoint's, or 1024]", min=1)
    ] = None,
    temperature: Annotated[
        float, typer.Option(help="Of a checkpoint's sampling; 0 takes the likeliest token.", min=0)
    ] = 1.0,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="Argument of the environment, NAME=VALUE; several times for several."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for archive and report. [default: runs/TIME-eval-AGENT]")
    ] = None,
) -> None:
    """Run a policy over tasks it has not seen and print what it can do and what it costs.

    Writes the archive of all episodes, report.md and report.json.

    Raises:
        WorkgymError, ValueError: something that was asked for does not exist.
    """
    from workgym.agents.archive import Archive
    from workgym.agents.evaluate import evaluate as play_all
    from workgym.agents.rack import EnvRack
    from workgym.benchmarks.report import COLUMNS, make_report, write_report
    from workgym.commands.tables import print_table

    home = _home(agent)
    max_turn_tokens = max_turn_tokens or (home.max_turn_tokens if home else 1024)
    given = _arguments(set_ or []) | ({"family": family} if family else {})
    chosen = _suite(suite, env, home, level, n, split, seed, given)
    seed = chosen.seed
    folder = _new_folder(out, agent)
    n_episodes = chosen.n_tasks * len(chosen.levels) * repeats
    with EnvRack(chosen.make_env, min(at_once, n_episodes)) as rack:
        policy = _policy(agent, rack, temperature)
        tasks = chosen.tasks()
        with (
            Archive.open(folder / "archive", "a") as archive,
            _saying_what_is_kept(archive, folder),
            _progress(n_episodes) as advance,
        ):
            episodes = play_all(
                policy,
                rack,
                tasks,
                seed=seed,
                n_repeats=repeats,
                max_turn_tokens=max_turn_tokens,
                archive=archive,
                on_end=advance,
            )
    settings = {"agent": agent, "suite": asdict(chosen), "repeats": repeats, "max_turn_tokens": max_turn_tokens}
    settings |= {"seed": seed, "temperature": temperature}
    report = make_report(episodes, title=f"{agent} on {chosen.name}", policy=policy.name, settings=settings)
    write_report(report, folder)
    print_table(COLUMNS, report.rows(), n_left=2)
    typer.echo(f"\n{folder}/report.md holds the report. To read the episodes:\n  workgym archive ls {folder}")


def _suite(
    name: str,
    env: str,
    home: Surroundings | None,
    levels: Sequence[int] | None,
    n_tasks: int | None,
    split: str,
    seed: int | None,
    given: dict[str, Any],
) -> Suite:
    """The suite that the options describe; a checkpoint plays where it was trained, but for what is said otherwise."""
    from workgym.benchmarks.suite import Suite, find_suite

    if name and env:
        raise ValueError(f"--suite {name} names its environment: give no --env beside it")
    env = env or (home.env_id if home else "Coding-v0")
    chosen = find_suite(name) if name else Suite(env, env, levels=(1,))
    usual = home.kwargs if home and home.env_id == chosen.env_id else {}
    chosen = replace(chosen, kwargs={**usual, **chosen.kwargs, **given})
    if seed is not None:
        chosen = replace(chosen, seed=seed)
    if levels:
        chosen = replace(chosen, levels=tuple(dict.fromkeys(levels)))
    if n_tasks:
        chosen = replace(chosen, n_tasks=n_tasks)
    return replace(chosen, split=split) if split else chosen


def _arguments(pairs: Sequence[str]) -> dict[str, Any]:
    """`["style=short", "strict=true"]` as keyword arguments: JSON where it is JSON, else text."""
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


def _new_folder(out: Path | None, agent: str) -> Path:
    """The folder to write into; never one that holds another evaluation."""
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
        raise ValueError(f"--out {folder} holds an evaluation already; give another folder")
    return folder


def _home(agent: str) -> Surroundings | None:
    """Where a checkpoint was trained; None for other agents, and where it does not say."""
    from workgym.agents.surroundings import read_surroundings

    return read_surroundings(_checkpoint(agent)) if agent.startswith(_CHECKPOINT) else None


def _checkpoint(agent: str) -> Path:
    """The folder of a checkpoint; that of a run stands for its model.

    Raises:
        PolicyError: there is none.
    """
    name = agent.removeprefix(_CHECKPOINT)
    path = Path(name)
    if not name or not path.is_dir():
        raise PolicyError(f"no checkpoint {name!r}: there is no such folder")
    return path / "model" if (path / "model" / "config.json").exists() else path


def _policy(agent: str, rack: EnvRack, temperature: float) -> Policy:
    """A scripted player, or the model of a checkpoint.

    Raises:
        PolicyError: there is no such player or checkpoint, or what models need is not installed.
    """
    from workgym.agents.policies.scripted import named_policy

    if not agent.startswith(_CHECKPOINT):
        return named_policy(rack.env(0), agent)
    path = _checkpoint(agent)
    try:
        from workgym.agents.engines.engine import SamplingParams
        from workgym.agents.policies.model import open_policy
    except ModuleNotFoundError as error:
        raise PolicyError(f"a checkpoint needs {error.name}: {install_command('train')}") from error
    params = SamplingParams(temperature=temperature or 1.0, greedy=temperature == 0)
    return open_policy(path, params, max_rows=rack.n_envs)


@contextmanager
def _saying_what_is_kept(archive: Archive, folder: Path) -> Iterator[None]:
    """Where somebody stops it, say what there is by then."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(f"\nworkgym: stopped; {len(archive)} episodes are kept: workgym archive ls {folder}", err=True)
        raise typer.Exit(130) from None


@contextmanager
def _progress(n_episodes: int) -> Iterator[Callable[[Trajectory], None]]:
    """A bar with the success so far, on stderr."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        line = bar.add_task("playing", total=n_episodes)
        n_valid = n_success = 0

        def advance(trajectory: Trajectory) -> None:
            nonlocal n_valid, n_success
            n_valid += trajectory.valid
            n_success += trajectory.valid and trajectory.success
            share = f"success {n_success / n_valid:.3f}" if n_valid else "playing"
            bar.update(line, advance=1, description=share)

        yield advance
