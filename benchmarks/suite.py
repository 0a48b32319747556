"""Fixed evaluation tasks: what is asked of every policy alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import gymnasium as gym

from workgym.envs.env import WorkEnv
from workgym.tasks.errors import TaskError
from workgym.tasks.naming import unknown_name
from workgym.tasks.source import distinct_tasks
from workgym.tasks.task import Task

__all__ = ["SUITES", "Suite", "find_suite"]


@dataclass(frozen=True)
class Suite:
    """Tasks of one environment, the same for everybody.

    Attributes:
        name: names the suite in reports.
        env_id: registered id.
        kwargs: arguments of the environment beside level and split; JSON types.
        levels: difficulties.
        n_tasks: tasks of each level, no two of the same structure.
        split: where they are drawn from.
        seed: decides which.
    """

    name: str
    env_id: str
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    levels: tuple[int, ...] = (1, 2, 3, 4, 5)
    n_tasks: int = 64
    split: str = "test"
    seed: int = 0

    def make_env(self) -> gym.Env[Any, Any]:
        """Make an environment that can play any task of the suite.

        Raises:
            ValueError: the environment does not take the arguments.
        """
        try:
            return gym.make(self.env_id, level=self.levels[0], split=self.split, **self.kwargs)
        except TypeError as error:
            raise ValueError(f"{self.env_id} does not take the arguments {dict(self.kwargs)}: {error}") from error

    def tasks(self) -> list[Task]:
        """Draw the tasks, by level.

        Raises:
            TaskError: a level does not exist, or holds fewer tasks than asked for.
        """
        env = self.make_env().unwrapped
        if not isinstance(env, WorkEnv):
            raise TaskError(f"{self.env_id} is no environment of workgym: it has no source of tasks")
        source = env.domain.source
        for level in self.levels:
            if level not in source.levels:
                raise TaskError(unknown_name("level", level, map(str, source.levels)))
        tasks = []
        for level in self.levels:
            tasks += distinct_tasks(source, level, self.n_tasks, seed=self.seed, split=self.split)
        env.close()
        return tasks


SUITES: Final[Mapping[str, Suite]] = {
    "coding-expression": Suite("coding-expression", "Coding-v0", {"family": "expression"}),
}
"""The suites that come with workgym."""


def find_suite(name: str) -> Suite:
    """The suite of this name.

    Raises:
        TaskError: there is none; the message names the nearest.
    """
    suite = SUITES.get(name)
    if suite is None:
        raise TaskError(unknown_name("suite", name, SUITES))
    return suite
