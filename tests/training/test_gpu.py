"""The same numbers on a GPU as on the CPU."""

from __future__ import annotations

import pytest
import torch
from rollouts import random_batch, rollouts, tiny_model

from workgym.agents.engines.local import LocalEngine
from workgym.training.batch import episode_batch
from workgym.training.losses.policy import clipped_policy_gradient
from workgym.training.losses.supervised import cross_entropy
from workgym.training.trainer import Trainer, TrainerConfig

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device: torch.cuda.is_available() is false"),
]


def test_a_step_on_the_gpu_is_a_step_on_the_cpu():
    losses = [
        Trainer(tiny_model().to(device), TrainerConfig(max_tokens=300)).step(random_batch(), cross_entropy)
        for device in ("cpu", "cuda")
    ]

    assert losses[1] == pytest.approx(losses[0], rel=1e-3)


def test_on_policy_every_ratio_is_1_on_the_gpu():
    model = tiny_model().to("cuda")
    engine = LocalEngine(model, max_rows=10)
    trainer = Trainer(model, TrainerConfig())
    for _ in range(2):
        batch = episode_batch(rollouts(engine), [1.0, -1.0] * 8)
        assert trainer.step(batch, clipped_policy_gradient)["mismatch/logp_abs_max"] < 1e-4
        engine.publish(model.state_dict(), trainer.n_steps)
