"""Attempts, checks, layers and verdicts."""

from __future__ import annotations

import math
from typing import Any

import pytest

from workgym.envs.tool import End
from workgym.envs.verify import Attempt, Check, Layer, Verdict, check_layers, judge
from workgym.tasks.errors import SandboxError, TaskError, VerifierError


def scores(score: float, name: str = "share", **fields: Any) -> Any:
    return lambda findings: Check(name, score, **fields)


@pytest.mark.parametrize("score", [math.nan, math.inf, -0.1, 1.1, "1", None])
def test_a_score_that_is_none_is_refused(score: Any) -> None:
    with pytest.raises(VerifierError, match="a score is a number in"):
        Check("share", score)


@pytest.mark.parametrize("weights", [(), (0.5,), (0.7, 0.7), (1.5, -0.5)])
def test_weights_that_do_not_sum_to_1_are_refused(weights: tuple[float, ...]) -> None:
    with pytest.raises(VerifierError, match="sum to"):
        check_layers([Layer(scores(1.0), weight=weight) for weight in weights])


def test_the_reward_is_the_weighted_sum_and_success_needs_every_layer() -> None:
    verdict = judge([Layer(scores(0.5), weight=0.5), Layer(scores(1.0, "rest"), weight=0.5)], None)
    assert (verdict.reward, verdict.success, verdict.valid, verdict.integrity) == (0.75, False, True, True)
    assert judge([Layer(scores(0.5), weight=1.0, pass_at=0.5)], None).success


def test_a_gate_that_is_missed_ends_it_with_0_and_spares_the_rest() -> None:
    def costly(findings: object) -> Check:
        raise AssertionError("a costly layer ran after a gate was missed")

    layers = [Layer(costly, weight=1.0, cost=1.0), Layer(scores(0.9, "gate"), gate=True)]
    verdict = judge(layers, None)
    assert (verdict.reward, verdict.success) == (0.0, False)
    assert [check.name for check in verdict.checks] == ["gate"]


def test_a_gate_may_carry_weight() -> None:
    verdict = judge([Layer(scores(1.0), weight=0.25, gate=True), Layer(scores(0.0, "rest"), weight=0.75)], None)
    assert verdict.reward == 0.25


def test_a_breach_takes_everything() -> None:
    verdict = judge([Layer(scores(1.0, breach=True), weight=1.0)], None)
    assert (verdict.reward, verdict.success, verdict.integrity, verdict.valid) == (0.0, False, False, True)


def test_a_verifier_that_returns_something_else_is_refused() -> None:
    with pytest.raises(VerifierError, match="must return a Check"):
        judge([Layer(lambda findings: 1.0, weight=1.0)], None)  # type: ignore[arg-type, return-value]


def test_an_infrastructure_failure_in_a_finding_is_no_verdict() -> None:
    def lost(findings: object) -> Check:
        raise SandboxError("gone")

    with pytest.raises(SandboxError, match="gone"):
        judge([Layer(lost, weight=1.0)], None)
    assert Verdict.invalid() == Verdict(0.0, success=False, valid=False)


def test_an_attempts_hash_depends_on_everything_in_it() -> None:
    base = Attempt("t", "answer", {"a": b"1"}, {"row": 1})
    others = [
        Attempt("u", "answer", {"a": b"1"}, {"row": 1}),
        Attempt("t", "other", {"a": b"1"}, {"row": 1}),
        Attempt("t", None, {"a": b"1"}, {"row": 1}),
        Attempt("t", "answer", {"a": b"2"}, {"row": 1}),
        Attempt("t", "answer", {"a": b"1"}, {"row": 2}),
    ]
    hashes = {attempt.content_hash() for attempt in (base, *others)}
    assert len(hashes) == 6
    assert Attempt("t", "answer", {"a": b"1"}, {"row": 1}).content_hash() == base.content_hash()


def test_what_cannot_be_hashed_is_refused() -> None:
    with pytest.raises(TaskError, match="cannot hash a set"):
        Attempt("t", state={"rows": {1, 2}}).content_hash()


def test_a_tool_cannot_end_an_episode_for_a_reason_that_is_none() -> None:
    with pytest.raises(ValueError, match="Did you mean 'submitted'"):
        End("submit")
