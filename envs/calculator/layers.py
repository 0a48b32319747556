"""What the findings are worth: the right number 1, anything else nothing."""

from __future__ import annotations

from typing import Final

from workgym.envs.calculator.examine import CalculatorFindings
from workgym.envs.verify import Check, Layer

__all__ = ["LAYERS", "is_a_number", "is_right"]


def is_a_number(findings: CalculatorFindings) -> Check:
    """Whether the answer is one whole number: two of them, an expression or a sentence around it are none."""
    if not findings.submitted:
        return Check("number", 0.0, detail="nothing was submitted", label="empty")
    if findings.answer is None:
        return Check("number", 0.0, detail="not one whole number in plain digits", label="form")
    return Check("number", 1.0)


def is_right(findings: CalculatorFindings) -> Check:
    """Whether the number is the value of the sum. A number that is nearly right is wrong."""
    if findings.answer == findings.wanted:
        return Check("right", 1.0)
    return Check("right", 0.0, detail="another number", label="wrong")


LAYERS: Final = (Layer(is_a_number, gate=True), Layer(is_right, weight=1.0))
