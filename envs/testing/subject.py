"""The domain under test: how to make it, which tasks it is tried on, and how episodes of it are played."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

import gymnasium as gym
import numpy as np

from workgym.envs.domain import ScriptedPlayer
from workgym.envs.env import WorkEnv
from workgym.tasks.errors import place_of
from workgym.tasks.task import Task, content_hash

__all__ = ["GARBAGE", "Played", "Subject", "garbage", "in_full", "in_words", "require", "text_of", "visible"]

GARBAGE: Final[tuple[Any, ...]] = (
    "",
    " \n",
    "no-such-tool",
    "{",
    "[1, 2]",
    {"name": "no-such-tool", "arguments": {}},
    {"name": None},
    {"arguments": "{"},
    [],
    [{"name": "no-such-tool"}],
    None,
    7,
    b"\xff",
    "\ud800\x00\x1b[2J",
    "x" * 100_000,
)
"""Actions that no tool can carry out."""

_MOST_TURNS: Final = 500


def require(holds: object, words: str) -> None:
    """Fail with words that say what to mend.

    Raises:
        AssertionError: it does not hold.
    """
    if not holds:
        raise AssertionError(words)


def in_words(error: Exception) -> str:
    """An error of the domain under test: its kind, what it says, and where it was raised."""
    return f"{type(error).__name__}: {error} ({place_of(error)})"


def garbage(observation: str, info: Mapping[str, Any], env: WorkEnv) -> Any:
    """A player that says nothing sensible."""
    return GARBAGE[int(info["turn"]) % len(GARBAGE)]


@dataclass(frozen=True, slots=True)
class Played:
    """An episode that was played.

    Attributes:
        reward: sum over its steps.
        info: the last one.
    """

    reward: float
    info: Mapping[str, Any]


@dataclass(frozen=True)
class Subject:
    """A domain under test.

    Attributes:
        make: makes an environment; takes `level`, `split` and `render_mode`.
        env_id: its registered id; "" for a factory that has none.
        kwargs: further arguments of every environment; JSON types.
        levels: those to try.
        n_tasks: tasks of each level.
        golden: task id -> the content hash that it must have.
        floor: what doing nothing earns, at most.
    """

    make: Callable[..., gym.Env[Any, Any]]
    env_id: str = ""
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    levels: tuple[int, ...] = ()
    n_tasks: int = 12
    golden: Mapping[str, str] = field(default_factory=dict)
    floor: float = 0.0
    open: list[WorkEnv] = field(default_factory=list)

    def new_env(self, **kwargs: Any) -> WorkEnv:
        """Make an environment that `close` closes."""
        inner = self.make(**{**self.kwargs, **kwargs}).unwrapped
        require(isinstance(inner, WorkEnv), f"it makes a {type(inner).__name__}: let it make a WorkEnv")
        assert isinstance(inner, WorkEnv)  # for type checkers
        self.open.append(inner)
        return inner

    def close(self) -> None:
        """Close every environment that was made; `env` may be used again, which opens it anew."""
        while self.open:
            self.open.pop().close()
        if "env" in vars(self):
            self.env.close()

    @cached_property
    def env(self) -> WorkEnv:
        """The environment in which players are tried."""
        return self.new_env(render_mode="ansi")

    @cached_property
    def tasks(self) -> list[Task]:
        """The tasks that are tried, of the test split."""
        return [task for level in self.levels for task in self.draw(level, self.n_tasks, "test")]

    def one_task_a_level(self) -> list[Task]:
        """The first of the tasks of each level."""
        return self.tasks[:: self.n_tasks]

    def draw(self, level: int, n: int, split: str) -> list[Task]:
        """Draw n tasks, the same ones each time.

        Raises:
            AssertionError: the source cannot.
        """
        rng, source = np.random.default_rng(level), self.env.domain.source
        try:
            return [source.sample(level, rng, split) for _ in range(n)]
        except Exception as error:
            raise AssertionError(f"sample({level}, rng, {split!r}) raised {in_words(error)}") from error

    def player(self, name: str) -> ScriptedPlayer:
        """A scripted player of the domain.

        Raises:
            AssertionError: it has none of this name.
        """
        players = self.env.domain.players
        require(name in players, f"there is no player {name!r}: name one in Domain(players=...)")
        return players[name]

    def play(self, player: Callable[..., Any], task: Task) -> Played:
        """Play an episode to its end.

        Raises:
            AssertionError: the player fails, the episode does not end, infrastructure fails, or the rewards are not
                those of the verdict.
        """
        env, total, ended = self.env, 0.0, False
        observation, info = env.reset(seed=0, options={"task": task})
        while not ended:
            try:
                action = player(text_of(observation), info, env)
            except Exception as error:
                raise AssertionError(
                    f"a player raised {in_words(error)} in turn {info['turn']} of {task.id}"
                ) from error
            observation, reward, terminated, truncated, info = env.step(action)
            total += float(reward)
            ended = terminated or truncated
            require(ended or info["turn"] < _MOST_TURNS, f"{task.id} runs on for ever: give it a Budget(turns=...)")
        require(info["reward_valid"], f"infrastructure failed in {task.id}: {info['error']}")
        verdict = env.verdict
        require(
            verdict and abs(total - verdict.reward) < 1e-9,
            f"the rewards of {task.id} sum to {total}, and its verdict is {verdict}: pay what the verdict says",
        )
        return Played(total, info)

    def rewards(self, player: Callable[..., Any]) -> list[float]:
        """The reward of each task."""
        return [self.play(player, task).reward for task in self.tasks]


def visible(env: WorkEnv, observation: Any, info: Mapping[str, Any]) -> Iterator[str]:
    """All that can be seen of an environment now, as text. The task's id may encode its seed, and is left out.

    The words on a failure of infrastructure are left out too: they are for the person who runs it.
    """
    yield text_of(observation)
    kept = {key: value for key, value in info.items() if key not in ("task_id", "error")}
    yield json.dumps(kept, default=str)
    yield str(env.render())
    yield json.dumps(env.tools_schema(), default=str)
    if env.attempt is not None:
        yield repr(replace(env.attempt, task_id=""))
    if env.verdict is not None:
        yield repr(env.verdict)


def in_full(seen: Any) -> str:
    """What an environment answered, as text that differs where any of it does, pictures too."""
    if isinstance(seen, np.ndarray):
        return f"<{seen.dtype} {seen.shape} {content_hash(np.ascontiguousarray(seen).tobytes())}>"
    if isinstance(seen, Mapping):
        return f"{{{', '.join(f'{key!r}: {in_full(value)}' for key, value in seen.items())}}}"
    if isinstance(seen, (tuple, list)):
        return f"({', '.join(map(in_full, seen))})"
    return repr(seen)


def text_of(observation: Any) -> str:
    """The words of an observation."""
    return observation if isinstance(observation, str) else str(observation["text"])
