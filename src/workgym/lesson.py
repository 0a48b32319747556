"""A lesson: what a model does in a run: it demonstrates, imitates, practices, is measured.

A stage that was interrupted goes on where the last checkpoint of its run folder left it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import gymnasium as gym
import torch

from workgym.agents.engines.engine import SamplingParams
from workgym.agents.engines.local import LocalEngine
from workgym.agents.evaluate import evaluate, seats_for
from workgym.agents.models import Llama
from workgym.agents.outcomes import Outcome, summarize
from workgym.agents.play import play
from workgym.agents.policies.model import ModelPolicy, save_policy
from workgym.agents.policy import Policy
from workgym.agents.rack import EnvRack
from workgym.agents.renderer import Renderer, demonstration
from workgym.agents.surroundings import Surroundings
from workgym.agents.trajectory import Row, Trajectory
from workgym.benchmarks.learning import StageResult
from workgym.run_folder import RunFolder
from workgym.tasks.task import Task
from workgym.training.curriculum import Scheduler
from workgym.training.stages.rlvr import RlvrPlan, rlvr
from workgym.training.stages.sft import SftPlan, sft
from workgym.training.trainer import Trainer, TrainerConfig

__all__ = ["Lesson", "Pupil", "make_env"]

_GREEDY: Final = SamplingParams(greedy=True)


@dataclass(frozen=True)
class Pupil:
    """What learns.

    Attributes:
        model: float32 weights, changed in place.
        tokenizer: its tokens: a `CharTokenizer`, or a chat model's of transformers.
        renderer: frames messages in them.
        n_envs: episodes that it plays at once.
        max_len: longest context in tokens; 0 for the model's longest.
        dtype: precision in which it samples.
    """

    model: Llama
    tokenizer: Any
    renderer: Renderer
    n_envs: int
    max_len: int = 0
    dtype: torch.dtype = torch.float32

    def policy(self, params: SamplingParams, name: str, version: int = 0) -> ModelPolicy:
        """Its present weights as a policy."""
        engine = LocalEngine(self.model, max_rows=self.n_envs, max_len=self.max_len, version=version, dtype=self.dtype)
        return ModelPolicy(engine, self.renderer, params, name)

    def save(self, directory: Path) -> None:
        """Write its present weights and its tokenizer, as `open_policy` reads them."""
        save_policy(self.model, self.tokenizer, directory)


def make_env(surroundings: Surroundings) -> gym.Env[Any, Any]:
    """An environment as the surroundings describe it."""
    return gym.make(surroundings.env_id, **surroundings.kwargs)


class Lesson:
    """The stages of a run and the measurements between them.

    Args:
        pupil: what learns.
        run: the folder of the run.
        rack: the environments.
        max_turn_tokens: tokens that one action may have.
        seed: of the measured episodes.
    """

    def __init__(self, pupil: Pupil, run: RunFolder, rack: EnvRack, *, max_turn_tokens: int, seed: int) -> None:
        self.pupil: Final = pupil
        self.run: Final = run
        self.rack: Final = rack
        self.max_turn_tokens: Final = max_turn_tokens
        self.seed: Final = seed
        if run.weights:
            pupil.model.load_state_dict(run.weights)

    # ------------------------------------------------------------------ stages

    def imitate(self, rows: Sequence[Row], plan: SftPlan, how: TrainerConfig) -> None:
        """Stage `sft`: imitate demonstrations."""
        trainer = self.run.take_up(Trainer(self.pupil.model, how))
        with self.run.bars.bar("imitating", plan.n_steps, trainer.n_steps) as advance:

            def after_step(step: int, metrics: Mapping[str, float]) -> None:
                advance(f"loss {metrics['loss']:.3f}")
                self.run.log({**metrics, "stage/rl": 0.0}, trainer, step + 1, plan.n_steps)

            sft(trainer, rows, plan, after_step=after_step)

    def practice(self, scheduler: Scheduler, plan: RlvrPlan, how: TrainerConfig) -> None:
        """Stage `rl`: practice on tasks of the training split, with real execution."""
        trainer = self.run.take_up(Trainer(self.pupil.model, how))
        policy = self.pupil.policy(SamplingParams(temperature=how.temperature), "rl", version=trainer.n_steps)
        if self.run.memory:
            scheduler.load_state_dict(self.run.memory["scheduler"])
        with self.run.bars.bar("practicing", plan.n_steps, self.run.stage_step) as advance:

            def after_step(step: int, metrics: Mapping[str, float]) -> None:
                advance(_practiced(metrics))
                memory = {"scheduler": scheduler.state_dict(), "n_tokens": int(metrics["tokens/sampled"])}
                self.run.log({**metrics, "stage/rl": 1.0}, trainer, step + 1, plan.n_steps, memory)

            rlvr(
                trainer,
                policy,
                self.rack,
                scheduler,
                plan,
                start=self.run.stage_step,
                n_tokens=self.run.memory.get("n_tokens", 0),
                on_end=self.run.archive.append,
                after_step=after_step,
            )

    # ------------------------------------------------------------- measurements

    def measure(self, name: str, held_out: Sequence[Task], known: Sequence[Task], max_turn_tokens: int = 0) -> None:
        """Evaluate the weights as they stand after a stage, and keep the result with the checkpoint.

        Args:
            name: of the stage.
            held_out: tasks that no stage learns from; played once at temperature 1 and once greedily.
            known: tasks of the training split.
            max_turn_tokens: tokens that one action may have; the lesson's if 0.
        """
        cpu_s, wall_s = self.run.spent()
        n_invalid = 0
        with self.run.bars.bar(f"measuring {name}", 2 * len(held_out) + len(known), 0) as advance:

            def tell(episode: Trajectory) -> None:
                nonlocal n_invalid
                n_invalid += not episode.valid
                advance(f"{n_invalid} invalid" if n_invalid else "")

            def outcome(kind: str, tasks: Sequence[Task], params: SamplingParams) -> Outcome:
                episodes = evaluate(
                    self.pupil.policy(params, name),
                    self.rack,
                    tasks,
                    seed=self.seed,
                    prefix=f"eval-{name}-{kind}",
                    max_turn_tokens=max_turn_tokens or self.max_turn_tokens,
                    archive=self.run.archive,
                    on_end=tell,
                )
                return summarize(episodes)

            unseen = outcome("test", held_out, SamplingParams())
            seen = outcome("train", known, SamplingParams()) if known else None
            greedy = outcome("greedy", held_out, _GREEDY)
        result = StageResult(
            name=name,
            success=unseen.success,
            low=unseen.low,
            high=unseen.high,
            n=unseen.n_valid,
            train_success=seen.success if seen else float("nan"),
            greedy_success=greedy.success,
            turns=unseen.turns,
            n_invalid=unseen.n_invalid + greedy.n_invalid + (seen.n_invalid if seen else 0),
            cpu_s=cpu_s,
            wall_s=wall_s,
        )
        words = f"{name:>6}: held-out success {result.success:.3f} [{result.low:.3f}, {result.high:.3f}]"
        words += f", train {seen.success:.3f}" if seen else ""
        self.run.bars.say(f"{words}, greedy {greedy.success:.3f}")
        self.run.close_stage(result, self.pupil.model.state_dict())

    def demonstrations(self, player: Policy, tasks: Sequence[Task], seed: int) -> list[Row]:
        """Episodes of a player as rows to imitate; played for real, or read back where the archive holds them."""
        seats = seats_for(tasks, seed=seed, prefix="demo")
        done = {entry.rollout_id for entry in self.run.archive.entries(prefix="demo/")}
        missing = [seat for seat in seats if seat.rollout_id not in done]
        if missing:
            with self.run.bars.bar("demonstrating", len(seats), len(seats) - len(missing)) as advance:

                def keep(trajectory: Trajectory) -> None:
                    self.run.archive.append(trajectory)
                    advance("")

                play(player, self.rack, missing, on_end=keep)
        by_id = {episode.rollout_id: episode for episode in self.run.archive.query(prefix="demo/")}
        episodes = [by_id[seat.rollout_id] for seat in seats]
        return [demonstration(self.pupil.renderer, episode.messages) for episode in episodes if episode.valid]


def _practiced(metrics: Mapping[str, float]) -> str:
    """A step in words: success by level, and how many episodes failed with the infrastructure."""
    levels = [f"{metrics[name]:.2f}" for name in sorted(metrics) if name.startswith("success/")]
    n_invalid = sum(count for name, count in metrics.items() if name.startswith("invalid/"))
    told = [f"success {' '.join(levels)}"] if levels else []
    return ", ".join([*told, *([f"{n_invalid:.0f} invalid"] if n_invalid else [])])
