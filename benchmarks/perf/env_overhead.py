"""What a step costs beside the work: no-op steps of ours and of a bare environment, in turn in one run.

    python benchmarks/perf/env_overhead.py [--steps N] [--rounds N]

Prints one JSON line a measure: no-op steps a CPU-second of `WorkEnv` on a trivial domain, the same of the least text
environment that Gymnasium's classes allow, and their ratio.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np

from workgym.envs.domain import Domain, Observation
from workgym.envs.env import WorkEnv
from workgym.envs.sandbox.protocol import Pools
from workgym.envs.spaces import TextSpace
from workgym.envs.tool import Tool, ToolTable
from workgym.envs.verify import Attempt, Check, Layer
from workgym.tasks.task import Task

__all__ = ["main", "make_bare", "make_trivial"]


class _OneTask:
    version = "1"
    levels = (1,)

    def sample(self, level: int, rng: np.random.Generator, split: str = "train") -> Task:
        return self.load("trivial-1")

    def load(self, task_id: str) -> Task:
        return Task(task_id, "trivial", "trivial", 1, "train", "do nothing")


class _IdleSession:
    def __init__(self) -> None:
        self.tools = ToolTable((Tool("noop", "Do nothing.", {"type": "object", "properties": {}}, lambda: "nothing"),))

    def observe(self) -> Observation:
        return Observation("nothing")

    def attempt(self, submission: str | None) -> Attempt:
        return Attempt("trivial-1", submission)

    def snapshot(self) -> object:
        return None

    def restore(self, snapshot: object) -> None: ...

    def fork(self, n: int) -> Sequence[_IdleSession]:
        return [_IdleSession() for _ in range(n)]

    def close(self) -> None: ...


def _open(task: Task, pools: Pools | None) -> _IdleSession:
    return _IdleSession()


def _examine(attempt: Attempt, task: Task, pools: Pools | None) -> Attempt:
    return attempt


def _done(findings: object) -> Check:
    return Check("done", 0.0)


def make_trivial() -> WorkEnv:
    """Our environment on a domain in which nothing happens."""
    return WorkEnv(Domain("trivial", "1", _OneTask(), _open, _examine, (Layer(_done, weight=1.0),)))


class _BareText(gym.Env[str, str]):
    """The least that a text environment of Gymnasium can be."""

    def __init__(self) -> None:
        self.observation_space = TextSpace(100)
        self.action_space = TextSpace(100)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        return "nothing", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        return "nothing", 0.0, False, False, {}


def make_bare() -> gym.Env[str, str]:
    """A trivial text environment of Gymnasium alone."""
    return _BareText()


def _steps_per_cpu_s(env_id: str, n_steps: int) -> float:
    env = gym.make(env_id)
    env.reset(seed=0)
    for _ in range(10):
        env.step("noop")
    step = env.step
    start = time.process_time()
    for _ in range(n_steps):
        step("noop")
    rate = n_steps / (time.process_time() - start)
    env.close()
    return rate


def main() -> None:
    """Measure both in turn and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--steps", type=int, default=200_000, help="steps a round and side")
    parser.add_argument("--rounds", type=int, default=5, help="rounds; sides alternate")
    options = parser.parse_args()
    gym.register("Trivial-v0", entry_point=f"{__name__}:make_trivial")
    gym.register("BareText-v0", entry_point=f"{__name__}:make_bare")
    ours, bare = [], []
    for _ in range(options.rounds):
        ours.append(_steps_per_cpu_s("Trivial-v0", options.steps))
        bare.append(_steps_per_cpu_s("BareText-v0", options.steps))
    load = round(os.getloadavg()[0], 2)
    mine, theirs = statistics.median(ours), statistics.median(bare)
    unit = "steps/CPU-s"
    print(
        json.dumps(
            {"name": "env_steps", "ratio": round(mine), "unit": unit, "goal": 500_000, "better": "higher", "load": load}
        )
    )
    print(
        json.dumps(
            {"name": "bare_steps", "ratio": round(theirs), "unit": unit, "goal": 0, "better": "higher", "load": load}
        )
    )
    print(
        json.dumps(
            {"name": "env_over_bare", "ratio": round(mine / theirs, 3), "goal": 0.17, "better": "higher", "load": load}
        )
    )


if __name__ == "__main__":
    main()
