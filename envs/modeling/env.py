"""The modeling domain: make, edit and repair parts; judged from the file alone."""

from __future__ import annotations

from functools import partial
from typing import Final

from workgym.envs.domain import Domain
from workgym.envs.env import WorkEnv
from workgym.envs.modeling.brief import BriefSession
from workgym.envs.modeling.examine import examine_part
from workgym.envs.modeling.hacks import HACKS
from workgym.envs.modeling.layers import LAYERS
from workgym.envs.modeling.machinery import Machinery
from workgym.envs.modeling.pictures import IMAGE_SHAPE
from workgym.envs.modeling.policies import PLAYERS
from workgym.envs.modeling.session import ModelingSession
from workgym.envs.sandbox.pools import SHARED_BACKENDS
from workgym.envs.sandbox.protocol import Pools
from workgym.tasks.errors import SandboxError, TaskError
from workgym.tasks.modeling.source import FAMILIES, ModelingTasks
from workgym.tasks.naming import unknown_name
from workgym.tasks.task import Task

__all__ = ["FAMILIES", "LAYERS", "VERSION", "make"]

VERSION: Final = "0"
"""Of the rewards: every change of one is a new version."""

_INSTRUCTIONS: Final = (
    "You make parts for machines. Act by calling one tool a turn, or answer with one ```python block, which is run as "
    "a script. Look at the report, mend what is wrong, then submit. The part is judged by its file: it must be "
    "watertight, and have the size, the place and the features that are asked for."
)


def make(
    level: int = 1,
    family: str = "text_to_part",
    *,
    split: str = "train",
    style: str = "full",
    pictures: bool = True,
    sandbox: str = "local",
    strict: bool = False,
    max_observation_tokens: int = 0,
    render_mode: str | None = None,
) -> WorkEnv:
    """The modeling domain as an environment; nothing starts before the first `reset`.

    Args:
        level: difficulty, 1 to 3.
        family: kind of task: "text_to_part", "edit" or "repair".
        split: "train", "validation" or "test".
        style: "full" for language models; "short" for small models: "text_to_part" of level 1, a prompt in few words,
            tools that take one line each, and no pictures.
        pictures: observations are {"text", "image"}; else they are texts.
        sandbox: backend that runs the scripts: "local", "bwrap", "docker", or "auto" for the first that works here.
        strict: let infrastructure faults through `step` as exceptions.
        max_observation_tokens: cap of one observation; the domain's default if 0.
        render_mode: None or "ansi"; with pictures also "rgb_array".

    Raises:
        ValueError: a name or a number does not exist; the message names the nearest.
    """
    if sandbox not in SHARED_BACKENDS:
        raise ValueError(unknown_name("sandbox", sandbox, SHARED_BACKENDS))
    has_image = pictures and style == "full"
    domain = Domain(
        name="modeling",
        version=VERSION,
        source=ModelingTasks(family, style),
        open_session=partial(_open_session, style == "short", has_image, family),
        examine=examine_part,
        layers=LAYERS,
        open_pools=partial(Machinery, sandbox),
        players=PLAYERS,
        hacks=HACKS if style == "full" else {},  # small models have no scripts
        instructions=_INSTRUCTIONS if style == "full" else "",
        max_observation_tokens=2000 if style == "full" else 100,
        image_shape=IMAGE_SHAPE if has_image else (),
    )
    return WorkEnv(
        domain,
        level=level,
        split=split,
        strict=strict,
        max_observation_tokens=max_observation_tokens,
        render_mode=render_mode,
    )


def _open_session(brief: bool, has_image: bool, family: str, task: Task, pools: Pools | None) -> ModelingSession:
    if task.family != family:
        raise TaskError(f"task {task.id!r} is of family {task.family!r}; this environment plays {family!r}")
    if pools is None:
        raise SandboxError("the modeling domain runs scripts in a sandbox and was given none")
    return (BriefSession if brief else ModelingSession)(task, pools, has_image=has_image)
