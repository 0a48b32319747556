"""Six steps at once, and three steps, a restart and three more; run as a program it says whether they are the same.

python restart.py N_THREADS
"""

from __future__ import annotations

import io
import sys
from typing import Any

import torch
from rollouts import rollouts, tiny_model

from workgym.agents.engines.local import LocalEngine
from workgym.training.batch import episode_batch
from workgym.training.losses.policy import clipped_policy_gradient
from workgym.training.losses.supervised import cross_entropy
from workgym.training.trainer import Trainer, TrainerConfig

CONFIG = TrainerConfig(lr=3e-3, schedule="cosine", warmup_steps=2, total_steps=6, max_tokens=300)


def train(trainer: Trainer, engine: LocalEngine, n_steps: int) -> list[dict[str, float]]:
    """Steps of reinforcement and of imitation by turns, with rollouts in between."""
    log = []
    for _ in range(n_steps):
        trajectories = rollouts(engine, longest_prompt=50)
        advantages = [1.0 if sum(t.ids) % 2 else -1.0 for t in trajectories]
        loss = cross_entropy if trainer.n_steps % 2 else clipped_policy_gradient
        log.append(trainer.step(episode_batch(trajectories, advantages), loss))
        engine.publish(trainer.model.state_dict(), trainer.n_steps)
    return log


def straight() -> tuple[list[dict[str, float]], dict[str, Any]]:
    """Metrics and state of six steps at once."""
    trainer = Trainer(tiny_model(), CONFIG)
    return train(trainer, LocalEngine(trainer.model), 6), trainer.state_dict()


def restarted() -> tuple[list[dict[str, float]], dict[str, Any]]:
    """Metrics and state of three steps, and of three more by another trainer and engine that read the first one's
    file."""
    first = Trainer(tiny_model(), CONFIG)
    log = train(first, LocalEngine(first.model), 3)
    file = io.BytesIO()
    torch.save(first.state_dict(), file)
    file.seek(0)
    second = Trainer(tiny_model(9), CONFIG)
    second.load_state_dict(torch.load(file, weights_only=True))
    return log + train(second, LocalEngine(second.model, version=second.n_steps), 3), second.state_dict()


def same_bits(one: Any, other: Any) -> bool:
    """Whether two states are equal to the last bit."""
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same_bits(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same_bits, one, other))
    return bool(one == other)


if __name__ == "__main__":
    torch.set_num_threads(int(sys.argv[1]))
    print(torch.get_num_threads(), same_bits(straight(), restarted()))
