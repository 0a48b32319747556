"""A real domain without a sandbox, for tests: double a number.

The agent may `look` (and is told the number again) and `submit` a number. Level n has numbers of n digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np

from workgym.envs.domain import Domain, Observation, Session
from workgym.envs.env import WorkEnv
from workgym.envs.sandbox.protocol import Pools
from workgym.envs.tool import End, Tool, ToolTable
from workgym.envs.verify import Attempt, Check, Layer
from workgym.tasks.errors import ActionError, SandboxError, TaskError
from workgym.tasks.source import split_of
from workgym.tasks.task import Budget, Task

CANARY = "canary-7f3a9c"
_TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


class ToyTasks:
    """Numbers to double."""

    version = "toy-1"
    levels = (1, 2, 3)

    def __init__(self, turns: int = 4, tokens: int = 0, wall_s: float = 0.0) -> None:
        self._budget = Budget(turns, tokens, wall_s)

    def sample(self, level: int, rng: np.random.Generator, split: str = "train") -> Task:
        while True:
            task = self.load(f"toy/{level}/{rng.integers(10 ** (level - 1), 10**level)}")
            if task.split == split:
                return task

    def load(self, task_id: str) -> Task:
        try:
            _, level, number = task_id.split("/")
            return Task(
                id=task_id,
                domain="toy",
                family="double",
                level=int(level),
                split=split_of(number),
                prompt=f"double {number}",
                structure=number,
                hidden={"answer": str(2 * int(number)), "note": CANARY},
                budget=self._budget,
                source=self.version,
            )
        except ValueError as error:
            raise TaskError(f"no toy task {task_id!r}") from error


class ToySession:
    """One episode of doubling."""

    def __init__(self, task: Task, pools: Pools | None) -> None:
        self._task = task
        self._looks = 0
        self.tools = ToolTable(
            [
                Tool("look", "See the number again.", _TEXT, self._look),
                Tool("submit", "Submit the double.", _TEXT, lambda text: End("submitted", text, "thank you")),
                Tool("break", "Make the infrastructure fail.", _TEXT, self._break),
            ]
        )

    def _look(self, text: str) -> str:
        if text == "away":
            raise ActionError("there is nothing to see there")
        self._looks += 1
        return f"look {self._looks}: {self._task.prompt}"

    def _break(self, text: str) -> str:
        raise SandboxError("the toy broke")

    def observe(self) -> Observation:
        return Observation(self._task.prompt)

    def attempt(self, submission: str | None) -> Attempt:
        return Attempt(self._task.id, submission, {"note.txt": b"\x00\xff"}, {"looks": self._looks})

    def snapshot(self) -> object:
        raise SandboxError("no snapshots")

    def restore(self, snapshot: Any) -> None:
        raise SandboxError("no snapshots")

    def fork(self, n: int) -> Sequence[Session]:
        raise SandboxError("no snapshots")

    def close(self) -> None:
        pass


def right(findings: Any) -> Check:
    """Half for a number at all, all for the right one."""
    attempt, task = findings
    submitted = attempt.submission or ""
    score = 1.0 if submitted == task.hidden["answer"] else 0.5 * submitted.isdecimal()
    return Check("right", score, detail="compared with the double", label="" if score == 1 else "wrong")


def oracle(observation: str, info: dict[str, Any], env: WorkEnv) -> str:
    return "submit " + env.task.hidden["answer"] if info["turn"] else "look here"


def noop(observation: str, info: dict[str, Any], env: WorkEnv) -> str:
    return "submit "


def half(observation: str, info: dict[str, Any], env: WorkEnv) -> str:
    return "submit 1"


def looker(observation: str, info: dict[str, Any], env: WorkEnv) -> str:
    return "look here"


def breaker(observation: str, info: dict[str, Any], env: WorkEnv) -> str:
    return "break it"


DOMAIN = Domain(
    name="toy",
    version="verifier-1",
    source=ToyTasks(),
    open_session=ToySession,
    examine=lambda attempt, task, pools: (attempt, task),
    layers=(Layer(right, weight=1.0),),
    players={"oracle": oracle, "noop": noop, "random": half, "looker": looker, "breaker": breaker},
    instructions="You double numbers.",
)


def make(level: int = 1, turns: int = 4, tokens: int = 0, wall_s: float = 0.0, **options: Any) -> WorkEnv:
    """The toy domain as an environment."""
    return WorkEnv(replace(DOMAIN, source=ToyTasks(turns, tokens, wall_s)), level=level, **options)


if "Toy-v0" not in gym.registry:
    gym.register("Toy-v0", entry_point=make, disable_env_checker=True)
