"""Family edit: change a part that is there as a mesh, and nothing else about it.

Level 1 changes one dimension, level 2 adds or removes a feature, level 3 changes the count of a pattern or repeats a
feature in a mirror.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from workgym.tasks.modeling.draft import Draft
from workgym.tasks.modeling.families.catalog import draw_template
from workgym.tasks.modeling.families.change import Change
from workgym.tasks.modeling.half_right import spoiled
from workgym.tasks.modeling.prompts import INPUT, asked, pick
from workgym.tasks.modeling.shape import bounds
from workgym.tasks.modeling.template import Sizes, Template, feature_of
from workgym.tasks.modeling.tree import Tree, mirror

__all__ = ["draw_edit"]

_GIVEN: Final = ("The file {file} holds a {noun}.", "In {file} you find a {noun}.", "{file} is the mesh of a {noun}.")
_REST: Final = ("Leave everything else as it is.", "Nothing else may change.", "Keep the rest of the part unchanged.")
_CHANGE: Final = ("Change {label} from {old} to {new}.", "{label}: {old} now, {new} wanted. Make it so.")
_COUNT: Final = (
    "Let there be {new} of them instead of {old}, spaced by the same rule and of the same size.",
    "Change their number from {old} to {new}; their size and the rule of their spacing stay.",
)
_MIRROR: Final = (
    "Repeat this feature in the mirror plane {axis} = {at:g}, and keep the original.",
    "Add its mirror image across the plane {axis} = {at:g}; the original stays.",
)
_LEAST_CHANGE: Final = 0.1
_CLEAR_MM: Final = 2.0
_DRAWS: Final = 200


def draw_edit(level: int, rng: np.random.Generator, split: str) -> Draft:
    """Draw a part and a change to it."""
    draw = {1: _dimension, 2: _feature, 3: _count if rng.random() < 0.5 else _mirror}[level]
    draft: Draft | None = None
    while draft is None:
        draft = draw(rng, split)
    return draft


def _dimension(rng: np.random.Generator, split: str) -> Draft | None:
    """One labelled size gets another value that fits; half right is the value in the middle."""
    template = draw_template((2,), rng, split, lambda t: bool(t.labels))
    labels = sorted(template.labels)
    name = labels[int(rng.integers(0, len(labels)))]
    pair = _changed(template, name, rng)
    if pair is None:
        return None
    old, new = pair
    part = _Part(template, old, [feature for feature in template.words if _names(template, feature, name)])
    label, values = template.labels[name], {"old": f"{old[name]:g}", "new": f"{new[name]:g}"}
    change = pick(_CHANGE, rng).format(label=label, **values)
    return _draft(
        part,
        Change(["dimension", name], template.tree(old), template.tree(new)),
        template.tree({**new, name: (old[name] + new[name]) / 2}),
        (f"{{told}} {change[0].upper()}{change[1:]}", f"{{told}} {label}: {values['old']} -> {values['new']}."),
        rng,
        {"new": new[name]},
    )


def _feature(rng: np.random.Generator, split: str) -> Draft | None:
    """A feature is added or removed.

    Half right is an added one that is too small, or a removed one of which much is still there.
    """
    template = draw_template((2, 3), rng, split, lambda t: bool(t.optional))
    sizes = template.draw(rng)
    feature = template.optional[int(rng.integers(0, len(template.optional)))]
    whole = template.tree(sizes)
    steps = {step.name for step in whole.steps if feature_of(step) == feature}
    without = Tree(tuple(step for step in whole.steps if step.name not in steps))
    part, half = _Part(template, sizes, [feature]), spoiled(whole, steps)
    if rng.random() < 0.5:
        change, words = Change(["add", feature], without, whole), ("Add a feature to it. {told}", "Add: {told}")
    else:
        half = spoiled(spoiled(half, steps), steps)
        change = Change(["remove", feature], whole, without)
        words = ("Remove a feature of it, as if it had never been made: {told}", "Remove: {told}")
    return _draft(part, change, half, words, rng, {})


def _count(rng: np.random.Generator, split: str) -> Draft | None:
    """A pattern gets more or fewer copies; half right has as many, but too small."""
    template = draw_template((3,), rng, split, lambda t: bool(t.counts))
    name = template.counts[int(rng.integers(0, len(template.counts)))]
    pair = _changed(template, name, rng)
    if pair is None:
        return None
    old, new = pair
    before, after = template.tree(old), template.tree(new)
    steps = {step.name for step, was in zip(after.steps, before.steps, strict=True) if step.pattern != was.pattern}
    feature = feature_of(next(step for step in after.steps if step.name in steps))
    request = "{told} " + pick(_COUNT, rng).format(old=old[name], new=new[name])
    return _draft(
        _Part(template, old, [feature]),
        Change(["count", name], before, after),
        spoiled(after, steps),
        (request, f"{{told}} {old[name]} -> {new[name]}, same rule of spacing."),
        rng,
        {"new": new[name]},
    )


def _mirror(rng: np.random.Generator, split: str) -> Draft | None:
    """A feature gets an image of itself; half right is a pair that is too small."""
    template = draw_template((2,), rng, split, lambda t: bool(t.mirrors))
    feature = sorted(template.mirrors)[int(rng.integers(0, len(template.mirrors)))]
    axis, size = template.mirrors[feature]
    sizes = template.draw(rng)
    at, before = sizes[size] / 2, template.tree(sizes)
    low, high = bounds(next(step for step in before.steps if step.name == feature).shape)
    if low[axis] - _CLEAR_MM < at < high[axis] + _CLEAR_MM:
        return None  # it would meet its image
    after = Tree(tuple(replace(s, pattern=mirror(axis, at)) if s.name == feature else s for s in before.steps))
    request = "{told} " + pick(_MIRROR, rng).format(axis="xyz"[axis], at=at)
    return _draft(
        _Part(template, sizes, [feature]),
        Change(["mirror", feature], before, after),
        spoiled(after, {feature}),
        (request, f"{{told}} Mirror it across {'xyz'[axis]} = {at:g}, keep the original."),
        rng,
        {"at": at},
    )


@dataclass(frozen=True)
class _Part:
    """The part that is there, and the features of it that the prompt tells."""

    template: Template
    sizes: Sizes
    features: Sequence[str]


def _draft(
    part: _Part,
    change: Change,
    half_right: Tree,
    request: tuple[str, str],
    rng: np.random.Generator,
    more: Mapping[str, float],
) -> Draft:
    """Put an edit together; a request, in full and in short, says with {told} where the features are told."""
    template, sizes = part.template, part.sizes
    told = " ".join(template.say(feature, sizes, rng) for feature in part.features)
    given = pick(_GIVEN, rng).format(file=INPUT, noun=template.noun)
    return Draft(
        template=template,
        tree=change.after,
        half_right=half_right,
        full=asked([given, request[0].replace("{told}", told), pick(_REST, rng)], rng),
        short=f"{INPUT}: {template.noun}. {request[1].replace('{told}', told)}",
        told={name: value for name, value in sizes.items() if any(_names(template, f, name) for f in part.features)}
        | dict(more),
        change=change,
        variant=[*change.variant, change.before.as_json()],
        start={"tree": change.before.as_json()},
    )


def _changed(template: Template, name: str, rng: np.random.Generator) -> tuple[Sizes, Sizes] | None:
    """Sizes, and the same with one of them changed by at least a tenth, if such are found."""
    old = template.draw(rng)
    for _ in range(_DRAWS):
        value = template.draw_one(name, rng)
        if abs(value - old[name]) >= _LEAST_CHANGE * old[name]:
            new = {**old, name: value}
            if template.fits(new):
                return old, new
    return None


def _names(template: Template, feature: str, size: str) -> bool:
    """Whether the words for a feature hold a size."""
    return "{" + size + "}" in template.words[feature][0]
