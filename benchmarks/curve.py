"""The learning curve as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from workgym.benchmarks.learning import StageResult

__all__ = ["draw_curve"]

_SMOOTHING = 8


def draw_curve(metrics: Sequence[Mapping[str, Any]], stages: Sequence[StageResult], path: Path, *, title: str) -> None:
    """Draw loss and success over the steps of a run, with the held-out success after each stage.

    Args:
        metrics: the lines of `metrics.jsonl`: those with `stage/rl` 0 belong to imitation, those with 1 to practice.
        stages: what was measured, in order: before, sft, rl.
        path: of the PNG file.
        title: above the picture.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.6), layout="constrained")
    FigureCanvasAgg(figure)  # draws without a screen
    axes = figure.subplots()
    imitated = [line for line in metrics if not line.get("stage/rl")]
    practiced = [line for line in metrics if line.get("stage/rl")]
    key = next((name for line in practiced for name in line if name.startswith("success/")), "")
    curve = [float(line.get(key) or 0.0) for line in practiced]
    axes.plot([line["step"] for line in practiced], curve, color="#9ecae1", linewidth=0.8)
    axes.plot(
        [line["step"] for line in practiced], _smooth(curve), color="#2171b5", label="success in practice (train)"
    )
    ends = [0, len(imitated), len(imitated) + len(practiced)]
    for stage, x in zip(stages, ends, strict=False):
        spread = [[stage.success - stage.low], [stage.high - stage.success]]
        axes.errorbar([x], [stage.success], yerr=spread, fmt="o", color="#d94801", capsize=4, zorder=3)
        axes.annotate(f"{stage.name} {stage.success:.2f}", (x, stage.success), (6, 6), textcoords="offset points")
    axes.plot([], [], "o", color="#d94801", label="held-out success, 95% interval")
    if imitated:
        axes.axvspan(0, len(imitated), color="#f0f0f0", zorder=0)
        axes.text(len(imitated) / 2, 1.02, "imitation", ha="center", fontsize=8)
    axes.text(len(imitated) + len(practiced) / 2, 1.02, "reinforcement", ha="center", fontsize=8)
    axes.set(xlabel="step", ylabel="success", ylim=(-0.02, 1.1), title=title)
    axes.legend(loc="lower right", fontsize=8)
    figure.savefig(path, format="png")


def _smooth(values: Sequence[float]) -> list[float]:
    """Mean over the last few steps."""
    return [
        sum(values[max(0, i + 1 - _SMOOTHING) : i + 1]) / len(values[max(0, i + 1 - _SMOOTHING) : i + 1])
        for i in range(len(values))
    ]
