"""What a policy can do and what it costs, as tables for people (Markdown) and for programs (JSON)."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from workgym.agents.outcomes import (
    Group,
    Outcome,
    group_of,
    lacks_tokens,
    outcomes_by_group,
    successes_by_task,
    summarize,
)
from workgym.agents.trajectory import Trajectory
from workgym.benchmarks.pass_at_k import PassAtK, ks_for, pass_rates
from workgym.benchmarks.spending import COST_COLUMNS, NO_PRICE, NO_USAGE, Spent, cost_row, spent_by

__all__ = ["COLUMNS", "Report", "make_report", "row_of", "write_report"]

COLUMNS: Final = (
    "domain", "family", "level", "episodes", "success", "95% interval", "reward", "turns", "tokens in", "tokens out",
    "wall s", "CPU s", "invalid",
)  # fmt: skip
"""Heads of the first table; the numbers are means per episode, of those whose verdict counts."""

_ALL: Final[Group] = ("all", "", 0)


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
        passes: (domain, family, level) -> pass@k, where tasks were played more than once; ("all", "", 0) for all.
        spent: what all episodes used together, those that failed with the infrastructure included.
        n_unsaid: valid episodes in which whoever acted did not say what it used, at least once as far as can be seen.
    """

    title: str
    policy: str
    groups: Mapping[Group, Outcome]
    total: Outcome
    end_reasons: Mapping[str, int]
    labels: Mapping[str, int]
    settings: Mapping[str, Any]
    passes: Mapping[Group, Sequence[PassAtK]] = field(default_factory=dict)
    spent: Spent = field(default_factory=Spent)
    n_unsaid: int = 0

    @property
    def columns(self) -> list[str]:
        """Heads of the first table: `COLUMNS`, and pass@k where tasks were played more than once."""
        return [*COLUMNS, *(f"pass@{one.k}" for one in self.passes.get(_ALL, ()))]

    def rows(self) -> list[list[str]]:
        """The cells under `columns`: a row for each group, and one for all where there are several."""
        ks = [one.k for one in self.passes.get(_ALL, ())]
        return [row_of(*line) + self._pass_cells(line[0], ks) for line in self._lines()]

    def cost_rows(self) -> list[list[str]]:
        """The cells under `COST_COLUMNS`, for the same rows."""
        return [cost_row(*line, self._unknown) for line in self._lines()]

    def spending(self) -> list[str]:
        """What all of it took, and what is not known of that: a line each."""
        lines = [f"Spent in all: {self.spent.words(self._unknown)}."]
        if self.n_unsaid:
            money = ", and so is money" if self._unknown == NO_USAGE else ""
            lines.append(
                f"{self.n_unsaid} of {self.total.n_valid} episodes lack a usage (prompt_tokens and completion_tokens) "
                f"that makes sense: their tokens are unknown, not 0{money}."
            )
        return lines

    def markdown(self) -> str:
        """The report as Markdown."""
        lines = [f"# {self.title}", "", f"Policy: `{self.policy}`", "", _table(self.columns, self.rows()), ""]
        lines += ["What a success costs:", "", _table(COST_COLUMNS, self.cost_rows()), ""]
        lines += [line for told in self.spending() for line in (told, "")]
        lines += [f"Ended: {_counts(self.end_reasons)}.", ""]
        if self.labels:
            lines += [f"Causes: {_counts(self.labels)}.", ""]
        if self.total.n_invalid:
            lines += [
                f"{self.total.n_invalid} episodes failed with the infrastructure; no number but the spending "
                "counts them.",
                "",
            ]
        if self.settings:
            lines += ["```json", json.dumps(self.settings, indent=2, sort_keys=True), "```", ""]
        return "\n".join(lines)

    def json(self) -> str:
        """The report as JSON; a mean over no episode, and tokens and money that nobody knows, are null."""
        content = {
            "title": self.title,
            "policy": self.policy,
            "groups": [
                {"domain": group[0], "family": group[1], "level": group[2], **self._numbers(group, outcome)}
                for group, outcome in self.groups.items()
            ],
            "total": self._numbers(_ALL, self.total),
            "spent": asdict(self.spent),
            "end_reasons": dict(self.end_reasons),
            "labels": dict(self.labels),
            "settings": dict(self.settings),
        }
        return json.dumps(content, indent=2, allow_nan=False) + "\n"

    @property
    def _unknown(self) -> str:
        return NO_USAGE if self.settings.get("price") else NO_PRICE

    def _lines(self) -> list[tuple[Group, Outcome]]:
        lines = list(self.groups.items())
        return [*lines, (_ALL, self.total)] if len(lines) > 1 else lines

    def _pass_cells(self, group: Group, ks: Sequence[int]) -> list[str]:
        found = {one.k: one for one in self.passes.get(group, ())}
        return [f"{found[k].rate:.3f} ({found[k].low:.2f}-{found[k].high:.2f})" if k in found else "-" for k in ks]

    def _numbers(self, group: Group, outcome: Outcome) -> dict[str, Any]:
        numbers = {name: None if math.isnan(value) else value for name, value in asdict(outcome).items()}
        passes = [asdict(one) for one in self.passes.get(group, ())]
        return numbers | ({"pass_at_k": passes} if passes else {})


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
        passes=_passes(trajectories),
        spent=spent_by(trajectories),
        n_unsaid=sum(_lacks_usage(one, bool(settings and settings.get("price"))) for one in trajectories),
    )


def _lacks_usage(trajectory: Trajectory, is_priced: bool) -> bool:
    """Whether tokens are missing: all of them, or, where only they can be why money is unknown, some."""
    return lacks_tokens(trajectory) or (is_priced and trajectory.valid and trajectory.cost.money_usd is None)


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


def _passes(trajectories: Sequence[Trajectory]) -> dict[Group, list[PassAtK]]:
    """pass@k of every group and of all; nothing where no task was played twice."""
    most = max(map(len, successes_by_task(trajectories).values()), default=0)
    if most < 2:
        return {}
    groups: dict[Group, list[Trajectory]] = {_ALL: list(trajectories)}
    for one in trajectories:
        groups.setdefault(group_of(one), []).append(one)
    ks = ks_for(most)
    return {group: pass_rates(list(successes_by_task(members).values()), ks) for group, members in groups.items()}


def _number(value: float, digits: int) -> str:
    return "-" if math.isnan(value) else f"{value:.{digits}f}"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * 3 + ["---:"] * (len(heads) - 3), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name or 'unknown'} {count}" for name, count in counts.items())
