"""What a policy does on a fixed set of tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from workgym.agents.archive import Archive
from workgym.agents.play import play
from workgym.agents.policy import Policy
from workgym.agents.rack import AnyEnv, EnvRack, Seat
from workgym.agents.trajectory import Trajectory
from workgym.envs.env import WorkEnv
from workgym.tasks.errors import ArchiveError
from workgym.tasks.task import Task

__all__ = ["evaluate", "evaluate_seats", "seats_for"]


def seats_for(tasks: Sequence[Task], *, seed: int = 0, n_repeats: int = 1, prefix: str = "eval") -> list[Seat]:
    """The episodes of an evaluation: each task `n_repeats` times, with seeds of their own.

    Args:
        tasks: what is asked.
        seed: decides the seeds of all episodes.
        n_repeats: how often each task is played.
        prefix: how the rollout ids begin.

    Returns:
        Seats `prefix/00012-1`: task 12, second time.

    Raises:
        ValueError: there is no task or no repeat.
    """
    if not tasks or n_repeats < 1:
        raise ValueError(f"nothing to evaluate: {len(tasks)} tasks, {n_repeats} repeats; both must be > 0")
    seeds = np.random.SeedSequence(seed).generate_state(len(tasks) * n_repeats)
    return [
        Seat(f"{prefix}/{index:05d}-{repeat}", task, int(seeds[index * n_repeats + repeat]))
        for index, task in enumerate(tasks)
        for repeat in range(n_repeats)
    ]


def evaluate(
    policy: Policy,
    rack: EnvRack,
    tasks: Sequence[Task],
    *,
    seed: int = 0,
    n_repeats: int = 1,
    prefix: str = "eval",
    max_turn_tokens: int = 1024,
    archive: Archive | None = None,
    on_end: Callable[[Trajectory], None] | None = None,
) -> list[Trajectory]:
    """Let a policy do every task, also those whose episodes an archive holds already.

    Args:
        policy: acts.
        rack: the environments.
        tasks: what is asked.
        seed: decides the randomness of environments and policy.
        n_repeats: how often each task is played.
        prefix: how the rollout ids begin.
        max_turn_tokens: tokens that one turn may have.
        archive: takes every trajectory as it ends.
        on_end: called with each, after it was archived.

    Returns:
        The trajectories, by task and repeat.

    Raises:
        ValueError: there is nothing to do.
        PolicyError: the policy failed.
        SandboxError: this machine cannot run the environment.
        ArchiveError: the archive cannot take them.
    """
    seats = seats_for(tasks, seed=seed, n_repeats=n_repeats, prefix=prefix)
    return play(policy, rack, seats, max_turn_tokens=max_turn_tokens, on_end=_keeper(archive, on_end))


def evaluate_seats(
    policy: Policy,
    rack: EnvRack,
    seats: Sequence[Seat],
    archive: Archive,
    *,
    max_turn_tokens: int = 1024,
    on_end: Callable[[Trajectory], None] | None = None,
) -> list[Trajectory]:
    """Let a policy play what an archive does not hold yet: an evaluation that was stopped goes on.

    An episode whose infrastructure failed counts as not played.

    Args:
        policy: acts.
        rack: the environments.
        seats: the episodes.
        archive: takes every trajectory as it ends.
        max_turn_tokens: tokens that one turn may have.
        on_end: called with each that is played now, after it was archived.

    Returns:
        The trajectories, by seat: played now or read from the archive.

    Raises:
        ArchiveError: what the archive holds is not an episode of its seat.
        PolicyError, SandboxError: as `evaluate`.
    """
    wanted = {seat.rollout_id: seat for seat in seats}
    kept = {
        entry.rollout_id: archive.read(entry) for entry in archive.entries(valid=True) if entry.rollout_id in wanted
    }
    for rollout_id, trajectory in kept.items():
        _check_same(trajectory, wanted[rollout_id], rack.env(0))
    missing = [seat for seat in seats if seat.rollout_id not in kept]
    played = play(policy, rack, missing, max_turn_tokens=max_turn_tokens, on_end=_keeper(archive, on_end))
    found = kept | {trajectory.rollout_id: trajectory for trajectory in played}
    return [found[seat.rollout_id] for seat in seats]


def _keeper(archive: Archive | None, on_end: Callable[[Trajectory], None] | None) -> Callable[[Trajectory], None]:
    """Archive a trajectory, then tell of it."""

    def keep(trajectory: Trajectory) -> None:
        if archive is not None:
            archive.append(trajectory)
        if on_end is not None:
            on_end(trajectory)

    return keep


def _check_same(trajectory: Trajectory, seat: Seat, env: AnyEnv) -> None:
    """Refuse to count an episode of another task, another seed or another verifier as that of a seat."""
    inner = env.unwrapped
    if isinstance(inner, WorkEnv) and trajectory.versions.verifier != inner.domain.version:
        raise ArchiveError(
            f"rollout {seat.rollout_id!r} in the archive was judged by version {trajectory.versions.verifier!r} of "
            f"domain {trajectory.domain!r}, this is version {inner.domain.version!r}. Evaluate anew, in another folder."
        )
    then = (trajectory.task_id, trajectory.task_hash, trajectory.seed)
    if then != (seat.task.id, seat.task.content_hash(), seat.seed):
        raise ArchiveError(
            f"rollout {seat.rollout_id!r} in the archive is of task {trajectory.task_id!r}, which is not what this "
            f"version draws ({seat.task.id!r}) or has changed since. Evaluate anew, in another folder."
        )
