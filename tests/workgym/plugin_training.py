"""Run by the interpreter of a clean virtual environment: find a plugin's id, check its domain, train on it two steps.

It prints one JSON object of what it saw.
"""

from __future__ import annotations

import json
import sys

import gymnasium as gym
import numpy as np
import torch

import workgym  # noqa: F401 - registers the ids, the plugin's among them
from workgym.agents.engines.engine import SamplingParams
from workgym.agents.engines.local import LocalEngine
from workgym.agents.evaluate import evaluate
from workgym.agents.models import Llama, LlamaConfig
from workgym.agents.policies.model import ModelPolicy
from workgym.agents.policies.scripted import ScriptedPolicy
from workgym.agents.rack import EnvRack
from workgym.agents.renderer import CharRenderer, demonstration
from workgym.agents.tokenizer import CharTokenizer
from workgym.envs.registration import known_domains
from workgym.envs.testing import check_domain
from workgym.training.curriculum import Uniform, arms_of
from workgym.training.stages.rlvr import RlvrPlan, rlvr
from workgym.training.stages.sft import SftPlan, sft
from workgym.training.trainer import Trainer, TrainerConfig

TURN_TOKENS = 14


def main(env_id: str) -> None:
    torch.set_num_threads(1)
    check_domain(env_id)
    (plugin,) = [plugin for plugin in known_domains() if plugin.env_id == env_id]
    source = gym.make(env_id).unwrapped.domain.source  # type: ignore[attr-defined]
    rng = np.random.default_rng(0)
    tasks = [source.sample(1, rng, "train") for _ in range(64)]
    tokenizer = CharTokenizer()
    renderer = CharRenderer(tokenizer)
    model = Llama(LlamaConfig(tokenizer.n_ids, 64, 2, 2, d_ff=128, max_positions=512), seed=0)
    episodes = []
    with EnvRack(lambda: gym.make(env_id), n_envs=32, n_threads=1) as rack:
        players = rack.env(0).unwrapped.domain.players  # type: ignore[attr-defined]
        # Half of the time right, half of the time noop: who imitates that has something left to learn from rewards.
        shown = [
            episode
            for name in ("oracle", "noop")
            for episode in evaluate(ScriptedPolicy(name, players[name]), rack, tasks)
        ]
        rows = [demonstration(renderer, episode.messages) for episode in shown]
        sft(Trainer(model, TrainerConfig(lr=3e-3)), rows, SftPlan(120, 32, 0), after_step=lambda step, metrics: None)
        trainer = Trainer(model, TrainerConfig(lr=1e-3))
        before = [parameter.detach().clone() for parameter in model.parameters()]
        policy = ModelPolicy(LocalEngine(model, max_rows=32), renderer, SamplingParams())
        plan = RlvrPlan(n_steps=2, n_tasks=16, group_size=4, seed=0, max_turn_tokens=TURN_TOKENS)
        losses = []
        rlvr(
            trainer,
            policy,
            rack,
            Uniform(arms_of("units", source, (1,))),
            plan,
            on_end=episodes.append,
            after_step=lambda step, metrics: losses.append(metrics.get("loss")),
        )
    moved = any(not torch.equal(old, new) for old, new in zip(before, model.parameters(), strict=True))
    print(
        json.dumps(
            {
                "package": plugin.distribution,
                "module": sys.modules[plugin.entry_point.partition(":")[0]].__file__,
                "steps": trainer.n_steps,
                "moved": moved,
                "valid": all(episode.valid for episode in episodes),
                "rewards": sorted({episode.reward for episode in episodes}),
                "splits": sorted({episode.split for episode in episodes}),
            }
        )
    )


if __name__ == "__main__":
    main(sys.argv[1])
