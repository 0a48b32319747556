"""Where a run can be taken up again: whole or not there at all."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import torch

from workgym.tasks.errors import PolicyError

__all__ = ["clean_checkpoints", "latest_checkpoint", "load_checkpoint", "save_checkpoint"]

_FOLDER: Final = "checkpoints"
_STATE: Final = "state.pt"
_NAME: Final = re.compile(r"step-(\d{8})")


def save_checkpoint(
    run_dir: Path,
    step: int,
    payload: Mapping[str, Any],
    *,
    write_more: Callable[[Path], None] | None = None,
    n_keep: int = 2,
) -> Path:
    """Write a checkpoint aside, force it to the disk, put it in place by one rename, then drop the oldest.

    A crash or a full disk at any moment leaves the last good checkpoint.

    Args:
        run_dir: of the run; checkpoints lie in its folder `checkpoints`.
        step: of the run, counted over all stages; names the checkpoint.
        payload: tensors, numbers, texts, None, and lists, tuples and dicts of them: weights, optimizer, generators,
            counters, configuration.
        write_more: writes further files into the directory that it is given (a model for other programs).
        n_keep: how many to keep, this one included.

    Returns:
        The directory of the checkpoint.

    Raises:
        PolicyError: it could not be written.
    """
    folder = run_dir / _FOLDER
    place = folder / f"step-{step:08d}"
    aside = folder / f"{place.name}.partial"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir()
        with (aside / _STATE).open("wb") as file:
            torch.save(dict(payload), file)
        if write_more is not None:
            write_more(aside)
        for path in [*aside.rglob("*"), aside]:
            _force_to_disk(path)
        _put_in_place(aside, place)
        _force_to_disk(folder)
    except (OSError, RuntimeError) as error:
        shutil.rmtree(aside, ignore_errors=True)
        raise PolicyError(
            f"checkpoint {place} could not be written: {error}. The one before it is whole; free disk space and resume."
        ) from error
    for old in _all(folder)[:-n_keep]:
        shutil.rmtree(old)
    return place


def latest_checkpoint(run_dir: Path) -> Path | None:
    """The directory of the newest whole checkpoint; None where there is none. Half-written ones are not seen."""
    whole = _all(run_dir / _FOLDER)
    return whole[-1] if whole else None


def load_checkpoint(place: Path) -> dict[str, Any]:
    """Read the payload of a checkpoint; no code in the file is run.

    Raises:
        PolicyError: the file is missing or damaged.
    """
    try:
        payload = torch.load(place / _STATE, map_location="cpu", weights_only=True)
    except (
        Exception
    ) as error:  # torch raises what it meets in the bytes: OSError, RuntimeError, UnpicklingError, EOFError
        raise PolicyError(
            f"checkpoint {place} cannot be read: {error}. Remove it to go on from the one before."
        ) from error
    return dict(payload)


def clean_checkpoints(run_dir: Path) -> None:
    """Remove what an interrupted write left behind."""
    for partial in (run_dir / _FOLDER).glob("*.partial"):
        shutil.rmtree(partial)


def _all(folder: Path) -> list[Path]:
    """Whole checkpoints, oldest first."""
    return sorted(path for path in folder.glob("step-*") if _NAME.fullmatch(path.name) and (path / _STATE).exists())


def _put_in_place(aside: Path, place: Path) -> None:
    """Rename; a checkpoint of the same step, from before the run was resumed, makes way."""
    if place.exists():
        old = place.with_suffix(".replaced.partial")
        shutil.rmtree(old, ignore_errors=True)
        place.rename(old)
        aside.rename(place)
        shutil.rmtree(old)
    else:
        aside.rename(place)


def _force_to_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
