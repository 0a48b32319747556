"""Practice by outcome against uniform practice: one imitated model, the same number of sampled tokens for each.

For every seed a model imitates the erring oracle at levels 1 to 3; two copies of it then practice, one with tasks drawn
by the curriculum, one with as many of each level. Both stop at the same number of sampled tokens, and are measured on
the same held-out tasks, which neither stage has seen.

    python examples/curriculum.py --seeds 0 1 2 --out runs/curriculum

`--out` gets one JSON file a seed (seeds that are there are not run again), `table.md` and `shares.png`. Any setting of
the quickstart may be changed: `--set rl_tokens=100000`.
"""

from __future__ import annotations

import argparse
import copy
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch

from workgym.agents.engines.engine import SamplingParams
from workgym.agents.engines.local import LocalEngine
from workgym.agents.evaluate import evaluate, seats_for
from workgym.agents.models import Llama
from workgym.agents.outcomes import outcomes_by_group, wilson_interval
from workgym.agents.play import play
from workgym.agents.policies.model import ModelPolicy
from workgym.agents.policies.scripted import ScriptedPolicy
from workgym.agents.rack import EnvRack
from workgym.agents.renderer import CharRenderer, demonstration
from workgym.agents.tokenizer import CharTokenizer
from workgym.course import falling_rate, rl_plan, sft_plan
from workgym.envs.coding.policies import erring_oracle
from workgym.quickstart_settings import QuickstartConfig, model_shape, task_source
from workgym.training.config import make_config
from workgym.training.curriculum import SCHEDULERS, arms_of, make_scheduler
from workgym.training.stages.rlvr import rlvr
from workgym.training.stages.sft import sft
from workgym.training.trainer import Trainer, TrainerConfig

SETTINGS = ["levels=[1, 2, 3]", "sft_steps=200", "rl_steps=1000", "rl_tokens=150_000", "n_threads=1"]
TURN_TOKENS = 16
RENDERER = CharRenderer(CharTokenizer())


def policy_of(model: Llama, config: QuickstartConfig) -> ModelPolicy:
    return ModelPolicy(LocalEngine(model, max_rows=config.n_envs), RENDERER, SamplingParams())


def imitate(config: QuickstartConfig, rack: EnvRack) -> Llama:
    """A model that does what an oracle does that errs, at every level alike."""
    rng = np.random.default_rng(config.seed)
    n_each = config.n_demonstrations // len(config.all_levels)
    tasks = [task_source().sample(level, rng, "train") for level in config.all_levels for _ in range(n_each)]
    player = ScriptedPolicy("erring-oracle", erring_oracle(config.error_rate, config.seed))
    episodes = play(player, rack, seats_for(tasks, seed=config.seed), on_end=lambda _: None)
    rows = [demonstration(RENDERER, episode.messages) for episode in episodes if episode.valid]
    model = Llama(model_shape(config, CharTokenizer()), seed=config.seed)
    how = falling_rate(config, warmup_steps=20)
    sft(Trainer(model, how), rows, sft_plan(config), after_step=lambda step, metrics: None)
    return model


def practice(model: Llama, curriculum: str, config: QuickstartConfig, rack: EnvRack) -> list[dict[str, float]]:
    """Train the model in place; the metrics of every step."""
    scheduler = make_scheduler(curriculum, arms_of("coding", task_source(), config.all_levels))
    plan = replace(rl_plan(config, TURN_TOKENS), max_tokens=config.rl_tokens)
    lines: list[dict[str, float]] = []
    rlvr(
        Trainer(model, TrainerConfig(lr=config.rl_lr)),
        policy_of(model, config),
        rack,
        scheduler,
        plan,
        on_end=lambda _: None,
        after_step=lambda step, metrics: lines.append({"step": float(step), **metrics}),
    )
    return lines


def measure(model: Llama, config: QuickstartConfig, rack: EnvRack) -> dict[str, list[int]]:
    """Solved and valid held-out tasks of each level."""
    tasks = config.exam.held_out
    episodes = evaluate(policy_of(model, config), rack, tasks, seed=config.seed, max_turn_tokens=TURN_TOKENS)
    groups = outcomes_by_group(episodes)
    return {str(level): [outcome.n_success, outcome.n_valid] for (_, _, level), outcome in groups.items()}


