"""What tests of the modeling domain need: its packages, and meshes that are made for them."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from workgym.envs.modeling.reader import READER_SANDBOX
from workgym.envs.modeling.scorer import Scorer
from workgym.envs.sandbox.pool import open_pool
from workgym.envs.sandbox.protocol import SandboxPool

sys.path.insert(0, str(Path(__file__).parent))

_PACKAGES = ("manifold3d", "trimesh", "embreex", "scipy")


@pytest.fixture(autouse=True)
def _geometry_packages() -> None:
    missing = [name for name in _PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"no {', '.join(missing)}: pip install 'workgym[modeling]'")


@pytest.fixture(scope="module")
def reader_pool(require_backend: Callable[[str], None]) -> Iterator[SandboxPool]:
    """A pool in which artifacts are read."""
    require_backend("local")
    with open_pool("local", READER_SANDBOX) as pool:
        yield pool


@pytest.fixture(scope="module")
def scorer() -> Iterator[Scorer]:
    """A scorer of its own."""
    one = Scorer()
    yield one
    one.close()
