"""Recipe `quickstart`: a small model from scratch learns Coding-v0, first by imitation, then by reinforcement.

It composes what the floors below offer: train, then evaluate, then report. A run is a folder; the same call on the same
folder goes on where the run was stopped, and ends with the same weights as a run that was never stopped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import gymnasium as gym
import numpy as np
import torch

from workgym.agents.archive import Archive
from workgym.agents.engines.engine import SamplingParams
from workgym.agents.engines.local import LocalEngine
from workgym.agents.evaluate import evaluate, seats_for
from workgym.agents.models import Llama
from workgym.agents.outcomes import Outcome, outcomes_by_group, summarize
from workgym.agents.play import play
from workgym.agents.policies.model import ModelPolicy, save_policy
from workgym.agents.policies.scripted import ScriptedPolicy
from workgym.agents.rack import EnvRack
from workgym.agents.renderer import CharRenderer, demonstration
from workgym.agents.surroundings import Surroundings, write_surroundings
from workgym.agents.tokenizer import CharTokenizer
from workgym.agents.trajectory import Row, Trajectory
from workgym.benchmarks.curve import draw_curve
from workgym.benchmarks.learning import LearningReport, StageResult
from workgym.envs.coding.policies import erring_oracle
from workgym.quickstart_settings import (
    EVALUATION_SEED,
    QuickstartConfig,
    evaluation_tasks,
    model_shape,
    task_source,
)
from workgym.run_folder import RunFolder
from workgym.tasks.coding.source import CodingTasks
from workgym.tasks.task import Task
from workgym.training.curriculum import arms_of, make_scheduler
from workgym.training.metrics import read_metrics
from workgym.training.stages.rlvr import RlvrPlan, rlvr
from workgym.training.stages.sft import SftPlan, sft
from workgym.training.trainer import Trainer, TrainerConfig

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
    with (
        RunFolder(folder, config.checkpoint_every, asdict(config)) as run_folder,
        EnvRack(_make_env, config.n_envs) as rack,
    ):
        lesson = _Lesson(config, run_folder, rack)
        lesson.measure_once("before")
        lesson.imitate()
        lesson.measure_once("sft")
        lesson.practice()
        lesson.measure_once("rl")
        lesson.report()


class _Lesson:
    """The three measurements and the two stages between them, on one model."""

    def __init__(self, config: QuickstartConfig, run_folder: RunFolder, rack: EnvRack) -> None:
        self.config: Final = config
        self.run: Final = run_folder
        self.rack: Final = rack
        self.source: Final = task_source()
        self.tokenizer: Final = CharTokenizer()
        self.renderer: Final = CharRenderer(self.tokenizer)
        self.model: Final = Llama(model_shape(config, self.tokenizer), seed=config.seed)
        if run_folder.weights:
            self.model.load_state_dict(run_folder.weights)
        n_parameters = sum(parameter.numel() for parameter in self.model.parameters())
        run_folder.bars.say(f"{n_parameters:,} parameters, {_named(config)}, seed {config.seed}: {run_folder.folder}")

    # ------------------------------------------------------------------ stages

    def imitate(self) -> None:
        """Stage `sft`: imitate an oracle that errs."""
        if self.run.is_over("sft"):
            return
        config = self.config
        rows = self._demonstrations()
        how = TrainerConfig(
            lr=config.sft_lr,
            schedule="cosine",
            warmup_steps=min(20, config.sft_steps - 1),
            total_steps=config.sft_steps,
            lr_floor=0.05,
        )
        trainer = self.run.take_up(Trainer(self.model, how))
        plan = SftPlan(config.sft_steps, config.sft_rows, config.seed)
        with self.run.bars.bar("imitating", config.sft_steps, trainer.n_steps) as advance:

            def after_step(step: int, metrics: Mapping[str, float]) -> None:
                advance(f"loss {metrics['loss']:.3f}")
                self.run.log({**metrics, "stage/rl": 0.0}, trainer, step + 1, config.sft_steps)

            sft(trainer, rows, plan, after_step=after_step)

    def practice(self) -> None:
        """Stage `rl`: practice on tasks of the training split, with real execution."""
        if self.run.is_over("rl"):
            return
        config = self.config
        trainer = self.run.take_up(Trainer(self.model, TrainerConfig(lr=config.rl_lr)))
        policy = self._policy(SamplingParams(), "rl", version=trainer.n_steps)
        scheduler = make_scheduler(config.curriculum, arms_of("coding", self.source, config.all_levels))
        if self.run.memory:
            scheduler.load_state_dict(self.run.memory["scheduler"])
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
        start, n_tokens = self.run.stage_step, self.run.memory.get("n_tokens", 0)
        with self.run.bars.bar("practicing", config.rl_steps, start) as advance:

            def after_step(step: int, metrics: Mapping[str, float]) -> None:
                shown = (metrics.get(f"success/coding/{level}", 0.0) for level in config.all_levels)
                advance("success " + " ".join(f"{success:.2f}" for success in shown))
                memory = {"scheduler": scheduler.state_dict(), "n_tokens": int(metrics["tokens/sampled"])}
                self.run.log({**metrics, "stage/rl": 1.0}, trainer, step + 1, config.rl_steps, memory)

            rlvr(
                trainer,
                policy,
                self.rack,
                scheduler,
                plan,
                start=start,
                n_tokens=n_tokens,
                on_end=self.run.archive.append,
                after_step=after_step,
            )

    def measure_once(self, name: str) -> None:
        """Evaluate the model as it stands after a stage, and keep the result with the checkpoint."""
        if self.run.is_over(name):
            return
        cpu_s, wall_s = self.run.spent()
        config = self.config
        held_out = evaluation_tasks(config, "test")
        known = evaluation_tasks(config, "train")
        with self.run.bars.bar(f"measuring {name}", 2 * len(held_out) + len(known), 0) as advance:

            def outcome(kind: str, tasks: Sequence[Task], params: SamplingParams) -> Outcome:
                policy = self._policy(params, name)
                prefix = f"eval-{name}-{kind}"
                episodes = evaluate(
                    policy,
                    self.rack,
                    tasks,
                    seed=EVALUATION_SEED + config.seed,
                    prefix=prefix,
                    max_turn_tokens=_MAX_TURN_TOKENS,
                    archive=self.run.archive,
                    on_end=lambda _: advance(""),
                )
                return summarize(episodes)

            unseen = outcome("test", held_out, SamplingParams())
            seen = outcome("train", known, SamplingParams())
            greedy = outcome("greedy", held_out, SamplingParams(greedy=True))
        result = StageResult(
            name=name,
            success=unseen.success,
            low=unseen.low,
            high=unseen.high,
            n=unseen.n_valid,
            train_success=seen.success,
            greedy_success=greedy.success,
            turns=unseen.turns,
            n_invalid=unseen.n_invalid + seen.n_invalid + greedy.n_invalid,
            cpu_s=cpu_s,
            wall_s=wall_s,
        )
        interval = f"[{result.low:.3f}, {result.high:.3f}]"
        self.run.bars.say(f"{name:>6}: held-out success {result.success:.3f} {interval}, train {seen.success:.3f}")
        self.run.close_stage(result, self.model.state_dict())

    def report(self) -> None:
        """Write the picture and the report, and say how to look further."""
        folder, archive = self.run.folder, self.run.archive
        save_policy(self.model, self.tokenizer, folder / "model")
        write_surroundings(_SURROUNDINGS, folder / "model")
        failed = next(archive.query(prefix="eval-sft-test", success=False), None)
        again = archive.get(failed.rollout_id.replace("sft", "rl")) if failed else None
        shown = [("A held-out task after imitation", failed), ("The same task after reinforcement", again)]
        LearningReport(
            title=f"quickstart: Coding-v0, family expression, {_named(self.config)}, seed {self.config.seed}",
            stages=self.run.results,
            settings=asdict(self.config),
            episodes=[(words, episode) for words, episode in shown if episode],
            notes=[
                "Held-out functions are a third of all, chosen by hash, and seen by neither stage. Success: right at "
                "every hidden input, actions sampled at temperature 1; greedy: the likeliest token always.",
                f"{len(archive)} episodes are archived. CPU seconds include the sandboxes and leave out the measuring.",
                *([_by_level(archive)] if len(self.config.all_levels) > 1 else []),
            ],
        ).write(folder)
        metrics = read_metrics(folder / "metrics.jsonl")
        draw_curve(metrics, self.run.results, folder / "curve.png", title="Coding-v0, expression")
        self.run.bars.say(
            f"\n{folder}/report.md and curve.png hold the result. To look further:\n"
            f"  workgym archive ls {folder}/archive --limit 5\n"
            f"  workgym archive show {folder}/archive eval-rl-test/00000-0\n"
            f"  workgym eval --agent checkpoint:{folder}/model --level {self.config.all_levels[0]} --n 64\n"
            f"  tensorboard --logdir {folder}/tensorboard"
        )

    # ----------------------------------------------------------------- the inside

    def _policy(self, params: SamplingParams, name: str, version: int = 0) -> ModelPolicy:
        engine = LocalEngine(self.model, max_rows=self.config.n_envs, version=version)
        return ModelPolicy(engine, self.renderer, params, name)

    def _demonstrations(self) -> list[Row]:
        """Episodes of the erring oracle as rows; played for real, or read back where the archive holds them."""
        config = self.config
        wanted = _draw_tasks(self.source, config.all_levels, config.n_demonstrations, config.seed)
        seats = seats_for(wanted, seed=config.seed, prefix="demo")
        done = {entry.rollout_id for entry in self.run.archive.entries(prefix="demo/")}
        missing = [seat for seat in seats if seat.rollout_id not in done]
        if missing:
            player = ScriptedPolicy("erring-oracle", erring_oracle(config.error_rate, config.seed))
            with self.run.bars.bar("demonstrating", len(seats), len(seats) - len(missing)) as advance:

                def keep(trajectory: Trajectory) -> None:
                    self.run.archive.append(trajectory)
                    advance("")

                play(player, self.rack, missing, on_end=keep)
        by_id = {episode.rollout_id: episode for episode in self.run.archive.query(prefix="demo/")}
        episodes = [by_id[seat.rollout_id] for seat in seats]
        return [demonstration(self.renderer, episode.messages) for episode in episodes if episode.valid]


def _make_env() -> gym.Env[Any, Any]:
    return gym.make(_SURROUNDINGS.env_id, **_SURROUNDINGS.kwargs)


def _draw_tasks(source: CodingTasks, levels: Sequence[int], n: int, seed: int) -> list[Task]:
    """`n` tasks, as many of each level but for one."""
    tasks = []
    for i, level in enumerate(levels):
        rng = np.random.default_rng([seed, level])
        tasks += [source.sample(level, rng, "train") for _ in range(n // len(levels) + (i < n % len(levels)))]
    return tasks


def _by_level(archive: Archive) -> str:
    """Held-out success of each level after practice."""
    groups = outcomes_by_group(archive.query(prefix="eval-rl-test/"))
    told = [
        f"level {level} {outcome.success:.3f} [{outcome.low:.3f}, {outcome.high:.3f}]"
        for (_, _, level), outcome in groups.items()
    ]
    return f"Held-out success after practice, by level: {', '.join(told)}."


def _named(config: QuickstartConfig) -> str:
    levels = config.all_levels
    return f"levels {', '.join(map(str, levels))}" if len(levels) > 1 else f"level {levels[0]}"
