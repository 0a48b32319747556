"""Named bodies: the mesh tools, as a record of the calls that made them.

A body is never held in this process, only the calls that lead to it, which are checked against their schemas and
against the names that there are. The geometry is made of all of them anew in a sandbox, after each call: a kernel that
crashes, hangs or eats memory over numbers that an agent chose takes nothing with it but that call. An episode has few.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from workgym.envs.tool import check_arguments
from workgym.tasks.errors import ActionError
from workgym.tasks.modeling.calls import CALLS, PRIMITIVES
from workgym.tasks.modeling.prompts import INPUT
from workgym.tasks.naming import unknown_name

__all__ = ["GIVEN", "MAX_BODIES", "Bodies", "Call"]

Call = tuple[str, Mapping[str, Any]]
"""Name and arguments of a call."""

GIVEN: Final = "input"
"""The name under which the part that a task hands out may be used."""

MAX_BODIES: Final = 64
_MAX_CALLS: Final = 256


@dataclass(frozen=True)
class Bodies:
    """The bodies that there are, and how they were made.

    Attributes:
        calls: from the first one on.
        names: of the bodies that are left, in the order in which they were made.
        has_given: the task hands out a part that can be used as a body.
    """

    calls: tuple[Call, ...] = ()
    names: tuple[str, ...] = ()
    has_given: bool = False

    def after(self, name: str, arguments: Mapping[str, Any]) -> Bodies:
        """The bodies after one more call; whether the kernel can do it is not known yet.

        Args:
            name: of a tool in `CALLS`.
            arguments: of the call, as the agent gave them.

        Raises:
            ActionError: an argument does not fit its schema, or names a body that is not there.
        """
        schema = CALLS[name]["schema"]
        check_arguments(name, schema, arguments)
        for key, value in arguments.items():
            _check(f"{name}: {key}", schema["properties"][key], value)
        if len(self.calls) >= _MAX_CALLS:
            raise ActionError(f"at most {_MAX_CALLS} calls make a part; use a script")
        used, made, gone = _EFFECTS[name](arguments)
        bodies = self._with_given(used)
        for one in used:
            if one not in bodies.names:
                raise ActionError(f"{name}: {unknown_name('body', one, bodies.names)}")
        names = [one for one in bodies.names if one not in (*gone, *made)]
        if len(names) + len(made) > MAX_BODIES:
            raise ActionError(f"there are {MAX_BODIES} bodies already; combine or delete some")
        return Bodies((*bodies.calls, (name, dict(arguments))), (*names, *made), self.has_given)

    def _with_given(self, used: tuple[str, ...]) -> Bodies:
        """With the task's own part as a body, where it is asked for and no other body has its name."""
        if not self.has_given or GIVEN not in used or GIVEN in self.names:
            return self
        return Bodies((*self.calls, ("load", {"name": GIVEN, "file": INPUT})), (*self.names, GIVEN), True)


_Effect = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]


def _of_primitive(arguments: Mapping[str, Any]) -> _Effect:
    kind = arguments["kind"]
    wanted, allowed = set(PRIMITIVES[kind]), {"name", "kind", "at", *PRIMITIVES[kind]}
    if kind not in ("box", "sphere"):
        allowed.add("axis")
    if missing := sorted(wanted - set(arguments)):
        raise ActionError(f"primitive: a {kind} needs {', '.join(missing)}")
    if strange := sorted(set(arguments) - allowed):
        raise ActionError(f"primitive: a {kind} has no {', '.join(strange)}")
    if kind == "torus" and arguments["tube"] >= arguments["radius"]:
        raise ActionError("primitive: the tube of a torus is thinner than its ring: tube < radius")
    return (), (arguments["name"],), ()


def _of_extrude(arguments: Mapping[str, Any]) -> _Effect:
    return (), (arguments["name"],), ()


def _of_boolean(arguments: Mapping[str, Any]) -> _Effect:
    a, b = arguments["a"], arguments["b"]
    if a == b:
        raise ActionError(f"boolean: {a!r} cannot be combined with itself")
    return (a, b), (a,), (b,)


def _of_transform(arguments: Mapping[str, Any]) -> _Effect:
    name = arguments["name"]
    return (name,), (arguments.get("copy", name),), ()


def _of_delete(arguments: Mapping[str, Any]) -> _Effect:
    return (arguments["name"],), (), (arguments["name"],)


_EFFECTS: Final[Mapping[str, Callable[[Mapping[str, Any]], _Effect]]] = {
    "primitive": _of_primitive,
    "extrude": _of_extrude,
    "boolean": _of_boolean,
    "transform": _of_transform,
    "delete": _of_delete,
}
"""Tool -> from its arguments, the bodies that it uses, makes and takes away."""


def _check(what: str, schema: Mapping[str, Any], value: Any) -> None:
    """Check a value against the part of JSON schema that the calls use beyond types: bounds, lengths and patterns.

    Raises:
        ActionError: it does not fit.
    """
    if schema["type"] == "array":
        least, most = schema["minItems"], schema["maxItems"]
        if not isinstance(value, (list, tuple)) or not least <= len(value) <= most:
            many = f"{least}" if least == most else f"{least} to {most}"
            raise ActionError(f"{what} must be a list of {many}")
        for one in value:
            _check(what, schema["items"], one)
    elif schema["type"] == "number":
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            raise ActionError(f"{what} must be a number, not {type(value).__name__}")
        if not schema["minimum"] <= value <= schema["maximum"]:  # no NaN gets through this
            raise ActionError(f"{what} must be from {schema['minimum']:g} to {schema['maximum']:g}, not {value!r:.40}")
    elif "pattern" in schema and not re.fullmatch(schema["pattern"].strip("^$"), value):
        raise ActionError(f"{what} must be a lower-case word of at most 16 letters, digits and _, not {value[:40]!r}")
