"""The mesh tools as data: what may be called, in which words, within which bounds.

Every call works on named bodies. The schemas are JSON schemas; `oracle_calls` writes the calls that make a part of
level 1.
"""

from __future__ import annotations

from typing import Any, Final

from workgym.tasks.errors import TaskError
from workgym.tasks.modeling.shape import Shape, axis_of
from workgym.tasks.modeling.tree import Tree

__all__ = ["AXES", "BOOLEANS", "CALLS", "PRIMITIVES", "SEGMENTS", "oracle_calls"]

AXES: Final = ("x", "y", "z")
BOOLEANS: Final = ("union", "difference", "intersection")
PRIMITIVES: Final[dict[str, tuple[str, ...]]] = {
    "box": ("size",),
    "cylinder": ("radius", "height"),
    "cone": ("radius", "top", "height"),
    "sphere": ("radius",),
    "torus": ("radius", "tube"),
}
"""Primitive -> the sizes that it needs beside `at`."""

SEGMENTS: Final = 128
"""Chords of a full circle of every primitive."""

_MOST_MM: Final = 1e4
_LEAST_MM: Final = 1e-3
_MOST_CORNERS: Final = 512

_LENGTH: Final = {"type": "number", "minimum": _LEAST_MM, "maximum": _MOST_MM}
_PLACE: Final = {"type": "number", "minimum": -_MOST_MM, "maximum": _MOST_MM}
_POINT: Final = {"type": "array", "items": _PLACE, "minItems": 3, "maxItems": 3}
_NAME: Final = {"type": "string", "pattern": "^[a-z][a-z0-9_]{0,15}$"}


