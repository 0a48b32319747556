"""Scripted players of the modeling domain: oracles, one that is half right, one that does nothing, one that guesses."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from workgym.envs.domain import ScriptedPlayer
from workgym.envs.env import WorkEnv
from workgym.envs.playing import chance, check_rate
from workgym.tasks.modeling.calls import AXES, oracle_calls
from workgym.tasks.modeling.prompts import INPUT
from workgym.tasks.modeling.scripts import oracle_script
from workgym.tasks.modeling.tree import Tree

__all__ = [
    "PLAYERS",
    "brief_lines",
    "erring_oracle",
    "half_right",
    "is_brief",
    "mesh_oracle",
    "noop",
    "oracle",
    "random_guess",
]

_SUBMIT: Final = "submit"


def is_brief(env: WorkEnv) -> bool:
    """Whether the tools of the episode are those of small models."""
    return "make" in env.table.names.split(",")


def oracle(observation: str, info: Mapping[str, Any], env: WorkEnv) -> Any:
    """Make the part with a script, or with one line after another where there are no scripts; then submit it."""
    if is_brief(env):
        return _next_line(brief_lines(_tree(env, "tree")), int(info["turn"]))
    return _SUBMIT if info["turn"] else f"run_script {oracle_script(_tree(env, 'tree'))}"


def mesh_oracle(observation: str, info: Mapping[str, Any], env: WorkEnv) -> Any:
    """Make a part of level 1 with the mesh tools, in one list of calls, then submit it."""
    if is_brief(env) or env.task.level > 1:
        return oracle(observation, info, env)
    return _SUBMIT if info["turn"] else oracle_calls(_tree(env, "tree"))


def half_right(observation: str, info: Mapping[str, Any], env: WorkEnv) -> Any:
    """Make the part with one feature too small, then submit it."""
    if is_brief(env):
        return _next_line(brief_lines(_tree(env, "half_right")), int(info["turn"]))
    return _SUBMIT if info["turn"] else f"run_script {oracle_script(_tree(env, 'half_right'))}"


def noop(observation: str, info: Mapping[str, Any], env: WorkEnv) -> Any:
    """Hand in what was handed out, and nothing where there is nothing."""
    return f"submit {INPUT}" if INPUT in env.task.files else _SUBMIT


def random_guess(observation: str, info: Mapping[str, Any], env: WorkEnv) -> Any:
    """Submit a block within the frame, the same for the same task, without reading what is asked."""
    if info["turn"]:
        return _SUBMIT
    rng = chance(env, 0, b"guess")
    low, high = (np.array(corner) for corner in env.task.public["frame"])
    ends = np.sort(np.round(rng.uniform(low, high, (2, 3))), axis=0)
    at, size = ends[0], np.maximum(ends[1] - ends[0], 1.0)
    if is_brief(env):
        return f"make box {_spaced(size)} @ {_spaced(at)}"
    arguments = {"name": "part", "kind": "box", "at": at.tolist(), "size": size.tolist()}
    return f"primitive {json.dumps(arguments)}"


def erring_oracle(rate: float, seed: int = 0) -> ScriptedPlayer:
    """An oracle that makes the half right part in a share of the episodes.

    Args:
        rate: share of the episodes that err, in [0, 1].
        seed: decides, with the task, which.

    Raises:
        ValueError: the rate is outside [0, 1].
    """
    check_rate(rate)

    def play(observation: str, info: dict[str, Any], env: WorkEnv) -> Any:
        errs = chance(env, seed, b"errs").random() < rate
        return (half_right if errs else oracle)(observation, info, env)

    return play


def brief_lines(tree: Tree) -> list[str]:
    """The lines that make a part of level 1 with the tools of small models.

    Raises:
        TaskError: the tree holds more than a part of level 1 does.
    """
    lines: list[str] = []
    for call in oracle_calls(tree):
        arguments = call["arguments"]
        if call["name"] == "boolean":
            verb = "cut" if arguments["op"] == "difference" else "join"
            lines.append(f"{verb} {lines.pop().partition(' ')[2]}")
        else:
            lines.append(f"make {_shape(call['name'], arguments)}")
    return lines


def _shape(name: str, arguments: Mapping[str, Any]) -> str:
    axis = arguments.get("axis", "z")
    if name == "extrude":
        at = [0.0, 0.0, 0.0]
        at[AXES.index(axis)] = arguments.get("start", 0.0)
        words = ["prism", _number(arguments["height"]), *map(_spaced, arguments["outline"])]
    else:
        at = arguments.get("at", [0.0, 0.0, 0.0])
        sizes = [arguments[key] for key in ("size", "radius", "top", "tube", "height") if key in arguments]
        words = [arguments["kind"], *(_spaced(one) if isinstance(one, list) else _number(one) for one in sizes)]
    words += [axis] if axis != "z" else []
    return " ".join([*words, *(["@", _spaced(at)] if any(at) else [])])


def _next_line(lines: list[str], turn: int) -> str:
    return lines[turn] if turn < len(lines) else _SUBMIT


def _tree(env: WorkEnv, which: str) -> Tree:
    return Tree.from_json(env.task.hidden[which])


def _spaced(values: Any) -> str:
    return " ".join(map(_number, values))


def _number(value: float) -> str:
    return f"{value:.7g}"


_Player = Callable[[str, Mapping[str, Any], WorkEnv], Any]

PLAYERS: Final[Mapping[str, _Player]] = {
    "oracle": oracle,
    "oracle-tools": mesh_oracle,
    "noop": noop,
    "random": random_guess,
    "half-right": half_right,
}
"""Players by name."""
