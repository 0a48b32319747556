"""The optimizer step: whole or not at all, the same for any cut, the same after a restart."""

from __future__ import annotations

import copy
import math
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from restart import restarted, same_bits, straight
from rollouts import random_batch, random_rows, rollouts, tiny_model

from workgym.agents.engines.local import LocalEngine
from workgym.tasks.errors import PolicyError
from workgym.training.advantage import group_advantages
from workgym.training.batch import Batch, episode_batch, make_batch
from workgym.training.losses.loss import LossSum, Targets, TokenLoss
from workgym.training.losses.policy import clipped_policy_gradient
from workgym.training.losses.supervised import cross_entropy
from workgym.training.trainer import Trainer, TrainerConfig, lr_at

LOSSES = pytest.mark.parametrize("loss", [cross_entropy, clipped_policy_gradient])
NAN = float("nan")


def gradient(batch: Batch, loss: TokenLoss, **config: Any) -> torch.Tensor:
    """The gradient of one step before clipping, as the optimizer's first moment keeps it [parameters]."""
    trainer = Trainer(tiny_model(), TrainerConfig(grad_clip=1e9, betas=(0.0, 0.5), **config))
    trainer.step(batch, loss)
    state = trainer.state_dict()["optimizer"]["state"]
    return torch.cat([state[key]["exp_avg"].flatten() for key in sorted(state)])


def assert_close(one: torch.Tensor, other: torch.Tensor) -> None:
    """Equal to 1e-6 of the gradient's norm."""
    assert float(one.norm()) > 1e-3, "the gradient should not vanish"
    assert float((one - other).norm() / one.norm()) < 1e-6


def contents(trainer: Trainer) -> dict[str, Any]:
    return copy.deepcopy(trainer.state_dict())


# ---- what a step is


@LOSSES
def test_any_cut_into_micro_batches_gives_the_same_gradient(loss):
    batch = random_batch(24)
    whole = gradient(batch, loss, max_tokens=10**6)

    for max_tokens in (1, 77, 300):
        assert_close(whole, gradient(batch, loss, max_tokens=max_tokens))


@LOSSES
def test_the_order_of_rows_changes_nothing(loss):
    batch = random_batch(24)

    assert_close(gradient(batch, loss), gradient(batch.take(list(range(24))[::-1]), loss))


@LOSSES
def test_padding_changes_nothing(loss):
    batch = random_batch(12)
    wider = {
        name: torch.nn.functional.pad(getattr(batch, name), (0, 9))
        for name in ("ids", "target", "behavior_logp", "advantage", "weight", "version")
    }

    assert_close(gradient(batch, loss, max_tokens=10**6), gradient(replace(batch, **wider), loss, max_tokens=10**6))


def test_tokens_that_were_not_sampled_carry_no_loss():
    rows = random_rows(12)
    other = [replace(row, logp=tuple(p or -9.0 for p in row.logp)) for row in rows]
    advantages = [(-1.0) ** i for i in range(12)]

    assert_close(
        gradient(make_batch(rows, advantages=advantages), clipped_policy_gradient),
        gradient(make_batch(other, advantages=advantages), clipped_policy_gradient),
    )
    loss = Trainer(tiny_model(), TrainerConfig()).step(make_batch(rows), cross_entropy)["loss"]
    batch, model = make_batch(rows), tiny_model()
    with torch.no_grad():
        logps = torch.log_softmax(model.logits(model(batch.ids)).double(), dim=-1)
    of_next = logps[:, :-1].gather(2, batch.ids[:, 1:, None])[..., 0]
    expected = -sum(
        float(of_next[i, t - 1]) for i, row in enumerate(rows) for t in range(1, len(row.ids)) if row.action[t]
    )
    assert loss == pytest.approx(expected / sum(sum(row.action[1:]) for row in rows), rel=1e-5)


def test_episode_weights_make_a_mean_of_means():
    rows = random_rows(8)
    counts = [max(1, sum(row.action[1:])) for row in rows]
    trained = [sum(row.action[1:]) > 0 for row in rows]
    weighted = Trainer(tiny_model(), TrainerConfig()).step(
        make_batch(rows, weights=[1 / n for n in counts]), cross_entropy
    )
    alone = [
        Trainer(tiny_model(), TrainerConfig()).step(make_batch([row]), cross_entropy)["loss"]
        for row, is_trained in zip(rows, trained, strict=True)
        if is_trained
    ]

    assert weighted["loss"] == pytest.approx(sum(alone) / len(alone), rel=1e-5)


def test_the_gradient_is_cut_to_its_limit():
    batch = random_batch()
    trainer = Trainer(tiny_model(), TrainerConfig(grad_clip=1e-3, betas=(0.0, 0.5)))
    norm = trainer.step(batch, cross_entropy)["grad_norm"]
    state = trainer.state_dict()["optimizer"]["state"]

    assert norm == pytest.approx(float(gradient(batch, cross_entropy).norm()), rel=1e-4)
    assert math.sqrt(sum(float(s["exp_avg"].norm()) ** 2 for s in state.values())) == pytest.approx(1e-3, rel=1e-3)


