"""What the findings of a coding attempt are worth."""

from __future__ import annotations

import ast
from typing import Final

from workgym.envs.coding.examine import CodeFindings
from workgym.envs.verify import Check, Layer

__all__ = ["LAYERS", "parses", "tests_pass"]


def parses(findings: CodeFindings) -> Check:
    """Whether the submission is one Python expression. It is parsed here and run elsewhere."""
    if not findings.submission:
        return Check("parses", 0.0, detail="nothing was submitted", label="empty")
    try:
        ast.parse(findings.submission, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Check("parses", 0.0, detail=f"not a Python expression: {type(error).__name__}", label="syntax")
    return Check("parses", 1.0)


def tests_pass(findings: CodeFindings) -> Check:
    """Share of the hidden inputs at which the submission has the right value."""
    tests = findings.hidden_tests
    if tests.label:
        return Check("tests", 0.0, detail=tests.detail, label=tests.label)
    return Check("tests", tests.passed / tests.total, detail=f"right at {tests.passed} of {tests.total} hidden inputs")


LAYERS: Final = (Layer(parses, gate=True), Layer(tests_pass, weight=1.0, cost=1.0))
