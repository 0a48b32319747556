"""Checks of the tasks: every level can be drawn, splits share nothing, an id is the task, in every process."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import gymnasium as gym

from workgym.envs.testing.subject import Subject, require
from workgym.tasks.source import SPLITS
from workgym.tasks.task import LEVELS, Task

__all__ = ["hashes_hold_in_another_process", "ids_load_the_same_task", "levels_can_be_drawn", "splits_share_nothing"]

_N_SAMPLES: Final = 100
_N_HASHED: Final = 4
_OTHER_HASH_SEED: Final = "77"


def levels_can_be_drawn(subject: Subject) -> None:
    """Each level gives tasks of this domain, of this level and split, with something to say and something hidden."""
    domain = subject.env.domain
    for level in subject.levels:
        require(level in LEVELS, f"level {level} is none: levels are {', '.join(map(str, LEVELS))}")
        for split in SPLITS:
            for task in subject.draw(level, 2, split):
                said = (task.domain, task.level, task.split)
                require(
                    said == (domain.name, level, split),
                    f"sample({level}, rng, {split!r}) made a task of domain, level and split {said}",
                )
                require(task.id and task.structure, f"task {task.id!r} needs an id and a structure (see split_of)")
                require(task.hidden, f"task {task.id!r} hides nothing: put the answer into Task(hidden=...)")


def splits_share_nothing(subject: Subject) -> None:
    """Tasks of two splits never have the same structure: what is tested was never trained on."""
    owner: dict[str, str] = {}
    for level in subject.levels:
        for split in SPLITS:
            for task in subject.draw(level, _N_SAMPLES, split):
                other = owner.setdefault(task.structure, split)
                require(
                    other == split,
                    f"a structure is in split {other!r} and, as task {task.id!r}, in {split!r}: "
                    "draw until split_of(structure) is the split that was asked for",
                )


def ids_load_the_same_task(subject: Subject) -> None:
    """`load(task.id)` makes the task again, its hidden part included: so an archived episode can be judged again."""
    for task in subject.tasks:
        again = subject.env.domain.source.load(task.id)
        require(again == task, f"load({task.id!r}) makes another task: {_difference(task, again)}")


def hashes_hold_in_another_process(subject: Subject) -> None:
    """Tasks have the same content in a fresh process with another hash seed, and the golden ones what they had."""
    for task_id, wanted in subject.golden.items():
        found = subject.env.domain.source.load(task_id).content_hash()
        require(
            found == wanted,
            f"task {task_id!r} has the content hash {found}, not the golden {wanted}: "
            "where the change is meant, raise the version of its source and write down the new hash",
        )
    here = {task.id: task.content_hash() for level in subject.levels for task in _few(subject, level)}
    there = _hashes_in_fresh_process(subject, list(here))
    for task_id, content in here.items():
        require(
            there[task_id] == content,
            f"task {task_id!r} is another one in a fresh process with PYTHONHASHSEED={_OTHER_HASH_SEED}: "
            "use no hash(), and no order of a set",
        )


def _few(subject: Subject, level: int) -> list[Task]:
    return [task for task in subject.tasks if task.level == level][:_N_HASHED]


def _hashes_in_fresh_process(subject: Subject, task_ids: list[str]) -> dict[str, str]:
    """Content hashes by task id, as a process that has never seen these tasks computes them."""
    usual = gym.spec(subject.env_id).kwargs if subject.env_id else {}
    request = json.dumps({**_whereabouts(subject), "kwargs": {**usual, **subject.kwargs}, "task_ids": task_ids})
    path = os.pathsep.join(os.path.abspath(folder) for folder in sys.path)
    done = subprocess.run(
        [sys.executable, "-m", "workgym.envs.testing.fresh"],
        input=request,
        env={**os.environ, "PYTHONHASHSEED": _OTHER_HASH_SEED, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    require(done.returncode == 0, f"a fresh process cannot make the environment:\n{done.stderr}")
    hashes: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return hashes


def _whereabouts(subject: Subject) -> Mapping[str, Any]:
    """Where a fresh process finds what makes the environment: module, attribute, and the file of the module."""
    if subject.env_id:
        entry_point = gym.spec(subject.env_id).entry_point
        if isinstance(entry_point, str):
            module, _, attribute = entry_point.partition(":")
            return {"module": module, "attribute": attribute, "file": ""}
        factory: Any = entry_point
    else:
        factory = subject.make
    name = getattr(factory, "__qualname__", "")
    require(
        name.isidentifier(),
        f"a fresh process cannot find {factory!r}: check an id, or a function at the top of a module",
    )
    return {"module": factory.__module__, "attribute": name, "file": str(Path(inspect.getfile(factory)).resolve())}


def _difference(one: Task, other: Task) -> str:
    fields = [name for name in Task.__slots__ if getattr(one, name) != getattr(other, name)]
    return f"they differ in {', '.join(fields)}"
