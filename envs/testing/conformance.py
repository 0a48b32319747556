"""The conformance test of a domain: everything that the suite promises of every environment, tried out."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import gymnasium as gym

from workgym.envs.registration import register_environments
from workgym.envs.testing.contract import (
    branches_go_on_alike,
    gymnasium_accepts_it,
    malformed_actions_are_answered,
    seeds_decide,
    spec_survives_json,
    vectors_work,
)
from workgym.envs.testing.drawing import (
    hashes_hold_in_another_process,
    ids_load_the_same_task,
    levels_can_be_drawn,
    splits_share_nothing,
)
from workgym.envs.testing.leftovers import nothing_is_left_behind
from workgym.envs.testing.rewards import (
    half_right_lies_between,
    judged_again_it_is_the_same,
    nothing_earns_nothing,
    oracle_earns_everything,
)
from workgym.envs.testing.secrecy import nothing_hidden_is_shown, nothing_hidden_is_told
from workgym.envs.testing.subject import Subject, in_words
from workgym.tasks.naming import unknown_name

__all__ = ["CHECKS", "check_domain"]

CHECKS: Final[Mapping[str, Callable[[Subject], None]]] = {
    "levels": levels_can_be_drawn,
    "splits": splits_share_nothing,
    "ids": ids_load_the_same_task,
    "hashes": hashes_hold_in_another_process,
    "check_env": gymnasium_accepts_it,
    "seeds": seeds_decide,
    "malformed actions": malformed_actions_are_answered,
    "branches": branches_go_on_alike,
    "spec": spec_survives_json,
    "vectors": vectors_work,
    "oracle": oracle_earns_everything,
    "floor": nothing_earns_nothing,
    "half right": half_right_lies_between,
    "judged again": judged_again_it_is_the_same,
    "told": nothing_hidden_is_told,
    "shown": nothing_hidden_is_shown,
    "leftovers": nothing_is_left_behind,
}
"""Name -> a function that raises AssertionError, with words that say what to mend."""


def check_domain(
    env: str | Callable[..., gym.Env[Any, Any]],
    *,
    kwargs: Mapping[str, Any] | None = None,
    levels: Sequence[int] | None = None,
    n_tasks: int = 12,
    golden: Mapping[str, str] | None = None,
    floor: float = 0.0,
    only: Sequence[str] = (),
) -> None:
    """Try out everything that the suite promises of a domain, and tell all that does not hold.

    Hidden values are looked for as they are, in the tasks that are drawn: a leak in another form (backwards, in hex,
    split) or in a rare task is not found.

    Args:
        env: a registered id, or a function at the top of a module that makes a WorkEnv and takes `level`, `split` and
            `render_mode`. A function has no spec, so that the check of the spec passes without a look.
        kwargs: further arguments of every environment, of JSON types.
        levels: those to try; all that the source has if None.
        n_tasks: tasks of each level that the players are tried on.
        golden: task id -> content hash that the task must have, from `source.load(task_id).content_hash()`. It catches
            a generator that changes unawares.
        floor: what doing nothing earns, at most; 0 for nearly every domain.
        only: names of checks to run; all of them if empty.

    Raises:
        AssertionError: something does not hold; a line for each check that failed says what to mend.
        ValueError: there is no such check, or nothing to try.
    """
    for name in only:
        if name not in CHECKS:
            raise ValueError(unknown_name("check", name, CHECKS))
    if n_tasks < 1 or (levels is not None and not levels):
        raise ValueError(f"nothing to check: n_tasks is {n_tasks}, levels are {levels}")
    subject = _subject(env, kwargs or {}, n_tasks=n_tasks, golden=golden or {}, floor=floor)
    subject = replace(subject, levels=tuple(levels or subject.env.domain.source.levels))
    failures = [
        failure for name, check in CHECKS.items() if not only or name in only if (failure := _run(name, check, subject))
    ]
    if failures:
        n_checks = len(only) or len(CHECKS)
        raise AssertionError(
            f"{len(failures)} of {n_checks} checks of {env!r} failed:\n" + "\n".join(f"- {line}" for line in failures)
        )


def _subject(env: str | Callable[..., gym.Env[Any, Any]], kwargs: Mapping[str, Any], **effort: Any) -> Subject:
    """The domain that is meant: by its id, with or without the module that registers it, or by its function."""
    if not isinstance(env, str):
        return Subject(env, kwargs=kwargs, **effort)
    module, _, env_id = env.rpartition(":")
    register_environments()
    if module:
        importlib.import_module(module)
    return Subject(partial(gym.make, env_id), env_id, kwargs, **effort)


def _run(name: str, check: Callable[[Subject], None], subject: Subject) -> str:
    """What a check found; "" where all is well. One that breaks has failed too."""
    try:
        check(subject)
        subject.close()
    except AssertionError as error:
        failure = str(error)
    except Exception as error:  # noqa: BLE001 - the domain under test may raise anything
        failure = in_words(error)
    else:
        return ""
    with contextlib.suppress(Exception):  # what failed first is told
        subject.close()
    return f"{name}: {failure}"
