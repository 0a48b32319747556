"""Where metrics go: JSON lines always, TensorBoard by default."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from workgym.tasks.errors import PolicyError
from workgym.tasks.extras import install_command
from workgym.tasks.naming import unknown_name
from workgym.training.metrics import MetricsLog, Tracker

__all__ = ["TRACKERS", "TensorBoard", "Trackers", "open_trackers"]

TRACKERS: Final = ("tensorboard",)
"""Trackers beside the JSON lines."""


class TensorBoard:
    """Writes scalars for TensorBoard.

    Its import takes a second of CPU, so it is loaded at the first metric.

    Args:
        directory: for its event files.
        resume_step: events from this step on, of an interrupted run, are hidden.
    """

    def __init__(self, directory: Path, resume_step: int = 0) -> None:
        self._directory: Final = directory
        self._resume_step: Final = resume_step
        self._writer: Any = None

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        """Take the metrics of one step."""
        if self._writer is None:
            self._writer = _open_writer(self._directory, self._resume_step)
        for name, value in metrics.items():
            self._writer.add_scalar(name, value, step)

    def close(self) -> None:
        """Write what is left."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None


class Trackers:
    """Several trackers as one."""

    def __init__(self, trackers: Sequence[Tracker]) -> None:
        self._trackers: Final = tuple(trackers)

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        """Hand the metrics of one step to each."""
        for tracker in self._trackers:
            tracker.log(step, metrics)

    def close(self) -> None:
        """Close each."""
        for tracker in self._trackers:
            tracker.close()


def open_trackers(run_dir: Path, names: Sequence[str] = TRACKERS, *, resume_step: int = 0) -> Trackers:
    """Open `metrics.jsonl` in a run's directory, and the trackers of these names.

    Args:
        run_dir: of the run.
        names: any of `TRACKERS`; may be empty.
        resume_step: the first step that will be logged now.

    Raises:
        PolicyError: there is no tracker of that name.
    """
    for name in names:
        if name not in TRACKERS:
            raise PolicyError(unknown_name("tracker", name, TRACKERS))
    more: list[Tracker] = [TensorBoard(run_dir / "tensorboard", resume_step)] if "tensorboard" in names else []
    return Trackers([MetricsLog(run_dir / "metrics.jsonl", resume_step), *more])


def _open_writer(directory: Path, resume_step: int) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise PolicyError(
            f"TensorBoard cannot be loaded ({error}): {install_command('train')}, or ask for the JSON lines alone"
        ) from error
    return SummaryWriter(str(directory), purge_step=resume_step)
