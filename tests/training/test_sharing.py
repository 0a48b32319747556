"""Rows that share a prompt learn the same in fewer tokens."""

import numpy as np
import pytest
import torch

from workgym.agents.models import Llama, LlamaConfig
from workgym.agents.trajectory import Row
from workgym.training.batch import Batch, make_batch
from workgym.training.losses.policy import make_policy_loss
from workgym.training.sharing import share_prompts
from workgym.training.trainer import Trainer, TrainerConfig

SHAPE = LlamaConfig(50, d_model=32, n_layers=2, n_heads=4, n_kv_heads=2, d_ff=64, max_positions=128)


def _row(prompt, rng, n_turns=1):
    """An episode: the prompt, then turns of sampled tokens with an observation between them."""
    ids, action = list(prompt), [False] * len(prompt)
    for turn in range(n_turns):
        if turn:
            ids += rng.integers(0, 50, 3).tolist()
            action += [False] * 3
        n = int(rng.integers(1, 9))
        ids += rng.integers(0, 50, n).tolist()
        action += [True] * n
    logps = tuple(-float(x) if sampled else 0.0 for x, sampled in zip(rng.random(len(ids)), action, strict=True))
    return Row(tuple(ids), tuple(action), logps, tuple(0 if sampled else -1 for sampled in action))


def _batch(seed=0) -> Batch:
    rng = np.random.default_rng(seed)
    prompts = [rng.integers(0, 50, n).tolist() for n in (20, 31, 4)]
    rows = [_row(prompt, rng, n_turns=1 + member % 2) for prompt in prompts for member in range(4)]
    return make_batch(rows, advantages=rng.normal(size=len(rows)).tolist())


def _step(batch, **config):
    model = Llama(SHAPE, seed=1)
    trainer = Trainer(model, TrainerConfig(lr=1e-3, **config))
    gradients = {}

    def note(name):
        return lambda parameter: gradients.__setitem__(name, parameter.grad.clone())

    for name, parameter in model.named_parameters():
        parameter.register_post_accumulate_grad_hook(note(name))
    metrics = trainer.step(batch, make_policy_loss(0.2, 0.28))
    return metrics, gradients


@pytest.mark.parametrize("max_tokens", [60, 1536])
def test_sharing_prompts_changes_neither_loss_nor_gradient(max_tokens):
    plain, gradients = _step(_batch())
    shared, shared_gradients = _step(_batch(), share_prompts=True, max_tokens=max_tokens)

    assert shared["loss"] == pytest.approx(plain["loss"], rel=1e-5)
    assert shared["tokens/action"] == plain["tokens/action"]
    whole = torch.cat([gradient.flatten() for gradient in gradients.values()])
    other = torch.cat([gradient.flatten() for gradient in shared_gradients.values()])
    if max_tokens == 1536:  # hooks of a smaller micro-batch see a part of the sum; the norm is of all of it
        assert float((whole - other).norm() / whole.norm()) < 1e-5
    assert shared["grad_norm"] == pytest.approx(plain["grad_norm"], rel=1e-5)


def test_a_shared_prompt_is_fed_once():
    plain, _ = _step(_batch())
    shared, _ = _step(_batch(), share_prompts=True)

    # Of prompts of 20 and 31 tokens, all but the last, repeated by each continuation, are fed once and not four times.
    assert plain["tokens/fed"] - shared["tokens/fed"] == 3 * (19 + 30)


def test_a_merged_row_is_no_longer_than_asked_for():
    batch = _batch()

    assert int(share_prompts(batch, 60).lengths.max()) <= 60
    assert len(share_prompts(batch, 60)) > len(share_prompts(batch, 1536))


def test_rows_of_different_prompts_stay_as_they_are():
    rng = np.random.default_rng(0)
    batch = make_batch([_row(rng.integers(0, 50, 20).tolist(), rng) for _ in range(5)])

    assert share_prompts(batch, 1536) is batch


def test_a_continuation_does_not_see_its_neighbor():
    rng = np.random.default_rng(0)
    prompt = rng.integers(0, 50, 20).tolist()
    first, second, other = (_row(prompt, rng) for _ in range(3))
    model = Llama(SHAPE, seed=1)
    trainer = Trainer(model, TrainerConfig())
    with torch.no_grad():
        beside_second = trainer.targets(share_prompts(make_batch([first, second]), 500))
        beside_other = trainer.targets(share_prompts(make_batch([first, other]), 500))
    n = sum(first.action)

    assert torch.allclose(beside_second.logp[:n], beside_other.logp[:n], atol=1e-6)
