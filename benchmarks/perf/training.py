"""Tokens a CPU-second of the small model: our decoding and training, and transformers' on the same weights, in turn.

    python benchmarks/perf/training.py [--rounds N]

One thread, float32, the quickstart's shape, 128 rows of 24 tokens; decoding samples 12 tokens a row. Prints one JSON
line a measure: tokens a CPU-second of each side, and their ratio.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch

from workgym.agents.engines.engine import Request, SamplingParams
from workgym.agents.engines.local import LocalEngine
from workgym.agents.models import Llama, LlamaConfig, save_model
from workgym.agents.trajectory import Row
from workgym.training.batch import make_batch
from workgym.training.losses.supervised import cross_entropy
from workgym.training.trainer import Trainer, TrainerConfig

__all__ = ["main"]

_ROWS: Final = 128
_PROMPT: Final = 24
_NEW: Final = 12
_SHAPE: Final = LlamaConfig(101, d_model=128, n_layers=4, n_heads=4, d_ff=384, max_positions=64)


def _cpu_s(work: Callable[[int], Any], number: int) -> float:
    began = time.process_time()
    work(number)
    return time.process_time() - began


def _decode(model: Llama, ids: np.ndarray, number: int) -> None:
    engine = LocalEngine(model, max_rows=_ROWS)
    requests = [Request(f"{number}-{i}", row.tolist(), i, 0, _NEW) for i, row in enumerate(ids)]
    engine.sample(requests, SamplingParams(), stop_ids=())


def _decode_peer(peer: Any, ids: np.ndarray) -> None:
    tokens = torch.from_numpy(ids)
    ones = torch.ones_like(tokens)
    peer.generate(
        tokens, attention_mask=ones, do_sample=True, max_new_tokens=_NEW, min_new_tokens=_NEW, pad_token_id=0, top_k=0
    )


def _train_peer(peer: Any, optimizer: torch.optim.Optimizer, ids: np.ndarray) -> None:
    tokens = torch.from_numpy(ids)
    peer(input_ids=tokens, labels=tokens, use_cache=False).loss.backward()
    torch.nn.utils.clip_grad_norm_(peer.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()


def main() -> None:
    """Measure both sides in turn and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=5, help="rounds; sides alternate")
    rounds = parser.parse_args().rounds
    warnings.simplefilter("ignore")
    from transformers import LlamaForCausalLM

    torch.set_num_threads(1)
    model = Llama(_SHAPE, seed=0)
    with tempfile.TemporaryDirectory() as folder:
        save_model(model, Path(folder))
        peer = LlamaForCausalLM.from_pretrained(folder)
    optimizer = torch.optim.AdamW(peer.parameters(), lr=1e-4, fused=True)
    trainer = Trainer(model, TrainerConfig(lr=1e-4))
    ids = np.random.default_rng(0).integers(5, 101, (_ROWS, _PROMPT))
    rows = [Row(tuple(row), (True,) * _PROMPT, (0.0,) * _PROMPT, (-1,) * _PROMPT) for row in ids.tolist()]
    batch = make_batch(rows)
    sides: dict[str, tuple[Callable[[int], Any], Callable[[int], Any], int]] = {
        "decode": (lambda number: _decode(model, ids, number), lambda _: _decode_peer(peer, ids), _ROWS * _NEW),
        "train": (
            lambda _: trainer.step(batch, cross_entropy),
            lambda _: _train_peer(peer, optimizer, ids),
            _ROWS * _PROMPT,
        ),
    }
    for name, (ours, theirs, n_tokens) in sides.items():
        _cpu_s(ours, -1), _cpu_s(theirs, -1)  # warm
        pairs = [(_cpu_s(ours, number), _cpu_s(theirs, number)) for number in range(rounds)]
        mine, peers = (statistics.median(side) for side in zip(*pairs, strict=True))
        load = round(os.getloadavg()[0], 2)
        for label, seconds in ((name, mine), (f"{name}_transformers", peers)):
            line = {"name": label, "ratio": round(n_tokens / seconds), "unit": "tokens/CPU-s", "goal": 0}
            print(json.dumps({**line, "better": "higher", "load": load}))
        ratio = {"name": f"{name}_over_transformers", "ratio": round(peers / mine, 2), "goal": 1.0}
        print(json.dumps({**ratio, "better": "higher", "load": load}))


if __name__ == "__main__":
    main()
