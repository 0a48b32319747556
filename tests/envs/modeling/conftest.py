"""What tests of the modeling domain need: its packages, and meshes that are made for them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

import workgym  # noqa: F401 - registers the ids
from workgym.envs.env import WorkEnv
from workgym.envs.modeling.reader import READER_SANDBOX
from workgym.envs.modeling.scorer import Scorer
from workgym.envs.sandbox.pool import open_pool
from workgym.envs.sandbox.protocol import SandboxPool

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def _geometry_packages(require_extra: Callable[[str], None]) -> None:
    require_extra("modeling")


@pytest.fixture(scope="module")
def reader_pool(require_backend: Callable[[str], None]) -> Iterator[SandboxPool]:
    """A pool in which artifacts are read."""
    require_backend("local")
    with open_pool("local", READER_SANDBOX) as pool:
        yield pool


@pytest.fixture(scope="module")
def scorer() -> Iterator[Scorer]:
    """A scorer of its own."""
    one = Scorer()
    yield one
    one.close()


@pytest.fixture(scope="module")
def make_env(require_backend: Callable[[str], None]) -> Iterator[Callable[..., WorkEnv]]:
    """`make_env(level=2)` is Modeling-v0, without pictures unless they are asked for; one for the same arguments."""
    require_backend("local")
    made: dict[str, WorkEnv] = {}

    def make(**kwargs: Any) -> WorkEnv:
        key = repr(sorted(kwargs.items()))
        if key not in made:
            env = gym.make("Modeling-v0", **{"pictures": False, "strict": True, **kwargs}).unwrapped
            assert isinstance(env, WorkEnv)
            made[key] = env
        return made[key]

    yield make
    for env in made.values():
        env.close()
