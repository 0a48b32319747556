"""A domain is a record; a session is the living state of one episode."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from workgym.envs.sandbox.protocol import Pools
from workgym.envs.tool import ToolTable
from workgym.envs.verify import Attempt, Layer, Verdict, judge
from workgym.tasks.source import TaskSource
from workgym.tasks.task import Task

if TYPE_CHECKING:
    from workgym.envs.env import WorkEnv

__all__ = ["Domain", "Observation", "PoolsOpener", "ScriptedPlayer", "Session", "verdict_on"]


@dataclass(frozen=True, slots=True)
class Observation:
    """What the agent sees next: only what is new.

    Attributes:
        text: words.
        image: uint8 [H, W, 3], or None in a domain without pictures.
    """

    text: str
    image: npt.NDArray[np.uint8] | None = None


class Session(Protocol):
    """The living state of one episode. It leases the sandbox it needs when it first needs it.

    A session that cannot copy its state raises SandboxError in `snapshot`; the environment then replays the actions.
    """

    @property
    def tools(self) -> ToolTable:
        """What the agent can do."""
        ...

    def observe(self) -> Observation:
        """What the agent reads at the start."""
        ...

    def attempt(self, submission: str | None) -> Attempt:
        """Stop everything the agent left running and copy out what will be judged."""
        ...

    def snapshot(self) -> object:
        """A copy of the state, not None.

        Raises:
            SandboxError: this state cannot be copied.
        """
        ...

    def restore(self, snapshot: Any) -> None:
        """Go back to a snapshot of the same task, this session's or another's."""
        ...

    def fork(self, n: int) -> Sequence[Session]:
        """Make n sessions in the same state, independent from then on.

        Raises:
            SandboxError: this state cannot be copied.
        """
        ...

    def close(self) -> None:
        """Give back what it holds. Idempotent."""
        ...


ScriptedPlayer = Callable[[str, dict[str, Any], "WorkEnv"], str]
"""A scripted player: `(observation, info, env) -> action`. An oracle, a noop, a random player or a reward hack."""

PoolsOpener = Callable[[], Pools]
"""Opens the pools of a domain; called at the first reset of an environment."""


@dataclass(frozen=True)
class Domain:
    """All that makes a domain.

    Attributes:
        name: "coding", "finance", ...
        version: of the rewards: every change of one is a new version.
        source: makes the tasks.
        open_session: starts an episode of a task.
        examine: measures an attempt, away from the agent, into findings that the layers read.
        layers: what the findings are worth.
        open_pools: opens the pools; None in a domain that runs no code.
        players: scripted players by name; at least "oracle", "noop" and "random".
        hacks: players that try for a reward which they do not deserve, by name; none may earn more than "noop".
        instructions: what a language model is told of the domain before the task.
        max_observation_tokens: default cap of one observation.
        image_shape: of the picture that observations carry, (height, width, 3); () in a domain without pictures.
        layers_of: the layers of one task, where not all tasks are judged by the same; their weights sum to 1 too.
    """

    name: str
    version: str
    source: TaskSource
    open_session: Callable[[Task, Pools | None], Session]
    examine: Callable[[Attempt, Task, Pools | None], object]
    layers: tuple[Layer, ...]
    open_pools: PoolsOpener | None = None
    players: Mapping[str, ScriptedPlayer] = field(default_factory=dict)
    hacks: Mapping[str, ScriptedPlayer] = field(default_factory=dict)
    instructions: str = ""
    max_observation_tokens: int = 4000
    image_shape: tuple[int, ...] = ()
    layers_of: Callable[[Task], tuple[Layer, ...]] | None = None

    @property
    def has_image(self) -> bool:
        """Whether observations carry a picture."""
        return bool(self.image_shape)


def verdict_on(domain: Domain, attempt: Attempt, task: Task, pools: Pools | None) -> Verdict:
    """Judge an attempt at a task of a domain.

    Raises:
        SandboxError: infrastructure failed.
        VerifierError: a verifier broke its contract.
    """
    layers = domain.layers if domain.layers_of is None else domain.layers_of(task)
    return judge(layers, domain.examine(attempt, task, pools))
