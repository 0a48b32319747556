"""The same episode for small models: a short prompt, and tools that take one line each; no picture.

There is one part. "make cylinder 48 70" begins it, "cut cylinder 25 70" makes a tube of it, and "submit" hands it in.
The answers tell the corners of its box and its volume: "-48,-48,0 48,48,70 v368000".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from workgym.envs.domain import Observation
from workgym.envs.modeling.bodies import Bodies
from workgym.envs.modeling.report import briefly
from workgym.envs.modeling.session import ModelingSession
from workgym.envs.modeling.tools import brief_tools
from workgym.envs.sandbox.protocol import Pools
from workgym.envs.tool import End
from workgym.tasks.errors import ActionError
from workgym.tasks.modeling.calls import AXES
from workgym.tasks.naming import unknown_name
from workgym.tasks.task import Task

__all__ = ["BriefSession"]

_PART: Final = "part"
_SIZES: Final[Mapping[str, tuple[str, ...]]] = {
    "box": ("x", "y", "z"),
    "cylinder": ("radius", "height"),
    "cone": ("radius", "top", "height"),
    "sphere": ("radius",),
    "torus": ("radius", "tube"),
}
_PRISM: Final = "prism"


class BriefSession(ModelingSession):
    """A session whose texts are as short as they can be. Its rewards are those of any other.

    Args:
        task: what is asked.
        pools: as of `ModelingSession`.
        has_image: as of `ModelingSession`.
    """

    def __init__(self, task: Task, pools: Pools, *, has_image: bool = False) -> None:
        super().__init__(task, pools, has_image=has_image)
        self._tools = brief_tools(
            make=self._begin,
            cut=lambda shape: self._combine("difference", shape),
            join=lambda shape: self._combine("union", shape),
            submit=self._hand_in,
        )

    def observe(self) -> Observation:
        """The prompt alone."""
        return Observation(self.task.prompt, self._image())

    def _begin(self, shape: str) -> str:
        return self._done(Bodies().after(*_call_of(shape, _PART)))

    def _combine(self, op: str, shape: str) -> str:
        if not self.state.bodies.names:
            raise ActionError("no part yet")
        bodies = self.state.bodies.after(*_call_of(shape, "b"))
        return self._done(bodies.after("boolean", {"op": op, "a": _PART, "b": "b"}))

    def _done(self, bodies: Bodies) -> str:
        ran = self._made(bodies)
        if ran is not None:
            raise ActionError(ran.words)
        return briefly(self._look(self.state.output))

    def _hand_in(self) -> End:
        return self.submit()


def _call_of(line: str, name: str) -> tuple[str, dict[str, Any]]:
    """The call of a mesh tool that a line stands for.

    Raises:
        ActionError: it stands for none.
    """
    words, _, place = line[:4000].lower().partition("@")
    kind, *rest = words.split() or [""]
    if kind not in (*_SIZES, _PRISM):
        raise ActionError(unknown_name("shape", kind[:40], (*_SIZES, _PRISM)))
    axis = {"axis": rest.pop()} if rest and rest[-1] in AXES else {}
    sizes = _numbers(rest)
    at = _numbers(place.split()) if place.strip() else [0.0, 0.0, 0.0]
    if len(at) != 3:
        raise ActionError(f"@ takes 3 numbers, not {len(at)}")
    if kind == _PRISM:
        return _extruded(name, sizes, at, axis)
    if len(sizes) != len(_SIZES[kind]):
        raise ActionError(f"{kind} takes {len(_SIZES[kind])} numbers, not {len(sizes)}")
    named = {"size": sizes} if kind == "box" else dict(zip(_SIZES[kind], sizes, strict=True))
    return "primitive", {"name": name, "kind": kind, "at": at, **named, **axis}


def _extruded(
    name: str, sizes: Sequence[float], at: Sequence[float], axis: dict[str, str]
) -> tuple[str, dict[str, Any]]:
    if len(sizes) < 7 or len(sizes) % 2 == 0:
        raise ActionError(f"{_PRISM} takes a height and at least 3 pairs of numbers, not {len(sizes)} numbers")
    number = AXES.index(axis.get("axis", "z"))
    flat = [one for i, one in enumerate(at) if i != number]
    outline = [[a + flat[0], b + flat[1]] for a, b in zip(sizes[1::2], sizes[2::2], strict=True)]
    return "extrude", {"name": name, "outline": outline, "height": sizes[0], "start": at[number], **axis}


def _numbers(words: Sequence[str]) -> list[float]:
    try:
        return [float(word) for word in words]
    except ValueError as error:
        raise ActionError(f"no number: {' '.join(words)[:60]}") from error
