"""Checks of the contract with Gymnasium: check_env, seeds, malformed actions, specs and vectors."""

from __future__ import annotations

import json
import random
import warnings
from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env

from workgym.envs.env import WorkEnv
from workgym.envs.testing.subject import GARBAGE, Subject, garbage, in_full, in_words, require, text_of

__all__ = [
    "branches_go_on_alike",
    "gymnasium_accepts_it",
    "malformed_actions_are_answered",
    "seeds_decide",
    "spec_survives_json",
    "vectors_work",
]


def gymnasium_accepts_it(subject: Subject) -> None:
    """`check_env` passes without a warning."""
    kwargs = {**subject.kwargs, "level": subject.levels[0]}
    env = subject.new_env(**kwargs, render_mode="ansi")
    # Without a spec, it would not look for determinism.
    env.spec = env.spec or EnvSpec("Unregistered-v0", entry_point=subject.make, kwargs=kwargs)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            check_env(env)
        except Exception as error:
            raise AssertionError(f"gymnasium's check_env says: {error}") from error


def seeds_decide(subject: Subject) -> None:
    """The same seed and actions give the same episode, and no global generator is touched."""
    before = _global_generators()
    for level in subject.levels:
        env = subject.new_env(level=level)
        first = env.reset(seed=level)
        require(
            in_full(first) == in_full(subject.new_env(level=level).reset(seed=level)),
            f"two resets with seed {level} differ at level {level}: draw from the generator that sample() is given, "
            "and show no clocks, addresses or paths",
        )
        for actions in (_oracle_actions(subject, env, *first), GARBAGE[:6]):
            one, other = (_run(subject.new_env(level=level), level, actions) for _ in range(2))
            for action, left, right in zip(["reset", *actions], one, other, strict=True):
                require(left == right, f"{action!r} was answered with {left}, and the second time with {right}")
    require(
        before == _global_generators(),
        "a global random generator was used or seeded: draw from the generator that sample() is given",
    )


def branches_go_on_alike(subject: Subject) -> None:
    """A fork, at the start or after an action, goes on as the episode that it was made of does."""
    oracle = subject.player("oracle")
    for task in subject.one_task_a_level():
        for n_before in (0, 1):
            env = subject.env
            observation, info = env.reset(options={"task": task})
            ended = False
            for _ in range(n_before):
                observation, _, *ends, info = env.step(oracle(text_of(observation), info, env))
                ended = any(ends)
            if ended:
                continue
            (branch,) = env.fork(1)
            subject.open.append(branch)
            left, right = (_finish(subject, one, observation, info) for one in (env, branch))
            require(
                left == right,
                f"a fork of {task.id} after {n_before} actions goes on with {right}, and its origin with {left}: "
                "copy all of the state in snapshot(), or raise SandboxError there to have the actions replayed",
            )


def malformed_actions_are_answered(subject: Subject) -> None:
    """Whatever an agent says, it gets an observation, never an exception; only a budget of turns ends the episode."""
    task = subject.tasks[0]
    env = subject.env
    for action in GARBAGE:
        env.reset(options={"task": task})
        try:
            observation, reward, terminated, _, info = env.step(action)
        except Exception as error:
            raise AssertionError(
                f"the action {_short(action)} in {task.id} raised {in_words(error)}. "
                "Answer it: raise ActionError in the tool"
            ) from error
        kept = not terminated and reward == 0 and not info["action_valid"] and not info["error"]
        require(
            kept,
            f"the action {_short(action)} in {task.id} was answered {observation!r} with {info}: "
            "it is malformed, and no fault",
        )
    require(
        subject.play(garbage, task).info["end_reason"] == "turns",
        f"an agent that says nothing sensible in {task.id} must run out of turns: give tasks a Budget(turns=...)",
    )


def spec_survives_json(subject: Subject) -> None:
    """A registered id's spec goes through JSON and makes the same environment. A factory has none to check."""
    if not subject.env_id:
        return
    made = gym.make(subject.env_id, **{**subject.kwargs, "level": subject.levels[-1]})
    try:
        require(made.spec is not None, "gym.make made an environment without a spec")
        spec = EnvSpec.from_json(made.spec.to_json()) if made.spec else None
        again = gym.make(spec) if spec else made
    except Exception as error:
        raise AssertionError(
            f"its spec does not survive JSON ({error}): "
            "register a text as entry point, and take arguments of JSON types"
        ) from error
    first, second = made.reset(seed=5), again.reset(seed=5)
    made.close()
    again.close()
    require(in_full(first) == in_full(second), "the environment that its spec makes again starts another episode")


def vectors_work(subject: Subject) -> None:
    """Environments run side by side, in one process and in several, and answer alike."""
    seen = []
    for mode in ("sync", "async"):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                seen.append(_run_vector(subject, mode))
            except Exception as error:
                raise AssertionError(
                    f"a vector of environments in {mode} mode fails: {type(error).__name__}: {error}"
                ) from error
        require(not caught, f"a vector of environments in {mode} mode warns: {[str(one.message) for one in caught]}")
    require(seen[0] == seen[1], f"in several processes it answers {seen[1]}, in one {seen[0]}")


def _run_vector(subject: Subject, mode: str) -> list[str]:
    kwargs = {**subject.kwargs, "level": subject.levels[0]}
    envs: gym.vector.VectorEnv[Any, Any, Any]
    if subject.env_id:
        envs = gym.make_vec(subject.env_id, num_envs=2, vectorization_mode=mode, **kwargs)
    else:
        made = [lambda: subject.make(**kwargs)] * 2
        envs = gym.vector.SyncVectorEnv(made) if mode == "sync" else gym.vector.AsyncVectorEnv(made)
    try:
        observations, infos = envs.reset(seed=3)
        seen = [in_full(observations), repr(list(infos["task_id"]))]
        observations, rewards, terminated, truncated, _ = envs.step(("", "no-such-tool"))
        return [*seen, in_full(observations), repr([list(values) for values in (rewards, terminated, truncated)])]
    finally:
        envs.close()


def _finish(subject: Subject, env: WorkEnv, observation: Any, info: dict[str, Any]) -> list[str]:
    """What the rest of the oracle's episode is answered with."""
    answers, ended = [], False
    while not ended:
        observation, reward, terminated, truncated, info = env.step(
            subject.player("oracle")(text_of(observation), info, env)
        )
        answers.append(in_full((observation, reward, terminated, truncated, info)))
        ended = terminated or truncated
    return answers


def _oracle_actions(subject: Subject, env: WorkEnv, observation: Any, info: dict[str, Any]) -> list[Any]:
    actions, ended = [], False
    while not ended:
        actions.append(subject.player("oracle")(text_of(observation), info, env))
        observation, _, *ends, info = env.step(actions[-1])
        ended = any(ends)
    return actions


def _run(env: WorkEnv, seed: int, actions: Sequence[Any]) -> list[str]:
    """What is answered, as text; nothing once the episode is over."""
    answers = [in_full(env.reset(seed=seed))]
    ended = False
    for action in actions:
        if ended:
            answers.append("")
            continue
        answer = env.step(action)
        answers.append(in_full(answer))
        ended = answer[2] or answer[3]
    return answers


def _global_generators() -> str:
    return json.dumps([random.getstate(), np.random.get_state()], default=repr)  # noqa: NPY002 - to see it untouched


def _short(action: object) -> str:
    text = repr(action)
    return text if len(text) < 60 else text[:57] + "..."
