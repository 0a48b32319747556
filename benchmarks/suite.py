"""Fixed evaluation tasks: what is asked of every policy alike, as a file says it."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import gymnasium as gym

from workgym.envs.env import WorkEnv
from workgym.tasks.errors import TaskError
from workgym.tasks.naming import unknown_name
from workgym.tasks.source import TaskSource, distinct_tasks
from workgym.tasks.task import Budget, Task

__all__ = ["SUITES", "Suite", "TaskSet", "find_suite", "read_suite", "suite_of"]


@dataclass(frozen=True)
class TaskSet:
    """Tasks of one environment, the same for everybody.

    Attributes:
        env_id: registered id; "module:Id-v0" imports the module first.
        kwargs: arguments of the environment beside level and split; JSON types.
        levels: difficulties.
        n_tasks: tasks of each level, no two of the same structure.
        split: where they are drawn from.
        seed: decides which.
        budget: replaces the tasks' own where it is not 0.
        ids: of the tasks, where they are named and not drawn; levels, n_tasks, split and seed then say nothing.
    """

    env_id: str
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    levels: tuple[int, ...] = (1,)
    n_tasks: int = 64
    split: str = "test"
    seed: int = 0
    budget: Budget = field(default_factory=Budget)
    ids: tuple[str, ...] = ()

    @property
    def n_all(self) -> int:
        """How many tasks these are."""
        return len(self.ids) or len(self.levels) * self.n_tasks

    def with_budget(self, budget: Budget) -> TaskSet:
        """The same tasks with another budget, where that is not 0."""
        return replace(self, budget=_merged(self.budget, budget))

    def make_env(self) -> gym.Env[Any, Any]:
        """Make an environment that can play any task of the set.

        Raises:
            ValueError: the environment does not take the arguments.
        """
        try:
            return gym.make(self.env_id, level=self.levels[0], split=self.split, **self.kwargs)
        except TypeError as error:
            raise ValueError(f"{self.env_id} does not take the arguments {dict(self.kwargs)}: {error}") from error

    def tasks(self) -> list[Task]:
        """Draw the tasks, by level, or load those that are named.

        Raises:
            TaskError: a level or an id does not exist, or a level holds fewer tasks than asked for.
        """
        env = self.make_env().unwrapped
        if not isinstance(env, WorkEnv):
            raise TaskError(f"{self.env_id} is no environment of workgym: it has no source of tasks")
        tasks = [env.domain.source.load(task_id) for task_id in self.ids] or self._drawn(env.domain.source)
        env.close()
        return [replace(task, budget=_merged(task.budget, self.budget)) for task in tasks]

    def _drawn(self, source: TaskSource) -> list[Task]:
        for level in self.levels:
            if level not in source.levels:
                raise TaskError(unknown_name("level", level, map(str, source.levels)))
        drawn = [distinct_tasks(source, level, self.n_tasks, seed=self.seed, split=self.split) for level in self.levels]
        return [task for tasks in drawn for task in tasks]


@dataclass(frozen=True)
class Suite:
    """Tasks of some environments, and how often each is played.

    Attributes:
        name: names the suite in reports.
        sets: the tasks.
        n_repeats: episodes of each task.
        seed: decides the randomness of environments and policies.
        summary: one line on what it measures.
    """

    name: str
    sets: tuple[TaskSet, ...]
    n_repeats: int = 1
    seed: int = 0
    summary: str = ""

    def draw(self) -> list[list[Task]]:
        """Draw the tasks of each set.

        Raises:
            TaskError, ValueError: the suite asks for what does not exist.
        """
        return [one.tasks() for one in self.sets]

    def as_record(self) -> dict[str, Any]:
        """The content of a suite file that says the same; `suite_of` reads it."""
        return {
            "name": self.name,
            "summary": self.summary,
            "repeats": self.n_repeats,
            "seed": self.seed,
            "tasks": [
                {
                    "env": one.env_id,
                    "kwargs": dict(one.kwargs),
                    **_which(one),
                    "budget": asdict(one.budget),
                }
                for one in self.sets
            ],
        }


def _which(one: TaskSet) -> dict[str, Any]:
    if one.ids:
        return {"ids": list(one.ids)}
    return {"levels": list(one.levels), "n": one.n_tasks, "split": one.split, "seed": one.seed}


def read_suite(path: Path) -> Suite:
    """Read a suite file.

    Args:
        path: a TOML file; docs/evaluation.md shows one.

    Raises:
        TaskError: it cannot be read, or says something that no suite says.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TaskError(f"cannot read the suite {path}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TaskError(f"the suite {path} is no TOML: {error}") from error
    try:
        return suite_of({"name": path.stem, **content})
    except TaskError as error:
        raise TaskError(f"the suite {path}: {error}") from error


def suite_of(content: Mapping[str, Any]) -> Suite:
    """The suite that the content of a file describes.

    Raises:
        TaskError: a key is unknown, missing, or its value makes no sense; the message names the nearest key.
    """
    top = _checked("the suite", content, _SUITE_KEYS, ("name", "tasks"))
    seed, budget = top.get("seed", 0), _checked("[budget]", top.get("budget", {}), _BUDGET_KEYS)
    if not top["tasks"]:
        raise TaskError("[[tasks]] is empty: name an environment, levels and n")
    sets = [_task_set(f"[[tasks]] {number}", one, seed, budget) for number, one in enumerate(top["tasks"], start=1)]
    return Suite(top["name"], tuple(sets), top.get("repeats", 1), seed, top.get("summary", ""))


def _task_set(where: str, content: Mapping[str, Any], seed: int, budget: Mapping[str, Any]) -> TaskSet:
    named = isinstance(content, dict) and "ids" in content
    one = _checked(where, content, _NAMED_KEYS if named else _DRAWN_KEYS, ("env",) if named else ("env", "levels", "n"))
    kwargs = dict(one.get("kwargs", {}))
    if "family" in one:
        kwargs["family"] = one["family"]
    for name in ("level", "split"):
        if name in kwargs:
            raise TaskError(f"{where}: kwargs.{name} is said beside the kwargs, as {name}{'s' * (name == 'level')}")
    own = _checked(f"{where} budget", one.get("budget", {}), _BUDGET_KEYS)
    whole = Budget(**{**budget, **own})
    if named:
        return TaskSet(one["env"], kwargs, budget=whole, ids=tuple(dict.fromkeys(one["ids"])))
    levels, split = tuple(dict.fromkeys(one["levels"])), one.get("split", "test")
    return TaskSet(one["env"], kwargs, levels, one["n"], split, one.get("seed", seed), whole)


# ---- the keys of a file, and what their values must be

_Rule = tuple[str, Callable[[Any], bool]]


def _is_whole(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _is_list(value: object, fits: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and bool(value) and all(map(fits, value))


_TEXT: Final[_Rule] = ("a text", lambda value: isinstance(value, str))
_NAME: Final[_Rule] = ("a text that is not empty", lambda value: isinstance(value, str) and bool(value))
_TABLE: Final[_Rule] = ("a table", lambda value: isinstance(value, dict))
_COUNT: Final[_Rule] = ("a whole number > 0", lambda value: _is_whole(value, 1))
_NUMBER: Final[_Rule] = ("a whole number >= 0", lambda value: _is_whole(value, 0))
_SECONDS: Final[_Rule] = (
    "a number of seconds >= 0",
    lambda value: isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf"),
)
_LEVELS: Final[_Rule] = ("a list of levels such as [1, 2]", lambda value: _is_list(value, lambda x: _is_whole(x, 1)))
_IDS: Final[_Rule] = ("a list of task ids", lambda value: _is_list(value, lambda x: isinstance(x, str) and bool(x)))
_SETS: Final[_Rule] = ("a list of tables: write [[tasks]]", lambda value: isinstance(value, list))

_SUITE_KEYS: Final[Mapping[str, _Rule]] = {
    "name": _NAME,
    "summary": _TEXT,
    "repeats": _COUNT,
    "seed": _NUMBER,
    "budget": _TABLE,
    "tasks": _SETS,
}
_EITHER_KEYS: Final[Mapping[str, _Rule]] = {"env": _NAME, "family": _NAME, "kwargs": _TABLE, "budget": _TABLE}
_NAMED_KEYS: Final[Mapping[str, _Rule]] = {**_EITHER_KEYS, "ids": _IDS}
_DRAWN_KEYS: Final[Mapping[str, _Rule]] = {
    **_EITHER_KEYS,
    "levels": _LEVELS,
    "n": _COUNT,
    "split": _NAME,
    "seed": _NUMBER,
    "ids": _IDS,
}
_BUDGET_KEYS: Final[Mapping[str, _Rule]] = {"turns": _NUMBER, "tokens": _NUMBER, "wall_s": _SECONDS}


def _checked(where: str, content: object, keys: Mapping[str, _Rule], needed: Sequence[str] = ()) -> Mapping[str, Any]:
    """A table of a file, every key of it known and every value of its kind."""
    if not isinstance(content, dict):
        raise TaskError(f"{where} must be a table, not {content!r}")
    for key, value in content.items():
        if key not in keys:
            raise TaskError(f"{where}: {unknown_name('key', key, keys)}")
        kind, fits = keys[key]
        if not fits(value):
            raise TaskError(f"{where}: {key} must be {kind}, not {value!r}")
    for key in needed:
        if key not in content:
            raise TaskError(f"{where}: {key} is missing; it is {keys[key][0]}")
    return content


def _merged(own: Budget, other: Budget) -> Budget:
    """A budget with what another says in its place, where that says something."""
    return Budget(other.turns or own.turns, other.tokens or own.tokens, other.wall_s or own.wall_s)


# ---- the suites that come with workgym


def _shipped() -> dict[str, Suite]:
    folder = files("workgym.benchmarks") / "suites"
    texts = {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir() if file.name.endswith(".toml")}
    return {name.removesuffix(".toml"): suite_of(tomllib.loads(texts[name])) for name in sorted(texts)}


SUITES: Final[Mapping[str, Suite]] = _shipped()
"""The suites that come with workgym."""


def find_suite(name: str) -> Suite:
    """The suite of this name, or in this file.

    Args:
        name: one of SUITES, or the path of a TOML file.

    Raises:
        TaskError: there is none; the message names the nearest.
    """
    if name.endswith(".toml"):
        return read_suite(Path(name))
    suite = SUITES.get(name)
    if suite is None:
        raise TaskError(f"{unknown_name('suite', name, SUITES)} A file of your own ends with .toml")
    return suite
