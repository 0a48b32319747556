"""Checks that nothing hidden can be seen.

Two searches, since a hidden value can get out in two ways. A session may show it: so canaries, texts and numbers that
occur nowhere else, are put in the place of what is hidden, and all that can be seen of an episode is searched for them.
Or the source may write it into the prompt, the public part or the files, where a canary that is planted later is not:
so the values themselves are searched for, and what chance explains is told by looking for them in other tasks too.
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from workgym.envs.env import WorkEnv
from workgym.envs.testing.subject import Subject, garbage, require, text_of, visible
from workgym.tasks.task import Task

__all__ = ["nothing_hidden_is_shown", "nothing_hidden_is_told"]

_Path = tuple[str | int, ...]

_MOST_LEAVES: Final = 40
_MOST_TURNS: Final = 50
_CANARY: Final = 730_194_582
_CHANCE: Final = 1e-6
"""A value that is seen in its own task more often than others is no coincidence where that is less likely than this."""


def nothing_hidden_is_shown(subject: Subject) -> None:
    """No canary in the place of a hidden value is seen, whatever an agent that does not know it does."""
    log = logging.getLogger(WorkEnv.__module__)
    was_disabled, log.disabled = log.disabled, True  # what fails for a canary's sake is no news
    try:
        for task in subject.one_task_a_level():
            paths = [path for path, _ in _leaves(task.hidden)][:_MOST_LEAVES]
            # All at once, and where the domain cannot run with so many, one after another.
            if not _all_stay_hidden(subject, task, paths):
                for path in paths:
                    _all_stay_hidden(subject, task, [path])
    finally:
        log.disabled = was_disabled


def _all_stay_hidden(subject: Subject, task: Task, paths: Sequence[_Path]) -> bool:
    """Whether the domain could run with canaries at these places and beside them.

    Raises:
        AssertionError: one was seen.
    """
    hidden: Any = {**task.hidden, "canary": f"CANARY{_CANARY}"}
    for number, path in enumerate(paths, start=1):
        hidden = _planted(hidden, path, _CANARY + number)
    seen, ran = _run_blindly(subject, replace(task, hidden=hidden))
    for number, path in enumerate([("canary",), *paths]):
        at = seen.find(str(_CANARY + number))
        require(
            at < 0,
            f"hidden{_written(path)} of {task.id} can be seen: {seen[max(0, at - 60) : at + 30]!r}. "
            "Show nothing that comes from task.hidden",
        )
    return ran


def nothing_hidden_is_told(subject: Subject) -> None:
    """Prompt, public part and files of a task do not hold its hidden values more often than chance has it.

    A value that stands in the public part too is one that the agent may know.
    """
    for level in subject.levels:
        tasks = [task for task in subject.tasks if task.level == level]
        told = [_told(task) for task in tasks]
        values = [_own_values(task) for task in tasks]
        for path in {path for owned in values for path in owned}:
            _require_chance(path, [owned.get(path, "") for owned in values], told, tasks)


def _require_chance(path: _Path, values: list[str], told: list[str], tasks: list[Task]) -> None:
    """A value is found in the text of its own task no more often than the values of other tasks are."""
    own = [i for i, value in enumerate(values) if value and _holds(told[i], value)]
    pairs = [
        (i, j) for i, value in enumerate(values) for j in range(len(told)) if value and j != i and value != values[j]
    ]
    if not own or not pairs:
        return
    rate = (1 + sum(_holds(told[j], values[i]) for i, j in pairs)) / (2 + len(pairs))
    long = max((values[i] for i in own), key=len)
    n = sum(1 for value in values if value)
    if _tail(n, len(own), rate) < _CHANCE or (len(long) >= 12 and rate < 0.1):
        task = tasks[values.index(long)]
        raise AssertionError(
            f"hidden{_written(path)} is told: {long!r} stands in the prompt, the public part or the files of "
            f"{task.id} and of {len(own)} tasks of {n}. Where the agent may know it, put it into Task(public=...)"
        )


def _run_blindly(subject: Subject, task: Task) -> tuple[str, bool]:
    """All that agents see who know nothing of the task, in one text, and whether every episode could run.

    A domain need not be able to run with a canary in the place of a hidden value: what was seen before it failed
    counts.
    """
    seen: list[str] = []
    players = [subject.player("noop"), subject.player("random"), garbage]
    ran = [_play_blindly(subject, task, player, seen) for player in players]
    for action in _one_call_of_each_tool(subject, task):
        ran.append(_play_blindly(subject, task, lambda *_, action=action: action, seen, n_turns=1))
    return "\n".join(seen), all(ran)


def _play_blindly(
    subject: Subject, task: Task, player: Callable[..., Any], seen: list[str], n_turns: int = _MOST_TURNS
) -> bool:
    env = subject.env
    try:
        observation, info = env.reset(seed=0, options={"task": task})
        seen += visible(env, observation, info)
        for _ in range(n_turns):
            observation, _, terminated, truncated, info = env.step(player(text_of(observation), info, env))
            seen += visible(env, observation, info)
            if terminated or truncated:
                break
    except Exception:  # noqa: BLE001 - see _run_blindly; whether the domain runs as it is, other checks ask
        return False
    return bool(info["end_reason"] != "infrastructure")


def _one_call_of_each_tool(subject: Subject, task: Task) -> list[dict[str, Any]]:
    subject.env.reset(options={"task": task})
    return [
        {"name": tool.name, "arguments": {name: _argument(about) for name, about in tool.schema["properties"].items()}}
        for tool in subject.env.table.tools
    ]


def _argument(about: Mapping[str, Any]) -> Any:
    if about.get("enum"):
        return about["enum"][0]
    return {"integer": 1, "number": 1.0, "boolean": True, "array": [], "object": {}}.get(about.get("type", ""), "1")


def _leaves(value: Any, path: _Path = ()) -> Iterator[tuple[_Path, str | int | float]]:
    """Texts and numbers in JSON types, with the way to each."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
    elif isinstance(value, (list, tuple)):
        for index, inner in enumerate(value):
            yield from _leaves(inner, (*path, index))
    elif isinstance(value, (str, int, float)) and not isinstance(value, bool) and value != "":
        yield path, value


