"""The folder of a training run: where it stands, what it measured, and how it goes on after a kill."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from workgym.agents.archive import Archive
from workgym.agents.clock import cpu_seconds
from workgym.benchmarks.learning import StageResult
from workgym.progress import Bars
from workgym.tasks.errors import PolicyError
from workgym.training.checkpoint import clean_checkpoints, latest_checkpoint, load_checkpoint, save_checkpoint
from workgym.training.metrics import read_metrics
from workgym.training.trackers import Trackers, open_trackers
from workgym.training.trainer import Trainer

__all__ = ["RunFolder"]


@dataclass
class _Progress:
    """Where a run stands; all of it lies in the checkpoint.

    Attributes:
        step: optimizer steps done, over all stages; names the checkpoint.
        results: of the stages that are over.
        stage_step: steps done in the stage that is not.
        trainer: state of that stage's trainer; None at its beginning.
        memory: what else that stage goes on from, of a scheduler, say; empty at its beginning.
        model: the weights; empty before the first checkpoint.
        cpu_s, wall_s: spent on that stage up to the checkpoint.
        config: the settings that the run was begun with.
        n_episodes: in the archive.
    """

    step: int = 0
    results: list[dict[str, Any]] = field(default_factory=list)
    stage_step: int = 0
    trainer: dict[str, Any] | None = None
    memory: dict[str, Any] = field(default_factory=dict)
    model: dict[str, Any] = field(default_factory=dict)
    cpu_s: float = 0.0
    wall_s: float = 0.0
    config: dict[str, Any] = field(default_factory=dict)
    n_episodes: int = 0


class RunFolder:
    """A run while it works. What was done after the last checkpoint of an interrupted run is done again.

    Attributes:
        folder: of the run.
        archive: takes every episode.
        bars: progress for whoever watches.

    Args:
        folder: of the run; may hold one that was interrupted.
        checkpoint_every: steps between checkpoints.
        config: settings of the run; JSON types.

    Raises:
        ArchiveError: another process works on the run.
        PolicyError: the checkpoint is damaged.
        ValueError: the run was begun with other settings.
    """

    def __init__(self, folder: Path, checkpoint_every: int, config: Mapping[str, Any]) -> None:
        self.folder: Final = folder
        self._every: Final = checkpoint_every
        self._stack: Final = ExitStack()
        self.archive: Final = self._stack.enter_context(Archive.open(folder / "archive", "a"))
        with self._stack.pop_all() as opened:  # nothing stays open where the rest cannot be opened
            clean_checkpoints(folder)
            self._progress: Final = _load_progress(folder) or _Progress(config=dict(config))
            _check_config(folder, self._progress.config, config)
            self._trackers: Final[Trackers] = open_trackers(folder, resume_step=self._progress.step)
            opened.callback(self._trackers.close)
            self.bars: Final = opened.enter_context(Bars())
            self._stack.push(opened.pop_all())
        self._say_what_is_missing()
        self._began: tuple[float, float] = (cpu_seconds(), time.monotonic())

    @property
    def results(self) -> list[StageResult]:
        """Of the stages that are over, in order."""
        return [StageResult(**result) for result in self._progress.results]

    @property
    def weights(self) -> Mapping[str, Any]:
        """The model's state dict as of the checkpoint; empty before the first."""
        return self._progress.model

    @property
    def stage_step(self) -> int:
        """Steps done in the stage that is not over."""
        return self._progress.stage_step

    @property
    def memory(self) -> Mapping[str, Any]:
        """What the stage that is not over gave to `log` to go on from, as of the checkpoint; empty at its beginning."""
        return self._progress.memory

    def is_over(self, stage: str) -> bool:
        """Whether a stage's result is known."""
        return any(result["name"] == stage for result in self._progress.results)

    def take_up(self, trainer: Trainer) -> Trainer:
        """Bring a trainer of the running stage to where the checkpoint left it."""
        if self._progress.trainer is not None:
            trainer.load_state_dict(self._progress.trainer)
        return trainer

    def log(
        self,
        metrics: Mapping[str, float],
        trainer: Trainer,
        done: int,
        total: int,
        memory: Mapping[str, Any] | None = None,
    ) -> None:
        """Write the metrics of a step down, and now and then a checkpoint.

        Args:
            metrics: of the step.
            trainer: that took it.
            done: steps of the stage that are done, this one included.
            total: steps of the stage.
            memory: what the stage goes on from beside the trainer's state; of types that a checkpoint can hold.
        """
        progress = self._progress
        self._trackers.log(progress.step, metrics)
        progress.step += 1
        progress.stage_step = done
        if done % self._every == 0 or done == total:
            progress.cpu_s, progress.wall_s = self.spent()
            self._began = (cpu_seconds(), time.monotonic())
            progress.trainer = trainer.state_dict()
            progress.memory = dict(memory or {})
            self._save(trainer.model.state_dict())

    def close_stage(self, result: StageResult, weights: Mapping[str, Any]) -> None:
        """Enter the result of a stage; the next one begins."""
        progress = self._progress
        progress.results.append(asdict(result))
        progress.trainer, progress.memory, progress.stage_step = None, {}, 0
        progress.cpu_s = progress.wall_s = 0.0
        self._began = (cpu_seconds(), time.monotonic())
        self._save(weights)

    def spent(self) -> tuple[float, float]:
        """CPU and wall seconds of the running stage, those before an interruption included."""
        cpu_s, wall_s = self._began
        return self._progress.cpu_s + cpu_seconds() - cpu_s, self._progress.wall_s + time.monotonic() - wall_s

    def close(self) -> None:
        """Close what is open."""
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _say_what_is_missing(self) -> None:
        """A run goes on without what somebody took away, but not without a word."""
        n_lines = sum(line["step"] < self._progress.step for line in read_metrics(self.folder / "metrics.jsonl"))
        for found, wanted, what in (
            (len(self.archive), self._progress.n_episodes, "episodes in its archive"),
            (n_lines, self._progress.step, "lines in its metrics.jsonl"),
        ):
            if found < wanted:
                self.bars.say(f"warning: {self.folder} holds {found} {what}; at its last checkpoint it held {wanted}")

    def _save(self, weights: Mapping[str, Any]) -> None:
        self._progress.model = dict(weights)
        self._progress.n_episodes = len(self.archive)
        save_checkpoint(self.folder, self._progress.step, vars(self._progress))


def _load_progress(folder: Path) -> _Progress | None:
    latest = latest_checkpoint(folder)
    if latest is None:
        return None
    try:
        return _Progress(**load_checkpoint(latest))
    except TypeError as error:
        raise PolicyError(f"checkpoint {latest} is of another program or version: {error}") from error


def _check_config(folder: Path, begun: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    changed = [f"{key} was {begun.get(key)!r} and is {now[key]!r}" for key in now if begun.get(key) != now[key]]
    if changed:
        raise ValueError(
            f"the run in {folder} was begun with other settings: {'; '.join(changed)}. "
            "Put its config.json back, or begin another run."
        )
