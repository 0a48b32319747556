"""Which task next: by domain and level, from the training split alone.

`Uniform` gives every level the same share of a step. `Curriculum` gives a level the share that its outcomes earn: most
where a policy sometimes succeeds and sometimes fails, little where it always does the one or the other.

A scheduler draws with the generator that it is handed, so that what it draws in a step depends on that generator and on
its own state alone; the state is small, and lies in the checkpoint of a run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np

from workgym.agents.trajectory import Trajectory
from workgym.tasks.errors import PolicyError, TaskError
from workgym.tasks.naming import unknown_name
from workgym.tasks.source import TaskSource
from workgym.tasks.task import Task

__all__ = ["SCHEDULERS", "Arm", "Curriculum", "Scheduler", "Uniform", "arms_of", "make_scheduler"]

_BEST: Final = 0.25
"""Learnability of a level that is solved every other time: no level has more."""

_FAINT: Final = 0.001
"""Learnability that is not told from none: that of 999 successes in 1000 episodes.

It makes the shares equal where there is nothing to learn anywhere, and is small beside what is left to learn of a level
that is nearly always solved (0.02 at 98%), so that one that is never solved gets little beside such a one too.
"""


@dataclass(frozen=True, slots=True)
class Arm:
    """One level of one domain: what a scheduler chooses among.

    Attributes:
        domain: of the tasks.
        level: of the tasks.
        source: makes them.
    """

    domain: str
    level: int
    source: TaskSource

    @property
    def name(self) -> str:
        """`<domain>/<level>`, as the metrics have it."""
        return f"{self.domain}/{self.level}"


def arms_of(domain: str, source: TaskSource, levels: Iterable[int]) -> list[Arm]:
    """The arms of one domain, in the order of the levels given.

    Raises:
        TaskError: the source has no such level.
    """
    arms = [Arm(domain, level, source) for level in levels]
    for arm in arms:
        if arm.level not in source.levels:
            raise TaskError(unknown_name("level", arm.level, map(str, source.levels)))
    return arms


class Scheduler(Protocol):
    """Says which tasks come next, and may learn from what came of them."""

    def draw(self, rng: np.random.Generator, n_tasks: int) -> list[Task]:
        """The tasks of a step, of split "train".

        Args:
            rng: the only source of randomness.
            n_tasks: how many.
        """
        ...

    def learn(self, groups: Sequence[Sequence[Trajectory]]) -> None:
        """Take the outcomes of a step: for each task its episodes. Those where infrastructure failed teach nothing."""
        ...

    def weights(self) -> dict[str, float]:
        """The share of each arm in the next step, by `<domain>/<level>`; they sum to 1."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """All that `draw` depends on beside its arguments; numbers, texts, lists and dicts of them."""
        ...

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state_dict` gave.

        Raises:
            PolicyError: it is of a scheduler with other arms.
        """
        ...


class Uniform:
    """The same share for every arm, whatever comes of it. With one arm, that arm alone.

    Args:
        arms: what to choose among.

    Raises:
        TaskError: there is no arm, or one twice.
    """

    def __init__(self, arms: Sequence[Arm]) -> None:
        self.arms: Final = _check_arms(arms)

    def draw(self, rng: np.random.Generator, n_tasks: int) -> list[Task]:
        """The tasks of a step, of split "train": each arm has the same number, but for one."""
        return _draw(self.arms, list(self.weights().values()), rng, n_tasks)

    def learn(self, groups: Sequence[Sequence[Trajectory]]) -> None:
        """Nothing is learned."""

    def weights(self) -> dict[str, float]:
        """The share of each arm, by `<domain>/<level>`."""
        return {arm.name: 1 / len(self.arms) for arm in self.arms}

    def state_dict(self) -> dict[str, Any]:
        """Nothing: it has no state."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state_dict` gave.

        Raises:
            PolicyError: it is of another scheduler.
        """
        if state:
            raise PolicyError(f"a uniform scheduler cannot continue from a state of {sorted(state)}")


