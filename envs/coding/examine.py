"""Measures a submission: it runs on hidden inputs, in a fresh child, away from the agent and from the answers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from workgym.envs.coding.evaluate import evaluate_expression, same_value
from workgym.envs.coding.session import RUN_TIMEOUT_S
from workgym.envs.sandbox.protocol import Pools
from workgym.envs.verify import Attempt
from workgym.tasks.errors import SandboxError
from workgym.tasks.task import Task

__all__ = ["CodeFindings", "HiddenTests", "examine_code"]


@dataclass(frozen=True, slots=True)
class HiddenTests:
    """How a submission did on the hidden inputs.

    Attributes:
        passed, total: inputs with the right value, and all.
        label: "" or the cause that stopped it: syntax, error, timeout, oom, output, crash, silent, empty.
        detail: words that give nothing hidden away.
    """

    passed: int
    total: int
    label: str = ""
    detail: str = ""


class CodeFindings:
    """What is to be known of an attempt; each finding is computed when a verifier first asks for it."""

    def __init__(self, attempt: Attempt, task: Task, pools: Pools) -> None:
        self._attempt = attempt
        self._task = task
        self._pools = pools

    @property
    def submission(self) -> str:
        """The text that was submitted; "" where none was."""
        return self._attempt.submission or ""

    @cached_property
    def hidden_tests(self) -> HiddenTests:
        """The submission on the hidden inputs. The child gets the inputs, never the values that are wanted.

        Raises:
            SandboxError: infrastructure failed.
        """
        cases = self._task.hidden["cases"]
        evaluation = evaluate_expression(
            self._pools.grader, self.submission, [int(x) for x, _ in cases], timeout_s=RUN_TIMEOUT_S
        )
        if evaluation.status != "ok":
            return HiddenTests(0, len(cases), evaluation.status, "it did not run to its end")
        passed = sum(same_value(value, wanted) for value, (_, wanted) in zip(evaluation.values, cases, strict=True))
        return HiddenTests(passed, len(cases))


def examine_code(attempt: Attempt, task: Task, pools: Pools | None) -> CodeFindings:
    """Prepare the findings of a coding attempt; nothing runs before a verifier asks.

    Raises:
        SandboxError: there are no pools to run it in.
    """
    if pools is None:
        raise SandboxError("the coding domain judges in a sandbox and was given none")
    return CodeFindings(attempt, task, pools)
