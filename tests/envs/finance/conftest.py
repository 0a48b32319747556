"""What the tests of the finance domain share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from workgym.envs.finance.python_tool import PYTHON_SANDBOX
from workgym.envs.sandbox.local.pool import LocalPool
from workgym.envs.sandbox.pool import open_pool


@pytest.fixture(scope="module")
def python_pool(require_backend: Callable[[str], None], require_extra: Callable[[str], None]) -> Iterator[LocalPool]:
    """Where an agent's Python runs, with limits that are soon reached."""
    require_backend("local")
    require_extra("finance")
    opened = open_pool("local", replace(PYTHON_SANDBOX, cpu_s=1.0, memory_mb=128))
    assert isinstance(opened, LocalPool)
    yield opened
    opened.close()
