"""Judging archived attempts again: the same attempt must get the same verdict, bit for bit."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec

from workgym.agents.records import to_record
from workgym.agents.trajectory import Trajectory
from workgym.envs.env import WorkEnv
from workgym.envs.verify import Verdict
from workgym.tasks.errors import ArchiveError, TaskError

__all__ = ["Regrade", "Regraded", "regrade"]

Status = Literal["equal", "different", "drifted", "nothing"]


@dataclass(frozen=True, slots=True)
class Regraded:
    """One attempt, judged again.

    Attributes:
        rollout_id: whose.
        status: "equal" or "different" verdict; "drifted" where the task is no longer what it was, and so was not
            judged; "nothing" where no verdict stands to compare with, since infrastructure failed then.
        then, now: the verdicts; `now` is None where nothing was judged.
        detail: what drifted or differs.
    """

    rollout_id: str
    status: Status
    then: Verdict | None
    now: Verdict | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Regrade:
    """What a re-grade found, in the order of the archive."""

    results: tuple[Regraded, ...]

    def count(self, status: Status) -> int:
        """How many came out so."""
        return sum(result.status == status for result in self.results)

    @property
    def reproduced(self) -> bool:
        """Every attempt that could be judged got its verdict again, and none had drifted."""
        return self.count("different") == 0 and self.count("drifted") == 0


def regrade(
    trajectories: Iterable[Trajectory],
    *,
    skip_drifted: bool = False,
    on_result: Callable[[Regraded], None] | None = None,
) -> Regrade:
    """Judge attempts again, each in an environment made from its record and on its task loaded by id.

    Args:
        trajectories: an archive, or some of one.
        skip_drifted: count a task that has changed since, and go on; else it is an error.
        on_result: called with each result.

    Raises:
        ArchiveError: a task has drifted, or a record does not say how to make its environment.
        SandboxError: infrastructure failed.
    """
    results = []
    with _workshop() as open_env:
        for trajectory in trajectories:
            result = _judge_again(trajectory, open_env)
            if result.status == "drifted" and not skip_drifted:
                raise ArchiveError(f"rollout {result.rollout_id!r}: {result.detail}. To leave such out: skip_drifted")
            results.append(result)
            if on_result is not None:
                on_result(result)
    return Regrade(tuple(results))


@contextmanager
def _workshop() -> Iterator[Callable[[str], WorkEnv]]:
    """Makes environments from their recipes, each once, and closes them."""
    envs: dict[str, WorkEnv] = {}

    def open_env(recipe: str) -> WorkEnv:
        if recipe not in envs:
            envs[recipe] = _make(recipe)
        return envs[recipe]

    try:
        yield open_env
    finally:
        for env in envs.values():
            env.close()


def _make(recipe: str) -> WorkEnv:
    try:
        about = json.loads(recipe)
        env_id, kwargs, entry_point = about["id"], about["kwargs"], about.get("entry_point", "")
    except (ValueError, KeyError, TypeError) as error:
        raise ArchiveError(f"the environment {recipe!r} of a record is no JSON of id and kwargs") from error
    try:
        known = env_id in gym.registry or not entry_point
        env: gym.Env[Any, Any] = gym.make(env_id if known else EnvSpec(env_id, entry_point), **kwargs).unwrapped
    except (gym.error.Error, ImportError, AttributeError, TypeError, ValueError) as error:
        raise ArchiveError(f"cannot make the environment {env_id!r} of a record: {error}") from error
    if not isinstance(env, WorkEnv):
        raise ArchiveError(f"the environment {env_id!r} of a record is no WorkEnv but a {type(env).__name__}")
    return env


def _judge_again(trajectory: Trajectory, open_env: Callable[[str], WorkEnv]) -> Regraded:
    name, then, attempt = trajectory.rollout_id, trajectory.verdict, trajectory.attempt
    if then is None or not then.valid or attempt is None:
        return Regraded(name, "nothing", then, detail="infrastructure failed: there is no verdict to compare with")
    env = open_env(trajectory.env)
    try:
        task = env.domain.source.load(trajectory.task_id)
    except TaskError as error:
        return Regraded(name, "drifted", then, detail=f"task {trajectory.task_id!r} cannot be loaded: {error}")
    if task.content_hash() != trajectory.task_hash:
        return Regraded(name, "drifted", then, detail=f"task {task.id!r} is not what it was when this was archived")
    now = env.grade(attempt)
    same = _exact(now) == _exact(then)
    versions = f"verifier {trajectory.versions.verifier!r} then, {env.domain.version!r} now"
    return Regraded(name, "equal" if same else "different", then, now, "" if same else versions)


def _exact(verdict: Verdict) -> str:
    return json.dumps(to_record(Trajectory("", verdict=verdict))["verdict"])
