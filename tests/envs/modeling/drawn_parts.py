"""Parts to look at, and a server that draws them, for each renderer that this machine has."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import made_meshes as made
import numpy as np
import numpy.typing as npt
import pytest

from workgym.envs.modeling.render.protocol import Backend
from workgym.envs.modeling.render.server import RenderServer
from workgym.tasks.errors import SandboxError
from workgym.tasks.modeling.solid import Solid

FRAME = ((0.0, 0.0, 0.0), (10.0, 10.0, 10.0))
NOTHING = Solid(np.empty((0, 3)), np.empty((0, 3), dtype=np.int32))

Mask = npt.NDArray[np.bool_]


def block(low: Sequence[float] = (0, 0, 0), high: Sequence[float] = (10, 10, 10)) -> Solid:
    vertices, faces = made.box(low, high)
    return Solid(vertices, faces.astype(np.int32))


def together(*solids: Solid) -> Solid:
    starts = np.cumsum([0, *(len(one.vertices) for one in solids)])
    faces = [one.faces + start for one, start in zip(solids, starts[:-1], strict=True)]
    return Solid(np.concatenate([one.vertices for one in solids]), np.concatenate(faces).astype(np.int32))


def inside_out(solid: Solid) -> Solid:
    return Solid(solid.vertices, solid.faces[:, ::-1].copy())


def plate() -> Solid:
    """Its features are all on different sides: a pocket and a pin above, a bore from the left, a hole through."""
    import manifold3d as m3

    part = m3.Manifold.cube((100, 60, 20)) - m3.Manifold.cube((40, 30, 15)).translate((10, 15, 12))
    part = part - m3.Manifold.cylinder(30, 8, 8, 64).translate((75, 40, -1))
    part = part - m3.Manifold.cylinder(30, 3, 3, 64).rotate((0, 90, 0)).translate((-1, 30, 6))
    vertices, faces = made.of_manifold(part + m3.Manifold.cylinder(25, 10, 5, 64).translate((75, 15, 15)))
    return Solid(vertices, faces.astype(np.int32))


PLATE_FRAME = ((0.0, 0.0, 0.0), (100.0, 60.0, 40.0))


def differs(one: npt.NDArray[np.uint8], other: npt.NDArray[np.uint8]) -> Mask:
    """Pixels whose colors differ by more than smoothing makes of them."""
    return np.asarray(np.abs(one.astype(int) - other.astype(int)).max(axis=2) > 24)


@functools.cache
def _what_is_missing(backend: Backend | None) -> str:
    server = RenderServer(backend)
    try:
        _ = server.drawn_by
    except SandboxError as error:
        return str(error)
    finally:
        server.close()
    return ""


@contextmanager
def a_server(backend: Backend | None) -> Iterator[RenderServer]:
    """A server whose process, too, takes warnings for errors; skips where the renderer is missing."""
    if backend and _what_is_missing(backend):
        pytest.skip(_what_is_missing(backend))
    server = RenderServer(backend)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PYTHONWARNINGS", "error")
            _ = server.drawn_by
        yield server
    finally:
        server.close()
