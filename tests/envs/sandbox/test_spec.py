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


def test_an_unknown_network_answers_with_the_nearest() -> None:
    with pytest.raises(ValueError, match="Did you mean 'loopback'"):
        SandboxSpec(network="loopbck")  # type: ignore[arg-type]
