"""The floors: imports go down or sideways, nobody imports the front door, nothing goes round in a circle."""

from __future__ import annotations

import graphlib

FLOORS = {"tasks": 0, "envs": 1, "agents": 2, "training": 3, "benchmarks": 4}

# Packages that take long to load or may be absent, and the only places that may name them.
ROOMS = {
    "torch": (
        "workgym.agents.engines",
        "workgym.agents.models",
        "workgym.agents.policies.model",
        "workgym.training",
        "workgym.lesson",
        "workgym.finance_first",
        "workgym.quickstart",
        "workgym.smollm2",
        "workgym.benchmarks.perf",
    ),
    "transformers": ("workgym.agents.chat", "workgym.agents.models.smollm2", "workgym.benchmarks.perf"),
    "gguf": ("workgym.agents.models",),
    "openai": ("workgym.agents.policies.openai", "workgym.agents.policies.openai_requests"),
    "safetensors": ("workgym.agents.models", "workgym.training"),
    "tensorboard": ("workgym.training.trackers",),
    "matplotlib": ("workgym.benchmarks.curve",),
    "typer": ("workgym.cli", "workgym.commands"),
}


def test_imports_go_down_or_sideways(modules):
    upward = [
        f"{module.name}:{found.line} imports {found.name}"
        for module in modules
        for found in module.imports
        if module.floor and _floor(found.name) > FLOORS[module.floor]
    ]

    assert upward == []


def test_nobody_imports_the_front_door(modules):
    door = {module.name for module in modules if not module.floor}
    knocking = [
        f"{module.name}:{found.line} imports {found.name}"
        for module in modules
        for found in module.imports
        if module.floor and found.name in door
    ]

    assert knocking == []


def test_no_imports_go_round_in_a_circle(modules):
    names = {module.name for module in modules}
    graph = {
        module.name: {found.name for found in module.imports if found.name in names and not found.for_types}
        for module in modules
    }

    order = list(graphlib.TopologicalSorter(graph).static_order())

    assert set(order) == names


def test_heavy_packages_stay_in_their_rooms(modules):
    strays = [
        f"{module.name}:{found.line} imports {found.name}"
        for module in modules
        for found in module.imports
        if (rooms := ROOMS.get(found.name.partition(".")[0])) and not _inside(module.name, rooms)
    ]

    assert strays == []


# The ground floor needs numpy at most, with one exception: a modeling task is about the solid of its feature tree, and
# its input file is made of it. The kernel is imported there when the first solid is built, and nowhere beside it.
GROUND = {"manifold3d": "workgym.tasks.modeling.build"}


def test_the_ground_floor_needs_numpy_at_most(modules):
    import sys

    allowed = {*sys.stdlib_module_names, "numpy", "workgym"}
    foreign = [
        f"{module.name}:{found.line} imports {found.name}"
        for module in modules
        for found in module.imports
        if module.floor == "tasks"
        and (package := found.name.partition(".")[0]) not in allowed
        and GROUND.get(package) != module.name
    ]

    assert foreign == []


def test_the_rules_see_every_floor(modules):
    """A rule over an empty list of modules would hold whatever the code does."""
    assert {module.floor for module in modules} == {*FLOORS, ""}
    assert sum(len(module.imports) for module in modules) > 100


def _floor(name: str) -> int:
    parts = name.split(".")
    return FLOORS.get(parts[1], -1) if parts[0] == "workgym" and len(parts) > 1 else -1


def _inside(name: str, rooms: tuple[str, ...]) -> bool:
    return any(name == room or name.startswith(f"{room}.") for room in rooms)
