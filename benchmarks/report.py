"""What a policy can do and what it costs, as a table for people (Markdown) and for programs (JSON)."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from workgym.agents.outcomes import Group, Outcome, outcomes_by_group, summarize
from workgym.agents.trajectory import Trajectory

__all__ = ["COLUMNS", "Report", "make_report", "row_of", "write_report"]

COLUMNS: Final = (
    "domain", "family", "level", "n", "success", "95% interval", "reward", "turns", "tokens in", "tokens out",
    "wall s", "CPU s", "invalid",
)  # fmt: skip
"""Heads of the table; the numbers are means per episode."""


@dataclass(frozen=True)
class Report:
    """Outcomes of one policy.

    Attributes:
        title: what was measured.
        policy: who acted.
        groups: (domain, family, level) -> outcome.
        total: of all episodes.
        end_reasons: reason -> episodes that ended so.
        labels: "check: label" -> valid episodes that got it, for each cause that the verifiers name.
        settings: what decided the run; JSON types.
    """

    title: str
    policy: str
    groups: Mapping[Group, Outcome]
    total: Outcome
    end_reasons: Mapping[str, int]
    labels: Mapping[str, int]
    settings: Mapping[str, Any]

    def rows(self) -> list[list[str]]:
        """The cells under `COLUMNS`: a row for each group, and one for all where there are several."""
        rows = [row_of(group, outcome) for group, outcome in self.groups.items()]
        if len(rows) > 1:
            rows.append(row_of(("all", "", 0), self.total))
        return rows

    def markdown(self) -> str:
        """The report as Markdown."""
        lines = [f"# {self.title}", "", f"Policy: `{self.policy}`", "", _table(COLUMNS, self.rows()), ""]
        lines += [f"Ended: {_counts(self.end_reasons)}.", ""]
        if self.labels:
            lines += [f"Causes: {_counts(self.labels)}.", ""]
        if self.total.n_invalid:
            lines += [
                f"{self.total.n_invalid} episodes failed with the infrastructure; no other number counts them.",
                "",
            ]
        if self.settings:
            lines += ["```json", json.dumps(self.settings, indent=2, sort_keys=True), "```", ""]
        return "\n".join(lines)

    def json(self) -> str:
        """The report as JSON; a mean over no episode is null."""
        groups = [
            {"domain": domain, "family": family, "level": level, **_numbers(outcome)}
            for (domain, family, level), outcome in self.groups.items()
        ]
        content = {
            "title": self.title,
            "policy": self.policy,
            "groups": groups,
            "total": _numbers(self.total),
            "end_reasons": dict(self.end_reasons),
            "labels": dict(self.labels),
            "settings": dict(self.settings),
        }
        return json.dumps(content, indent=2, allow_nan=False) + "\n"


def make_report(
    trajectories: Sequence[Trajectory], *, title: str, policy: str = "", settings: Mapping[str, Any] | None = None
) -> Report:
    """Sum up episodes.

    Args:
        trajectories: of one policy.
        title: what was measured.
        policy: who acted; by default what the trajectories say.
        settings: what decided the run; JSON types.
    """
    causes = Counter(
        f"{check.name}: {check.label}"
        for trajectory in trajectories
        if trajectory.valid and trajectory.verdict is not None
        for check in trajectory.verdict.checks
        if check.label
    )
    return Report(
        title=title,
        policy=policy or ", ".join(sorted({trajectory.policy for trajectory in trajectories})),
        groups=outcomes_by_group(trajectories),
        total=summarize(trajectories),
        end_reasons=dict(Counter(trajectory.end_reason for trajectory in trajectories).most_common()),
        labels=dict(causes.most_common()),
        settings=settings or {},
    )


def write_report(report: Report, folder: Path) -> None:
    """Write `report.md` and `report.json` into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.md").write_text(report.markdown(), encoding="utf-8")
    (folder / "report.json").write_text(report.json(), encoding="utf-8")


def row_of(group: Group, outcome: Outcome) -> list[str]:
    """The cells of one row, under `COLUMNS`."""
    domain, family, level = group
    return [
        domain,
        family,
        str(level or ""),
        str(outcome.n_valid),
        _number(outcome.success, 3),
        f"{outcome.low:.3f}-{outcome.high:.3f}",
        _number(outcome.reward, 3),
        _number(outcome.turns, 1),
        _number(outcome.tokens_in, 0),
        _number(outcome.tokens_out, 0),
        _number(outcome.wall_s, 2),
        _number(outcome.cpu_s, 3),
        str(outcome.n_invalid),
    ]


def _number(value: float, digits: int) -> str:
    return "-" if math.isnan(value) else f"{value:.{digits}f}"


def _numbers(outcome: Outcome) -> dict[str, Any]:
    return {name: None if math.isnan(value) else value for name, value in asdict(outcome).items()}


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * 3 + ["---:"] * (len(heads) - 3), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name or 'unknown'} {count}" for name, count in counts.items())
