"""Where episodes are played: environments that are used again, and the threads that step them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, Self

import gymnasium as gym

from workgym.tasks.task import Task

__all__ = ["AnyEnv", "EnvRack", "Seat", "env_recipe"]

AnyEnv = gym.Env[Any, Any]
"""An environment of workgym, in whatever wrappers."""


@dataclass(frozen=True, slots=True)
class Seat:
    """An episode to be played.

    Attributes:
        rollout_id: names it in the archive.
        task: what is asked.
        seed: of the environment's reset and of the policy's randomness.
    """

    rollout_id: str
    task: Task
    seed: int = 0


class EnvRack:
    """Environments of one kind that are used again and again, and the threads that step them.

    Args:
        make_env: makes one environment.
        n_envs: how many episodes run at once.
        n_threads: how many step at once; by default four for each core, since most of a step is waiting.
    """

    def __init__(self, make_env: Callable[[], AnyEnv], n_envs: int, n_threads: int = 0) -> None:
        if n_envs < 1:
            raise ValueError(f"n_envs must be > 0, not {n_envs}")
        self.n_envs: Final = n_envs
        self._make_env: Final = make_env
        self._envs: Final[list[AnyEnv]] = []
        n_threads = min(n_envs, n_threads or 4 * (os.cpu_count() or 1))
        self.threads: Final = ThreadPoolExecutor(n_threads, thread_name_prefix="workgym-env")

    def env(self, index: int) -> AnyEnv:
        """The environment at this place, `0 <= index < n_envs`; made when first asked for."""
        while len(self._envs) <= index:
            self._envs.append(self._make_env())
        return self._envs[index]

    def close(self) -> None:
        """Close the environments and end the threads. Idempotent."""
        self.threads.shutdown(wait=True)
        while self._envs:
            self._envs.pop().close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def env_recipe(env: AnyEnv) -> str:
    """How to make an environment again, as JSON: its id and keyword arguments; "" for one that has no id.

    An id that workgym does not register comes with its entry point, so that the environment can be made where nobody
    has registered it.
    """
    if env.spec is None:
        return ""
    recipe = {"id": env.spec.id, "kwargs": env.spec.kwargs}
    entry_point = _named(env.spec.entry_point)
    if entry_point and not entry_point.startswith("workgym."):
        recipe["entry_point"] = entry_point
    return json.dumps(recipe, sort_keys=True)


def _named(entry_point: object) -> str:
    """An entry point as "module:name"; "" for one that no other process could import by a name."""
    if isinstance(entry_point, str):
        return entry_point
    module, name = getattr(entry_point, "__module__", ""), getattr(entry_point, "__qualname__", "<unnamed>")
    return "" if "<" in name or module == "__main__" else f"{module}:{name}"