def test_a_learning_rate_of_0_moves_nothing():
    trainer = Trainer(tiny_model(), TrainerConfig(lr=0.0))
    before = copy.deepcopy(trainer.model.state_dict())
    trainer.step(random_batch(), cross_entropy)

    assert same_bits(before, trainer.model.state_dict())


def test_twenty_rows_can_be_learned_by_heart():
    rows = [replace(row, action=(False, *[True] * (len(row.ids) - 1))) for row in random_rows(20, longest=12)]
    batch = make_batch(rows)
    trainer = Trainer(tiny_model(), TrainerConfig(lr=1e-2, schedule="cosine", total_steps=150))
    first = trainer.step(batch, cross_entropy)["loss"]
    for _ in range(149):
        last = trainer.step(batch, cross_entropy)["loss"]

    # The first tokens of rows cannot be told apart by what precedes them; the rest can.
    assert first > 3
    assert last < 0.5


def test_the_likelier_action_of_a_rewarded_episode_grows():
    engine = LocalEngine(tiny_model())
    trajectories = rollouts(engine)
    batch = episode_batch(trajectories, [1.0 if i % 2 else -1.0 for i in range(len(trajectories))])
    trainer = Trainer(tiny_model(), TrainerConfig(lr=1e-3))

    def gain() -> float:
        with torch.no_grad():
            targets = trainer.targets(batch)
        return float((targets.logp * targets.advantage).sum())

    before = gain()
    trainer.step(batch, clipped_policy_gradient)
    assert gain() > before


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("constant", [0.5, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]),
        ("linear", [0.5, 1.0, 1.0, 0.775, 0.55, 0.325, 0.1]),
        ("cosine", [0.5, 1.0, 1.0, 0.868198, 0.55, 0.231802, 0.1]),
    ],
)
def test_the_learning_rate_rises_and_falls(schedule, expected):
    config = TrainerConfig(lr=1.0, schedule=schedule, warmup_steps=2, total_steps=6, lr_floor=0.1)

    assert [lr_at(config, step) for step in range(7)] == pytest.approx(expected, abs=1e-6)


# ---- engine and trainer agree


@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_on_policy_every_ratio_is_1(temperature):
    model = tiny_model()
    trajectories = rollouts(LocalEngine(model, max_rows=10), temperature=temperature)
    trainer = Trainer(model, TrainerConfig(temperature=temperature, max_tokens=300))
    metrics = trainer.step(episode_batch(trajectories, [1.0, -1.0] * 8), clipped_policy_gradient)

    assert {len(t.ids) for t in trajectories} != {len(trajectories[0].ids)}, "the rows should be ragged"
    assert metrics["mismatch/logp_abs_max"] < 1e-5
    assert metrics["ratio"] == pytest.approx(1, abs=1e-5)
    assert metrics["clip/low"] == metrics["clip/high"] == metrics["mismatch/ratio_gt_2"] == 0


def test_at_another_temperature_the_ratios_are_not_1():
    model = tiny_model()
    trajectories = rollouts(LocalEngine(model), temperature=0.7)
    metrics = Trainer(model, TrainerConfig()).step(episode_batch(trajectories, [1.0] * 16), clipped_policy_gradient)

    assert metrics["mismatch/logp_abs"] > 0.01


def test_stale_episodes_have_other_ratios_until_the_weights_are_published():
    model = tiny_model()
    engine = LocalEngine(model)
    trainer = Trainer(model, TrainerConfig(lr=1e-2))
    stale = rollouts(engine)
    trainer.step(episode_batch(stale, [1.0, -1.0] * 8), clipped_policy_gradient)
    late = trainer.step(episode_batch(rollouts(engine), [1.0, -1.0] * 8), clipped_policy_gradient)
    engine.publish(model.state_dict(), trainer.n_steps)
    fresh = trainer.step(episode_batch(rollouts(engine), [1.0, -1.0] * 8), clipped_policy_gradient)

    assert late["mismatch/logp_abs"] > 1e-3
    assert fresh["mismatch/logp_abs_max"] < 1e-5


# ---- what is refused


def broken(batch: Batch, name: str, value: float) -> Batch:
    """A batch with one value set on the first target of its row 3."""
    tensor = getattr(batch, name).clone()
    tensor[3, int(batch.target[3].nonzero()[0, 0])] = value
    return replace(batch, **{name: tensor})


