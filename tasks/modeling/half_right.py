"""Parts that are nearly right: the shape of one feature is off."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any, Final

from workgym.tasks.modeling.shape import Shape
from workgym.tasks.modeling.tree import Step, Tree

__all__ = ["spoiled"]

_ADDED: Final = 0.95
_CUT: Final = 0.88


def spoiled(tree: Tree, names: Collection[str] = ()) -> Tree:
    """The tree with features a little too small.

    Args:
        tree: the right one.
        names: of the steps that are off; the last step if empty.
    """
    wrong = names or {tree.steps[-1].name}
    return Tree(tuple(replace(step, shape=_smaller(step)) if step.name in wrong else step for step in tree.steps))


def _smaller(step: Step) -> Shape:
    share, sizes = _ADDED if step.verb == "add" else _CUT, dict(step.shape.sizes)
    for name in ("radius", "tube", "radius_start", "radius_end"):
        if name in sizes and not (step.shape.kind == "torus" and name == "radius"):
            sizes[name] = sizes[name] * share
    if step.shape.kind == "prism":
        _shorten(sizes, "start", "end", share, from_start="end" in step.open)
    if step.shape.kind == "box":
        low, high = list(sizes["low"]), list(sizes["high"])
        if "z+" in step.open:
            low[2] = high[2] - share * (high[2] - low[2])
        else:
            high[2] = low[2] + share * (high[2] - low[2])
        sizes["low"], sizes["high"] = low, high
    return Shape(step.shape.kind, sizes)


def _shorten(sizes: dict[str, Any], start: str, end: str, share: float, *, from_start: bool) -> None:
    length = sizes[end] - sizes[start]
    if from_start:
        sizes[start] = sizes[end] - share * length
    else:
        sizes[end] = sizes[start] + share * length
