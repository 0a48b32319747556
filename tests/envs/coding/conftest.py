"""An environment of the coding domain, where the sandbox works."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import gymnasium as gym
import pytest

import workgym  # noqa: F401 - registers the ids
from workgym.envs.env import WorkEnv


@pytest.fixture
def local_env(require_backend: Callable[[str], None]) -> Iterator[WorkEnv]:
    """Coding-v0 with the local sandbox."""
    require_backend("local")
    env = gym.make("Coding-v0")
    inner = env.unwrapped
    assert isinstance(inner, WorkEnv)
    yield inner
    env.close()


@pytest.fixture
def function_env(require_backend: Callable[[str], None]) -> Iterator[WorkEnv]:
    """Coding-v0, family function, with the local sandbox."""
    require_backend("local")
    env = gym.make("Coding-v0", family="function")
    inner = env.unwrapped
    assert isinstance(inner, WorkEnv)
    yield inner
    env.close()
