"""Recipe `smollm2-coding`: a real language model learns to write functions, by imitation and by reinforcement.

SmolLM2-135M-Instruct, Coding-v0 family `function`. It is measured as it comes, imitates the oracle's answers, and
practices with real execution; held-out tasks are made of operations and combinations that neither stage has seen.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Final

import torch

from workgym.agents.chat import ChatRenderer, open_tokenizer
from workgym.agents.models import open_model
from workgym.agents.models.smollm2 import SMOLLM2, smollm2_directory
from workgym.agents.policies.scripted import ScriptedPolicy
from workgym.agents.surroundings import Surroundings
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
from workgym.envs.coding.function_policies import direct_oracle
from workgym.lesson import Pupil
from workgym.run_folder import RunFolder
from workgym.smollm2_settings import HUMANEVAL, SmolLM2Config, task_source
from workgym.training.curriculum import Curriculum, arms_of
from workgym.training.trainer import TrainerConfig

__all__ = ["SmolLM2Config", "run"]

_MAX_LEN: Final = 2048
_MAX_MICRO_TOKENS: Final = 2048


def run(config: SmolLM2Config, folder: Path) -> None:
    """Measure, imitate, measure, practice, measure and report; a folder that holds such a run is continued.

    Args:
        config: settings.
        folder: of the run; `config.json` in it must be this configuration's.

    Raises:
        SandboxError: this machine cannot isolate the code that the model writes.
        PolicyError: the model is missing, a number of a step is not finite, or a checkpoint cannot be written.
    """
    torch.set_num_threads(config.n_threads)
    directory = smollm2_directory() if config.model == SMOLLM2 else Path(config.model)
    model, renderer = open_model(directory), ChatRenderer(open_tokenizer(directory))
    max_len = min(_MAX_LEN, model.config.max_positions)
    with RunFolder(folder, config.checkpoint_every, asdict(config)) as run_folder:
        pupil = Pupil(model, renderer.tokenizer, renderer, config.n_envs, max_len, torch.bfloat16)
        teach(_course(config), pupil, run_folder)
        _report(config, run_folder)


def _course(config: SmolLM2Config) -> Course:
    """The engine samples in bfloat16 and the trainer keeps float32 weights: the ratio in the loss corrects for it."""
    source = task_source()
    how = TrainerConfig(lr=config.rl_lr, max_tokens=_MAX_MICRO_TOKENS, share_prompts=True, precision="bfloat16")
    return Course(
        surroundings=Surroundings("Coding-v0", {"family": "function"}, config.max_turn_tokens),
        seed=config.seed,
        exam=config.exam,
        first="base",
        source=source,
        levels=config.levels,
        n_demonstrations=config.n_demonstrations,
        player=ScriptedPolicy("direct-oracle", direct_oracle),
        sft=sft_plan(config),
        sft_how=replace(falling_rate(config, warmup_steps=4), max_tokens=_MAX_MICRO_TOKENS, precision="bfloat16"),
        scheduler=Curriculum(arms_of("coding", source, config.levels)),
        rl=rl_plan(config, config.max_turn_tokens),
        rl_how=how,
    )


def _report(config: SmolLM2Config, run_folder: RunFolder) -> None:
    archive = run_folder.archive
    solved = next(archive.query(prefix="eval-rl-greedy", success=True), None)
    before = archive.get(solved.rollout_id.replace("rl", "base", 1)) if solved else None
    missed = next(archive.query(prefix="eval-rl-greedy", success=False), None)
    shown = [
        ("A held-out task before any training", before),
        ("The same task at the end", solved),
        ("A held-out task that is not solved", missed),
    ]
    report = LearningReport(
        title=f"smollm2-coding: Coding-v0, family function, {name_levels(config.levels)}, seed {config.seed}",
        stages=[result for result in run_folder.results if not result.name.startswith(HUMANEVAL)],
        foreign=[result for result in run_folder.results if result.name.startswith(HUMANEVAL)],
        settings=asdict(config),
        episodes=[(words, episode) for words, episode in shown if episode],
        notes=[
            "Held-out functions are made of sequences of operations that no stage has seen. Success: right at every "
            "hidden input, answers sampled at temperature 1; greedy: the likeliest token always.",
            archive_note(archive),
        ],
    )
    write_results(run_folder, report, picture="SmolLM2-135M, Coding-v0, function", level=config.levels[0])
