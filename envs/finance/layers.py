"""What the findings of a finance attempt are worth.

A question that has no answer is judged by the same layers: its answer is the right reason with something that shows it,
and there is nothing to derive.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from workgym.envs.finance.answers import Refusal
from workgym.envs.finance.examine import FinanceFindings
from workgym.envs.verify import Check, Layer
from workgym.tasks.errors import TaskError
from workgym.tasks.finance.case import spec_of
from workgym.tasks.naming import unknown_name
from workgym.tasks.task import Task

__all__ = ["LAYERS", "citations_hold", "derivation_holds", "layers_of", "reads", "value_matches"]


def reads(findings: FinanceFindings) -> Check:
    """Whether one value of the asked type was handed in, or a reason to give up."""
    given = findings.submission
    if isinstance(given, Refusal):
        return Check("reads", 0.0, given.text, given.reason)
    return Check("reads", 1.0)


def value_matches(findings: FinanceFindings) -> Check:
    """Whether the value is the gold to half a unit of the asked decimals; or the reason is right, and shown."""
    name = "value_matches"
    if not findings.case.reason:
        answer = findings.answer
        return Check(name, float(answer.right), "" if answer.right else "another value is asked for", answer.label)
    if not findings.reason:
        return Check(name, 0.0, "the question has no answer in the filing", "unanswerable")
    if findings.reason != findings.case.reason:
        return Check(name, 0.0, "there is no answer, for another reason", "other_reason")
    if any(cited.counts and cited.citation.cell in findings.case.witnesses for cited in findings.cited):
        return _within_budget(findings, name)
    return Check(name, 0.0, "nothing that was cited and read shows the reason", "no_witness")


def derivation_holds(findings: FinanceFindings) -> Check:
    """Whether the expression over the cited cells gives the value, here and in redrawn books."""
    return findings.derivation


def citations_hold(findings: FinanceFindings) -> Check:
    """F1 of the citations: recall is 1 where the derivation holds, else 0; precision is the share that is needed."""
    name = "citations_hold"
    if findings.case.reason:
        return Check(name, 1.0, "what shows the reason was cited")
    if findings.derivation.score < 1:
        return Check(name, 0.0, "the derivation does not hold, so nothing that it needs is cited", "no_derivation")
    if (over := _within_budget(findings, name)).score < 1:
        return over
    precision = len(findings.used) / len(findings.cited)
    return Check(name, 2 * precision / (1 + precision), f"{len(findings.used)} of {len(findings.cited)} are needed")


def _within_budget(findings: FinanceFindings, name: str) -> Check:
    budget = findings.spec.citation_budget
    if len(findings.cited) > budget:
        return Check(name, 0.0, f"{len(findings.cited)} cells are cited; {budget} may be", "over_budget")
    return Check(name, 1.0)


_BY_NUMBER: Final = (
    Layer(reads, gate=True),
    Layer(value_matches, weight=0.2, gate=True),
    Layer(derivation_holds, weight=0.5, cost=1.0),
    Layer(citations_hold, weight=0.3, pass_at=0.8, cost=2.0),
)
_GUESSABLE: Final = tuple(
    replace(layer, gate=True) if layer.verifier is derivation_holds else layer for layer in _BY_NUMBER
)
"""Where a value alone could be guessed, it earns nothing without its derivation."""

LAYERS: Final[Mapping[str, tuple[Layer, ...]]] = {
    "number": _BY_NUMBER,
    "count": _GUESSABLE,
    "year": _GUESSABLE,
    "bool": _GUESSABLE,
    "choice": _GUESSABLE,
}
"""Kind of answer -> layers."""


def layers_of(task: Task) -> tuple[Layer, ...]:
    """The layers by which a task is judged.

    Raises:
        TaskError: answers of its kind are not judged.
    """
    kind = spec_of(task).kind
    if kind not in LAYERS:
        raise TaskError(f"task {task.id!r}: {unknown_name('kind of answer', kind, LAYERS)}")
    return LAYERS[kind]
