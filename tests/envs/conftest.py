"""A real domain, small enough to see through: count to a number. No sandbox, no mock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from workgym.envs.domain import Domain, Observation
from workgym.envs.env import WorkEnv
from workgym.envs.sandbox.protocol import Pools
from workgym.envs.tool import End, Tool, ToolTable
from workgym.envs.verify import Attempt, Check, Layer
from workgym.tasks.errors import ActionError, SandboxError, TaskError
from workgym.tasks.task import Budget, Task

NOTHING = {"type": "object", "properties": {}}
BY = {"type": "object", "properties": {"by": {"type": "integer"}}, "required": ["by"]}
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


class CountingTasks:
    """Count to a number from 1 to 9."""

    version = "1"
    levels = (1, 2)

    def sample(self, level: int, rng: np.random.Generator, split: str = "train") -> Task:
        return self.load(f"count-{level}-{split}-{rng.integers(1, 10)}")

    def load(self, task_id: str) -> Task:
        parts = task_id.split("-")
        if len(parts) != 4 or parts[0] != "count":
            raise TaskError(f"no task {task_id!r}")
        goal = int(parts[3])
        return Task(
            task_id,
            "counting",
            "count",
            int(parts[1]),
            parts[2],
            f"count to {goal}",
            structure=str(goal),
            hidden={"canary": "PLANTED-CANARY", "goal": goal},
            budget=Budget(turns=6),
        )


class CountingSession:
    """Holds one number. Without `copies` it cannot copy its state; with `drifts` it never says the same twice."""

    n_open = 0
    n_talks = 0

    def __init__(self, task: Task, *, copies: bool = True, drifts: bool = False) -> None:
        self.task, self.count, self.copies, self.drifts, self.open = task, 0, copies, drifts, True
        CountingSession.n_open += 1
        self.tools = ToolTable(
            (
                Tool("add", "Add to the count.", BY, self.add, short="+"),
                Tool("say", "Say a text back.", TEXT, lambda text: text),
                Tool("done", "Hand in the count.", NOTHING, lambda: End("submitted", str(self.count), "handed in")),
                Tool("leave", "Give up.", NOTHING, lambda: End("gave_up")),
                Tool("crash", "Lose the machine.", NOTHING, self.crash),
            )
        )

    def add(self, by: int) -> str:
        if by < 0:
            raise ActionError(f"cannot count backwards by {by}")
        self.count += by
        CountingSession.n_talks += 1
        return f"count {self.count}" + (f" talk {CountingSession.n_talks}" if self.drifts else "")

    def crash(self) -> str:
        raise SandboxError("the sandbox is gone")

    def observe(self) -> Observation:
        return Observation(self.task.prompt)

    def attempt(self, submission: str | None) -> Attempt:
        return Attempt(self.task.id, submission, state={"count": self.count})

    def snapshot(self) -> object:
        if not self.copies:
            raise SandboxError("this session cannot copy its state")
        return self.count

    def restore(self, snapshot: Any) -> None:
        self.count = snapshot

    def fork(self, n: int) -> Sequence[CountingSession]:
        raise SandboxError("not needed")

    def close(self) -> None:
        if self.open:
            self.open = False
            CountingSession.n_open -= 1


def counted(findings: tuple[Attempt, Task]) -> Check:
    attempt, task = findings
    goal = task.hidden["goal"]
    if attempt.submission is None:
        return Check("counted", 0.0, label="empty")
    return Check("counted", max(0.0, 1 - abs(int(attempt.submission) - goal) / goal))


def counting_domain(**session: bool) -> Domain:
    return Domain(
        "counting",
        "1",
        CountingTasks(),
        lambda task, pools: CountingSession(task, **session),
        lambda attempt, task, pools: (attempt, task),
        (Layer(counted, weight=1.0),),
        players={
            "oracle": lambda observation, info, env: (
                "done" if info["turn"] else f'+ {{"by": {env.task.hidden["goal"]}}}'
            )
        },
    )


@pytest.fixture
def domain() -> Domain:
    return counting_domain()


@pytest.fixture
def env(domain: Domain) -> Any:
    env = WorkEnv(domain)
    yield env
    env.close()


@pytest.fixture
def make_domain() -> Any:
    """Variants of the counting domain: `make_domain(copies=False)`, or with fields of Domain replaced."""

    def make(examine: Any = None, open_pools: Any = None, **session: bool) -> Domain:
        domain = counting_domain(**session)
        if examine is not None:
            domain = replace(domain, examine=examine)
        return replace(domain, open_pools=open_pools) if open_pools is not None else domain

    return make


class _Never:
    """Pools that cannot be opened: they stand for a machine without isolation."""

    n_closed = 0

    @property
    def agent(self) -> Any:
        raise SandboxError("no isolation here; install it")

    grader = agent

    def check(self) -> None:
        raise SandboxError("no isolation here; install it")

    def close(self) -> None:
        _Never.n_closed += 1


@pytest.fixture
def closed_pools() -> Pools:
    return _Never()
