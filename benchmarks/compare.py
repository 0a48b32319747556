"""Two evaluations on the same tasks: which is better, by how much, and is it more than noise?"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from workgym.agents.outcomes import Group, Outcome, TaskKey, group_of, successes_by_task, summarize
from workgym.agents.trajectory import Trajectory
from workgym.benchmarks.paired import PairedDifference, paired_difference
from workgym.benchmarks.spending import NO_PRICE, in_dollars
from workgym.tasks.errors import TaskError

__all__ = ["COMPARE_COLUMNS", "Comparison", "Unpaired", "compare"]

COMPARE_COLUMNS: Final = (
    "domain", "family", "level", "tasks", "A", "B", "B - A", "95% interval", "p", "B better", "B worse", "tokens A",
    "tokens B", "USD A", "USD B", "s A", "s B",
)  # fmt: skip
"""Heads of the table; tokens, US dollars and seconds are means per episode."""

_ALL: Final[Group] = ("all", "", 0)


@dataclass(frozen=True, slots=True)
class Unpaired:
    """Tasks that could not be compared.

    Attributes:
        only_a, only_b: played in one run alone.
        changed: of one id in both, but not the same task: it has changed between the runs.
        unscored: played in both, but in one of them without a valid episode.
    """

    only_a: int = 0
    only_b: int = 0
    changed: int = 0
    unscored: int = 0

    @property
    def words(self) -> str:
        """One line for people; "" where there is nothing to tell."""
        counts = {
            "only in A": self.only_a,
            "only in B": self.only_b,
            "changed between the runs": self.changed,
            "without a valid episode in one of them": self.unscored,
        }
        told = [f"{count} {where}" for where, count in counts.items() if count]
        return f"Tasks left out: {', '.join(told)}." if told else ""


@dataclass(frozen=True)
class Comparison:
    """Two runs, on the tasks that both have scored.

    Attributes:
        a, b: what the runs are, in words.
        total: of all pairs.
        groups: (domain, family, level) -> the same of its pairs.
        costs: (domain, family, level) -> the outcomes of A and B on these pairs; ("all", "", 0) for all.
        unpaired: what could not be compared.
        notes: further lines.
        unknown: why the money of A and of B is unknown, where it is.
    """

    a: str
    b: str
    total: PairedDifference
    groups: Mapping[Group, PairedDifference]
    costs: Mapping[Group, tuple[Outcome, Outcome]]
    unpaired: Unpaired
    notes: Sequence[str] = field(default=())
    unknown: tuple[str, str] = (NO_PRICE, NO_PRICE)

    @property
    def verdict(self) -> str:
        """Which is better, and whether that is more than noise."""
        return f"{self.total.words()} ({self.total.n_tasks} tasks, p = {_p(self.total.p)})."

    def rows(self) -> list[list[str]]:
        """The cells under `COMPARE_COLUMNS`: a row for each group, and one for all where there are several."""
        lines = list(self.groups.items())
        if len(lines) > 1:
            lines.append((_ALL, self.total))
        return [_row(group, one, self.costs[group if len(lines) > 1 else _ALL], self.unknown) for group, one in lines]

    def lines(self) -> list[str]:
        """What is told below the table."""
        told = [f"A: {self.a}", f"B: {self.b}", self.unpaired.words, *self.notes]
        if len(self.groups) > 1:
            told.append("The rows are not corrected for being many; the verdict is that of all tasks together.")
        return [line for line in told if line]

    def markdown(self) -> str:
        """The comparison as Markdown."""
        table = [COMPARE_COLUMNS, ["---"] * 3 + ["---:"] * (len(COMPARE_COLUMNS) - 3), *self.rows()]
        rows = [f"| {' | '.join(row)} |" for row in table]
        told = [f"- {line}" for line in self.lines()]
        return "\n".join(["# A and B on the same tasks", "", f"**{self.verdict}**", "", *rows, "", *told, ""])

    def json(self) -> str:
        """The comparison as JSON; a mean over no episode, and tokens and money that nobody knows, are null."""
        content = {
            "a": self.a,
            "b": self.b,
            "verdict": self.verdict,
            "more_than_noise": self.total.is_more_than_noise,
            "total": self._numbers(_ALL, self.total),
            "groups": [
                {"domain": group[0], "family": group[1], "level": group[2], **self._numbers(group, one)}
                for group, one in self.groups.items()
            ],
            "unpaired": asdict(self.unpaired),
            "notes": list(self.notes),
        }
        return json.dumps(content, indent=2, allow_nan=False) + "\n"

    def _numbers(self, group: Group, one: PairedDifference) -> dict[str, Any]:
        costs = {
            name: {key: None if math.isnan(value) else value for key, value in asdict(outcome).items()}
            for name, outcome in zip(("outcome_a", "outcome_b"), self.costs[group], strict=True)
        }
        return {**asdict(one), **costs}


def compare(
    a: Iterable[Trajectory],
    b: Iterable[Trajectory],
    *,
    names: tuple[str, str] = ("A", "B"),
    notes: Sequence[str] = (),
    unknown: tuple[str, str] = (NO_PRICE, NO_PRICE),
) -> Comparison:
    """Pair the episodes of two runs by their tasks.

    Args:
        a: episodes of one run.
        b: episodes of the other.
        names: what the runs are, in words.
        notes: further lines to tell.
        unknown: why the money of A and of B is unknown, where it is.

    Raises:
        TaskError: not one task was scored in both.
    """
    played_a, played_b = list(a), list(b)
    scored_a, scored_b = successes_by_task(played_a), successes_by_task(played_b)
    shared = [key for key in scored_a if key in scored_b]
    unpaired = _unpaired(_keys(played_a), _keys(played_b), len(shared))
    if not shared:
        raise TaskError(f"the runs have no task in common that both have scored. {unpaired.words}")
    group_by_task = {_key(one): group_of(one) for one in played_a}
    members: dict[Group, list[TaskKey]] = {_ALL: shared}
    for key in shared:
        members.setdefault(group_by_task[key], []).append(key)
    differences = {
        group: paired_difference([scored_a[key] for key in keys], [scored_b[key] for key in keys])
        for group, keys in members.items()
    }
    costs = {group: (_outcome(played_a, keys), _outcome(played_b, keys)) for group, keys in members.items()}
    total = differences.pop(_ALL)
    told = [*notes, *_verifiers(played_a, played_b)]
    return Comparison(*names, total, dict(sorted(differences.items())), costs, unpaired, told, unknown)


def _key(trajectory: Trajectory) -> TaskKey:
    return trajectory.task_id, trajectory.task_hash


def _keys(trajectories: Sequence[Trajectory]) -> set[TaskKey]:
    return {_key(one) for one in trajectories}


def _unpaired(a: set[TaskKey], b: set[TaskKey], n_shared: int) -> Unpaired:
    changed = {task_id for task_id, _ in a - b} & {task_id for task_id, _ in b - a}
    return Unpaired(
        only_a=sum(task_id not in changed for task_id, _ in a - b),
        only_b=sum(task_id not in changed for task_id, _ in b - a),
        changed=len(changed),
        unscored=len(a & b) - n_shared,
    )


def _verifiers(a: Sequence[Trajectory], b: Sequence[Trajectory]) -> Iterator[str]:
    """Where one domain was judged by different versions, what is compared may be the verifiers."""
    versions_a, versions_b = _versions(a), _versions(b)
    for domain in sorted(versions_a.keys() & versions_b.keys()):
        one, other = (", ".join(sorted(versions[domain])) for versions in (versions_a, versions_b))
        if one != other:
            yield f"Domain {domain!r} was judged by version {one} in A and {other} in B."


def _versions(trajectories: Sequence[Trajectory]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for one in trajectories:
        found.setdefault(one.domain, set()).add(one.versions.verifier)
    return found


def _outcome(trajectories: Sequence[Trajectory], keys: Sequence[TaskKey]) -> Outcome:
    wanted = set(keys)
    return summarize([one for one in trajectories if _key(one) in wanted])


def _row(group: Group, one: PairedDifference, outcomes: tuple[Outcome, Outcome], unknown: tuple[str, str]) -> list[str]:
    domain, family, level = group
    tokens = [outcome.tokens_in + outcome.tokens_out for outcome in outcomes]
    money = zip((outcome.money_usd for outcome in outcomes), unknown, strict=True)
    return [
        domain,
        family,
        str(level or ""),
        str(one.n_tasks),
        f"{one.a:.3f}",
        f"{one.b:.3f}",
        f"{one.difference:+.3f}",
        f"{one.low:+.3f} to {one.high:+.3f}",
        _p(one.p),
        str(one.n_better),
        str(one.n_worse),
        *("-" if math.isnan(mean) else f"{mean:.0f}" for mean in tokens),
        *(why if math.isnan(usd) else in_dollars(usd, 6) for usd, why in money),
        *(f"{outcome.wall_s:.2f}" for outcome in outcomes),
    ]


def _p(p: float) -> str:
    return f"{p:.3f}" if p >= 0.001 else f"{p:.1e}"
