"""Recipe `finance-first`: a small model from scratch learns Finance-v0, first by imitation, then by reinforcement.

It reads rows of an income statement, reckons in the sandbox and submits with evidence. It is measured on companies that
no stage has seen, once in words of the training split and once in other ones.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Final

import torch

from workgym.agents.archive import Archive
from workgym.agents.models import Llama
from workgym.agents.outcomes import summarize
from workgym.agents.policies.scripted import ScriptedPolicy
from workgym.agents.renderer import CharRenderer
from workgym.agents.surroundings import Surroundings
from workgym.benchmarks.learning import LearningReport
from workgym.course import Course, archive_note, falling_rate, rl_plan, sft_plan, teach, write_results
from workgym.envs.finance.policies import erring_oracle
from workgym.finance_first_settings import (
    LEVEL,
    MAX_LEN,
    NEW_WORDS,
    FinanceFirstConfig,
    make_tokenizer,
    model_shape,
    task_source,
)
from workgym.lesson import Pupil
from workgym.run_folder import RunFolder
from workgym.training.curriculum import Uniform, arms_of
from workgym.training.trainer import TrainerConfig

__all__ = ["FinanceFirstConfig", "run"]

_MAX_TURN_TOKENS: Final = 48
_SURROUNDINGS: Final = Surroundings("Finance-v0", {"family": "all", "style": "short"}, _MAX_TURN_TOKENS)


def run(config: FinanceFirstConfig, folder: Path) -> None:
    """Train, evaluate and report; a folder that holds a run of the same configuration is continued.

    Args:
        config: settings.
        folder: of the run; `config.json` in it must be this configuration's.

    Raises:
        SandboxError: this machine cannot isolate the code that the model writes, or has no pandas for it.
        PolicyError: a number of a step is not finite, or a checkpoint cannot be written.
    """
    torch.set_num_threads(config.n_threads)
    tokenizer = make_tokenizer()
    model = Llama(model_shape(config, tokenizer), seed=config.seed)
    with RunFolder(folder, config.checkpoint_every, asdict(config)) as run_folder:
        n_parameters = sum(parameter.numel() for parameter in model.parameters())
        run_folder.bars.say(f"{n_parameters:,} parameters, seed {config.seed}: {folder}")
        teach(_course(config), Pupil(model, tokenizer, CharRenderer(tokenizer), config.n_envs, MAX_LEN), run_folder)
        _report(config, run_folder)


def _course(config: FinanceFirstConfig) -> Course:
    """An oracle that errs is imitated: so there is something left to learn from rewards."""
    source = task_source()
    return Course(
        surroundings=_SURROUNDINGS,
        seed=config.seed,
        exam=config.exam,
        first="before",
        source=source,
        levels=(LEVEL,),
        n_demonstrations=config.n_demonstrations,
        player=ScriptedPolicy("erring-oracle", erring_oracle(config.error_rate, config.seed)),
        sft=sft_plan(config),
        sft_how=falling_rate(config, warmup_steps=30),
        scheduler=Uniform(arms_of("finance", source, (LEVEL,))),
        rl=replace(rl_plan(config, _MAX_TURN_TOKENS), shuffle_rewards=config.shuffle_rewards),
        rl_how=TrainerConfig(lr=config.rl_lr),
    )


def _report(config: FinanceFirstConfig, run_folder: RunFolder) -> None:
    archive = run_folder.archive
    failed = next(archive.query(prefix="eval-sft-test", success=False), None)
    again = archive.get(failed.rollout_id.replace("sft", "rl")) if failed else None
    missed = next(archive.query(prefix="eval-rl-test", success=False), None)
    shown = [
        ("A held-out task after imitation", failed),
        ("The same task after reinforcement", again),
        ("A held-out task that is not solved", missed),
    ]
    report = LearningReport(
        title=f"finance-first: Finance-v0, short questions of level {LEVEL}, seed {config.seed}",
        stages=[result for result in run_folder.results if not result.name.startswith(NEW_WORDS)],
        foreign=[result for result in run_folder.results if result.name.startswith(NEW_WORDS)],
        settings=asdict(config),
        episodes=[(words, episode) for words, episode in shown if episode],
        notes=[
            "Held-out filings are of companies that no stage has seen. Those of another kind are too, and name their "
            "lines as no training filing does. Success: the value is right and follows from the cells that are "
            "cited, actions sampled at temperature 1; greedy: the likeliest token always.",
            archive_note(archive),
            _by_family(archive),
        ],
    )
    write_results(run_folder, report, picture="Finance-v0, short questions", level=LEVEL)


def _by_family(archive: Archive) -> str:
    """Held-out success at the end of each family of questions."""
    episodes = list(archive.query(prefix="eval-rl-test/"))
    families = sorted({episode.family for episode in episodes})
    told = []
    for family in families:
        outcome = summarize([episode for episode in episodes if episode.family == family])
        told.append(f"{family} {outcome.success:.3f} [{outcome.low:.3f}, {outcome.high:.3f}]")
    return f"Held-out success after practice, by family: {', '.join(told)}."
