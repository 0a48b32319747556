"""A model of a few thousand weights, and what it would say without any cache."""

from __future__ import annotations

import random
from collections.abc import Sequence

import torch
from torch import Tensor

from workgym.agents.engines.engine import Completion, Request, SamplingParams
from workgym.agents.engines.local import LocalEngine
from workgym.agents.models import Llama, LlamaConfig

VOCAB = 24
STOPS = (0, 1, 2, 3)


def tiny_model(seed: int = 0, *, max_positions: int = 64, n_kv_heads: int = 1, tied: bool = True) -> Llama:
    """Two layers, two query heads; less bent on repeating a token than a fresh model is."""
    config = LlamaConfig(
        VOCAB,
        d_model=32,
        n_layers=2,
        n_heads=2,
        n_kv_heads=n_kv_heads,
        d_ff=48,
        max_positions=max_positions,
        tied=tied,
    )
    model = Llama(config, seed=seed)
    with torch.no_grad():
        model.embedding.weight.mul_(0.5)
    return model


def fresh_logps(model: Llama, ids: Sequence[int], temperature: float = 1.0) -> Tensor:
    """Log-probability of each token but the first, by one plain forward pass over the whole row [T - 1]."""
    row = torch.tensor([list(ids)])
    with torch.no_grad():
        logps = torch.log_softmax(model.logits(model(row))[0] / temperature, dim=-1)
    return logps[:-1].gather(1, row[0, 1:, None])[:, 0]


def prompts(n: int, seed: int = 0, longest: int = 12) -> list[list[int]]:
    """Prompts of many lengths."""
    rng = random.Random(seed)
    return [[rng.randrange(4, VOCAB) for _ in range(rng.randint(1, longest))] for _ in range(n)]


class Episodes:
    """Plays turns with an engine as a policy does, and checks every log-probability against a plain forward pass."""

    def __init__(self, model: Llama, engine: LocalEngine, temperature: float = 1.0) -> None:
        self.model, self.engine, self.temperature = model, engine, temperature
        self.ids: dict[str, list[int]] = {}
        self.n_turns: dict[str, int] = {}

    def turn(self, fed: dict[str, Sequence[int]], max_tokens: int = 8) -> dict[str, Completion]:
        """Feed tokens to some episodes, sample a turn in each."""
        requests = []
        for name, ids in fed.items():
            turn = self.n_turns[name] = self.n_turns.get(name, -1) + 1
            self.ids.setdefault(name, []).extend(ids)
            requests.append(Request(name, list(self.ids[name]), sum(map(ord, name)), turn, max_tokens))
        answers = self.engine.sample(requests, SamplingParams(self.temperature), STOPS)
        for request, answer in zip(requests, answers, strict=True):
            self.check(request, answer)
            self.ids[request.rollout_id] += answer.ids
        return dict(zip(fed, answers, strict=True))

    def check(self, request: Request, answer: Completion) -> None:
        """What the engine said of its tokens is what the model says of them."""
        if answer.ids:
            whole = [*request.ids, *answer.ids]
            expected = fresh_logps(self.model, whole, self.temperature)[-len(answer.ids) :]
            torch.testing.assert_close(torch.tensor(answer.logps), expected, atol=1e-5, rtol=0)
