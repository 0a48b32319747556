"""Metrics as JSON lines: one line a step, in step order, whatever happened in between.

Names in use: `reward/<domain>/<level>`, `success/<domain>/<level>`,
`curriculum/<domain>/<level>`, `group/{useful,zero_variance_easy,zero_variance_hard}`,
`tokens/{action,fed,sampled,useful_per_s}`,
`mismatch/{logp_abs,logp_abs_max,k1,k3,ratio_gt_2}`, `clip/{low,high}`, `ratio`, `entropy`, `loss`, `grad_norm`, `lr`,
`staleness/max`, `drift/splits`, `invalid/<reason>`, `time/{generate,env,judge,train,publish,wait}` (seconds).
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Protocol

from workgym.tasks.errors import PolicyError

__all__ = ["MetricsLog", "Tracker", "read_metrics"]


class Tracker(Protocol):
    """Takes the metrics of a run."""

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        """Take the metrics of one step; steps rise."""
        ...

    def close(self) -> None:
        """Write what is left. Idempotent."""
        ...


class MetricsLog:
    """Appends metrics to a file, one JSON object a line, each with its `step`.

    A run that is resumed drops the lines of steps that it will do again, so that the file is that of a run which was
    never interrupted, but for the times.

    Args:
        path: of the file; is made if need be.
        resume_step: the first step that will be logged now; lines from it on, and a half-written last line, are cut
            off.
    """

    def __init__(self, path: Path, resume_step: int = 0) -> None:
        self.path: Final = path
        path.parent.mkdir(parents=True, exist_ok=True)
        _cut(path, resume_step)
        self._file = path.open("a", encoding="utf-8")

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        """Append one line and hand it to the system. NaN and infinities are written as null: the line stays JSON."""
        values = {name: value if math.isfinite(value) else None for name, value in sorted(metrics.items())}
        self._file.write(json.dumps({"step": step, **values}) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """The lines of a file of metrics; a half-written last line is left out.

    Raises:
        PolicyError: there is no such file.
    """
    try:
        lines = path.read_bytes().splitlines(keepends=True)
    except OSError as error:
        raise PolicyError(f"no metrics in {path}: {error}") from error
    return [_parse(path, line) for line in lines if line.endswith(b"\n")]


def _parse(path: Path, line: bytes) -> dict[str, Any]:
    """One line as it was logged.

    Raises:
        PolicyError: somebody else wrote it.
    """
    try:
        values = json.loads(line)
        int(values["step"])
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise PolicyError(
            f"{path} holds a line that is no metrics: {line[:60]!r}. Remove the line, or the file, to go on."
        ) from error
    return dict(values)


def _cut(path: Path, resume_step: int) -> None:
    """Cut the file behind the last whole line of an earlier step."""
    if not path.exists():
        return
    with path.open("r+b") as file:
        good = 0
        for line in file:
            if not line.endswith(b"\n") or _parse(path, line)["step"] >= resume_step:
                break
            good += len(line)
        file.truncate(good)
        os.fsync(file.fileno())