def compare(config: QuickstartConfig) -> dict[str, Any]:
    """One seed: what imitation came to, and what each scheduler made of it."""
    torch.set_num_threads(config.n_threads)
    kwargs = {"family": "expression", "style": "short", "max_observation_tokens": 16}
    with EnvRack(lambda: gym.make("workgym:Coding-v0", **kwargs), config.n_envs) as rack:
        imitated = imitate(config, rack)
        result: dict[str, Any] = {"seed": config.seed, "imitation": {"solved": measure(imitated, config, rack)}}
        for curriculum in SCHEDULERS:
            began_s = time.monotonic()
            model = copy.deepcopy(imitated)
            lines = practice(model, curriculum, config, rack)
            took_s = time.monotonic() - began_s
            solved = measure(model, config, rack)
            result[curriculum] = {"solved": solved, "wall_s": took_s, "steps": lines}
            print(f"seed {config.seed} {curriculum}: {len(lines)} steps, {took_s:.0f} s, solved {solved}", flush=True)
    return result


def table(results: Sequence[Mapping[str, Any]]) -> str:
    """A row for each seed and scheduler: success over all levels with its 95% interval, and by level."""
    levels = list(results[0]["imitation"]["solved"])
    heads = ["seed", "practice", "sampled tokens", "steps", "held-out success", "95% interval"]
    lines = ["| " + " | ".join(heads + [f"level {level}" for level in levels]) + " |"]
    lines.append("|---:|---|" + "---:|" * (len(heads) - 2 + len(levels)))
    for result in results:
        for name in ("imitation", *SCHEDULERS):
            arm = result[name]
            k, n = (sum(counts[i] for counts in arm["solved"].values()) for i in (0, 1))
            low, high = wilson_interval(k, n)
            steps = arm.get("steps", [])
            tokens = f"{steps[-1]['tokens/sampled']:,.0f}" if steps else ""
            cells = [str(result["seed"]), name if steps else "none", tokens, str(len(steps) or "")]
            cells += [f"{k / n:.3f}", f"{low:.3f}-{high:.3f}"]
            lines.append("| " + " | ".join(cells + [f"{k / n:.3f}" for k, n in arm["solved"].values()]) + " |")
    return "\n".join(lines) + "\n"


def draw_shares(results: Sequence[Mapping[str, Any]], path: Path) -> None:
    """The curriculum's share of each level over the sampled tokens, a panel a seed."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.2 * len(results), 2.8), layout="constrained")
    FigureCanvasAgg(figure)  # draws without a screen
    for axes, result in zip(figure.subplots(1, len(results), squeeze=False)[0], results, strict=True):
        steps = result["outcome"]["steps"]
        for name in sorted(name for name in steps[0] if name.startswith("curriculum/")):
            shares = [line[name] for line in steps]
            tokens = [line["tokens/sampled"] / 1000 for line in steps]
            axes.plot(tokens, shares, label=f"level {name.rpartition('/')[2]}")
        axes.set(xlabel="sampled tokens, thousands", ylim=(0, 1), title=f"seed {result['seed']}")
    axes.legend(fontsize=8)
    figure.axes[0].set_ylabel("share of the tasks")
    figure.savefig(path, format="png")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--out", type=Path, default=Path("runs/curriculum"))
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the quickstart")
    words = parser.parse_args()
    words.out.mkdir(parents=True, exist_ok=True)
    results = []
    for seed in words.seeds:
        path = words.out / f"seed-{seed}.json"
        if not path.exists():
            config = make_config(QuickstartConfig, overrides=[*SETTINGS, *words.set], seed=seed)
            path.write_text(json.dumps(compare(config)))
        results.append(json.loads(path.read_text()))
    (words.out / "table.md").write_text(table(results))
    draw_shares(results, words.out / "shares.png")
    print(table(results), end="")


if __name__ == "__main__":
    main()