class Curriculum:
    """Shares by outcome: a floor for every arm, and what is left in proportion to what there is to learn.

    What there is to learn of an arm is its learnability p (1 - p), p being the chance that a task is solved, meant over
    its tasks: 0 where a task is always solved or never, 1/4 where it is solved every other time. It is estimated within
    the group of episodes that each task has anyway, k successes of n, by k (n - k) / (n (n - 1)), which is right in the
    mean for any n; so an arm of which some tasks are always and the others never solved counts as the 0 that it is.
    The estimate is a running mean in which all that came before a step counts as a few groups, so that an arm with many
    groups a step is followed at once and one at the floor within some steps. It begins at the best for every arm.

    Args:
        arms: what to choose among.
        floor: share that every arm keeps, in [0, 1 / number of arms].
        n_remembered: groups that the past of an arm counts for, beside those of a step.

    Raises:
        TaskError: there is no arm, or one twice.
        ValueError: a number is outside its range.

    Source: arXiv 2408.15099 and 2502.12272 (sampling by learnability).
    """

    def __init__(self, arms: Sequence[Arm], *, floor: float = 0.05, n_remembered: float = 10.0) -> None:
        self.arms: Final = _check_arms(arms)
        if not 0 <= floor <= 1 / len(self.arms):
            raise ValueError(f"floor must be in [0, 1/{len(self.arms)}] for {len(self.arms)} arms, not {floor}")
        if not n_remembered >= 0:
            raise ValueError(f"n_remembered must be at least 0, not {n_remembered}")
        self.floor: Final = floor
        self.n_remembered: Final = n_remembered
        self._learnability: Final = {arm.name: _BEST for arm in self.arms}

    def draw(self, rng: np.random.Generator, n_tasks: int) -> list[Task]:
        """The tasks of a step, of split "train": of each arm its share, rounded down or up."""
        return _draw(self.arms, list(self.weights().values()), rng, n_tasks)

    def learn(self, groups: Sequence[Sequence[Trajectory]]) -> None:
        """Take the outcomes of a step: for each task its episodes.

        Episodes where infrastructure failed are left out, and so is a task with fewer than two others. An arm of which
        nothing is left stays as it is.

        Raises:
            TaskError: an episode is of none of the arms.
        """
        seen: dict[str, list[float]] = {}
        for group in groups:
            valid = [episode for episode in group if episode.valid]
            if len(valid) > 1:
                seen.setdefault(self._arm_of(valid[0]), []).append(_learnability(valid))
        for name, values in seen.items():
            past = self.n_remembered * self._learnability[name]
            self._learnability[name] = (past + sum(values)) / (self.n_remembered + len(values))

    def learnability(self) -> dict[str, float]:
        """The estimate of each arm, by `<domain>/<level>`."""
        return dict(self._learnability)

    def weights(self) -> dict[str, float]:
        """The share of each arm in the next step, by `<domain>/<level>`.

        Where there is nothing to learn anywhere, the shares are equal.
        """
        signal = {name: value + _FAINT for name, value in self._learnability.items()}
        total = sum(signal.values())
        free = 1 - self.floor * len(self.arms)
        return {name: self.floor + free * value / total for name, value in signal.items()}

    def state_dict(self) -> dict[str, Any]:
        """The estimate of each arm."""
        return {"learnability": self.learnability()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state_dict` gave.

        Raises:
            PolicyError: it is of a scheduler with other arms.
        """
        given = state.get("learnability", {})
        if set(given) != set(self._learnability):
            raise PolicyError(
                f"a curriculum over {sorted(self._learnability)} cannot continue from a state of {sorted(given)}"
            )
        self._learnability.update(given)

    def _arm_of(self, episode: Trajectory) -> str:
        name = f"{episode.domain}/{episode.level}"
        if name not in self._learnability:
            known = unknown_name("domain and level", name, self._learnability)
            raise TaskError(f"episode {episode.rollout_id!r}: {known}")
        return name


SCHEDULERS: Final[Mapping[str, type[Uniform] | type[Curriculum]]] = {"outcome": Curriculum, "uniform": Uniform}
"""The schedulers by the names that settings have for them."""


def make_scheduler(name: str, arms: Sequence[Arm]) -> Scheduler:
    """A scheduler by its name in `SCHEDULERS`, with the defaults of its class.

    Raises:
        ValueError: there is none; the message names the nearest.
        TaskError: there is no arm, or one twice.
    """
    if name not in SCHEDULERS:
        raise ValueError(unknown_name("curriculum", name, SCHEDULERS))
    return SCHEDULERS[name](arms)


def _learnability(group: Sequence[Trajectory]) -> float:
    """Chance that of two of the episodes one succeeds and the other does not, halved: p (1 - p) without bias."""
    n, k = len(group), sum(episode.success for episode in group)
    return k * (n - k) / (n * (n - 1))


def _check_arms(arms: Sequence[Arm]) -> tuple[Arm, ...]:
    names = [arm.name for arm in arms]
    if not names:
        raise TaskError("a scheduler needs at least one level of one domain to choose among and was given none")
    if len(set(names)) < len(names):
        raise TaskError(f"a scheduler was given the same level of a domain twice: {', '.join(names)}")
    return tuple(arms)


def _draw(arms: Sequence[Arm], shares: Sequence[float], rng: np.random.Generator, n_tasks: int) -> list[Task]:
    """Tasks by quota: an arm with share w has w * n of the n tasks, rounded down or up so that the mean is right."""
    chosen = [0] * n_tasks
    if len(arms) > 1:  # where there is no choice, none is drawn: one level costs no randomness
        points = (rng.random() + np.arange(n_tasks)) / n_tasks
        chosen = np.minimum(np.searchsorted(np.cumsum(shares), points, side="right"), len(arms) - 1).tolist()
    tasks = []
    for arm in (arms[i] for i in chosen):
        task = arm.source.sample(arm.level, rng, "train")
        if (task.domain, task.level, task.split) != (arm.domain, arm.level, "train"):
            raise TaskError(
                f"asked for {arm.name} of split 'train', the source made {task.id!r}, which is "
                f"{task.domain}/{task.level} of split {task.split!r}"
            )
        tasks.append(task)
    return tasks
