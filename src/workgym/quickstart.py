"""Recipe `quickstart`: a small model from scratch learns Coding-v0, first by imitation, then by reinforcement.

It composes what the floors below offer: train, then evaluate, then report. A run is a folder; the same call on the same
folder goes on where the run was stopped, and ends with the same weights as a run that was never stopped.
"""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Final

import torch

from workgym.agents.archive import Archive
from workgym.agents.models import Llama
from workgym.agents.outcomes import outcomes_by_group
from workgym.agents.policies.model import save_policy
from workgym.agents.policies.scripted import ScriptedPolicy
from workgym.agents.rack import EnvRack
from workgym.agents.renderer import CharRenderer
from workgym.agents.surroundings import Surroundings, write_surroundings
from workgym.agents.tokenizer import CharTokenizer
from workgym.benchmarks.curve import draw_curve
from workgym.benchmarks.learning import LearningReport
from workgym.envs.coding.policies import erring_oracle
from workgym.lesson import Lesson, Pupil, draw_tasks, make_env, name_levels
from workgym.quickstart_settings import (
    EVALUATION_SEED,
    QuickstartConfig,
    evaluation_tasks,
    model_shape,
    task_source,
)
from workgym.run_folder import RunFolder
from workgym.training.curriculum import arms_of, make_scheduler
from workgym.training.metrics import read_metrics
from workgym.training.stages.rlvr import RlvrPlan
from workgym.training.stages.sft import SftPlan
from workgym.training.trainer import TrainerConfig

__all__ = ["QuickstartConfig", "run"]

_MAX_TURN_TOKENS: Final = 16
_SURROUNDINGS: Final = Surroundings(
    "Coding-v0",
    {"family": "expression", "style": "short", "max_observation_tokens": 16},
    _MAX_TURN_TOKENS,
)


def run(config: QuickstartConfig, folder: Path) -> None:
    """Train, evaluate and report; a folder that holds a run of the same configuration is continued.

    Args:
        config: settings.
        folder: of the run; `config.json` in it must be this configuration's.

    Raises:
        SandboxError: this machine cannot isolate the code that the model writes.
        PolicyError: a number of a step is not finite, or a checkpoint cannot be written.
    """
    torch.set_num_threads(config.n_threads)
    tokenizer = CharTokenizer()
    model = Llama(model_shape(config, tokenizer), seed=config.seed)
    with (
        RunFolder(folder, config.checkpoint_every, asdict(config)) as run_folder,
        EnvRack(partial(make_env, _SURROUNDINGS), config.n_envs) as rack,
    ):
        pupil = Pupil(model, CharRenderer(tokenizer), config.n_envs)
        seed = EVALUATION_SEED + config.seed
        lesson = Lesson(pupil, run_folder, rack, max_turn_tokens=_MAX_TURN_TOKENS, seed=seed)
        n_parameters = sum(parameter.numel() for parameter in model.parameters())
        run_folder.bars.say(f"{n_parameters:,} parameters, {_named(config)}: {folder}")
        _measure(lesson, config, "before")
        if not run_folder.is_over("sft"):
            _imitate(lesson, config)
        _measure(lesson, config, "sft")
        if not run_folder.is_over("rl"):
            _practice(lesson, config)
        _measure(lesson, config, "rl")
        save_policy(model, tokenizer, folder / "model")
        write_surroundings(_SURROUNDINGS, folder / "model")
        _report(config, run_folder)


def _imitate(lesson: Lesson, config: QuickstartConfig) -> None:
    """Stage `sft`: imitate an oracle that errs."""
    player = ScriptedPolicy("erring-oracle", erring_oracle(config.error_rate, config.seed))
    tasks = draw_tasks(task_source(), config.all_levels, config.n_demonstrations, config.seed)
    how = TrainerConfig(
        lr=config.sft_lr,
        schedule="cosine",
        warmup_steps=min(20, config.sft_steps - 1),
        total_steps=config.sft_steps,
        lr_floor=0.05,
    )
    rows = lesson.demonstrations(player, tasks, config.seed)
    lesson.imitate(rows, SftPlan(config.sft_steps, config.sft_rows, config.seed), how)


def _practice(lesson: Lesson, config: QuickstartConfig) -> None:
    """Stage `rl`: practice on tasks of the training split, with real execution."""
    plan = RlvrPlan(
        n_steps=config.rl_steps,
        n_tasks=config.rl_tasks,
        group_size=config.rl_group,
        seed=config.seed,
        clip_low=config.clip_low,
        clip_high=config.clip_high,
        max_turn_tokens=_MAX_TURN_TOKENS,
        shuffle_rewards=config.shuffle_rewards,
        max_tokens=config.rl_tokens,
    )
    scheduler = make_scheduler(config.curriculum, arms_of("coding", task_source(), config.all_levels))
    lesson.practice(scheduler, plan, TrainerConfig(lr=config.rl_lr))


def _measure(lesson: Lesson, config: QuickstartConfig, name: str) -> None:
    if not lesson.run.is_over(name):
        lesson.measure(name, evaluation_tasks(config, "test"), evaluation_tasks(config, "train"))


def _report(config: QuickstartConfig, run_folder: RunFolder) -> None:
    """Write the picture and the report, and say how to look further."""
    folder, archive = run_folder.folder, run_folder.archive
    failed = next(archive.query(prefix="eval-sft-test", success=False), None)
    again = archive.get(failed.rollout_id.replace("sft", "rl")) if failed else None
    shown = [("A held-out task after imitation", failed), ("The same task after reinforcement", again)]
    LearningReport(
        title=f"quickstart: Coding-v0, family expression, {_named(config)}",
        stages=run_folder.results,
        settings=asdict(config),
        episodes=[(words, episode) for words, episode in shown if episode],
        notes=[
            "Held-out functions are a third of all, chosen by hash, and seen by neither stage. Success: right at "
            "every hidden input, actions sampled at temperature 1; greedy: the likeliest token always.",
            f"{len(archive)} episodes are archived. CPU seconds include the sandboxes and leave out the measuring.",
            *([_by_level(archive)] if len(config.all_levels) > 1 else []),
        ],
    ).write(folder)
    metrics = read_metrics(folder / "metrics.jsonl")
    draw_curve(metrics, run_folder.results, folder / "curve.png", title="Coding-v0, expression")
    run_folder.bars.say(
        f"\n{folder}/report.md and curve.png hold the result. To look further:\n"
        f"  workgym archive ls {folder}/archive --limit 5\n"
        f"  workgym archive show {folder}/archive eval-rl-test/00000-0\n"
        f"  workgym eval --agent checkpoint:{folder}/model --level {config.all_levels[0]} --n 64\n"
        f"  tensorboard --logdir {folder}/tensorboard"
    )


def _by_level(archive: Archive) -> str:
    """Held-out success of each level after practice."""
    groups = outcomes_by_group(archive.query(prefix="eval-rl-test/"))
    told = [
        f"level {level} {outcome.success:.3f} [{outcome.low:.3f}, {outcome.high:.3f}]"
        for (_, _, level), outcome in groups.items()
    ]
    return f"Held-out success after practice, by level: {', '.join(told)}."


def _named(config: QuickstartConfig) -> str:
    return f"{name_levels(config.all_levels)}, seed {config.seed}"
