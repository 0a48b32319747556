"""The finance domain: read a filing, answer in type, cite the cells, show the arithmetic."""

from __future__ import annotations

from functools import partial
from typing import Final

from workgym.envs.domain import Domain
from workgym.envs.env import WorkEnv
from workgym.envs.finance.brief import BriefSession
from workgym.envs.finance.examine import examine_filing
from workgym.envs.finance.hacks import HACKS
from workgym.envs.finance.layers import LAYERS, layers_of
from workgym.envs.finance.policies import PLAYERS
from workgym.envs.finance.python_tool import PYTHON_SANDBOX
from workgym.envs.finance.session import FinanceSession
from workgym.envs.sandbox.pools import SHARED_BACKENDS, acquire_pools
from workgym.envs.sandbox.protocol import Pools
from workgym.tasks.errors import SandboxError
from workgym.tasks.finance.source import FAMILIES, STYLES, FinanceTasks
from workgym.tasks.naming import unknown_name
from workgym.tasks.task import Task

__all__ = ["FAMILIES", "LAYERS", "STYLES", "VERSION", "make"]

VERSION: Final = "0"
"""Of the rewards: every change of one is a new version."""

_INSTRUCTIONS: Final = (
    "You answer questions about financial filings. Act by calling one tool a turn. Answer with the value, with the "
    "cells it rests on, quoted as they stand, and the expression over them; give up where the filing has no answer."
)


def make(
    level: int = 1,
    family: str = "all",
    *,
    split: str = "train",
    style: str = "full",
    sandbox: str = "local",
    strict: bool = False,
    max_observation_tokens: int = 0,
    render_mode: str | None = None,
) -> WorkEnv:
    """The finance domain as an environment; nothing starts before the first `reset`.

    Args:
        level: difficulty, 1 or 2.
        family: kind of question: "lookup", "derive", "unanswerable" (from level 2 on) or "all".
        split: "train", "validation" or "test".
        style: "full" observations for language models, "short" ones of level 1 for small models.
        sandbox: backend that runs the agent's Python: "local", "bwrap", "docker", or "auto" for the first that works.
        strict: let infrastructure faults through `step` as exceptions.
        max_observation_tokens: cap of one observation; the domain's default if 0.
        render_mode: None or "ansi".

    Raises:
        ValueError: a name or a number does not exist; the message names the nearest.
    """
    if sandbox not in SHARED_BACKENDS:
        raise ValueError(unknown_name("sandbox", sandbox, SHARED_BACKENDS))
    domain = Domain(
        name="finance",
        version=VERSION,
        source=FinanceTasks(family, style),
        open_session=partial(_open_session, style == "short"),
        examine=examine_filing,
        layers=LAYERS["number"],
        layers_of=layers_of,
        open_pools=partial(acquire_pools, sandbox, PYTHON_SANDBOX, PYTHON_SANDBOX),
        players=PLAYERS,
        hacks=HACKS,
        instructions=_INSTRUCTIONS if style == "full" else "",
        max_observation_tokens=4000 if style == "full" else 100,
    )
    return WorkEnv(
        domain,
        level=level,
        split=split,
        strict=strict,
        max_observation_tokens=max_observation_tokens,
        render_mode=render_mode,
    )


def _open_session(brief: bool, task: Task, pools: Pools | None) -> FinanceSession:
    if pools is None:
        raise SandboxError("the finance domain runs Python in a sandbox and was given none")
    return (BriefSession if brief else FinanceSession)(task, pools.agent)
