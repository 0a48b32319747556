"""The calculator domain: work out a sum with a calculator that does one operation at a time.

This is the smallest complete domain of the suite. A domain is a record of parts: a source that makes tasks, a session
that is the living state of one episode, `examine` that measures what the agent left, layers that say what it is worth,
and scripted players that show that the rewards hold. `WorkEnv` makes a Gymnasium environment of them.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from workgym.envs.calculator.examine import examine_answer
from workgym.envs.calculator.hacks import HACKS
from workgym.envs.calculator.layers import LAYERS
from workgym.envs.calculator.policies import PLAYERS
from workgym.envs.calculator.session import CalculatorSession
from workgym.envs.domain import Domain
from workgym.envs.env import WorkEnv
from workgym.envs.sandbox.protocol import Pools
from workgym.tasks.calculator.source import CalculatorTasks
from workgym.tasks.task import Task

__all__ = ["LAYERS", "VERSION", "make"]

VERSION: Final = "0"
"""Of the rewards: every change of one is a new version."""


def make(
    level: int = 1,
    *,
    split: str = "train",
    style: str = "full",
    strict: bool = False,
    max_observation_tokens: int = 0,
    render_mode: str | None = None,
) -> WorkEnv:
    """The calculator domain as an environment. It runs no code of an agent, and so needs no sandbox.

    Args:
        level: difficulty, 1 to 5.
        split: "train", "validation" or "test".
        style: "full" observations for language models, "short" ones for small models.
        strict: let infrastructure faults through `step` as exceptions.
        max_observation_tokens: cap of one observation; the domain's default if 0.
        render_mode: None or "ansi".

    Raises:
        ValueError: a name or a number does not exist; the message names the nearest.
    """
    domain = Domain(
        name="calculator",
        version=VERSION,
        source=CalculatorTasks(style),
        open_session=partial(_open_session, style == "short"),
        examine=examine_answer,
        layers=LAYERS,
        players=PLAYERS,
        hacks=HACKS,
        instructions="You compute. Act by calling one tool a turn." if style == "full" else "",
        max_observation_tokens=200,
    )
    return WorkEnv(
        domain,
        level=level,
        split=split,
        strict=strict,
        max_observation_tokens=max_observation_tokens,
        render_mode=render_mode,
    )


def _open_session(brief: bool, task: Task, pools: Pools | None) -> CalculatorSession:
    return CalculatorSession(task, brief=brief)
