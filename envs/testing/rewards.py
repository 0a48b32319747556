"""Checks of the rewards: the oracle earns 1, doing nothing and nonsense the floor, and half right lies between."""

from __future__ import annotations

from typing import Final

import numpy as np

from workgym.envs.testing.subject import Subject, garbage, require

__all__ = [
    "half_right_lies_between",
    "judged_again_it_is_the_same",
    "nothing_earns_nothing",
    "oracle_earns_everything",
]

_HALF_RIGHT: Final = "half-right"
_LUCK: Final = 0.1
"""What blind guessing may earn above the floor."""


def oracle_earns_everything(subject: Subject) -> None:
    """The oracle scores 1 on every task, and each of them is a success."""
    oracle = subject.player("oracle")
    for task in subject.tasks:
        played = subject.play(oracle, task)
        require(
            played.reward == 1.0 and played.info["is_success"],
            f"the oracle earns {played.reward} on {task.id} ({played.info['reward_breakdown']}): "
            "either it does not solve the task or the layers do not pay the solution",
        )


def nothing_earns_nothing(subject: Subject) -> None:
    """Noop and garbage earn no more than the floor, random no more than blind luck adds to it."""
    for name, player, most in (
        ("noop", subject.player("noop"), subject.floor),
        ("garbage", garbage, subject.floor),
        ("random", subject.player("random"), subject.floor + _LUCK),
    ):
        rewards = subject.rewards(player)
        mean = float(np.mean(rewards))
        require(
            mean <= most + 1e-9,
            f"{name} earns {mean:.3f} on average{_by_level(subject, rewards)}, and at most {most:.3f} is the floor: "
            "pay for what was done, not for what was there or can be guessed",
        )


def half_right_lies_between(subject: Subject) -> None:
    """A player that is right half of the time earns more than noop and less than the oracle, where there is one."""
    if _HALF_RIGHT not in subject.env.domain.players:
        return
    rewards = subject.rewards(subject.player(_HALF_RIGHT))
    mean = float(np.mean(rewards))
    noop = float(np.mean(subject.rewards(subject.player("noop"))))
    require(
        noop < mean < 1,
        f"the half-right player earns {mean:.3f} on average{_by_level(subject, rewards)}; "
        f"it must lie strictly between noop's {noop:.3f} and 1",
    )


def judged_again_it_is_the_same(subject: Subject) -> None:
    """The same attempt gets the same verdict, also from an environment that has not seen the episode."""
    for name in ("oracle", "noop"):
        for task in subject.one_task_a_level():
            subject.play(subject.player(name), task)
            attempt, verdict = subject.env.attempt, subject.env.verdict
            require(attempt, f"{name} left no attempt of {task.id}")
            again = subject.new_env().grade(attempt) if attempt else None
            require(
                again == verdict,
                f"{name}'s attempt of {task.id} got {verdict}, and judged again {again}: let a verifier depend on "
                "findings alone, findings on the attempt and the task",
            )


def _by_level(subject: Subject, rewards: list[float]) -> str:
    """The means of the levels, where there are several."""
    if len(subject.levels) < 2:
        return ""
    n = subject.n_tasks
    means = (float(np.mean(rewards[i * n : (i + 1) * n])) for i in range(len(subject.levels)))
    return f" ({', '.join(f'level {level} {mean:.3f}' for level, mean in zip(subject.levels, means, strict=True))})"
