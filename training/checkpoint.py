"""Where a run can be taken up again: whole or not there at all."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor

from workgym.tasks.errors import PolicyError

__all__ = ["clean_checkpoints", "latest_checkpoint", "load_checkpoint", "save_checkpoint"]

_FOLDER: Final = "checkpoints"
_STATE: Final = "state.pt"
_NAME: Final = re.compile(r"step-(\d{8})(?:-(\d+))?")


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
        PolicyError: it could not be written, or the payload holds something else.
    """
    _check_payload(payload, "payload")
    folder = run_dir / _FOLDER
    place = _free_place(folder, step)
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
        aside.rename(place)
        _force_to_disk(folder)
    except (OSError, RuntimeError) as error:
        shutil.rmtree(aside, ignore_errors=True)
        raise PolicyError(
            f"checkpoint {place} could not be written: {error}. The one before it is whole; free disk space and resume."
        ) from error
    for old in _all(folder)[:-n_keep]:
        _remove(old)
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
    # Damaged bytes make torch raise nearly anything: OSError, RuntimeError, UnpicklingError, EOFError, KeyError.
    try:
        payload = torch.load(place / _STATE, map_location="cpu", weights_only=True)
    except Exception as error:
        raise PolicyError(
            f"checkpoint {place} cannot be read ({type(error).__name__}): it is damaged. Remove it to go on from the "
            "one before."
        ) from error
    return dict(payload)


def clean_checkpoints(run_dir: Path) -> None:
    """Remove what an interrupted write or removal left behind."""
    for partial in (run_dir / _FOLDER).glob("*.partial"):
        shutil.rmtree(partial)


def _all(folder: Path) -> list[Path]:
    """Whole checkpoints, oldest first."""
    ranked = [(_rank(path), path) for path in folder.glob("step-*")]
    return [path for rank, path in sorted(ranked) if rank and (path / _STATE).exists()]


def _rank(path: Path) -> tuple[int, int] | tuple[()]:
    """Step and attempt in a checkpoint's name; nothing for other names."""
    match = _NAME.fullmatch(path.name)
    return (int(match[1]), int(match[2] or 1)) if match else ()


def _free_place(folder: Path, step: int) -> Path:
    """A new name: a second checkpoint of a step does not touch the first, which may be the last good one."""
    attempts = [rank[1] for path in folder.glob(f"step-{step:08d}*") if (rank := _rank(path))]
    return folder / (f"step-{step:08d}-{max(attempts) + 1}" if attempts else f"step-{step:08d}")


def _remove(place: Path) -> None:
    """Rename, then remove: a removal that is cut short leaves nothing that looks whole."""
    doomed = place.with_name(f"{place.name}.partial")
    place.rename(doomed)
    shutil.rmtree(doomed)


def _check_payload(value: object, name: str) -> None:
    """Refuse what could be written but not read again without running code.

    Raises:
        PolicyError: in words that say where it lies.
    """
    if isinstance(value, Mapping):
        for key, inner in value.items():
            _check_payload(inner, f"{name}[{key!r}]")
    elif isinstance(value, list | tuple):
        for i, inner in enumerate(value):
            _check_payload(inner, f"{name}[{i}]")
    elif value is not None and not isinstance(value, Tensor) and type(value) not in (bool, int, float, str, bytes):
        raise PolicyError(
            f"{name} is a {type(value).__name__}, which a checkpoint cannot hold: give tensors, numbers and texts"
        )


def _force_to_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
