"""The coding domain: write an expression or a function until its hidden values are right."""

from __future__ import annotations

from functools import partial
from typing import Final

from workgym.envs.coding.callee import SPLIT_SANDBOX
from workgym.envs.coding.evaluate import WARM_MODULES
from workgym.envs.coding.examine import examine_code
from workgym.envs.coding.function_layers import FUNCTION_LAYERS, examine_function
from workgym.envs.coding.function_policies import FUNCTION_HACK_PLAYERS, FUNCTION_PLAYERS
from workgym.envs.coding.function_session import FunctionSession
from workgym.envs.coding.hacks import HACKS
from workgym.envs.coding.layers import LAYERS
from workgym.envs.coding.policies import PLAYERS
from workgym.envs.coding.session import ExpressionSession
from workgym.envs.domain import Domain
from workgym.envs.env import WorkEnv
from workgym.envs.sandbox.pools import SHARED_BACKENDS, acquire_pools
from workgym.envs.sandbox.protocol import Pools, SandboxPool
from workgym.envs.sandbox.spec import SandboxSpec
from workgym.tasks.coding.source import FAMILIES, CodingTasks
from workgym.tasks.errors import SandboxError, TaskError
from workgym.tasks.naming import unknown_name
from workgym.tasks.task import Task

__all__ = ["FAMILIES", "LAYERS", "SANDBOX", "VERSION", "make"]

VERSION: Final = "0"
"""Of the rewards: every change of one is a new version."""

SANDBOX: Final = SandboxSpec(warm_modules=WARM_MODULES, memory_mb=256, cpu_s=2.0, n_processes=8, output_kb=64)
"""What one run of an expression may use."""

_INSTRUCTIONS: Final = "You write Python. Act by calling one tool a turn."

_FUNCTION_INSTRUCTIONS: Final = (
    "You write Python functions. Answer with one ```python block to submit it, or with run CODE to try it first."
)


def make(
    level: int = 1,
    family: str = "expression",
    *,
    split: str = "train",
    style: str = "full",
    sandbox: str = "local",
    strict: bool = False,
    max_observation_tokens: int = 0,
    render_mode: str | None = None,
) -> WorkEnv:
    """The coding domain as an environment; nothing starts before the first `reset`.

    Args:
        level: difficulty, 1 to 5.
        family: kind of task: "expression" (find an expression in x) or "function" (write a function from words).
        split: "train", "validation" or "test".
        style: "full" observations for language models, "short" ones for small models.
        sandbox: backend that runs the code: "local", "bwrap", "docker", or "auto" for the first that works here.
        strict: let infrastructure faults through `step` as exceptions.
        max_observation_tokens: cap of one observation; the domain's default if 0.
        render_mode: None or "ansi".

    Raises:
        ValueError: a name or a number does not exist; the message names the nearest.
    """
    if sandbox not in SHARED_BACKENDS:
        raise ValueError(unknown_name("sandbox", sandbox, SHARED_BACKENDS))
    make_domain = _expression_domain if family != "function" else _function_domain
    domain = make_domain(CodingTasks(family, style), sandbox)
    return WorkEnv(
        domain,
        level=level,
        split=split,
        strict=strict,
        max_observation_tokens=max_observation_tokens,
        render_mode=render_mode,
    )


def _expression_domain(source: CodingTasks, sandbox: str) -> Domain:
    return Domain(
        name="coding",
        version=VERSION,
        source=source,
        open_session=partial(_open_expression, source.style == "short"),
        examine=examine_code,
        layers=LAYERS,
        open_pools=partial(acquire_pools, sandbox, SANDBOX, SANDBOX),
        players=PLAYERS,
        hacks=HACKS,
        instructions=_INSTRUCTIONS if source.style == "full" else "",
        max_observation_tokens=1000,
    )


def _function_domain(source: CodingTasks, sandbox: str) -> Domain:
    return Domain(
        name="coding",
        version=VERSION,
        source=source,
        open_session=_open_function,
        examine=examine_function,
        layers=FUNCTION_LAYERS,
        open_pools=partial(acquire_pools, sandbox, SPLIT_SANDBOX, SPLIT_SANDBOX),
        players=FUNCTION_PLAYERS,
        hacks=FUNCTION_HACK_PLAYERS,
        instructions=_FUNCTION_INSTRUCTIONS if source.style == "full" else "",
        max_observation_tokens=1000,
    )


def _open_expression(brief: bool, task: Task, pools: Pools | None) -> ExpressionSession:
    return ExpressionSession(task, _agents_pool("expression", task, pools), brief=brief)


def _open_function(task: Task, pools: Pools | None) -> FunctionSession:
    return FunctionSession(task, _agents_pool("function", task, pools))


def _agents_pool(family: str, task: Task, pools: Pools | None) -> SandboxPool:
    if task.family != family:
        raise TaskError(f"task {task.id!r} is of family {task.family!r}; this environment plays {family!r}")
    if pools is None:
        raise SandboxError("the coding domain runs code in a sandbox and was given none")
    return pools.agent
