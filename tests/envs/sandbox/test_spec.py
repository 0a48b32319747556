"""What may be asked of a sandbox."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from workgym.envs.sandbox.spec import SandboxSpec


@pytest.mark.parametrize("field", ["memory_mb", "cpu_s", "n_processes", "disk_mb", "output_kb"])
def test_a_limit_must_be_positive(field: str) -> None:
    nothing: dict[str, Any] = {field: 0}
    with pytest.raises(ValueError, match=f"{field} must be > 0"):
        replace(SandboxSpec(), **nothing)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("cpu_s", float("inf"), "at most"),
        ("cpu_s", float("nan"), "must be > 0"),
        ("disk_mb", 10**13, "at most"),
        ("memory_mb", 1.5, "whole number"),
        ("n_processes", True, "whole number"),
    ],
)
def test_a_limit_must_make_sense(field: str, value: float, words: str) -> None:
    odd: dict[str, Any] = {field: value}
    with pytest.raises(ValueError, match=f"{field} .*{words}"):
        replace(SandboxSpec(), **odd)


def test_an_unknown_network_answers_with_the_nearest() -> None:
    with pytest.raises(ValueError, match="Did you mean 'loopback'"):
        SandboxSpec(network="loopbck")  # type: ignore[arg-type]
