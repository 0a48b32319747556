"""Attempt -> Findings -> Check -> Layer -> Verdict: how what an agent did becomes a reward.

An `Attempt` is what the session copied out at the end. A domain's `examine(attempt, task, pools)` measures it once,
away from the agent, into its own findings. A verifier is a pure function from those findings to a `Check`; a `Layer`
says what the check is worth; `judge` adds up. Nothing of this runs in a process that the agent's code can touch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from workgym.tasks.errors import VerifierError
from workgym.tasks.task import content_hash

__all__ = ["Attempt", "Check", "HasAttempt", "Layer", "Verdict", "check_layers", "judge"]


@dataclass(frozen=True, slots=True)
class Attempt:
    """What the session copied out when the episode ended: all that the judges see of the agent.

    Attributes:
        task_id: the task that was attempted.
        submission: the typed answer or the code; None where nothing was submitted.
        files: path -> content, copied out of the workspace.
        state: further evidence of JSON types (a row diff, the cells opened).
    """

    task_id: str
    submission: str | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    state: Mapping[str, Any] = field(default_factory=dict)

    def content_hash(self) -> str:
        """Hash of all four fields, the same in every process."""
        return content_hash([self.task_id, self.submission, self.files, self.state])


class HasAttempt(Protocol):
    """A trajectory, as far as this floor needs to know it."""

    attempt: Attempt | None


@dataclass(frozen=True, slots=True)
class Check:
    """What one verifier found.

    Attributes:
        name: names the check in reports.
        score: in [0, 1].
        detail: words for a person; gives nothing hidden away.
        label: a short cause to count by ("timeout", "syntax"); "" where there is none.
        breach: the attempt tried to deceive; the reward is then 0.

    Raises:
        VerifierError: the score is not a number in [0, 1].
    """

    name: str
    score: float
    detail: str = ""
    label: str = ""
    breach: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.score, (int, float)) or not math.isfinite(self.score) or not 0 <= self.score <= 1:
            raise VerifierError(f"check {self.name!r} scored {self.score!r}; a score is a number in [0, 1]")


@dataclass(frozen=True, slots=True)
class Layer:
    """One verifier and what it is worth.

    Attributes:
        verifier: a pure function of the domain's findings.
        weight: its share of the reward; the weights of a task sum to 1.
        gate: a score below `pass_at` ends the judging with reward 0.
        pass_at: the score that counts as passed.
        cost: what it costs to run, in any unit: cheap layers are judged first.
    """

    verifier: Callable[[Any], Check]
    weight: float = 0.0
    gate: bool = False
    pass_at: float = 1.0
    cost: float = 0.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an attempt is worth.

    Attributes:
        reward: in [0, 1]; 0 after a breach and where infrastructure failed.
        success: every layer reached its `pass_at`.
        checks: what each layer that was judged found, in order.
        valid: false where infrastructure failed: then the reward says nothing and must not be learned from.
        integrity: false after any breach.
    """

    reward: float
    success: bool
    checks: tuple[Check, ...] = ()
    valid: bool = True
    integrity: bool = True

    @classmethod
    def invalid(cls) -> Verdict:
        """The verdict where infrastructure failed."""
        return cls(reward=0.0, success=False, valid=False)


def check_layers(layers: Sequence[Layer]) -> None:
    """Refuse layers whose weights do not sum to 1.

    Raises:
        VerifierError: there is no layer, or the weights are negative or do not sum to 1.
    """
    total = sum(layer.weight for layer in layers)
    if not layers or any(layer.weight < 0 for layer in layers) or abs(total - 1) > 1e-9:
        raise VerifierError(f"the weights of {len(layers)} layers sum to {total}; they must be >= 0 and sum to 1")


def judge(layers: Sequence[Layer], findings: object) -> Verdict:
    """Run the verifiers, the cheap ones first, and add up their scores.

    Args:
        layers: the domain's layers; gates of equal cost come before the rest.
        findings: what `examine` returned; each finding is computed when a verifier first asks for it.

    Returns:
        The verdict: reward 0 after a gate that was missed or a breach, else the weighted sum of the scores.

    Raises:
        VerifierError: a verifier returned something else than a Check.
        SandboxError: infrastructure failed while a finding was computed.
    """
    checks: list[Check] = []
    reward, success = 0.0, True
    for layer in sorted(layers, key=lambda layer: (layer.cost, not layer.gate)):
        check = layer.verifier(findings)
        if type(check) is not Check:
            raise VerifierError(f"verifier {layer.verifier!r} returned {check!r}; it must return a Check")
        checks.append(check)
        passed = check.score >= layer.pass_at
        success = success and passed
        if check.breach:
            return Verdict(0.0, success=False, checks=tuple(checks), integrity=False)
        if layer.gate and not passed:
            return Verdict(0.0, success=False, checks=tuple(checks))
        reward += layer.weight * check.score
    return Verdict(min(1.0, max(0.0, reward)), success, tuple(checks))
