"""What a training run came to: success after each stage on tasks that no stage has seen, as Markdown and JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from workgym.agents.trajectory import Trajectory

__all__ = ["LearningReport", "StageResult", "show_episode"]


@dataclass(frozen=True, slots=True)
class StageResult:
    """Success of the policy as it stood after a stage.

    Attributes:
        name: of the stage: "before", "sft", "rl".
        success: share of held-out tasks that were solved, actions sampled at temperature 1.
        low, high: its 95% Wilson interval.
        n: held-out tasks whose verdict counts, no two alike.
        train_success: the same on tasks of the split that was trained on.
        greedy_success: on the held-out tasks again, taking the likeliest token always.
        turns: mean turns of an episode on the held-out tasks.
        n_invalid: episodes where infrastructure failed; they are in no other number.
        cpu_s: CPU seconds of the stage, sandboxes included, measuring excluded.
        wall_s: seconds of the stage by the clock.
    """

    name: str
    success: float
    low: float
    high: float
    n: int
    train_success: float
    greedy_success: float
    turns: float
    n_invalid: int
    cpu_s: float
    wall_s: float


@dataclass(frozen=True)
class LearningReport:
    """A training run, for people and for programs.

    Attributes:
        title: what was trained for what.
        stages: in order.
        settings: the configuration; JSON types.
        episodes: (words, trajectory) to show in full.
        notes: further lines.
        foreign: results on tasks of another kind, which no stage is meant for.
    """

    title: str
    stages: Sequence[StageResult]
    settings: Mapping[str, Any]
    episodes: Sequence[tuple[str, Trajectory]] = ()
    notes: Sequence[str] = ()
    foreign: Sequence[StageResult] = ()

    def markdown(self) -> str:
        """The report as Markdown; the learning curve is `curve.png` beside it."""
        lines = [f"# {self.title}", "", *_table(self.stages)]
        lines += ["", *self.notes, "", "![learning curve](curve.png)", ""]
        if self.foreign:
            lines += ["## Tasks of another kind", "", *_table(self.foreign), ""]
        for words, episode in self.episodes:
            lines += [f"## {words}", "", "````text", show_episode(episode), "````", ""]
        lines += ["## Settings", "", "```json", json.dumps(self.settings, indent=1), "```", ""]
        return "\n".join(lines)

    def json(self) -> str:
        """The report as JSON: `stages`, `foreign` and `settings`; a mean over no episode is null."""
        content = {
            "title": self.title,
            "stages": [_numbers(stage) for stage in self.stages],
            "foreign": [_numbers(stage) for stage in self.foreign],
            "settings": dict(self.settings),
        }
        return json.dumps(content, indent=1, allow_nan=False) + "\n"

    def write(self, folder: Path) -> None:
        """Write `report.md` and `report.json`."""
        (folder / "report.md").write_text(self.markdown(), encoding="utf-8")
        (folder / "report.json").write_text(self.json(), encoding="utf-8")


def show_episode(episode: Trajectory) -> str:
    """An episode as lines: what the agent read, and after `>` what it did."""
    said = [message.role for message in episode.messages]
    opening = said.index("assistant") if "assistant" in said else len(said)
    lines = [message.text for message in episode.messages[:opening]]
    for step in episode.steps:
        lines += [f"> {step.action}", *([step.observation] if step.observation else [])]
    return "\n".join([*lines, f"reward {episode.reward:.3f} ({episode.end_reason})"])


_HEADS: Final = (
    "stage", "held-out success", "95% interval", "n", "train success", "greedy", "turns", "invalid", "CPU s", "wall s",
)  # fmt: skip


def _table(stages: Sequence[StageResult]) -> list[str]:
    return [_row(_HEADS), _row(["---"] + ["---:"] * (len(_HEADS) - 1)), *(_row(_cells(stage)) for stage in stages)]


def _numbers(stage: StageResult) -> dict[str, Any]:
    return {name: None if value != value else value for name, value in asdict(stage).items()}


def _cells(stage: StageResult) -> list[str]:
    return [
        stage.name,
        f"{stage.success:.3f}",
        f"{stage.low:.3f}-{stage.high:.3f}",
        str(stage.n),
        "-" if stage.train_success != stage.train_success else f"{stage.train_success:.3f}",
        f"{stage.greedy_success:.3f}",
        f"{stage.turns:.1f}",
        str(stage.n_invalid),
        f"{stage.cpu_s:.0f}",
        f"{stage.wall_s:.0f}",
    ]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
