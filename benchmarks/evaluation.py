"""A policy on a suite: every environment in turn, every episode archived, a stopped evaluation gone on with."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from workgym.agents.archive import Archive
from workgym.agents.evaluate import evaluate_seats, seats_for
from workgym.agents.policy import Policy
from workgym.agents.rack import EnvRack
from workgym.agents.trajectory import Trajectory
from workgym.benchmarks.suite import Suite
from workgym.tasks.task import Task

__all__ = ["evaluate_suite"]


def evaluate_suite(
    open_policy: Callable[[EnvRack], Policy],
    suite: Suite,
    *,
    at_once: int = 16,
    max_turn_tokens: int = 1024,
    archive: Archive | None = None,
    drawn: Sequence[Sequence[Task]] | None = None,
    on_end: Callable[[Trajectory], None] | None = None,
) -> list[Trajectory]:
    """Let a policy do every task of a suite that an archive does not hold yet.

    Args:
        open_policy: gives the policy for the environments of one set; `lambda rack: policy` for one that plays all.
        suite: what is asked.
        at_once: episodes that run at once.
        max_turn_tokens: tokens that one turn may have.
        archive: takes every trajectory as it ends; what it holds already is not played again.
        drawn: the tasks of each set, where they were drawn before.
        on_end: called with each that is played now, after it was archived.

    Returns:
        The trajectories in the order of the suite: by set, level, task and repeat.

    Raises:
        TaskError, ValueError: the suite asks for what does not exist.
        PolicyError: the policy failed.
        SandboxError: this machine cannot run an environment.
        ArchiveError: the archive cannot take them, or holds episodes of other tasks.
    """
    drawn = suite.draw() if drawn is None else drawn
    seats = seats_for([task for tasks in drawn for task in tasks], seed=suite.seed, n_repeats=suite.n_repeats)
    episodes: list[Trajectory] = []
    with ExitStack() as stack:
        if archive is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="workgym-eval-"))
            archive = stack.enter_context(Archive.open(Path(folder), "a"))
        for one, tasks in zip(suite.sets, drawn, strict=True):
            first = len(episodes)
            own = seats[first : first + len(tasks) * suite.n_repeats]
            with EnvRack(one.make_env, min(at_once, len(own))) as rack:
                policy = open_policy(rack)
                episodes += evaluate_seats(policy, rack, own, archive, max_turn_tokens=max_turn_tokens, on_end=on_end)
    return episodes
