"""`workgym eval`: what an agent can do on held-out tasks, and what it costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workgym.commands.eval_options import (
    checked_url,
    choose_suite,
    default_url,
    new_folder,
    price_for,
    read_arguments,
    read_levels,
)
from workgym.tasks.errors import WorkgymError
from workgym.tasks.task import Budget

if TYPE_CHECKING:
    from workgym.agents.archive import Archive
    from workgym.agents.trajectory import Trajectory
    from workgym.commands.eval_settings import EvalSettings

__all__ = ["evaluate"]


def evaluate(
    context: typer.Context,
    agent: Annotated[
        str,
        typer.Option(
            help="oracle, noop, random or another player of the domain; checkpoint:PATH; openai:MODEL; or "
            "module:factory, where factory() returns a callable (messages, tools) -> message."
        ),
    ] = "",
    suite: Annotated[str, typer.Option(help="A suite by name or as a TOML file; the options below change it.")] = "",
    env: Annotated[
        str, typer.Option(help="Id of the environment, or module:Id. [default: the checkpoint's, or Coding-v0]")
    ] = "",
    family: Annotated[str, typer.Option(help="Kind of task; the environment's default if empty.")] = "",
    level: Annotated[list[str] | None, typer.Option(help="Difficulty, such as 2 or 1,2,3. [default: 1]")] = None,
    n: Annotated[int | None, typer.Option(help="Different tasks of each level. [default: 64]", min=1)] = None,
    split: Annotated[str, typer.Option(help="Tasks to draw from: test, validation or train. [default: test]")] = "",
    seed: Annotated[
        int | None, typer.Option(help="Decides tasks and randomness. [default: the suite's, or 0]", min=0)
    ] = None,
    repeats: Annotated[
        int | None, typer.Option(help="Episodes of each task; several give pass@k. [default: the suite's, or 1]", min=1)
    ] = None,
    turns: Annotated[int, typer.Option(help="Turns of an episode; 0 for the task's own.", min=0)] = 0,
    tokens: Annotated[int, typer.Option(help="Tokens an episode may sample; 0 for the task's own.", min=0)] = 0,
    wall_s: Annotated[float, typer.Option(help="Seconds an episode may take; 0 for the task's own.", min=0)] = 0.0,
    at_once: Annotated[int, typer.Option(help="Episodes that run at once.", min=1)] = 16,
    max_turn_tokens: Annotated[
        int | None, typer.Option(help="Tokens that one turn may have. [default: the checkpoint's, or 1024]", min=1)
    ] = None,
    temperature: Annotated[
        float, typer.Option(help="Of sampling; 0 takes a checkpoint's likeliest token.", min=0)
    ] = 1.0,
    base_url: Annotated[str, typer.Option(help="URL of an OpenAI-compatible API; the key is OPENAI_API_KEY.")] = "",
    tools: Annotated[str, typer.Option(help="How an endpoint's model calls tools: native, or text.")] = "native",
    retries: Annotated[int, typer.Option(help="Of a request that failed on the way.", min=0)] = 5,
    timeout_s: Annotated[
        float, typer.Option(help="Seconds until a request counts as failed.", min=0.1, max=86400)
    ] = 300.0,
    prices: Annotated[Path | None, typer.Option(help="TOML file with prices of tokens, by model.")] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="Argument of the environment, NAME=VALUE; several times for several."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for archive and report. [default: runs/TIME-eval-AGENT]")
    ] = None,
    resume: Annotated[Path | None, typer.Option(help="Go on with the evaluation in this folder.")] = None,
) -> None:
    """Run an agent over tasks it has not seen and print what it can do and what it costs.

    Writes the settings (eval.json), the archive of all episodes, report.md and report.json. An evaluation that was
    stopped goes on with --resume.

    Raises:
        WorkgymError, ValueError: something that was asked for does not exist.
    """
    if resume is not None:
        settings = _kept(context, resume, at_once)
        _run(settings, resume.absolute())
        return
    if not agent:
        raise ValueError("--agent is missing: a player such as oracle, checkpoint:PATH, openai:MODEL or module:factory")
    from workgym.commands.agents import home_of
    from workgym.commands.eval_settings import EvalSettings

    for option, number in {"--wall-s": wall_s, "--temperature": temperature, "--timeout-s": timeout_s}.items():
        if not math.isfinite(number):
            raise ValueError(f"{option} {number} is no number to count with")
    home = home_of(agent)
    settings = EvalSettings(
        agent=agent,
        suite=choose_suite(
            suite,
            env,
            home,
            kwargs=read_arguments(set_ or []) | ({"family": family} if family else {}),
            levels=read_levels(level or []),
            n_tasks=n,
            split=split,
            seed=seed,
            repeats=repeats,
            budget=Budget(turns, tokens, wall_s),
        ),
        at_once=at_once,
        max_turn_tokens=max_turn_tokens or (home.max_turn_tokens if home else 1024),
        temperature=temperature,
        base_url=checked_url(base_url or default_url(agent)),
        tools=tools,
        retries=retries,
        timeout_s=timeout_s,
        price=price_for(prices, agent),
    )
    # An agent of one's own may change the current folder: from here on the path says where by itself.
    folder = new_folder(out, agent).absolute()
    try:
        _run(settings, folder)
    except BaseException:
        if out is None:  # the folder is ours; where nothing came to lie in it, it is not left behind
            with suppress(OSError):
                folder.rmdir()
        raise


def _run(settings: EvalSettings, folder: Path) -> None:
    """Play what is missing, write the report and print it."""
    from workgym.agents.archive import Archive
    from workgym.benchmarks.evaluation import evaluate_suite
    from workgym.benchmarks.report import make_report, write_report
    from workgym.commands.agents import import_from_here, open_agent
    from workgym.commands.eval_settings import write_settings

    if any(":" in one.env_id for one in settings.suite.sets):
        import_from_here()
    with open_agent(settings) as policy_for:
        drawn = settings.suite.draw()
        n_episodes = sum(map(len, drawn)) * settings.suite.n_repeats
        write_settings(settings, folder)
        with (
            Archive.open(folder / "archive", "a") as archive,
            _saying_what_is_kept(archive, folder),
            _progress(n_episodes, archive) as advance,
        ):
            episodes = evaluate_suite(
                policy_for,
                settings.suite,
                at_once=settings.at_once,
                max_turn_tokens=settings.max_turn_tokens,
                archive=archive,
                drawn=drawn,
                on_end=advance,
            )
    title = f"{settings.agent} on {settings.suite.name}"
    report = make_report(episodes, title=title, settings=settings.as_record())
    write_report(report, folder)
    _print(report.columns, report.rows(), report.cost_rows())
    typer.echo("\n" + "\n".join(report.spending()))
    if report.total.n_invalid:
        typer.echo(
            f"{report.total.n_invalid} episodes failed with the infrastructure and are not scored. "
            f"To play them again:\n  workgym eval --resume {folder}"
        )
    typer.echo(f"{folder}/report.md holds the report. To read the episodes:\n  workgym archive ls {folder}")


def _print(columns: Sequence[str], rows: Sequence[Sequence[str]], cost_rows: Sequence[Sequence[str]]) -> None:
    from workgym.benchmarks.spending import COST_COLUMNS
    from workgym.commands.tables import print_table

    print_table(columns, rows, n_left=2)
    typer.echo()
    print_table(COST_COLUMNS, cost_rows, n_left=2)


# ---- going on, and being stopped


def _kept(context: typer.Context, folder: Path, at_once: int) -> EvalSettings:
    """The settings of an evaluation that is gone on with; all but --at-once stand in its folder."""
    from workgym.commands.eval_settings import read_settings

    given = {name for name in context.params if str(context.get_parameter_source(name)).endswith("COMMANDLINE")} - {
        "resume",
        "at_once",
    }
    if given:
        names = ", ".join(f"--{name.strip('_').replace('_', '-')}" for name in sorted(given))
        raise ValueError(f"--resume {folder} goes on with the settings of that folder: leave out {names}")
    settings = read_settings(folder)
    chosen = str(context.get_parameter_source("at_once")).endswith("COMMANDLINE")
    return replace(settings, at_once=at_once) if chosen else settings


@contextmanager
def _saying_what_is_kept(archive: Archive, folder: Path) -> Iterator[None]:
    """Where somebody or something stops it, say what there is by then."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo("\nworkgym: stopped", err=True)
        _say_what_is_kept(archive, folder)
        raise typer.Exit(130) from None
    except WorkgymError:
        _say_what_is_kept(archive, folder)
        raise


def _say_what_is_kept(archive: Archive, folder: Path) -> None:
    typer.echo(
        f"workgym: {len(archive)} episodes are kept: workgym archive ls {folder}\n"
        f"workgym: to go on: workgym eval --resume {folder}",
        err=True,
    )


@contextmanager
def _progress(n_episodes: int, archive: Archive) -> Iterator[Callable[[Trajectory], None]]:
    """A bar with the success so far, on stderr, and with the episodes that failed with the infrastructure."""
    from workgym.progress import Bars

    kept = archive.entries(valid=True)
    n_valid, n_success, n_invalid = len(kept), sum(entry.success for entry in kept), 0
    with Bars() as bars, bars.bar("playing", n_episodes, len(kept)) as advance:

        def tell(trajectory: Trajectory) -> None:
            nonlocal n_valid, n_success, n_invalid
            n_valid += trajectory.valid
            n_invalid += not trajectory.valid
            n_success += trajectory.valid and trajectory.success
            counted = [f"success {n_success / n_valid:.3f}"] if n_valid else []
            advance(", ".join([*counted, *([f"{n_invalid} invalid"] if n_invalid else [])]))

        yield tell
