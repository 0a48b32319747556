"""Supervised fine-tuning: imitate the actions of demonstrated episodes.

A step: draw rows, predict every action token from what came before it, move the weights. The randomness of a step
depends on the seed and the number of the step alone, so that a run can be taken up at any step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from workgym.agents.trajectory import Row
from workgym.tasks.errors import TaskError
from workgym.training.batch import make_batch
from workgym.training.losses.supervised import cross_entropy
from workgym.training.trainer import Trainer

__all__ = ["SftPlan", "sft"]


@dataclass(frozen=True, slots=True)
class SftPlan:
    """How much is imitated.

    Attributes:
        n_steps: optimizer steps.
        n_rows: demonstrations in each.
        seed: decides which.
    """

    n_steps: int
    n_rows: int
    seed: int


def sft(
    trainer: Trainer,
    rows: Sequence[Row],
    plan: SftPlan,
    *,
    after_step: Callable[[int, Mapping[str, float]], None],
) -> None:
    """Imitate, from the step at which the trainer stands to the last.

    Args:
        trainer: holds the model; `trainer.n_steps` says how many steps are done.
        rows: demonstrations; their action tokens are learned, the rest is context.
        plan: how much.
        after_step: called with the number of the step and its metrics.

    Raises:
        TaskError: there is no demonstration.
        PolicyError: a number of the step is not finite; the weights are as before it.
    """
    if not rows:
        raise TaskError("supervised fine-tuning needs at least one demonstration and was given none")
    while trainer.n_steps < plan.n_steps:
        step = trainer.n_steps
        rng = np.random.default_rng([plan.seed, step])
        batch = make_batch([rows[i] for i in rng.integers(0, len(rows), plan.n_rows)])
        after_step(step, trainer.step(batch, cross_entropy))
