"""What the modeling domain costs, beside what others take for the same: each pair in turn in one run.

    python benchmarks/perf/modeling.py [--rounds 5] [--runs 20] [--points 100000] [--only script iou ...]

Prints one JSON line a measure. A `ratio` without a `unit` is the other's CPU seconds over ours; CPU time is that of
this process and of all that it started. The part is a plate with rounded corners and four holes, of 1,308 triangles.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.resources import as_file, files
from itertools import count
from pathlib import Path
from typing import Any, Final

import numpy as np

from workgym.benchmarks.perf.lines import Line, Skip
from workgym.benchmarks.perf.modeling_lines import Cost, Effort, cost_of, medians, ratio, require, value
from workgym.envs.domain import verdict_on
from workgym.envs.modeling.env import make
from workgym.envs.modeling.machinery import Machinery
from workgym.envs.modeling.mesh import Mesh, box_of, weld
from workgym.envs.modeling.render.protocol import BACKENDS
from workgym.envs.modeling.render.server import RenderServer
from workgym.envs.modeling.script import MESH_SANDBOX, run_script
from workgym.envs.modeling.shape import overlap_of
from workgym.envs.modeling.truth import Truth
from workgym.envs.sandbox.pool import open_pool
from workgym.envs.verify import Attempt
from workgym.tasks.errors import IsolationUnavailable, SandboxError
from workgym.tasks.modeling.build import build, stl_bytes
from workgym.tasks.modeling.groups import to_json
from workgym.tasks.modeling.probes import groups_of
from workgym.tasks.modeling.shape import cylinder, prism
from workgym.tasks.modeling.source import ModelingTasks
from workgym.tasks.modeling.tree import Step, Tree, grid
from workgym.tasks.task import Task

__all__ = ["main"]

_SCRIPT: Final = """
from manifold3d import CrossSection, JoinType, Manifold

outline = CrossSection.square((90, 50)).translate((5, 5)).offset(5, JoinType.Round, circular_segments=64)
result = Manifold.extrude(outline, 10)
for x in (10, 90):
    for y in (10, 50):
        result -= Manifold.cylinder(12, 4, circular_segments=64).translate((x, y, -1))
