"""What is told of a part to whoever made it: what reading and measuring it say, and nothing of what is wanted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

import numpy as np

from workgym.envs.modeling.reader import RawMesh, read_mesh
from workgym.envs.modeling.scorer import Scorer
from workgym.envs.modeling.surface import MAX_COORDINATE_MM, MAX_TRIANGLES, Flaw
from workgym.envs.sandbox.protocol import SandboxPool
from workgym.tasks.modeling.solid import Solid

__all__ = ["KINDS", "Seen", "briefly", "look_at_part", "measured", "report_lines"]

KINDS: Final = ("validity", "bodies", "volume", "area", "bounding_box", "center_of_mass", "genus", "triangles")
"""What can be measured."""


@dataclass(frozen=True)
class Seen:
    """A file, as it was read and measured.

    Attributes:
        solid: what can be drawn of it; None where there is nothing.
        facts: "flaw" (None, or label and detail), and as far as it is known "solids", "voids", "triangles", "low",
            "high", "volume_mm3", "area_mm2", "center_of_mass" and "genus".
    """

    solid: Solid | None
    facts: Mapping[str, Any]

    @property
    def volume(self) -> float | None:
        """In mm3; None where it is unknown."""
        value = self.facts.get("volume_mm3")
        return None if value is None else float(value)


def look_at_part(pool: SandboxPool, scorer: Scorer, name: str, data: bytes) -> Seen:
    """Read and measure a file.

    Args:
        pool: opened with `READER_SANDBOX`.
        scorer: measures; nothing of any task is used.
        name: of the file.
        data: the file.

    Raises:
        SandboxError: infrastructure failed.
        VerifierError: the reader or the scorer does not work.
    """
    read = read_mesh(pool, f"x{PurePosixPath(name).suffix.lower()}", data)
    if isinstance(read, Flaw):
        return Seen(None, {"flaw": {"label": read.label, "detail": read.detail}})
    return Seen(_drawable(read), scorer.measure(read))


def _drawable(mesh: RawMesh) -> Solid | None:
    """A mesh as it can be drawn: its numbers may be anything."""
    if not 0 < len(mesh.faces) <= MAX_TRIANGLES or not len(mesh.vertices):
        return None
    if mesh.faces.min() < 0 or mesh.faces.max() >= len(mesh.vertices):
        return None
    if not np.isfinite(mesh.vertices).all() or np.abs(mesh.vertices).max() > MAX_COORDINATE_MM:
        return None
    return Solid(mesh.vertices, mesh.faces.astype(np.int32))


def report_lines(seen: Seen, before: float | None) -> list[str]:
    """The report, line by line.

    Args:
        seen: the part.
        before: volume of the part before this one in mm3, None if there was none.
    """
    lines = [measured(seen, "validity")]
    for kinds in (("bodies", "genus", "triangles"), ("bounding_box",), ("volume", "area"), ("center_of_mass",)):
        known = [words for kind in kinds if (words := _words(seen.facts, kind))]
        if "volume" in kinds and known and before is not None and seen.volume is not None:
            known[0] += f" ({_change(seen.volume, before)})"
        if known:
            lines.append(", ".join(known))
    return lines


def measured(seen: Seen, kind: str) -> str:
    """One measure in words.

    Args:
        seen: the part.
        kind: one of `KINDS`.
    """
    return _words(seen.facts, kind) or f"{kind} is unknown: {_words(seen.facts, 'validity')}"


def briefly(seen: Seen) -> str:
    """The report in a few characters: its corners and its volume, or what is wrong with it."""
    if seen.facts["flaw"] is not None:
        return f"bad: {seen.facts['flaw']['label']}"
    low, high = (",".join(_number(one) for one in seen.facts[end]) for end in ("low", "high"))
    return f"{low} {high} v{_number(seen.facts['volume_mm3'])}"


def _words(facts: Mapping[str, Any], kind: str) -> str:
    """A measure, "" where it is unknown."""
    match kind:
        case "validity":
            flaw = facts["flaw"]
            return "valid: yes" if flaw is None else f"valid: no, {flaw['label']}: {flaw['detail']}"
        case "bodies" if "solids" in facts:
            return f"{facts['solids']} solids, {facts['voids']} voids"
        case "volume" if "volume_mm3" in facts:
            return f"volume {_number(facts['volume_mm3'])} mm3"
        case "area" if "area_mm2" in facts:
            return f"area {_number(facts['area_mm2'])} mm2"
        case "bounding_box" if "low" in facts:
            return f"bounding box {_point(facts['low'])} to {_point(facts['high'])}"
        case "center_of_mass" if "center_of_mass" in facts:
            return f"center of mass {_point(facts['center_of_mass'])}"
        case "genus" if "genus" in facts:
            return f"genus {facts['genus']}"
        case "triangles" if "triangles" in facts:
            return f"{facts['triangles']} triangles"
    return ""


def _change(now: float, before: float) -> str:
    change = now - before
    if abs(change) <= 1e-6 * max(abs(now), abs(before)):
        return "no change"
    return f"{'+' if change > 0 else '-'}{_number(abs(change))}"


def _point(xyz: Any) -> str:
    return f"({', '.join(_number(one) for one in xyz)})"


def _number(value: float) -> str:
    """Seven digits, and no negative zero."""
    return f"{round(float(value), 4) + 0.0:.7g}"
