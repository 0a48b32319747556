"""What tests of the modeling domain need: its packages, and meshes that are made for them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

_PACKAGES = ("manifold3d", "trimesh", "embreex", "scipy")


@pytest.fixture(autouse=True)
def _geometry_packages() -> None:
    missing = [name for name in _PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"no {', '.join(missing)}: pip install 'workgym[modeling]'")