"""
_FRAME: Final = ((0.0, 0.0, 0.0), (100.0, 60.0, 10.0))
_THICK: Final = 10.0
_LEVEL: Final = 2
_N_TRIANGLES: Final = 1308
_N_TASKS: Final = 2  # of each level
_COLD: Final = "import runpy, sys; runpy.run_path(sys.argv[1])['run']()"
"""Runs a script by the very module that the warm interpreter has loaded."""


def run_scripts(effort: Effort) -> Iterator[Line]:
    """A script in a child of a warm interpreter, with its walls, and in a fresh one without any."""
    require("manifold3d", "trimesh")
    environ = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    module = files("workgym.envs.modeling").joinpath("mesh_child.py")
    with (
        open_pool("local", MESH_SANDBOX) as pool,
        as_file(module) as child,
        tempfile.TemporaryDirectory() as folder,
    ):
        place = Path(folder) / "out.ply"

        def warm() -> bytes:
            ran = run_script(pool, _SCRIPT, {})
            assert not ran.phase, ran.words
            return ran.files["out.ply"]

        def cold() -> bytes:
            place.unlink(missing_ok=True)
            command = [sys.executable, "-I", "-c", _COLD, str(child)]
            subprocess.run(command, input=_SCRIPT.encode(), check=True, env=environ, cwd=folder)
            return place.read_bytes()

        assert warm() == cold()
        costs = [(cost_of(warm, effort.runs), cost_of(cold)) for _ in range(effort.rounds)]
    ours, theirs = (medians(one) for one in zip(*costs, strict=True))
    yield ratio("script_warm_over_cold", ours, theirs, 20.0)


def overlap(effort: Effort) -> Iterator[Line]:
    """Intersection over union with the wanted part, from arrays: by a boolean, and by points within either.

    Of the plate; and of half right parts of tasks of all levels, all their costs added.
    """
    require("manifold3d", "trimesh", "embreex", "scipy")
    costs, off = _overlap_costs(_mesh(), _wanted(_tree(_THICK)), effort)
    ours, theirs = (medians(one) for one in zip(*costs, strict=True))
    points = {"points": effort.points}
    yield ratio("boolean_over_sampled_iou", ours, theirs, 15.0) | points | {"sampled_off_by": off}

    sums, offs, by_level = np.zeros((2, 2)), list[float](), dict[str, float]()
    source = ModelingTasks()
    for level in source.levels:
        level_sums = np.zeros((2, 2))
        for seed in range(_N_TASKS):
            hidden = source.sample(level, np.random.default_rng(seed)).hidden
            part, wanted = (_wanted(Tree.from_json(hidden[name])) for name in ("half_right", "tree"))
            costs, off = _overlap_costs(part, wanted, effort)
            level_sums += np.median(costs, axis=0)
            offs.append(off)
        sums += level_sums
        by_level[f"level_{level}"] = round(level_sums[1, 0] / level_sums[0, 0], 2)
    (cpu_s, wall_s), (their_cpu_s, their_wall_s) = (sums / len(offs)).tolist()
    line = ratio("boolean_over_sampled_iou_of_tasks", (cpu_s, wall_s), (their_cpu_s, their_wall_s), 15.0)
    yield line | points | {"sampled_off_by": max(offs), "tasks": len(offs), **by_level}


def _overlap_costs(part: Mesh, wanted: Mesh, effort: Effort) -> tuple[list[tuple[Cost, Cost]], float]:
    """Costs of both, and the most by which points were wrong. Either keeps the wanted part from part to part."""
    import trimesh

    rng = np.random.default_rng(0)
    low, high = box_of(np.concatenate([part.vertices, wanted.vertices]))
    known, known_mm3 = wanted.manifold(), float(wanted.volumes.sum())
    known_trimesh = trimesh.Trimesh(wanted.vertices, wanted.faces, process=False)

    def exact() -> float:
        return overlap_of(part.manifold(), float(part.volumes.sum()), known, known_mm3)

    def sampled() -> float:
        points = rng.uniform(low, high, (effort.points, 3))
        within = trimesh.Trimesh(part.vertices, part.faces, process=False).contains(points)
        wished = known_trimesh.contains(points)
        return float((within & wished).sum() / (within | wished).sum())

    truly = exact()
    off = [sampled() - truly]
    costs = [
        (cost_of(exact, effort.runs), cost_of(lambda: off.append(sampled() - truly))) for _ in range(effort.rounds)
    ]
    return costs, round(float(np.abs(off).max()), 6)


def judge_plate(effort: Effort) -> Iterator[Line]:
    """A verdict on a file: reader, gate and all layers; the truth of the task is there already."""
    require("manifold3d", "trimesh", "embreex", "scipy")
    mesh = _mesh()
    hidden = _hidden(_tree(_THICK))
    task = Task("plate", "modeling", "text_to_part", _LEVEL, "train", "Make a plate.", hidden=hidden)
    attempt = Attempt("plate", files={"out.stl": stl_bytes(mesh.corners)})
    env = make(_LEVEL, pictures=False)
    try:
        with contextlib.closing(Machinery("local")) as machinery:

            def verdict() -> None:
                assert verdict_on(env.domain, attempt, task, machinery).success

            verdict()
            cpu_s, wall_s = medians([cost_of(verdict, effort.runs) for _ in range(effort.rounds)])
    finally:
        env.close()
    yield value("verdict", cpu_s, wall_s, 150.0) | {"triangles": len(mesh.faces)}


def draw_sheets(effort: Effort) -> Iterator[Line]:
    """Six views in one picture of 512 x 768, by each renderer, in turn."""
    require("manifold3d", "trimesh", "embreex", "scipy")
    solid = _mesh().solid()
    with contextlib.ExitStack() as stack:
        servers: dict[str, RenderServer] = {}
        for backend in BACKENDS:
            server = stack.enter_context(contextlib.closing(RenderServer(backend)))
            try:
                server.sheet(solid, _FRAME)
            except SandboxError as why:
                yield {"name": f"modeling_six_views_{backend}", "skipped": str(why)}
            else:
                servers[backend] = server
        costs: dict[str, list[Cost]] = {name: [] for name in servers}
        for _ in range(effort.rounds):
            for name, server in servers.items():
                costs[name].append(cost_of(partial(server.sheet, solid, _FRAME), effort.runs))
    for name, taken in costs.items():
        yield value(f"six_views_{name}", *medians(taken), None)


def make_truths(effort: Effort) -> Iterator[Line]:
    """The wanted part of a task, and with it all that parts are compared with: null artifacts, probes, views."""
    require("manifold3d", "trimesh", "embreex", "scipy")
    thicker = (_THICK + number / 100 for number in count())  # solids are kept by their trees
    solids = [cost_of(lambda: build(_tree(next(thicker))), effort.runs) for _ in range(effort.rounds)]
    yield value("solid_of_tree", *medians(solids), None)
    truths = [cost_of(lambda: Truth(_hidden(_tree(next(thicker))))) for _ in range(effort.rounds)]
    yield value("truth", *medians(truths), None)


def _mesh() -> Mesh:
    """The plate as its script makes it."""
    names: dict[str, Any] = {}
    exec(_SCRIPT, names)  # noqa: S102 - it stands above
    mesh = names["result"].to_mesh64()
    made = weld(np.asarray(mesh.vert_properties)[:, :3].copy(), np.asarray(mesh.tri_verts).astype(np.int64))
    assert len(made.faces) == _N_TRIANGLES
    return made


def _wanted(tree: Tree) -> Mesh:
    solid = build(tree)
    return weld(solid.vertices, solid.faces.astype(np.int64))


def _tree(height: float) -> Tree:
    outline = prism([(x, y, 5) for x, y in ((0, 0), (100, 0), (100, 60), (0, 60))], 2, 0, height)
    drill = cylinder((10, 10, 0), (10, 10, height), 4)
    holes = Step("holes", "cut", drill, open=("start", "end"), pattern=grid(2, 2, 80, 40), ways=1)
    return Tree((Step("plate", "add", outline), holes))


def _hidden(tree: Tree) -> dict[str, Any]:
    groups = to_json(groups_of(tree, _LEVEL))
    return {"tree": tree.as_json(), "groups": groups, "solids": 1, "voids": 0, "views_seed": 7}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=20, help="of what takes a few milliseconds, a round")
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--only", nargs="*", choices=_MEASURES, default=[], help=", ".join(_MEASURES))
    options = parser.parse_args(arguments)
    for name in options.only or _MEASURES:
        try:
            for line in _MEASURES[name](Effort(options.rounds, options.runs, options.points)):
                print(json.dumps({**line, "load": round(os.getloadavg()[0], 2)}), flush=True)
        except (Skip, IsolationUnavailable) as why:
            print(json.dumps({"name": f"modeling_{name}", "skipped": str(why)}), flush=True)


_MEASURES: Final[dict[str, Callable[[Effort], Iterator[Line]]]] = {
    "script": run_scripts,
    "iou": overlap,
    "verdict": judge_plate,
    "views": draw_sheets,
    "truth": make_truths,
}


if __name__ == "__main__":
    main()
