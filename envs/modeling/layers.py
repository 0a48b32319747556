"""What the findings are worth: a part at all, or nothing; then its features, its space and its look."""

from __future__ import annotations

from typing import Final

from workgym.envs.modeling.examine import PartFindings
from workgym.envs.verify import Check, Layer

__all__ = ["LAYERS", "hidden_views", "shape", "sound", "spec"]


def sound(findings: PartFindings) -> Check:
    """Whether what was handed in is a part, of as many solids and voids as were asked for."""
    flaw = findings.flaw
    return Check("sound", 1.0) if flaw is None else Check("sound", 0.0, detail=flaw.detail, label=flaw.label)


def spec(findings: PartFindings) -> Check:
    """Share of the features that are there, in their place and of their size."""
    found = findings.comparison
    return Check("spec", found.spec, detail=f"{found.n_held} of {found.n_groups} groups hold")


def shape(findings: PartFindings) -> Check:
    """How much of the space it has in common with the wanted part, above what is to be had without work."""
    found = findings.comparison
    return Check("shape", found.shape, detail=f"intersection over union {found.iou:.4f}")


def hidden_views(findings: PartFindings) -> Check:
    """How much it looks like the wanted part from places that nobody is told, above the same.

    At most as much as it has of its space: a thin shell looks like the part, and has nothing of it.
    """
    return Check("hidden_views", min(findings.comparison.views, findings.comparison.shape))


LAYERS: Final = (
    Layer(sound, gate=True),
    Layer(spec, weight=0.5, cost=1),
    Layer(shape, weight=0.4, cost=2),
    Layer(hidden_views, weight=0.1, pass_at=0, cost=3),
)
