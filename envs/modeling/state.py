"""What changes in an episode: plain data, so that a copy of it is a copy of the episode."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from workgym.envs.modeling.bodies import Bodies
from workgym.envs.modeling.reader import SUFFIXES
from workgym.envs.modeling.render.sheet import Mode
from workgym.envs.modeling.script import OUTPUTS

__all__ = ["Picture", "State"]


@dataclass(frozen=True)
class Picture:
    """What the picture of an observation shows.

    Attributes:
        path: of the file, "" for the part that is being made.
        view: one of `VIEWS`, "" for the sheet.
        mode: how that view is drawn.
    """

    path: str = ""
    view: str = ""
    mode: Mode = "shaded"


@dataclass(frozen=True)
class State:
    """The state of an episode.

    Attributes:
        files: the workspace.
        bodies: of the mesh tools.
        script: the last one that was run; "" before the first.
        volume: in mm3, of the last part that had one.
        picture: what is shown.
    """

    files: Mapping[str, bytes]
    bodies: Bodies
    script: str = ""
    volume: float | None = None
    picture: Picture = field(default_factory=Picture)

    @property
    def output(self) -> str:
        """The file that holds the part; "" where there is none. Of two, the first: the report tells of them."""
        return next((path for path in OUTPUTS if path in self.files), "")

    @property
    def n_outputs(self) -> int:
        """How many files could be the part: one of them is one too many."""
        return sum(path in self.files for path in OUTPUTS)

    def is_mesh(self, path: str) -> bool:
        """Whether there is such a file, of a format that is read."""
        return path in self.files and PurePosixPath(path).suffix.lower() in SUFFIXES
