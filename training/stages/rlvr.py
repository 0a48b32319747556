"""Reinforcement learning from verified rewards: GRPO on whole episodes, with real execution.

A step: draw tasks, play each several times, judge, compare the episodes of each task with one another, move the weights
towards what did better, hand the new weights to the engine. The randomness of a step depends on the seed, the number of
the step and the state of the scheduler alone, so that a run can be taken up at any step.

Source: arXiv 2402.03300 (GRPO), 2503.14476 (DAPO: clip-higher, token mean, constant groups dropped).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from workgym.agents.play import play
from workgym.agents.policies.model import ModelPolicy
from workgym.agents.rack import EnvRack, Seat
from workgym.agents.trajectory import Trajectory
from workgym.tasks.errors import PolicyError
from workgym.training.advantage import GroupAdvantages, group_advantages
from workgym.training.batch import episode_batch
from workgym.training.curriculum import Scheduler
from workgym.training.losses.policy import make_policy_loss
from workgym.training.trainer import Trainer

__all__ = ["RlvrPlan", "rlvr"]


@dataclass(frozen=True, slots=True)
class RlvrPlan:
    """How much is practiced.

    Attributes:
        n_steps: most steps; each plays `n_tasks * group_size` episodes.
        n_tasks: tasks a step, of split "train".
        group_size: episodes of each task.
        seed: decides tasks and noise.
        clip_low, clip_high: bounds of the ratio of new to old probability, as distances from 1.
        max_turn_tokens: tokens that one action may have.
        shuffle_rewards: deal the rewards of a step out at random: a control from which nothing can be learned.
        max_tokens: no step begins once this many tokens were sampled; 0 sets no bound.
    """

    n_steps: int
    n_tasks: int
    group_size: int
    seed: int
    clip_low: float = 0.2
    clip_high: float = 0.28
    max_turn_tokens: int = 16
    shuffle_rewards: bool = False
    max_tokens: int = 0


def rlvr(
    trainer: Trainer,
    policy: ModelPolicy,
    rack: EnvRack,
    scheduler: Scheduler,
    plan: RlvrPlan,
    *,
    start: int = 0,
    n_tokens: int = 0,
    on_end: Callable[[Trajectory], None],
    after_step: Callable[[int, Mapping[str, float]], None],
) -> None:
    """Practice, from step `start` to the last, or until the tokens of the plan are used.

    Args:
        trainer: holds the model.
        policy: plays with an engine that holds the same weights; gets the new ones after every step.
        rack: the environments.
        scheduler: draws the tasks of a step and is told what came of them.
        plan: how much.
        start: steps that are done.
        n_tokens: tokens that were sampled in them.
        on_end: called with every episode as it ends.
        after_step: called with the number of the step and its metrics, when the scheduler has learned from it; among
            them `tokens/sampled`, all that were sampled since step 0, and `curriculum/<domain>/<level>`, the shares
            that the step was drawn with.

    Raises:
        PolicyError: policy and trainer do not divide logits by the same temperature, or a number of a step is not
            finite; the weights are as before it.
        SandboxError: the environments cannot run on this machine.
    """
    _check_sampling(trainer, policy)
    loss = make_policy_loss(plan.clip_low, plan.clip_high)
    for step in range(start, plan.n_steps):
        if 0 < plan.max_tokens <= n_tokens:
            return
        began_s = time.perf_counter()
        shares = scheduler.weights()
        seats = _seats(scheduler, plan, step)
        episodes = play(policy, rack, seats, max_turn_tokens=plan.max_turn_tokens, on_end=on_end)
        played_s = time.perf_counter()
        scheduler.learn([episodes[i : i + plan.group_size] for i in range(0, len(episodes), plan.group_size)])
        n_tokens += sum(episode.cost.tokens_out for episode in episodes)
        groups = _compare(episodes, plan, step)
        metrics = _rewards(episodes) | groups.metrics() | {"tokens/sampled": float(n_tokens)}
        metrics |= {f"curriculum/{name}": share for name, share in shares.items()}
        if groups.kept:  # where no group has a difference, there is nothing to learn and the weights stay
            metrics |= trainer.step(episode_batch([episodes[i] for i in groups.kept], groups.advantages), loss)
            policy.engine.publish(trainer.model.state_dict(), trainer.n_steps)
        metrics |= {"time/generate": played_s - began_s, "time/train": time.perf_counter() - played_s}
        after_step(step, metrics)


def _check_sampling(trainer: Trainer, policy: ModelPolicy) -> None:
    """The trainer must see the distribution that is sampled from, or the ratios mean nothing."""
    sampled, trained = policy.params, trainer.config.temperature
    if sampled.greedy or sampled.temperature != trained:
        how = "greedily" if sampled.greedy else f"at temperature {sampled.temperature}"
        raise PolicyError(f"the policy plays {how} and the trainer trains at temperature {trained}: make them the same")


def _seats(scheduler: Scheduler, plan: RlvrPlan, step: int) -> list[Seat]:
    """The episodes of a step: each task `group_size` times, each with noise of its own."""
    rng = np.random.default_rng([plan.seed, step])
    tasks = scheduler.draw(rng, plan.n_tasks)
    return [
        Seat(f"rl/{step:05d}-{group:03d}-{member:02d}", task, seed=int(rng.integers(2**31)))
        for group, task in enumerate(tasks)
        for member in range(plan.group_size)
    ]


def _compare(episodes: Sequence[Trajectory], plan: RlvrPlan, step: int) -> GroupAdvantages:
    """Each episode against the others of its task; where infrastructure failed, an episode leaves its group."""
    rewards = np.array([episode.reward for episode in episodes])
    if plan.shuffle_rewards:
        valid = [i for i, episode in enumerate(episodes) if episode.valid]
        rewards[valid] = np.random.default_rng([plan.seed, step, 1]).permutation(rewards[valid])
    return group_advantages(
        rewards.tolist(),
        [episode.valid for episode in episodes],
        [i // plan.group_size for i in range(len(episodes))],
        rollout_ids=[episode.rollout_id for episode in episodes],
    )


def _rewards(episodes: Sequence[Trajectory]) -> dict[str, float]:
    """Means over the episodes whose reward counts, by domain and level, and what the others failed of."""
    metrics: dict[str, float] = {}
    valid = [episode for episode in episodes if episode.valid]
    for domain, level in sorted({(episode.domain, episode.level) for episode in valid}):
        of_level = [episode for episode in valid if (episode.domain, episode.level) == (domain, level)]
        metrics[f"reward/{domain}/{level}"] = float(np.mean([episode.reward for episode in of_level]))
        metrics[f"success/{domain}/{level}"] = float(np.mean([episode.success for episode in of_level]))
    for episode in episodes:
        if not episode.valid:
            name = f"invalid/{episode.end_reason or 'unknown'}"
            metrics[name] = metrics.get(name, 0.0) + 1
    metrics["turns"] = float(np.mean([len(episode.steps) for episode in episodes]))
    metrics["drift/splits"] = float(sum(episode.n_splits for episode in episodes))
    return metrics
