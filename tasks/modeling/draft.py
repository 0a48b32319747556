"""What a family draws: a part, how it is asked for, and what stands in the workspace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workgym.tasks.modeling.families.change import Change
from workgym.tasks.modeling.template import Template
from workgym.tasks.modeling.tree import Tree

__all__ = ["Draft"]


@dataclass(frozen=True)
class Draft:
    """One task of the domain, before it has an id.

    Attributes:
        template: the kind of part.
        tree: the part that is wanted.
        half_right: a part that is nearly the wanted one: one thing about it is wrong.
        change: the edit, if it is one.
        full: the whole prompt.
        short: the prompt in few words.
        told: the sizes that the prompt tells.
        variant: what else makes this task another one: the edit, the fault.
        start: from what the file "input.stl" is made, empty where there is none: "tree", and "fault" and "seed" if the
            file is broken.
    """

    template: Template
    tree: Tree
    half_right: Tree
    full: str
    short: str
    told: Mapping[str, float]
    change: Change | None = None
    variant: Sequence[Any] = ()
    start: Mapping[str, Any] = field(default_factory=dict)