@pytest.mark.parametrize("name", ["behavior_logp", "advantage", "weight"])
@pytest.mark.parametrize("value", [NAN, math.inf])
def test_a_number_that_is_not_finite_stops_the_step_with_its_name(name, value):
    trainer = Trainer(tiny_model(), TrainerConfig())
    trainer.step(random_batch(seed=1), clipped_policy_gradient)
    before = contents(trainer)

    with pytest.raises(PolicyError, match=f"{name} is not finite in the rollouts '3'"):
        trainer.step(broken(random_batch(), name, value), clipped_policy_gradient)
    assert same_bits(before, contents(trainer))


def test_a_logp_that_is_not_finite_names_its_rollout_and_moves_nothing():
    rows = [replace(row, ids=tuple(min(i, 9) for i in row.ids)) for row in random_rows(24)]
    rows[13] = replace(rows[13], ids=(10, *rows[13].ids[1:]))
    trainer = Trainer(tiny_model(tied=False), TrainerConfig(max_tokens=100))
    trainer.step(make_batch(rows), cross_entropy)
    with torch.no_grad():
        trainer.model.embedding.weight[10] = math.inf
    before = contents(trainer)

    with pytest.raises(PolicyError, match="logp is not finite in the rollouts '13'; no step was taken"):
        trainer.step(make_batch(rows), cross_entropy)
    assert same_bits(before, contents(trainer))


def poisoned_loss(targets: Targets) -> LossSum:
    return LossSum(targets.logp.sum() * NAN)


def poisoned_gradient(targets: Targets) -> LossSum:
    """Finite itself, with an infinite slope."""
    return LossSum((targets.logp - targets.logp.detach()).abs().sqrt().sum())


@pytest.mark.parametrize(
    ("loss", "message"), [(poisoned_loss, "the loss is not finite"), (poisoned_gradient, "grad_norm is (nan|inf)")]
)
def test_a_broken_loss_moves_nothing(loss, message):
    trainer = Trainer(tiny_model(), TrainerConfig())
    trainer.step(random_batch(), cross_entropy)
    before = contents(trainer)

    with pytest.raises(PolicyError, match=message):
        trainer.step(random_batch(), loss)
    assert same_bits(before, contents(trainer))
    trainer.step(random_batch(), cross_entropy)


def test_nothing_to_learn_from_is_refused():
    batch = random_batch()
    trainer = Trainer(tiny_model(), TrainerConfig())

    with pytest.raises(PolicyError, match="no token to learn from"):
        trainer.step(replace(batch, weight=torch.zeros_like(batch.weight)), cross_entropy)


def test_groups_without_differences_never_reach_the_model():
    engine = LocalEngine(tiny_model())
    trajectories = rollouts(engine)
    rewards = [0.0] * 4 + [1.0] * 4 + [0.0, 1.0, 0.0, 0.0] + [0.5] * 4
    found = group_advantages(rewards, [True] * 16, [t.task_id for t in trajectories])
    batch = episode_batch([trajectories[i] for i in found.kept], found.advantages)
    trainer = Trainer(tiny_model(), TrainerConfig())
    fed: list[int] = []
    trainer.model.register_forward_pre_hook(lambda module, args: fed.append(len(args[0])))
    trainer.step(batch, clipped_policy_gradient)

    assert found.kept == (8, 9, 10, 11)
    assert sum(fed) == 4


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"schedule": "cosin"}, "Did you mean 'cosine'"),
        ({"schedule": "cosine"}, "set it above warmup_steps"),
        ({"temperature": 0.0}, "temperature 0.0 is not above 0"),
        ({"grad_clip": NAN}, "grad_clip nan is not above 0"),
        ({"lr": -1.0}, "lr -1.0 is negative"),
    ],
)
def test_a_configuration_that_makes_no_sense_is_refused(config, message):
    with pytest.raises(PolicyError, match=message):
        TrainerConfig(**config)


# ---- resume


def test_three_steps_a_restart_and_three_more_are_six_steps_bit_for_bit():
    assert same_bits(straight(), restarted())


def test_a_restart_is_bit_for_bit_with_two_threads_as_well():
    # Threads that wait by spinning take a hundred times as long where other programs want the cores.
    passive = {"OMP_WAIT_POLICY": "PASSIVE", "GOMP_SPINCOUNT": "0"}
    program = Path(__file__).with_name("restart.py")
    done = subprocess.run(
        [sys.executable, program, "2"], env=os.environ | passive, capture_output=True, text=True, timeout=240
    )

    assert (done.stdout, done.stderr) == ("2 True\n", "")


def test_another_seed_would_be_seen():
    assert not same_bits(tiny_model(0).state_dict(), tiny_model(1).state_dict())


def test_the_state_of_another_model_is_refused():
    state = Trainer(tiny_model(), TrainerConfig()).state_dict()
    del state["model"]["norm.weight"]

    with pytest.raises(PolicyError, match="cannot continue from that state"):
        Trainer(tiny_model(), TrainerConfig()).load_state_dict(state)
