"""What the tests of modeling tasks share: drawing tasks, and the volume of a mesh."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from workgym.tasks.modeling.solid import Solid
from workgym.tasks.modeling.source import ModelingTasks
from workgym.tasks.task import Task


@pytest.fixture
def draw() -> Callable[..., list[Task]]:
    """Tasks of a family and level, by seed."""

    def drawn(family: str, level: int, n: int, split: str = "train", seed: int = 0) -> list[Task]:
        rng, source = np.random.default_rng(seed), ModelingTasks(family)
        return [source.sample(level, rng, split) for _ in range(n)]

    return drawn


@pytest.fixture
def volume() -> Callable[[Solid], float]:
    """The volume within a closed mesh."""

    def measured(solid: Solid) -> float:
        a, b, c = np.moveaxis(solid.vertices[solid.faces], 1, 0)
        return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)

    return measured
