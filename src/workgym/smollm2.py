"""Recipe `smollm2-coding`: a real language model learns to write functions, by imitation and by reinforcement.

SmolLM2-135M-Instruct, Coding-v0 family `function`. It is measured as it comes, imitates the oracle's answers, and
practices with real execution; held-out tasks are made of operations and combinations that neither stage has seen.
"""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Final

import torch

from workgym.agents.chat import ChatRenderer, open_tokenizer
from workgym.agents.models import open_model
from workgym.agents.models.smollm2 import SMOLLM2, smollm2_directory
from workgym.agents.policies.model import save_policy
from workgym.agents.policies.scripted import named_policy
from workgym.agents.rack import EnvRack
from workgym.agents.surroundings import Surroundings, write_surroundings
from workgym.benchmarks.curve import draw_curve
from workgym.benchmarks.learning import LearningReport
from workgym.lesson import Lesson, Pupil, draw_tasks, make_env, name_levels
from workgym.run_folder import RunFolder
from workgym.smollm2_settings import (
    EVALUATION_SEED,
    HUMANEVAL_TOKENS,
    SmolLM2Config,
    evaluation_tasks,
    humaneval_tasks,
    task_source,
)
from workgym.training.curriculum import Curriculum, arms_of
from workgym.training.metrics import read_metrics
from workgym.training.stages.rlvr import RlvrPlan
from workgym.training.stages.sft import SftPlan
from workgym.training.trainer import TrainerConfig

__all__ = ["SmolLM2Config", "run"]

_MAX_LEN: Final = 2048
_MAX_MICRO_TOKENS: Final = 2048
_HUMANEVAL: Final = "humaneval-"


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
    pupil = Pupil(model, renderer, config.n_envs, min(_MAX_LEN, model.config.max_positions), torch.bfloat16)
    surroundings = Surroundings("Coding-v0", {"family": "function"}, config.max_turn_tokens)
    with (
        RunFolder(folder, config.checkpoint_every, asdict(config)) as run_folder,
        EnvRack(partial(make_env, surroundings), config.n_envs) as rack,
    ):
        limit = config.max_turn_tokens
        lesson = Lesson(pupil, run_folder, rack, max_turn_tokens=limit, seed=EVALUATION_SEED + config.seed)
        _measure(lesson, config, "base")
        if not run_folder.is_over("sft"):
            _imitate(lesson, config)
        _measure(lesson, config, "sft")
        if not run_folder.is_over("rl"):
            _practice(lesson, config)
        _measure(lesson, config, "rl")
        save_policy(model, renderer.tokenizer, folder / "model")
        write_surroundings(surroundings, folder / "model")
        _report(config, run_folder)


def _imitate(lesson: Lesson, config: SmolLM2Config) -> None:
    player = named_policy(lesson.rack.env(0), "direct-oracle")
    tasks = draw_tasks(task_source(), config.levels, config.n_demonstrations, config.seed)
    rows = lesson.demonstrations(player, tasks, config.seed)
    how = TrainerConfig(
        lr=config.sft_lr,
        schedule="cosine",
        warmup_steps=min(4, config.sft_steps - 1),
        total_steps=config.sft_steps,
        lr_floor=0.05,
        max_tokens=_MAX_MICRO_TOKENS,
        precision="bfloat16",
    )
    lesson.imitate(rows, SftPlan(config.sft_steps, config.sft_rows, config.seed), how)


def _practice(lesson: Lesson, config: SmolLM2Config) -> None:
    """The engine samples in bfloat16 and the trainer keeps float32 weights: the ratio in the loss corrects for it."""
    plan = RlvrPlan(
        n_steps=config.rl_steps,
        n_tasks=config.rl_tasks,
        group_size=config.rl_group,
        seed=config.seed,
        clip_low=config.clip_low,
        clip_high=config.clip_high,
        max_turn_tokens=config.max_turn_tokens,
    )
    how = TrainerConfig(lr=config.rl_lr, max_tokens=_MAX_MICRO_TOKENS, share_prompts=True, precision="bfloat16")
    lesson.practice(Curriculum(arms_of("coding", task_source(), config.levels)), plan, how)


def _measure(lesson: Lesson, config: SmolLM2Config, name: str) -> None:
    """The stage's own tasks, and before the first and after the last stage those of HumanEval."""
    if not lesson.run.is_over(name):
        lesson.measure(
            name,
            evaluation_tasks(config, "test", config.n_eval),
            evaluation_tasks(config, "train", config.n_known),
        )
    foreign = humaneval_tasks(config)
    if foreign and name != "sft" and not lesson.run.is_over(_HUMANEVAL + name):
        lesson.measure(_HUMANEVAL + name, foreign, (), HUMANEVAL_TOKENS)


def _report(config: SmolLM2Config, run_folder: RunFolder) -> None:
    """Write the picture and the report, and say how to look further."""
    folder, archive = run_folder.folder, run_folder.archive
    results = [result for result in run_folder.results if not result.name.startswith(_HUMANEVAL)]
    foreign = [result for result in run_folder.results if result.name.startswith(_HUMANEVAL)]
    solved = next(archive.query(prefix="eval-rl-greedy", success=True), None)
    before = archive.get(solved.rollout_id.replace("rl", "base", 1)) if solved else None
    missed = next(archive.query(prefix="eval-rl-greedy", success=False), None)
    shown = [
        ("A held-out task before any training", before),
        ("The same task at the end", solved),
        ("A held-out task that is not solved", missed),
    ]
    LearningReport(
        title=f"smollm2-coding: Coding-v0, family function, {name_levels(config.levels)}, seed {config.seed}",
        stages=results,
        foreign=foreign,
        settings=asdict(config),
        episodes=[(words, episode) for words, episode in shown if episode],
        notes=[
            "Held-out functions are made of sequences of operations that no stage has seen. Success: right at every "
            "hidden input, answers sampled at temperature 1; greedy: the likeliest token always.",
            f"{len(archive)} episodes are archived. CPU seconds include the sandboxes and leave out the measuring.",
        ],
    ).write(folder)
    metrics = read_metrics(folder / "metrics.jsonl")
    draw_curve(metrics, results, folder / "curve.png", title="SmolLM2-135M, Coding-v0, function")
    run_folder.bars.say(
        f"\n{folder}/report.md and curve.png hold the result. To look further:\n"
        f"  workgym archive ls {folder}/archive --limit 5\n"
        f"  workgym eval --agent checkpoint:{folder}/model --level {config.levels[0]} --n 64\n"
        f"  tensorboard --logdir {folder}/tensorboard"
    )
