"""Multi-turn episodes of a model of a few thousand weights, without an environment."""

from __future__ import annotations

import random
from types import SimpleNamespace

import torch

from workgym.agents.engines.engine import SamplingParams
from workgym.agents.engines.local import LocalEngine
from workgym.agents.message import message
from workgym.agents.models import Llama, LlamaConfig
from workgym.agents.policies.model import ModelPolicy
from workgym.agents.policy import Conversation
from workgym.agents.renderer import CharRenderer
from workgym.agents.tokenizer import CharTokenizer
from workgym.agents.trajectory import Row, Trajectory
from workgym.training.batch import Batch, make_batch

TOKENIZER = CharTokenizer("0123456789 +x\n")
STEP = SimpleNamespace()


def tiny_model(seed: int = 0, *, tied: bool = True) -> Llama:
    """Two layers, about 20,000 weights; less bent on repeating a token than a fresh model is."""
    model = Llama(LlamaConfig(TOKENIZER.n_ids, 32, 2, 2, d_ff=64, max_positions=96, tied=tied), seed=seed)
    with torch.no_grad():
        model.embedding.weight.mul_(0.5)
    return model


def rollouts(engine: LocalEngine, *, longest_prompt: int = 15, temperature: float = 1.0) -> list[Trajectory]:
    """Four groups of four episodes, with prompts and turns of many lengths; a third of them ends early."""
    policy = ModelPolicy(engine, CharRenderer(TOKENIZER), SamplingParams(temperature), max_tokens=9)
    rng = random.Random(engine.version)
    conversations = []
    for group in range(4):
        text = "".join(rng.choices("0123456789 +", k=rng.randint(3, longest_prompt)))
        for member in range(4):
            trajectory = Trajectory(f"v{engine.version}/g{group}/{member}", task_id=str(group), seed=member)
            unread = [message("user", text)]
            conversations.append(Conversation(trajectory, (), unread, text, {}, None))  # type: ignore[arg-type]
    for turn in range(3):
        live = [one for one in conversations if turn < 2 or rng.random() < 0.7]
        for one, act in zip(live, policy.act(live), strict=True):
            one.trajectory.observe(act.fed)
            one.trajectory.act(act.ids, act.logps, act.version)
            one.trajectory.steps.append(STEP)  # type: ignore[arg-type]
            one.unread = [message("tool", "x" * rng.randint(0, 6))]
    trajectories = [one.trajectory for one in conversations]
    policy.forget([trajectory.rollout_id for trajectory in trajectories])
    return trajectories


def random_rows(n: int, seed: int = 0, longest: int = 40) -> list[Row]:
    """Rows of many lengths whose tokens, marks and log-probabilities mean nothing."""
    rng = random.Random(seed)
    rows = []
    for _ in range(n):
        length = rng.randint(2, longest)
        action = tuple(rng.random() < 0.5 for _ in range(length))
        rows.append(
            Row(
                tuple(rng.randrange(TOKENIZER.n_ids) for _ in range(length)),
                action,
                tuple(-3 * rng.random() * is_action for is_action in action),
                tuple(0 if is_action else -1 for is_action in action),
            )
        )
    return rows


def random_batch(n: int = 24, seed: int = 0) -> Batch:
    """A batch of `random_rows` with advantages of both signs."""
    rng = random.Random(seed)
    return make_batch(random_rows(n, seed), advantages=[rng.gauss(0, 1) for _ in range(n)])
