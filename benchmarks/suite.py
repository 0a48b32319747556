"""Fixed evaluation tasks: what is asked of every policy alike, as a file says it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import gymnasium as gym
from gymnasium.envs.registration import load_env_creator

from workgym.benchmarks.file_rules import COUNT, IDS, LEVELS, NAME, NUMBER, SECONDS, TABLE, TEXT, Rule, checked
from workgym.envs.env import WorkEnv
from workgym.tasks.errors import TaskError
from workgym.tasks.importing import import_for
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
            TaskError: it is no environment of workgym, or its module cannot be imported.
            ValueError: the environment does not take the arguments.
        """
        module, colon, _ = self.env_id.partition(":")
        if colon:
            import_for(f"environment {self.env_id}", module, TaskError)
        try:
            env = gym.make(self.env_id, level=self.levels[0], split=self.split, **self.kwargs)
        except TypeError as error:
            if _is_strange(self.env_id):
                raise TaskError(_STRANGE.format(self.env_id)) from error
            raise ValueError(f"{self.env_id} does not take the arguments {dict(self.kwargs)}: {error}") from error
        if not isinstance(env.unwrapped, WorkEnv):
            env.close()
            raise TaskError(_STRANGE.format(self.env_id))
        return env

    def tasks(self) -> list[Task]:
        """Draw the tasks, by level, or load those that are named.

        Raises:
            TaskError: a level or an id does not exist, a level holds fewer tasks than asked for, or the environment is
                none of workgym.
        """
        env = self.make_env().unwrapped
        assert isinstance(env, WorkEnv), "make_env refuses others"
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

    Raises:
        TaskError: it asks for the same tasks twice.
    """

    name: str
    sets: tuple[TaskSet, ...]
    n_repeats: int = 1
    seed: int = 0
    summary: str = ""

    def __post_init__(self) -> None:
        """Refuse what would play the same tasks twice, and count them as more."""
        first: dict[str, int] = {}
        for number, one in enumerate(self.sets, start=1):
            for words in _asked(one):
                if words in first:
                    both = f"{first[words]} and {number} ask both" if first[words] != number else f"{number} asks twice"
                    raise TaskError(f"[[tasks]] {both} for {words}: these are the same tasks. Leave one out")
                first[words] = number

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


def _asked(one: TaskSet) -> Iterator[str]:
    """What decides which tasks a set asks for, level by level or id by id, in words."""
    env = " ".join([one.env_id, *(f"{name}={value!r}" for name, value in sorted(one.kwargs.items()))])
    if one.ids:
        yield from (f"task {task_id!r} of {env}" for task_id in one.ids)
    else:
        yield from (f"level {level} of {env}, split {one.split}, seed {one.seed}" for level in one.levels)


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
    top = checked("the suite", content, _SUITE_KEYS, ("name", "tasks"))
    seed, budget = top.get("seed", 0), checked("[budget]", top.get("budget", {}), _BUDGET_KEYS)
    if not top["tasks"]:
        raise TaskError("[[tasks]] is empty: name an environment, levels and n")
    sets = [_task_set(f"[[tasks]] {number}", one, seed, budget) for number, one in enumerate(top["tasks"], start=1)]
    return Suite(top["name"], tuple(sets), top.get("repeats", 1), seed, top.get("summary", ""))


def _task_set(where: str, content: Mapping[str, Any], seed: int, budget: Mapping[str, Any]) -> TaskSet:
    named = isinstance(content, dict) and "ids" in content
    one = checked(where, content, _NAMED_KEYS if named else _DRAWN_KEYS, ("env",) if named else ("env", "levels", "n"))
    kwargs = dict(one.get("kwargs", {}))
    if "family" in one:
        kwargs["family"] = one["family"]
    for name in ("level", "split"):
        if name in kwargs:
            raise TaskError(f"{where}: kwargs.{name} is said beside the kwargs, as {name}{'s' * (name == 'level')}")
    own = checked(f"{where} budget", one.get("budget", {}), _BUDGET_KEYS)
    whole = Budget(**{**budget, **own})
    if named:
        return TaskSet(one["env"], kwargs, budget=whole, ids=tuple(one["ids"]))
    levels, split = tuple(one["levels"]), one.get("split", "test")
    return TaskSet(one["env"], kwargs, levels, one["n"], split, one.get("seed", seed), whole)


_STRANGE: Final = (
    "{} is no environment of workgym: it has no source of tasks. Those that have one: workgym list environments"
)


def _is_strange(env_id: str) -> bool:
    """Whether an id stands for a class that is no WorkEnv; of a function nobody can tell."""
    entry = gym.spec(env_id).entry_point
    creator = load_env_creator(entry) if isinstance(entry, str) else entry
    return isinstance(creator, type) and not issubclass(creator, WorkEnv)


# ---- the keys of a file

_SUITE_KEYS: Final[Mapping[str, Rule]] = {
    "name": NAME,
    "summary": TEXT,
    "repeats": COUNT,
    "seed": NUMBER,
    "budget": TABLE,
    "tasks": ("a list of tables: write [[tasks]]", lambda value: isinstance(value, list)),
}
_EITHER_KEYS: Final[Mapping[str, Rule]] = {"env": NAME, "family": NAME, "kwargs": TABLE, "budget": TABLE}
_NAMED_KEYS: Final[Mapping[str, Rule]] = {**_EITHER_KEYS, "ids": IDS}
_DRAWN_KEYS: Final[Mapping[str, Rule]] = {
    **_EITHER_KEYS,
    "levels": LEVELS,
    "n": COUNT,
    "split": NAME,
    "seed": NUMBER,
    "ids": IDS,
}
_BUDGET_KEYS: Final[Mapping[str, Rule]] = {"turns": NUMBER, "tokens": NUMBER, "wall_s": SECONDS}


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
