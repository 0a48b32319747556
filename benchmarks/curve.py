"""The learning curve as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from workgym.benchmarks.learning import StageResult

__all__ = ["draw_curve"]

_SMOOTHING: Final = 8
_COLORS: Final = (
    ("#9ecae1", "#2171b5"),
    ("#a1d99b", "#238b45"),
    ("#bcbddc", "#6a51a3"),
    ("#fdd0a2", "#a63603"),
    ("#cccccc", "#525252"),
)
"""Of a level's steps and of their mean."""


def draw_curve(metrics: Sequence[Mapping[str, Any]], stages: Sequence[StageResult], path: Path, *, title: str) -> None:
    """Draw success over the steps of a run, with the held-out success after each stage.

    Where several levels were practiced, each has its line, and a second panel shows its share of the tasks.

    Args:
        metrics: the lines of `metrics.jsonl`: those with `stage/rl` 0 belong to imitation, those with 1 to practice.
        stages: what was measured, in order: before, sft, rl.
        path: of the PNG file.
        title: above the picture.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    imitated = [line for line in metrics if not line.get("stage/rl")]
    practiced = [line for line in metrics if line.get("stage/rl")]
    names = sorted({name.partition("/")[2] for line in practiced for name in line if name.startswith("success/")})
    several = len(names) > 1
    figure = Figure(figsize=(8, 5.4 if several else 3.6), layout="constrained")
    FigureCanvasAgg(figure)  # draws without a screen
    axes, *below = figure.subplots(2 if several else 1, 1, sharex=True, squeeze=False)[:, 0]
    for name, (pale, dark) in zip(names, _COLORS, strict=False):
        drawn = [line for line in practiced if line.get(f"success/{name}") is not None]
        steps, curve = [line["step"] for line in drawn], [float(line[f"success/{name}"]) for line in drawn]
        axes.plot(steps, curve, color=pale, linewidth=0.8)
        label = f"{name} in practice (train)" if several else "success in practice (train)"
        axes.plot(steps, _smooth(curve), color=dark, label=label)
        for panel in below:
            shares = [line.get(f"curriculum/{name}") for line in practiced]
            panel.plot([line["step"] for line in practiced], shares, color=dark, label=name)
            panel.set(xlabel="step", ylabel="share of the tasks", ylim=(0, 1))
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
    axes.set(xlabel="" if several else "step", ylabel="success", ylim=(-0.02, 1.1), title=title)
    axes.legend(loc="upper left" if several else "lower right", fontsize=8)
    figure.savefig(path, format="png")


def _smooth(values: Sequence[float]) -> list[float]:
    """Mean over the last few steps."""
    return [
        sum(values[max(0, i + 1 - _SMOOTHING) : i + 1]) / len(values[max(0, i + 1 - _SMOOTHING) : i + 1])
        for i in range(len(values))
    ]
