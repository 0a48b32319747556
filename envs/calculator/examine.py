"""Measures an attempt: what number was written, and which one is right."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from workgym.envs.sandbox.protocol import Pools
from workgym.envs.verify import Attempt
from workgym.tasks.calculator.arithmetic import MOST_DIGITS
from workgym.tasks.task import Task

__all__ = ["CalculatorFindings", "examine_answer"]

# One number in plain digits, in the one way to write it: no sign of plus, no leading zero, no digits of another script.
_ONE_NUMBER: Final = re.compile(rf"0|-?[1-9][0-9]{{0,{MOST_DIGITS - 1}}}")


@dataclass(frozen=True, slots=True)
class CalculatorFindings:
    """What is to be known of an attempt.

    Attributes:
        submitted: something was handed in.
        answer: the number that was handed in; None where it is not exactly one number.
        wanted: the number that is right.
    """

    submitted: bool
    answer: int | None
    wanted: int


def examine_answer(attempt: Attempt, task: Task, pools: Pools | None) -> CalculatorFindings:
    """Read the answer. There is no code to run, and so no pool to run it in."""
    text = attempt.submission or ""
    answer = int(text) if _ONE_NUMBER.fullmatch(text) else None
    return CalculatorFindings(bool(text), answer, int(task.hidden["answer"]))