def _schema(required: tuple[str, ...], **properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


CALLS: Final[dict[str, dict[str, Any]]] = {
    "primitive": {
        "description": "Make a body: box (at = its lowest corner, size), cylinder (at = center of its base, "
        "radius, height, "
        "axis), cone (as a cylinder, with the radius of its top), sphere (at = center, radius) or torus (at = "
        "center, radius "
        "of the ring, radius of the tube, axis). Millimetres.",
        "schema": _schema(
            ("name", "kind"),
            name={**_NAME, "description": "what the body is called from now on"},
            kind={"type": "string", "enum": list(PRIMITIVES)},
            at={**_POINT, "description": "where it lies; (0, 0, 0) if not given"},
            size={"type": "array", "items": _LENGTH, "minItems": 3, "maxItems": 3, "description": "box: x, y, z"},
            radius={**_LENGTH, "description": "of cylinder, sphere, base of a cone, or ring of a torus"},
            top={**_LENGTH, "minimum": 0, "description": "cone: radius of its top"},
            height={**_LENGTH, "description": "cylinder and cone: length along the axis"},
            tube={**_LENGTH, "description": "torus: radius of the tube"},
            axis={"type": "string", "enum": list(AXES), "description": "cylinder, cone and torus: z if not given"},
        ),
    },
    "extrude": {
        "description": "Make a body from an outline, drawn along an axis. The outline is a list of corners in the "
        "other two "
        "coordinates, in the order x, y, z.",
        "schema": _schema(
            ("name", "outline", "height"),
            name={**_NAME, "description": "what the body is called from now on"},
            outline={
                "type": "array",
                "items": {"type": "array", "items": _PLACE, "minItems": 2, "maxItems": 2},
                "minItems": 3,
                "maxItems": _MOST_CORNERS,
                "description": "corners in order, in either sense of rotation, not crossing itself",
            },
            height={**_LENGTH, "description": "length along the axis"},
            axis={"type": "string", "enum": list(AXES), "description": "z if not given"},
            start={**_PLACE, "description": "where it begins along the axis; 0 if not given"},
        ),
    },
    "boolean": {
        "description": "Combine two bodies. The result takes the name of the first one; the second one is gone.",
        "schema": _schema(
            ("op", "a", "b"),
            op={"type": "string", "enum": list(BOOLEANS), "description": "difference cuts b out of a"},
            a=_NAME,
            b=_NAME,
        ),
    },
    "transform": {
        "description": "Turn a body around the axes through the origin (first x, then y, then z), mirror it across "
        "a plane "
        "through the origin, then move it.",
        "schema": _schema(
            ("name",),
            name=_NAME,
            turn={
                "type": "array",
                "items": {"type": "number", "minimum": -360, "maximum": 360},
                "minItems": 3,
                "maxItems": 3,
                "description": "degrees around x, y and z",
            },
            mirror={"type": "string", "enum": list(AXES), "description": "the coordinate that changes its sign"},
            move={**_POINT, "description": "along x, y and z"},
            copy={**_NAME, "description": "give the result this name, and leave the body itself as it is"},
        ),
    },
    "delete": {"description": "Take a body away.", "schema": _schema(("name",), name=_NAME)},
}
"""Name of a tool -> its description and the JSON schema of its arguments."""


def oracle_calls(tree: Tree) -> list[dict[str, Any]]:
    """The calls that make a part: the body "part" is left, and no other.

    Args:
        tree: of level 1: no patterns, and no round corners.

    Returns:
        Calls of the form {"name", "arguments"}.

    Raises:
        TaskError: the tree holds more than a level-1 part does.
    """
    calls: list[dict[str, Any]] = []
    for number, step in enumerate(tree.steps):
        if step.pattern is not None:
            raise TaskError(f"feature {step.name!r} is a pattern; the calls are written for parts of level 1 only")
        name = "part" if number == 0 else f"b{number}"
        calls.append(_made(name, step.shape))
        if number:
            op = "union" if step.verb == "add" else "difference"
            calls.append({"name": "boolean", "arguments": {"op": op, "a": "part", "b": name}})
    return calls


def _made(name: str, shape: Shape) -> dict[str, Any]:
    sizes: Any = shape.sizes
    if shape.kind == "prism":
        return _extruded(name, sizes)
    if shape.kind == "box":
        size = [high - low for low, high in zip(sizes["low"], sizes["high"], strict=True)]
        return _primitive(name, "box", at=sizes["low"], size=size)
    if shape.kind in ("sphere", "torus"):
        rest = {key: sizes[key] for key in PRIMITIVES[shape.kind]}
        return _primitive(name, shape.kind, at=sizes["center"], **rest)
    axis = axis_of(shape)
    height = sizes["end"][axis] - sizes["start"][axis]
    base, top, at = sizes["radius_start"], sizes["radius_end"], sizes["start"]
    if height < 0:
        base, top, at, height = top, base, sizes["end"], -height
    rest = {"radius": base, "height": height} if base == top else {"radius": base, "top": top, "height": height}
    if axis != 2:
        rest["axis"] = AXES[axis]
    return _primitive(name, "cylinder" if base == top else "cone", at=at, **rest)


def _primitive(name: str, kind: str, *, at: list[float], **sizes: Any) -> dict[str, Any]:
    place = {"at": list(at)} if any(at) else {}
    return {"name": "primitive", "arguments": {"name": name, "kind": kind, **place, **sizes}}


def _extruded(name: str, sizes: Any) -> dict[str, Any]:
    if any(radius for _, _, radius in sizes["corners"]):
        raise TaskError("an outline has round corners; the calls are written for parts of level 1 only")
    axis = sizes["axis"]
    # A profile has its coordinates in the order that follows its axis around the corner: for y that is z, x.
    outline = [[v, u] if axis == 1 else [u, v] for u, v, _ in sizes["corners"]]
    arguments = {"name": name, "outline": outline, "height": sizes["end"] - sizes["start"]}
    if axis != 2:
        arguments["axis"] = AXES[axis]
    if sizes["start"]:
        arguments["start"] = sizes["start"]
    return {"name": "extrude", "arguments": arguments}
