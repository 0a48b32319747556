"""Lets the tests of this folder import what they share with each other and with those of the agents."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "agents")]


@pytest.fixture
def own_agents(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The module `eval_agents` as if it were loaded for the first time, and no endpoint in the environment."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    yield
    sys.modules.pop("eval_agents", None)