def _planted(value: Any, path: _Path, canary: int) -> Any:
    """A copy with a canary at the end of the path, of the type of what was there; a text of digits stays one."""
    if path:
        first, rest = path[0], path[1:]
        if isinstance(value, Mapping):
            return {key: _planted(inner, rest, canary) if key == first else inner for key, inner in value.items()}
        return [_planted(inner, rest, canary) if i == first else inner for i, inner in enumerate(value)]
    if isinstance(value, str):
        return str(canary) if re.fullmatch(r"-?[0-9]+", value) else f"CANARY{canary}"
    return type(value)(canary)


def _told(task: Task) -> str:
    """What a task says of itself."""
    public = [str(value) for _, value in _leaves(task.public)]
    files = [content.decode(errors="replace") for content in task.files.values()]
    return "\n".join([task.prompt, *public, *task.files, *files])


def _own_values(task: Task) -> dict[_Path, str]:
    """The hidden values that are not public, as texts."""
    public = {str(value) for _, value in _leaves(task.public)}
    return {path: str(value) for path, value in _leaves(task.hidden) if str(value) not in public}


def _holds(text: str, value: str) -> bool:
    """Whether a text holds a value as words or numbers of their own: 46 is not in 146."""
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text) is not None


def _tail(n: int, k: int, rate: float) -> float:
    """How likely at least k of n are, where each has this probability."""
    return sum(math.comb(n, i) * rate**i * (1 - rate) ** (n - i) for i in range(k, n + 1))


def _written(path: _Path) -> str:
    return "".join(f"[{key!r}]" for key in path)
