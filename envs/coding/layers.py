"""What the findings of a coding attempt are worth."""

from __future__ import annotations

from typing import Final

from workgym.envs.coding.examine import CodeFindings
from workgym.envs.verify import Check, Layer

__all__ = ["LAYERS", "parses", "tests_pass"]


def parses(findings: CodeFindings) -> Check:
    """Whether the submission is one Python expression. Asked in the sandbox too: parsers can be attacked."""
    if not findings.submission:
        return Check("parses", 0.0, detail="nothing was submitted", label="empty")
    if findings.hidden_tests.label == "syntax":
        return Check("parses", 0.0, detail="not a Python expression", label="syntax")
    return Check("parses", 1.0)


def tests_pass(findings: CodeFindings) -> Check:
    """Share of the hidden inputs at which the submission has the right value."""
    tests = findings.hidden_tests
    if tests.label:
        return Check("tests", 0.0, detail=tests.detail, label=tests.label)
    return Check("tests", tests.passed / tests.total, detail=f"right at {tests.passed} of {tests.total} hidden inputs")


LAYERS: Final = (Layer(parses, gate=True), Layer(tests_pass, weight=1.0, cost=1.0))
