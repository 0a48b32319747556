"""The tasks of the finance domain: a question about the filing of an invented company."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Final

import numpy as np

from workgym.tasks.errors import TaskError
from workgym.tasks.finance.case import Reported, hide_gap, hide_question, report, spec_for
from workgym.tasks.finance.questions import Question, draw_question
from workgym.tasks.finance.render.html import render_html
from workgym.tasks.finance.unanswerable import Pair, draw_pair
from workgym.tasks.naming import unknown_name
from workgym.tasks.source import SPLITS
from workgym.tasks.task import Budget, Task, content_hash

__all__ = ["FAMILIES", "STYLES", "FinanceTasks"]

FAMILIES: Final = ("all", "lookup", "derive", "unanswerable")
STYLES: Final = ("full", "short")

_VERSION: Final = "1"
_BUDGETS: Final = {1: Budget(turns=12, tokens=8192, wall_s=600.0), 2: Budget(turns=20, tokens=16384, wall_s=900.0)}
_SHORT_BUDGET: Final = Budget(turns=8, tokens=8192, wall_s=600.0)
_GAP_SHARE: Final = 0.08
"""Of the tasks from level 2 on that have no answer; as many are the twins of such, which have one."""
_LAST_DIGITS: Final = {"train": tuple(range(8)), "validation": (8,), "test": (9,)}
_MOST_DRAWS: Final = 200
_TASK_ID: Final = re.compile(r"finance-(?P<family>[a-z]+)-(?P<level>[0-9])-(?P<split>[a-z]+)-(?P<seed>[0-9a-f]{1,16})")


class FinanceTasks:
    """Makes questions about filings from seeds.

    Args:
        family: "lookup" (one cell), "derive" (arithmetic over cells), "unanswerable", or "all" of them.
        style: "full" for language models; "short" asks about level 1 in a few characters, for small models.

    Raises:
        ValueError: the family or the style does not exist, or they do not go together.
    """

    def __init__(self, family: str = "all", style: str = "full") -> None:
        if family not in FAMILIES:
            raise ValueError(unknown_name("family", family, FAMILIES))
        if style not in STYLES:
            raise ValueError(unknown_name("style", style, STYLES))
        if style == "short" and family == "unanswerable":
            raise ValueError("the style 'short' asks about level 1, where every question has an answer")
        self.family: Final = family
        self.style: Final = style
        self.version: Final = f"{family}-{_VERSION}"
        first = 2 if family == "unanswerable" else 1
        self.levels: Final = (1,) if style == "short" else tuple(level for level in _BUDGETS if level >= first)

    def sample(self, level: int, rng: np.random.Generator, split: str = "train") -> Task:
        """Draw one task.

        Args:
            level: difficulty, 1 or 2.
            rng: the only source of randomness.
            split: "train", "validation" or "test": of other companies, "test" with other names and layouts too.

        Raises:
            TaskError: the level or the split does not exist.
        """
        return self._make(level, split, int(rng.integers(0, 2**63)))

    def load(self, task_id: str) -> Task:
        """Make the task of this id again.

        Raises:
            TaskError: no task of this family has this id.
        """
        match = _TASK_ID.fullmatch(task_id) if isinstance(task_id, str) else None
        if match is None or match["family"] != self.family:
            raise TaskError(
                f"no task of family {self.family!r} has the id {task_id!r}; "
                f"ids look like finance-{self.family}-1-test-1f (level, split, seed)"
            )
        return self._make(int(match["level"]), match["split"], int(match["seed"], 16))

    def _make(self, level: int, split: str, seed: int) -> Task:
        """The seed decides a sequence of filings and questions; the task is the first of them that is fit."""
        if level not in self.levels:
            raise TaskError(unknown_name("level", level, map(str, self.levels)))
        if split not in SPLITS:
            raise TaskError(unknown_name("split", split, SPLITS))
        rng = np.random.default_rng(seed)
        blank = Task(
            id=f"finance-{self.family}-{level}-{split}-{seed:x}",
            domain="finance",
            family=self.family,
            level=level,
            split=split,
            prompt="",
            budget=_BUDGETS[level] if self.style == "full" else _SHORT_BUDGET,
            source=f"FinanceTasks {self.version}",
        )
        for _ in range(_MOST_DRAWS):
            digits = _LAST_DIGITS[split]
            structure_seed = 10 * int(rng.integers(0, 2**28)) + digits[int(rng.integers(len(digits)))]
            reported = report(structure_seed, int(rng.integers(0, 2**31)), level)
            try:
                return self._ask(blank, reported, rng)
            except TaskError:  # this filing has no question of this family that is fit to be asked
                continue
        raise TaskError(f"seed {seed} gave no fit question of family {self.family!r} in {_MOST_DRAWS} filings")

    def _ask(self, blank: Task, reported: Reported, rng: np.random.Generator) -> Task:
        kind, seed = float(rng.random()), int(rng.integers(0, 2**31))
        if self.family == "unanswerable" or (self.family == "all" and blank.level > 1 and kind < 2 * _GAP_SHARE):
            pair = draw_pair(reported.structure, reported.ledger, seed)
            if self.family == "unanswerable" or kind < _GAP_SHARE:
                return self._without_answer(blank, reported, pair)
            return self._with_answer(blank, reported, pair.twin)
        structure, ledger = reported.structure, reported.ledger
        families = ("lookup", "derive") if self.family == "all" else (self.family,)
        return self._with_answer(blank, reported, draw_question(structure, ledger, seed, blank.level, families))

    def _with_answer(self, blank: Task, reported: Reported, question: Question) -> Task:
        public = self._public(reported, question)
        if self.style == "short":
            public["question"] = _in_short(question, reported)
        return replace(
            blank,
            family=question.family,
            prompt=question.text if self.style == "full" else "",
            structure=_structure(blank, reported, question.form, [list(fact) for fact in question.operands]),
            files={"d1.html": render_html(reported.filing, reported.ledger)},
            public=public,
            hidden=hide_question(reported, question),
        )

    def _without_answer(self, blank: Task, reported: Reported, pair: Pair) -> Task:
        gap = pair.gap
        shown = report(reported.structure.seed, reported.ledger.value_seed, blank.level, gap.blanks)
        return replace(
            blank,
            family="unanswerable" if self.family == "unanswerable" else pair.twin.family,  # else it would be told
            prompt=gap.text,
            structure=_structure(blank, reported, gap.reason, [gap.text]),
            files={"d1.html": render_html(shown.filing, shown.ledger)},
            public=self._public(shown, pair.twin),
            hidden=hide_gap(shown, gap.reason, gap.witnesses),
        )

    def _public(self, reported: Reported, question: Question) -> dict[str, Any]:
        return {"answer": spec_for(question).to_public(), "catalog": [reported.filing.catalog()]}


def _structure(blank: Task, reported: Reported, form: str, asked: list[Any]) -> str:
    return content_hash(["finance", blank.level, reported.structure.seed, form, asked])


def _in_short(question: Question, reported: Reported) -> str:
    """The form, the lines and the years: "difference Net sales 2021 2020", "margin Gross profit;Net sales 2021"."""
    labels = dict.fromkeys(reported.structure.label(fact.line) for fact in question.operands)
    years = dict.fromkeys(fact.period for fact in question.operands)
    return f"{question.form} {';'.join(labels)} {' '.join(years)}"
