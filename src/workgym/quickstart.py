"""Recipe `quickstart`: a small model from scratch learns Coding-v0, first by imitation, then by reinforcement.

It composes what the floors below offer: train, then evaluate, then report. A run is a folder; the same call on the same
folder goes on where the run was stopped, and ends with the same weights as a run that was never stopped.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Final

import torch

from workgym.agents.archive import Archive
from workgym.agents.models import Llama
from workgym.agents.outcomes import outcomes_by_group
from workgym.agents.policies.scripted import ScriptedPolicy
from workgym.agents.renderer import CharRenderer
from workgym.agents.surroundings import Surroundings
from workgym.agents.tokenizer import CharTokenizer
from workgym.benchmarks.learning import LearningReport
from workgym.course import (
    Course,
    archive_note,
    falling_rate,
    name_levels,
    rl_plan,
    sft_plan,
    teach,
    write_results,
)
from workgym.envs.coding.policies import erring_oracle
from workgym.lesson import Pupil
from workgym.quickstart_settings import QuickstartConfig, model_shape, task_source
from workgym.run_folder import RunFolder
from workgym.training.curriculum import arms_of, make_scheduler
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
    with RunFolder(folder, config.checkpoint_every, asdict(config)) as run_folder:
        n_parameters = sum(parameter.numel() for parameter in model.parameters())
        run_folder.bars.say(f"{n_parameters:,} parameters, {_named(config)}: {folder}")
        teach(_course(config), Pupil(model, tokenizer, CharRenderer(tokenizer), config.n_envs), run_folder)
        _report(config, run_folder)


def _course(config: QuickstartConfig) -> Course:
    """An oracle that errs is imitated: so there is something left to learn from rewards."""
    source, levels = task_source(), config.all_levels
    return Course(
        surroundings=_SURROUNDINGS,
        seed=config.seed,
        exam=config.exam,
        first="before",
        source=source,
        levels=levels,
        n_demonstrations=config.n_demonstrations,
        player=ScriptedPolicy("erring-oracle", erring_oracle(config.error_rate, config.seed)),
        sft=sft_plan(config),
        sft_how=falling_rate(config, warmup_steps=20),
        scheduler=make_scheduler(config.curriculum, arms_of("coding", source, levels)),
        rl=replace(
            rl_plan(config, _MAX_TURN_TOKENS), shuffle_rewards=config.shuffle_rewards, max_tokens=config.rl_tokens
        ),
        rl_how=TrainerConfig(lr=config.rl_lr),
    )


def _report(config: QuickstartConfig, run_folder: RunFolder) -> None:
    archive = run_folder.archive
    failed = next(archive.query(prefix="eval-sft-test", success=False), None)
    again = archive.get(failed.rollout_id.replace("sft", "rl")) if failed else None
    shown = [("A held-out task after imitation", failed), ("The same task after reinforcement", again)]
    report = LearningReport(
        title=f"quickstart: Coding-v0, family expression, {_named(config)}",
        stages=run_folder.results,
        settings=asdict(config),
        episodes=[(words, episode) for words, episode in shown if episode],
        notes=[
            "Held-out functions are a third of all, chosen by hash, and seen by neither stage. Success: right at "
            "every hidden input, actions sampled at temperature 1; greedy: the likeliest token always.",
            archive_note(archive),
            *([_by_level(archive)] if len(config.all_levels) > 1 else []),
        ],
    )
    write_results(run_folder, report, picture="Coding-v0, expression", level=config.all_levels[0])


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
