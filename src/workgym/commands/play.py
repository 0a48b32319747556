"""`workgym play`: a person solves a task in the terminal and sees the verdict."""

from __future__ import annotations

import json
import secrets
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workgym.tasks.errors import PolicyError, TaskError

if TYPE_CHECKING:
    from workgym.agents.rack import EnvRack
    from workgym.agents.trajectory import Trajectory
    from workgym.envs.env import WorkEnv
    from workgym.tasks.task import Task

__all__ = ["play"]


def play(
    env: Annotated[str, typer.Argument(metavar="ID", help="Of the environment, such as Coding-v0; a plugin's too.")],
    family: Annotated[str, typer.Option(help="Kind of task; the environment's default if empty.")] = "",
    level: Annotated[int, typer.Option(help="Difficulty.")] = 1,
    split: Annotated[str, typer.Option(help="Tasks to draw from: train, validation or test.")] = "train",
    seed: Annotated[int | None, typer.Option(help="Decides the task. [default: another every time]", min=0)] = None,
    task_id: Annotated[str, typer.Option(help="This very task, instead of one that is drawn.")] = "",
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="Argument of the environment, NAME=VALUE; several times for several."),
    ] = None,
    show_reference: Annotated[bool, typer.Option(help="When all is over, show how the oracle solves it.")] = False,
    out: Annotated[Path | None, typer.Option(help="Folder of an archive that takes the episode.")] = None,
) -> None:
    """Solve a task yourself, in the terminal or from a pipe, and see the verdict.

    Time is not limited. Exit codes: 0 with a verdict, whatever it is; 1 where infrastructure failed; 130 after Ctrl-C.

    Raises:
        WorkgymError, ValueError: something that was asked for does not exist.
    """
    from workgym.agents.rack import EnvRack
    from workgym.benchmarks.suite import TaskSet
    from workgym.commands.agents import import_from_here
    from workgym.commands.eval_options import read_arguments

    if ":" in env:
        import_from_here()
    kwargs = read_arguments(set_ or []) | ({"family": family} if family else {})
    with EnvRack(TaskSet(env, kwargs, levels=(level,), split=split).make_env, n_envs=1) as rack:
        world = _world(rack, env)
        if show_reference and "oracle" not in world.domain.players:
            raise PolicyError(f"{env} has no oracle: leave --show-reference out")
        seed = secrets.randbelow(1 << 31) if seed is None else seed
        task = _task(world, task_id, level, split, seed)
        try:
            episode = _solve(rack, world, task, seed, _same_again(env, kwargs, task_id, level, split, seed), out)
            if show_reference:
                _show_reference(rack, task, seed)
        except KeyboardInterrupt:
            typer.echo("\nworkgym: stopped, nothing was judged", err=True)
            raise typer.Exit(130) from None
    raise typer.Exit(0 if episode.valid else 1)


def _world(rack: EnvRack, env_id: str) -> WorkEnv:
    from workgym.envs.env import WorkEnv

    world = rack.env(0).unwrapped
    if not isinstance(world, WorkEnv):
        raise TaskError(f"{env_id} is no environment of workgym: it has no tasks and no verdict")
    return world


def _task(world: WorkEnv, task_id: str, level: int, split: str, seed: int) -> Task:
    """The task that `reset(seed=seed)` would draw, or the one that is named; people get as much time as they need."""
    from gymnasium.utils.seeding import np_random

    from workgym.envs.choice import choose_task

    options: dict[str, Any] = {"task_id": task_id} if task_id else {}
    task = choose_task(world.domain.source, options, level, split, np_random(seed)[0])
    return replace(task, budget=replace(task.budget, wall_s=0.0))


def _same_again(env: str, kwargs: dict[str, Any], task_id: str, level: int, split: str, seed: int) -> str:
    which = f"--task-id {shlex.quote(task_id)}" if task_id else f"--level {level} --split {split} --seed {seed}"
    given = [f"{name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in kwargs.items()]
    return " ".join(["workgym play", shlex.quote(env), *(f"--set {shlex.quote(each)}" for each in given), which])


def _solve(rack: EnvRack, world: WorkEnv, task: Task, seed: int, again: str, out: Path | None) -> Trajectory:
    """Let the person play, show the verdict, and keep the episode where that is wanted."""
    from workgym.agents.archive import Archive
    from workgym.agents.play import play as play_all
    from workgym.agents.rack import Seat
    from workgym.commands.episode_text import rule, verdict_lines
    from workgym.commands.person import HELP, Person
    from workgym.commands.tables import readable

    typer.echo(rule(f"{task.domain}, {task.family}, level {task.level}, {task.split}"))
    typer.echo(HELP)
    if world.domain.instructions:
        typer.echo(readable(world.domain.instructions))
    if world.domain.has_image:
        typer.echo("(This domain shows pictures as well, which a terminal cannot.)")
    person = Person(task.budget.turns)
    if out is None:
        (episode,) = play_all(person, rack, [Seat("person/00000", task, seed)])
    else:
        with Archive.open(out / "archive", "a") as archive:
            seat = Seat(f"person/{len(archive):05d}", task, seed)
            (episode,) = play_all(person, rack, [seat], on_end=archive.append)
    last = episode.steps[-1].observation
    lines = [
        *([last] if last else []),
        rule("verdict"),
        *verdict_lines(episode),
        f"time      {episode.cost.wall_s:.1f} s",
    ]
    typer.echo(readable("\n".join(lines)))
    typer.echo(f"\nThe same task again:\n  {again}")
    if out is not None:
        typer.echo(f"To read the episode:\n  workgym archive show {out} {episode.rollout_id}")
    return episode


def _show_reference(rack: EnvRack, task: Task, seed: int) -> None:
    """Let the oracle play the same task: whatever the domain, it knows how."""
    from workgym.agents.play import play as play_all
    from workgym.agents.policies.scripted import named_policy
    from workgym.agents.rack import Seat
    from workgym.commands.episode_text import rule
    from workgym.commands.tables import readable

    (episode,) = play_all(named_policy(rack.env(0), "oracle"), rack, [Seat("reference", task, seed)])
    typer.echo(rule("reference"))
    for step in episode.steps:
        typer.echo(readable(f"> {step.action}\n{step.observation}".rstrip("\n")))
